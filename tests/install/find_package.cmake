# cmake -D ... -P find_package.cmake: installs build_dir into a fresh prefix under work_dir, then
# configures, builds and runs a program that knows of Lithe only what find_package tells it.
function(run)
  execute_process(COMMAND ${ARGV} COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
endfunction()

file(REMOVE_RECURSE ${work_dir})
set(prefix ${work_dir}/prefix)
set(consumer ${work_dir}/consumer)

run(${CMAKE_COMMAND} --install ${build_dir} --prefix ${prefix} --config ${config})
run(${prefix}/bin/lithe --version)

# The public headers are those that someone has decided on.
file(GLOB_RECURSE installed LIST_DIRECTORIES false RELATIVE ${prefix}/include ${prefix}/include/*)
list(SORT installed)
file(STRINGS ${CMAKE_CURRENT_LIST_DIR}/installed_headers.txt wanted)
set(added ${installed})
list(REMOVE_ITEM added ${wanted})
set(missing ${wanted})
list(REMOVE_ITEM missing ${installed})
if(added OR missing)
  message(FATAL_ERROR "installed headers are not those of tests/install/installed_headers.txt. Not listed: ${added}. Missing: ${missing}")
endif()

run(${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/consumer -B ${consumer} -G ${generator}
  -D CMAKE_PREFIX_PATH=${prefix}
  -D CMAKE_BUILD_TYPE=${config}
  -D CMAKE_CXX_COMPILER=${compiler}
  -D CMAKE_CXX_FLAGS=${flags}
  -D PROGRAMS=${example}
  -D LITHE_VERSION=${version}
)
run(${CMAKE_COMMAND} --build ${consumer} --config ${config})
execute_process(COMMAND ${consumer}/readme_example OUTPUT_VARIABLE printed OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
message(STATUS "${printed}")

# The README says what its example prints.
file(READ ${CMAKE_CURRENT_LIST_DIR}/../../README.md readme)
string(FIND "${readme}" "Both print `${printed}`." found)
if(found EQUAL -1)
  message(FATAL_ERROR "README.md does not say that its example prints: ${printed}")
endif()
