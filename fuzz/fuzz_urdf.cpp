#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "lithe/core/check.h"
#include "lithe/io/load.h"
#include "lithe/io/write_urdf.h"
#include "lithe/model/configuration.h"

// Bytes become a URDF: as they are, or inside <robot>…</robot>, where most of a mutation's effect lies. It is
// refused with a LoadError that names the file, or gives a model; and such a model, written and read again, has as many
// degrees of freedom and shapes.
namespace lithe {
namespace {

void require(bool condition, std::string_view what) {
  if (condition) return;
  fmt::print(stderr, "fuzz_urdf: {}\n", what);
  std::abort();
}

LoadOptions bounded(bool strict) {
  LoadOptions options;
  options.strict = strict;
  options.limits = LoadLimits::untrusted();
  options.limits.bodies = 1000;
  options.limits.elements = 10'000;
  return options;
}

// Nothing so large or so small that rounding takes it beyond what a URDF may say.
bool is_moderate(const Model& model) {
  constexpr double kLarge = 1e5, kSmall = 1e-5;
  for (const Body& body : model.bodies()) {
    const SpatialInertia& I = body.inertia;
    if (!(I.parameters().cwiseAbs().maxCoeff() < kLarge) || (I.mass > 0 && I.mass < kSmall)) return false;
    if (!(body.placement.p.norm() < kLarge) || !(I.centre().norm() < kLarge)) return false;
  }
  return true;
}

void read_again(const LoadedModel& loaded) {
  const UrdfFile file = write_urdf(loaded.model, {.name = loaded.name, .visuals = loaded.visuals});
  if (!file.meshes.empty()) return;  // which would have to be on the disk
  const LoadedModel again = load_text(file.xml, "written.urdf");
  require(again.model.nv() == loaded.model.nv(), "written and read again it has other degrees of freedom");
  require(again.model.shapes().size() == loaded.model.shapes().size(), "written and read again it has other shapes");
}

void fuzz(std::string_view text, bool strict) {
  try {
    const LoadedModel loaded = load_text(text, "/nonexistent/robot.urdf", bounded(strict));
    require(loaded.q.size() == loaded.model.nq() && loaded.q.allFinite(), "the state does not fit the model");
    require(!strict || loaded.warnings.empty(), "a strict reading has warnings");
    if (is_moderate(loaded.model)) read_again(loaded);
  } catch (const LoadError& error) {
    const std::string_view what = error.what();
    require(what.starts_with("/nonexistent/robot.urdf"), what);
  }
}

}  // namespace
}  // namespace lithe

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const bool strict = data[0] & 1, wrapped = data[0] & 2;
  lithe::fuzz(wrapped ? fmt::format("<robot name=\"r\">{}</robot>", bytes) : std::string(bytes), strict);
  return 0;
}
