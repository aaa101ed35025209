# lithe_flags: how Lithe's own targets are compiled. Link it as $<BUILD_INTERFACE:lithe_flags>, so
# that it reaches no one who uses the installed library.
add_library(lithe_flags INTERFACE)

# The processor that code is made for: with LITHE_LEVELS each room has its own, and programs are made for any.
set(lithe_arch "${LITHE_ARCH}")
if(lithe_levels)
  set(lithe_arch "")
elseif(NOT lithe_arch AND LITHE_NATIVE)
  set(lithe_arch native)
endif()

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
  # Lets gcc's heap grow to 1 GiB (in KiB) before it looks for garbage, of which templates leave little: a tenth to a fifth quicker, for
  # a sixth more memory.
  $<$<CXX_COMPILER_ID:GNU>:--param=ggc-min-heapsize=1048576>

  # Never fast-math. These three change no result, except that a*b+c may be rounded once instead
  # of twice; NaN, infinities, signed zeros and the order of sums stay as written.
  -ffp-contract=fast -fno-math-errno -fno-trapping-math
  # Nobody replaces functions of ours at run time, so they may be inlined in position-independent code too (which is clang's default).
  $<$<CXX_COMPILER_ID:GNU>:-fno-semantic-interposition>

  # With -march=native gcc 12 would also schedule for AMD's newer cores, which costs the dynamics kernels three to eight per cent.
  $<$<AND:$<BOOL:${lithe_arch}>,$<CONFIG:Release,RelWithDebInfo>>:-march=${lithe_arch}$<$<CXX_COMPILER_ID:GNU>:$<SEMICOLON>-mtune=generic>>
)

# lithe_compile_quickly(<target>): for code in which no time is spent. Not below -O2 where others link it: of Eigen's kernels that several
# objects have, the linker keeps the first, and at -O1 they take twice the time, for whoever calls them.
function(lithe_compile_quickly target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release,RelWithDebInfo>:-O2>)
endfunction()

# lithe_compile_test(<target>): for tests, in which even less is.
function(lithe_compile_test target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release,RelWithDebInfo>:-O1>)
endfunction()

if(LITHE_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES Clang)
    message(FATAL_ERROR "LITHE_FUZZ needs clang (libFuzzer); use: cmake --preset fuzz")
  endif()
  # Directory-wide, since every object must be instrumented; fuzz/ adds libFuzzer's main.
  add_compile_options(-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all)
  add_link_options(-fsanitize=address,undefined)
endif()
