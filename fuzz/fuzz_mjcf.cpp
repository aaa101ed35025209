#include <fmt/format.h>

#include <cstdlib>
#include <string_view>

#include "lithe/io/load.h"
#include "lithe/io/write_mjcf.h"

// Bytes are read as MJCF. The reader gives a model or a LoadError that names the place; and what write_mjcf() makes of a model that it
// accepts without loss is accepted again, with as many bodies.
namespace {

void require(bool condition, const char* what) {
  if (condition) return;
  fmt::print(stderr, "fuzz_mjcf: {}\n", what);
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lithe;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  LoadOptions bounded;
  bounded.limits = LoadLimits::untrusted();
  try {
    const LoadedModel loaded = load_text(text, "/nowhere/fuzz.xml", bounded);
    require(loaded.q.size() == loaded.model.nq() && loaded.q.allFinite(), "an initial state that does not fit");
    for (const Keyframe& key : loaded.keyframes) {
      require(key.q.size() == loaded.model.nq() && key.v.size() == loaded.model.nv(), "a keyframe that does not fit");
    }
    const MjcfFile file = write_mjcf(loaded.model);
    if (!file.warnings.empty()) return 0;
    const LoadedModel again = load_text(file.xml, "/nowhere/again.xml", bounded);
    require(again.model.bodies().size() == loaded.model.bodies().size(), "bodies that were not written");
    require(again.model.nq() == loaded.model.nq(), "joints that were not written");
  } catch (const LoadError& error) {
    require(std::string_view(error.what()).find(": error: ") != std::string_view::npos, "an error without a place");
    require(error.place().file != "/nowhere/again.xml", error.what());
  }
  return 0;
}
