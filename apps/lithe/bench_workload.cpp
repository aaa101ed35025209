#include "apps/lithe/bench_workload.h"

#include <random>
#include <string_view>

#include "lithe/core/check.h"
#include "lithe/scenes/paper/jump_worm.h"

namespace lithe::cli {

namespace {

std::string_view without_size(std::string_view name) { return name.substr(0, name.find(':')); }

Scene measured_scene(const std::string& name, const SceneOptions& files) {
  return name == "jump_worm" ? touching_jump_worm() : find_scene(name, files);
}

int steps_before(std::string_view name) {
  if (without_size(name) == "half_cheetah") return 1;
  if (without_size(name) == "catapult") return 250;
  if (without_size(name) == "chain") return 50;
  return 0;
}

VecX random_vector(int size, std::mt19937_64& random) {
  std::uniform_real_distribution<double> uniform(-1, 1);
  return VecX::NullaryExpr(size, [&] { return uniform(random); });
}

}  // namespace

BenchWorkload::BenchWorkload(const std::string& name, int after, const SceneOptions& files)
    : name_(name), scene_(measured_scene(name, files)) {
  options_.time_step = scene_.time_step;
  control_.motor_targets = scene_.motor_targets;
  state_ = {.q = scene_.q, .v = scene_.v};
  const int before = after < 0 ? steps_before(name) : after;
  for (int i = 0; i < before; ++i) {
    step();
    LITHE_CHECK(record_.status.solved(), "{}: step {} was not solved", name_, i + 1);
    state_ = record_.next;
  }
  step();
  LITHE_CHECK(record_.status.solved(), "{}: the step to be measured was not solved", name_);

  std::mt19937_64 random(1);
  const int nv = dofs();
  by_next_ = {.q = random_vector(nv, random), .v = random_vector(nv, random)};
  direction_ = {.q = random_vector(nv, random), .v = random_vector(nv, random), .tau = random_vector(nv, random)};
  jacobians(StepBlocks::state);
}

}  // namespace lithe::cli
