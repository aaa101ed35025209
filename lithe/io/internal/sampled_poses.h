#pragma once

#include "lithe/model/model.h"

namespace lithe::internal {

// Puts joints that follow others where these lead them.
void follow_mimics(const Model& model, VecX& q);

// q moved into the joints' limits; joints that follow others do so, which may lead beyond their own.
VecX within_limits(const Model& model, VecX q);

// A fixed sequence of poses within the limits, to see what a robot's links do in most of them.
//
// Each joint is uniform between its limits (without them: ±π rad, ±1 m), independent of the others; balls are uniform over all rotations;
// joints that follow others do so. What floats stays where it is, and loops are open. The numbers are hashes of the joint's index and the
// pose's, made of integers: the same on every machine. (Halton's sequence would need a prime per joint, and its first 32 points cover
// only 32/p of the range of a joint with prime p, all joints marching in step.)
class SampledPoses {
 public:
  // `base`: where the floating roots are.
  SampledPoses(const Model& model, VecX base);

  // Pose `number` of the sequence; valid until the next call.
  const VecX& pose(int number);

 private:
  const Model& model_;
  VecX q_;
  std::vector<char> held_;  // per joint
};

}  // namespace lithe::internal
