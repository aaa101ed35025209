#pragma once

#include "lithe/model/model.h"

namespace lithe::internal {

// Puts the joints that follow others (mimics) where these lead them.
void follow_mimics(const Model& model, VecX& q);

// Moves q into the joints' limits. Joints that follow others do so afterwards, which may lead beyond their own limits.
VecX within_limits(const Model& model, VecX q);

// A fixed sequence of poses within the limits, to see what a robot's links do in most of them.
//
// Each joint is uniform between its limits (±π rad or ±1 m where it has none), independently of the others. Balls are
// uniform over all rotations. Joints that follow others do so. What floats stays where it is, and loops are open. The
// numbers are hashes of the joint's index and the pose's number, made of integers, so that they are the same on every
// machine. (Halton's sequence would need a prime per joint, and its first 32 points cover only 32/p of the range of a
// joint with prime p, all joints marching in step.)
class SampledPoses {
 public:
  // `base` is a configuration of the model. What floats keeps its place from there.
  SampledPoses(const Model& model, VecX base);

  // Pose `number` of the sequence; valid until the next call.
  const VecX& pose(int number);

 private:
  const Model& model_;
  VecX q_;
  std::vector<char> held_;  // per joint
};

}  // namespace lithe::internal
