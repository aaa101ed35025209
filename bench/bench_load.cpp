// How long robot files take to load, with their meshes and the hulls of these: Atlas (from the folder atlas/ in one of $LITHE_MODELS, left out without), and
// a generated MJCF of a thousand bodies.
#include <benchmark/benchmark.h>

#include <optional>
#include <string>

#include "bench/foreign_files.h"
#include "lithe/collision/collider_set.h"
#include "lithe/io/load.h"

namespace lithe {
namespace {

void load_atlas(benchmark::State& state) {
  const std::optional<std::string> path = bench::foreign_file("atlas/atlas_v3_no_head.urdf");
  if (!path) {
    state.SkipWithError("LITHE_MODELS names no folder with atlas/");
    return;
  }
  for (auto _ : state) {
    const LoadedModel atlas = load(*path, {.cache = false});
    const ColliderSet hulls(atlas.model);
    benchmark::DoNotOptimize(hulls.colliders().size());
  }
}

// A hundred chains of ten links.
std::string thousand_bodies() {
  std::string text = "<mujoco><worldbody>";
  for (int chain = 0; chain < 100; ++chain) {
    for (int link = 0; link < 10; ++link) {
      text +=
          "<body pos=\"0 0 0.2\"><joint axis=\"0 1 0\"/><geom type=\"capsule\" size=\"0.02\" fromto=\"0 0 0 0 0 "
          "0.2\"/>";
    }
    for (int link = 0; link < 10; ++link) text += "</body>";
  }
  return text + "</worldbody></mujoco>";
}

void load_thousand_bodies(benchmark::State& state) {
  const std::string text = thousand_bodies();
  for (auto _ : state) {
    const LoadedModel model = load_text(text, "thousand.xml");
    if (model.model.bodies().size() != 1001) state.SkipWithError("bodies are missing");
    const ColliderSet hulls(model.model);
    benchmark::DoNotOptimize(hulls.colliders().size());
  }
}

BENCHMARK(load_atlas)->Unit(benchmark::kMillisecond);
BENCHMARK(load_thousand_bodies)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace lithe

BENCHMARK_MAIN();
