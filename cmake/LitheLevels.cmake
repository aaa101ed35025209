# lithe_levels: the levels of x86-64 that LITHE_LEVELS asks for, as a list; empty where the rooms are libraries of their own.
# lithe_light_level: the level of what is compiled once for all of them.

# The best level that this machine's processor has, as its compiler knows it; empty on other machines and below x86-64-v2.
function(lithe_find_best_level variable)
  execute_process(
    COMMAND ${CMAKE_CXX_COMPILER} -march=native -dM -E -x c++ /dev/null
    OUTPUT_VARIABLE macros ERROR_QUIET RESULT_VARIABLE status
  )
  set(best "")
  if(status EQUAL 0 AND macros MATCHES "__x86_64__")
    # What a level adds to the one below it, of what compilers tell.
    set(x86-64-v2_adds SSE4_2 SSSE3 POPCNT)
    set(x86-64-v3_adds AVX2 FMA BMI BMI2 F16C LZCNT MOVBE)
    set(x86-64-v4_adds AVX512F AVX512BW AVX512CD AVX512DQ AVX512VL)
    foreach(level x86-64-v2 x86-64-v3 x86-64-v4)
      set(has_all TRUE)
      foreach(feature IN LISTS ${level}_adds)
        if(NOT macros MATCHES "#define __${feature}__ ")
          set(has_all FALSE)
        endif()
      endforeach()
      if(NOT has_all)
        break()
      endif()
      set(best ${level})
    endforeach()
  endif()
  set(${variable} "${best}" PARENT_SCOPE)
endfunction()

set(lithe_levels ${LITHE_LEVELS})
if(LITHE_LEVELS STREQUAL "best")
  set(lithe_levels "")
  if(LITHE_NATIVE AND NOT LITHE_ARCH) # who asks for another processor gets that
    lithe_find_best_level(lithe_levels)
  endif()
endif()
set(lithe_light_level "")
if(lithe_levels)
  list(GET lithe_levels 0 lithe_light_level)
  # The same in all builds, so that ccache has compiled it for the next one.
  if(lithe_light_level MATCHES "^x86-64-v[34]$")
    set(lithe_light_level x86-64-v2)
  endif()
endif()
