# lithe_precompile(<target> <headers>...)
# lithe_precompile(<target> REUSE_FROM <other target>)
#
# Compiles headers of other libraries once for all sources of a target, or of several targets that are compiled alike; never
# ours, since each change of them would compile everything anew. Sources include what they use all the same: other compilers
# than gcc, and the presets for debugging, go without. Targets that share them must be compiled at the same level of optimisation: gcc 12
# takes the level from the precompiled header, whatever the command line says.
function(lithe_precompile target)
  if(CMAKE_DISABLE_PRECOMPILE_HEADERS OR NOT CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    return()
  endif()
  if(ARGV1 STREQUAL REUSE_FROM)
    target_precompile_headers(${target} REUSE_FROM ${ARGV2})
  else()
    target_precompile_headers(${target} PRIVATE ${ARGN})
  endif()
  target_compile_options(${target} PRIVATE
    -fpch-preprocess # ccache asks for it
    # Of a precompiled header gcc 12 forgets that it is the system's, and warns about copies inside of std::string.
    -Wno-restrict -Wno-stringop-overflow -Wno-stringop-overread
  )
endfunction()

# What nearly every source of Lithe includes.
set(lithe_common_headers
  <Eigen/Core> <Eigen/Geometry> <fmt/format.h>
  <algorithm> <array> <cmath> <functional> <limits> <memory> <optional> <span> <string> <string_view> <unordered_map> <utility> <vector>
)

# lithe_unity(<targets>...)
#
# Compiles the sources of a target in batches, each as one: what headers and templates cost is paid once for all of a batch. Names in
# anonymous namespaces are therefore different within a folder. `cmake -D LITHE_UNITY=OFF` compiles file by file, which is quicker for who
# changes one again and again.
function(lithe_unity)
  if(LITHE_UNITY)
    set_target_properties(${ARGN} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 16)
  endif()
endfunction()
