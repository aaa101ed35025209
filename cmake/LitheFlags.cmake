# lithe_flags: how Lithe's own targets are compiled. Link it as $<BUILD_INTERFACE:lithe_flags>, so
# that it reaches no one who uses the installed library.
add_library(lithe_flags INTERFACE)

target_compile_options(lithe_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion
  -Wnon-virtual-dtor -Woverloaded-virtual
  $<$<BOOL:${LITHE_WERROR}>:-Werror>
  # Packs never cross a call that is not inlined, so how they would be passed does not matter.
  $<$<CXX_COMPILER_ID:Clang,AppleClang>:-Wno-psabi>
  # gcc 12's own AVX-512 headers trip these warnings (gcc bug 105593), at every use of Eigen; clang watches instead.
  $<$<CXX_COMPILER_ID:GNU>:-Wno-psabi$<SEMICOLON>-Wno-maybe-uninitialized$<SEMICOLON>-Wno-uninitialized$<SEMICOLON>-Wno-array-bounds>
  # Warns about private parts of a source as soon as that source is included in a batch (lithe_unity).
  $<$<AND:$<CXX_COMPILER_ID:GNU>,$<BOOL:${LITHE_UNITY}>>:-Wno-subobject-linkage>

  # Never fast-math. These three change no result, except that a*b+c may be rounded once instead
  # of twice; NaN, infinities, signed zeros and the order of sums stay as written.
  -ffp-contract=fast -fno-math-errno -fno-trapping-math

  $<$<AND:$<BOOL:${LITHE_NATIVE}>,$<CONFIG:Release,RelWithDebInfo>>:-march=native>
  # All of the machine's instructions, but not gcc 12's scheduling for AMD's newer cores: it costs the dynamics
  # kernels three to eight per cent.
  $<$<AND:$<BOOL:${LITHE_NATIVE}>,$<CONFIG:Release,RelWithDebInfo>,$<CXX_COMPILER_ID:GNU>>:-mtune=generic>
)

if(LITHE_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES Clang)
    message(FATAL_ERROR "LITHE_FUZZ needs clang (libFuzzer); use: cmake --preset fuzz")
  endif()
  # Directory-wide, since every object must be instrumented; fuzz/ adds libFuzzer's main.
  add_compile_options(-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all)
  add_link_options(-fsanitize=address,undefined)
endif()
