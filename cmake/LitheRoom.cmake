# lithe_room(<name> DEPENDS <targets>...)
#
# One room of the library: lithe/<name>/*.cpp becomes the target lithe_<name>, alias lithe::<name>.
# Its headers, beside the sources, are included as "lithe/<name>/x.h". A room without sources is an
# INTERFACE library. What DEPENDS names is all that a room can see, so a wrong link is impossible.
function(lithe_room name)
  cmake_parse_arguments(PARSE_ARGV 1 room "" "" DEPENDS)
  set(target lithe_${name})
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/lithe/${name}/*.cpp)
  file(GLOB headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/lithe/${name}/*.h)

  if(sources)
    set(scope PUBLIC)
    add_library(${target} ${sources})
    target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:lithe_flags>)
    set_target_properties(${target} PROPERTIES
      POSITION_INDEPENDENT_CODE ON
      VERSION ${PROJECT_VERSION}
      SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
      INSTALL_RPATH $ORIGIN
    )
    if(lithe_room_launcher)
      set_target_properties(${target} PROPERTIES CXX_COMPILER_LAUNCHER "${lithe_room_launcher}")
    endif()
    lithe_unity(${target})
    # All rooms are compiled alike, so that one set of precompiled headers does for all.
    get_property(first GLOBAL PROPERTY lithe_first_room)
    if(first)
      lithe_precompile(${target} REUSE_FROM ${first})
    else()
      set_property(GLOBAL PROPERTY lithe_first_room ${target})
      lithe_precompile(${target} ${lithe_common_headers})
    endif()
  else()
    set(scope INTERFACE)
    add_library(${target} INTERFACE)
  endif()
  add_library(lithe::${name} ALIAS ${target})

  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
  target_compile_features(${target} ${scope} cxx_std_20)
  target_link_libraries(${target} ${scope} ${room_DEPENDS})
  target_sources(${target} ${scope}
    FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR} FILES ${headers}
  )
  install(TARGETS ${target} EXPORT lithe FILE_SET HEADERS)
endfunction()
