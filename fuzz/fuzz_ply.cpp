#include "fuzz/fuzz_mesh.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  lithe::fuzz_mesh(lithe::parse_ply, data, size);
  return 0;
}
