#include <fmt/format.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "lithe/io/load.h"
#include "lithe/model/configuration.h"

// Bytes are an SDF file, or else what stands in a model, where most of a mutation's effect lies. Reading it gives a LoadError with a place, or a model whose state fits it; and the same again.
namespace lithe {
namespace {

void require(bool condition, const char* what) {
  if (condition) return;
  fmt::print(stderr, "fuzz_sdf: {}\n", what);
  std::abort();
}

// What came out, in a few words.
std::string outcome(std::string_view text) {
  LoadOptions options;
  // A file of this size needs no more; what is larger only takes longer.
  options.limits = LoadLimits::untrusted();
  options.limits.elements = 20'000;
  options.limits.bodies = 2'000;
  options.limits.total_bytes = std::size_t{1} << 20;
  try {
    const LoadedModel loaded = load_text(text, "fuzz.sdf", options);
    check_configuration(loaded.model, loaded.q);
    check_tangent(loaded.model, loaded.v, "v");
    require(loaded.time_step > 0, "a time step that is not positive");
    for (const LoadWarning& warning : loaded.warnings) {
      require(!warning.text.empty() && warning.place.line > 0, "a warning without text or place");
    }
    return fmt::format("{} bodies, nv {}, {} warnings", loaded.model.bodies().size(), loaded.model.nv(),
                       loaded.warnings.size());
  } catch (const LoadError& error) {
    require(!error.place().file.empty(), "a LoadError without a file");
    return error.what();
  }
}

}  // namespace
}  // namespace lithe

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string text(reinterpret_cast<const char*>(data), size);
  if (text.find("<sdf") == std::string::npos) text = "<sdf version='1.9'><model name='m'>" + text + "</model></sdf>";
  const std::string first = lithe::outcome(text);
  lithe::require(first == lithe::outcome(text), "reading the same file twice gave two results");
  return 0;
}
