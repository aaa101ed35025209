#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "apps/lithe/gradcheck_report.h"
#include "apps/lithe/held_motion.h"
#include "lithe/scenes/scene.h"
#include "lithe/scenes/world.h"
#include "lithe/step/gradcheck.h"

namespace lithe::cli {

struct GradcheckSettings {
  long samples = 100;
  long only = -1;  // this sample alone
  std::uint64_t seed = 1;
  int parameters = 8;  // per sample
  int steps = 300;     // a sample is one of the first so many steps of a motion
  double tolerance = 1e-5;
  double seconds = 20;  // after so many no further sample is begun, and one under way is given up
  bool settled =
      true;  // motions begin at rest (HeldMotion); else in the scene's state, under forces drawn anew at each step
};

// Draws steps of a scene and compares their derivatives with differences.
//
// A sample depends on the scene, the settings and its own number, but not on how many there are or how fast the machine is: time only
// decides how many samples there are.
class GradcheckSampler {
 public:
  GradcheckSampler(const Scene& scene, const GradcheckSettings& settings);

  // With somebody who has brought the robot to rest already.
  GradcheckSampler(const Scene& scene, const GradcheckSettings& settings, HeldMotion motion);

  // `watch` is called often, with the number of samples that are done (−1 while the robot comes to rest); where it says true,
  // that is the end.
  void run(GradcheckReport& report, const std::function<bool(long done)>& watch = {});

 private:
  // False where time was up, or `watch` said so, before that was done.
  bool settle(GradcheckReport& report);
  bool add(long sample, GradcheckReport& report);
  bool move_from_rest(std::mt19937_64& random);
  bool move_from_start(std::mt19937_64& random);
  std::vector<std::string> some_parameters(std::mt19937_64& random) const;

  const Scene& scene_;
  GradcheckSettings settings_;
  std::optional<HeldMotion> motion_;
  bool at_rest_ = false;
  StepRecord record_;  // the sample's step
  std::vector<std::string> names_;
  Gradcheck checker_;
  std::function<bool()> stop_;
};

}  // namespace lithe::cli
