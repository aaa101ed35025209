# lithe_room(<name> DEPENDS <targets>... [USES <targets>...] [DEFINES <macros>...] [LEAVES_OUT <files>...] [LIGHT [HEAVY <files>...]]
#            [INTERNAL] [PUBLIC_FOLDERS <folders>...])
#
# One room of the library: the sources in lithe/<name>, its folders included, become the target lithe_<name>, alias lithe::<name>; of
# viz/live, lithe_viz_live and lithe::viz_live. A room without sources is an INTERFACE library. What DEPENDS names is all that a room can
# see, so a wrong link is impossible; USES names libraries that no header shows, DEFINES macros of the sources, LEAVES_OUT files that this
# configuration goes without. A LIGHT room does nothing where time counts: it is compiled quickly rather than well. If it does in a few
# files, these are named as HEAVY.
#
# Headers are included as "lithe/<name>/x.h". Those in the room's own folder and in its PUBLIC_FOLDERS are public and are installed; the
# others, and all headers of an INTERNAL room, are the library's own. tools/check_layers.py knows the same rule.
#
# With LITHE_LEVELS, the rooms are header-only targets, and their objects go into one shared library per level (lithe_shared_library). They
# are compiled once per level; those of LIGHT rooms, but for the HEAVY files, once for all.
function(lithe_room name)
  cmake_parse_arguments(PARSE_ARGV 1 room "LIGHT;INTERNAL" "" "DEPENDS;USES;DEFINES;LEAVES_OUT;HEAVY;PUBLIC_FOLDERS")
  string(REPLACE / _ export_name ${name})
  set(target lithe_${export_name})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/lithe/${name}/*.cpp)
  set(headers "")
  if(NOT room_INTERNAL)
    list(TRANSFORM room_PUBLIC_FOLDERS PREPEND ${PROJECT_SOURCE_DIR}/lithe/${name}/ OUTPUT_VARIABLE folders)
    list(TRANSFORM folders APPEND /*.h)
    file(GLOB headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/lithe/${name}/*.h ${folders})
  endif()
  foreach(source IN LISTS room_LEAVES_OUT)
    list(REMOVE_ITEM sources ${PROJECT_SOURCE_DIR}/lithe/${name}/${source})
    list(REMOVE_ITEM headers ${PROJECT_SOURCE_DIR}/lithe/${name}/${source})
  endforeach()

  if(sources AND NOT lithe_levels)
    set(scope PUBLIC)
    add_library(${target} ${sources})
    target_link_libraries(${target} PRIVATE ${room_USES})
    set(light ${room_LIGHT})
    if(room_HEAVY) # one target, one level of optimisation
      set(light FALSE)
    endif()
    lithe_compile_room(${target} "" ${light})
    set_target_properties(${target} PROPERTIES
      VERSION ${PROJECT_VERSION}
      SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
      INSTALL_RPATH $ORIGIN
    )
  else()
    set(scope INTERFACE)
    add_library(${target} INTERFACE)
    if(sources)
      target_link_libraries(${target} INTERFACE $<INSTALL_INTERFACE:lithe::shared>)
    endif()
  endif()
  add_library(lithe::${export_name} ALIAS ${target})

  set_target_properties(${target} PROPERTIES EXPORT_NAME ${export_name})
  target_compile_features(${target} ${scope} cxx_std_20)
  target_link_libraries(${target} ${scope} ${room_DEPENDS})
  target_sources(${target} ${scope}
    FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR} FILES ${headers}
  )
  if(LITHE_INSTALL)
    install(TARGETS ${target} EXPORT lithe COMPONENT library FILE_SET HEADERS COMPONENT library)
  endif()

  if(LITHE_CHECK_HEADERS)
    lithe_check_headers(${name} ${target})
  endif()

  if(sources AND lithe_levels)
    if(room_LIGHT)
      list(TRANSFORM room_HEAVY PREPEND ${PROJECT_SOURCE_DIR}/lithe/${name}/)
      set(heavy ${room_HEAVY})
      list(REMOVE_ITEM sources ${heavy} "")
      lithe_room_objects(${target} ${lithe_light_level} TRUE ${sources})
    else()
      set(heavy ${sources})
    endif()
    if(heavy)
      foreach(level IN LISTS lithe_levels)
        lithe_room_objects(${target} ${level} FALSE ${heavy})
      endforeach()
    endif()
  endif()
endfunction()

# Compiles each header of a room alone, public or not, with all warnings: the target check_headers does it for all rooms.
function(lithe_check_headers name target)
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/lithe/${name}/*.h)
  foreach(header IN LISTS headers)
    set(alone ${CMAKE_CURRENT_BINARY_DIR}/headers/${header}.cpp)
    file(CONFIGURE OUTPUT ${alone} CONTENT "#include \"${header}\"\n" @ONLY)
    list(APPEND sources_alone ${alone})
  endforeach()
  add_library(${target}_headers OBJECT EXCLUDE_FROM_ALL ${sources_alone})
  target_link_libraries(${target}_headers PRIVATE ${target} ${room_USES} lithe_flags)
  if(NOT TARGET check_headers)
    add_custom_target(check_headers)
  endif()
  add_dependencies(check_headers ${target}_headers)
endfunction()

# Objects of a room for one level, with what the calling lithe_room() was given.
function(lithe_room_objects target level light)
  set(objects ${target}_${level})
  set(where lithe_objects_${level})
  if(light)
    set(objects ${target}_light)
    set(where lithe_light_objects)
  endif()
  add_library(${objects} OBJECT ${ARGN})
  target_link_libraries(${objects} PRIVATE ${target} ${room_USES})
  target_compile_options(${objects} PRIVATE -march=${level} -mtune=generic)
  lithe_compile_room(${objects} ${level} ${light})
  set_property(GLOBAL APPEND PROPERTY ${where} ${objects})
  set_property(GLOBAL APPEND PROPERTY lithe_uses ${room_USES})
endfunction()

# lithe_find_by_relative_paths(<targets>...): ccache finds what they compile in other folders of builds, too.
function(lithe_find_by_relative_paths)
  if(lithe_room_launcher)
    set_target_properties(${ARGN} PROPERTIES CXX_COMPILER_LAUNCHER "${lithe_room_launcher}")
  endif()
endfunction()

# How the sources of a room are compiled, with the macros that the calling lithe_room() was given.
function(lithe_compile_room target level light)
  target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:lithe_flags>)
  target_compile_definitions(${target} PRIVATE ${room_DEFINES})
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  if(light)
    lithe_compile_quickly(${target})
  endif()
  lithe_find_by_relative_paths(${target})
  lithe_unity(${target})
  lithe_room_headers("${level}" "${light}")
  lithe_precompile(${target} REUSE_FROM ${host})
endfunction()

# Sets `host` to a target that does nothing but precompile headers, for all rooms of a level that are (or are not) light: these are compiled
# alike, but for what each of them USES.
macro(lithe_room_headers level light)
  set(host lithe_room_headers)
  if("${light}")
    string(APPEND host _light)
  endif()
  if(NOT "${level}" STREQUAL "")
    string(APPEND host _${level})
  endif()
  if(NOT TARGET ${host})
    file(CONFIGURE OUTPUT ${host}.cpp CONTENT "" @ONLY)
    add_library(${host} OBJECT ${CMAKE_CURRENT_BINARY_DIR}/${host}.cpp)
    target_compile_features(${host} PRIVATE cxx_std_20)
    # Not linked with lithe_core, which is one of the rooms.
    target_link_libraries(${host} PRIVATE Eigen3::Eigen fmt::fmt $<BUILD_INTERFACE:lithe_flags>)
    target_compile_definitions(${host} PRIVATE $<TARGET_PROPERTY:lithe_core,INTERFACE_COMPILE_DEFINITIONS>)
    set_target_properties(${host} PROPERTIES POSITION_INDEPENDENT_CODE ON)
    lithe_find_by_relative_paths(${host})
    if(NOT "${level}" STREQUAL "")
      target_compile_options(${host} PRIVATE -march=${level} -mtune=generic)
    endif()
    if("${light}")
      lithe_compile_quickly(${host})
    endif()
    lithe_precompile(${host} ${lithe_common_headers})
  endif()
endmacro()

# lithe_shared_library()
#
# Makes liblithe.so of all rooms, once per level of LITHE_LEVELS. They lie in folders of which the dynamic loader takes the best that the
# processor can run (glibc-hwcaps, since glibc 2.33). lithe_shared is the first of them, which programs are linked with. Installed, that one
# is in the folder above: a program that is linked with it there looks there, and so in all of these folders.
function(lithe_shared_library)
  get_property(uses GLOBAL PROPERTY lithe_uses)
  list(REMOVE_DUPLICATES uses)
  get_property(light GLOBAL PROPERTY lithe_light_objects)
  foreach(level IN LISTS lithe_levels)
    set(library lithe_shared_${level})
    add_library(${library} SHARED)
    get_property(objects GLOBAL PROPERTY lithe_objects_${level})
    # The light ones come last: of inline functions that several objects have, the linker keeps the first, which is the level's own.
    target_link_libraries(${library} PRIVATE ${objects} ${light} ${uses} Eigen3::Eigen fmt::fmt Threads::Threads)
    # A program's own copies of inline functions, compiled for the lowest level, shall not replace those of the library.
    target_link_options(${library} PRIVATE LINKER:-Bsymbolic LINKER:--no-undefined)
    set_target_properties(${library} PROPERTIES
      OUTPUT_NAME lithe
      SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
      LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/levels/glibc-hwcaps/${level}
      INSTALL_RPATH ""
    )
    if(NOT TARGET lithe_shared)
      add_library(lithe_shared ALIAS ${library})
      set_target_properties(${library} PROPERTIES EXPORT_NAME shared)
      set(rule EXPORT lithe LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library)
    else()
      set(rule LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/glibc-hwcaps/${level} COMPONENT library NAMELINK_SKIP)
    endif()
    if(LITHE_INSTALL)
      install(TARGETS ${library} ${rule})
    endif()
    if(LITHE_BUILD_PYTHON)
      install(TARGETS ${library} LIBRARY DESTINATION lithe/lib/glibc-hwcaps/${level} COMPONENT python NAMELINK_SKIP)
    endif()
  endforeach()
endfunction()
