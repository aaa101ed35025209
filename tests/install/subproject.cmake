# cmake -D ... -P subproject.cmake: configures a project that has Lithe inside, in the way that `way` names, and builds and runs a
# program that uses the smallest room.
function(run)
  execute_process(COMMAND ${ARGV} COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
endfunction()

file(REMOVE_RECURSE ${work_dir})
set(build ${work_dir}/build)
run(${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/subproject -B ${build} -G ${generator}
  -D CMAKE_BUILD_TYPE=${config}
  -D CMAKE_CXX_COMPILER=${compiler}
  -D CMAKE_CXX_FLAGS=${flags}
  -D CMAKE_DISABLE_PRECOMPILE_HEADERS=ON # they are for many sources
  -D WAY=${way}
  -D LITHE=${source_dir}
)
run(${CMAKE_COMMAND} --build ${build} --config ${config} --target core)
execute_process(COMMAND ${build}/core OUTPUT_VARIABLE printed OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
if(NOT printed STREQUAL "lithe ${version}")
  message(FATAL_ERROR "the program printed ${printed}, not lithe ${version}")
endif()

# Flags of Lithe's own targets do not reach the program; those that it needs of Eigen do.
file(READ ${build}/compile_commands.json commands)
string(REGEX MATCH "[^\n]*-c [^\n]*/core\\.cpp" command "${commands}")
foreach(flag -march -ffp-contract -Wpedantic)
  if(NOT command OR command MATCHES " ${flag}")
    message(FATAL_ERROR "${flag} reached the program around Lithe: ${command}")
  endif()
endforeach()
if(NOT command MATCHES EIGEN_MAX_ALIGN_BYTES)
  message(FATAL_ERROR "the program does not align Eigen's matrices as the library does: ${command}")
endif()

# What is installed is the project's alone.
run(${CMAKE_COMMAND} --install ${build} --prefix ${work_dir}/prefix --config ${config})
file(GLOB_RECURSE installed RELATIVE ${work_dir}/prefix ${work_dir}/prefix/*)
if(NOT installed STREQUAL "bin/core")
  message(FATAL_ERROR "the project around Lithe installs: ${installed}")
endif()
