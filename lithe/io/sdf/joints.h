#pragma once

#include <string>
#include <vector>

#include "lithe/io/sdf/contents.h"
#include "lithe/model/model_builder.h"

namespace lithe::internal {

// A joint as it is written: which links it connects, and of which primitive joints it consists.
struct SdfJoint {
  // A <mimic>: one axis of this joint follows one of another joint.
  struct Follows {
    std::string follower;  // primitive joint
    int leader = 0;        // index into SdfContents::joints
    int leader_axis = 0;
    Mimic mimic = {};
    SourcePlace place = {};
  };

  int frame = 0;
  int parent = 0;  // frames of links, or 0 for the world
  int child = 0;
  JointList joints = {};  // axes in the joint's frame, placements still the identity; empty: fixed
  bool in_use = true;     // false: a kind that is left out
  std::vector<Follows> follows = {};

  bool is_fixed() const { return joints.empty(); }
  bool is_ball() const { return joints.size() == 1 && joints[0].type == JointType::ball; }
};

// Reads a <joint>. The frames must have been resolved.
SdfJoint read_sdf_joint(SdfContext& context, const SdfContents& contents, const SdfContents::Joint& joint);

// The same joint seen from its child, so that the child can be the inner body. q keeps its meaning, but a ball's q
// becomes the inverse rotation.
JointList reversed(const JointList& joints);

}  // namespace lithe::internal
