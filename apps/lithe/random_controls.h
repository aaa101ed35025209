#pragma once

#include <cstdint>
#include <random>

#include "lithe/model/model.h"

namespace lithe::cli {

// Forces for every DoF, drawn anew at each step: uniform within ± the joint's effort limit. Where a joint has none,
// within ± a tenth of the weight of all that it carries (at 9.81 m/s²), taken as newtons or newton metres.
//
// The same seed gives the same forces on every machine.
class RandomControls {
 public:
  RandomControls(const Model& model, std::uint64_t seed);

  const VecX& next();

 private:
  VecX limit_;
  VecX tau_;
  std::mt19937_64 random_;
};

// Targets for every motor, drawn anew at each step: uniform within the limits of its joint for a position, within ± its velocity limit for a
// velocity. A motor whose joint has no such limits keeps the target it is given.
class RandomTargets {
 public:
  RandomTargets(const Model& model, VecX targets, std::uint64_t seed);

  const VecX& next();

 private:
  VecX lower_, upper_;
  VecX targets_;
  std::mt19937_64 random_;
};

}  // namespace lithe::cli
