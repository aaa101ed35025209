#pragma once

#include <string>
#include <vector>

#include "lithe/core/index.h"
#include "lithe/spatial/inertia.h"
#include "lithe/spatial/pose.h"

namespace lithe {

// A rigid body. It hangs on its parent by a list of joints; an empty list welds it.
struct Body {
  std::string name;
  SpatialInertia inertia = {};  // in the body frame, about its origin
  // The body frame in the frame of its last joint (after the motion), or in the parent body's frame when the
  // list of joints is empty. Identity for most robots.
  Pose placement = {};
  // Accept an inertia that no real body has (identified models sometimes carry one).
  bool allow_unphysical_inertia = false;

  // Filled in by ModelBuilder::build().
  BodyIndex parent = {};
  std::vector<JointIndex> joints = {};
};

// A named place on a body: a tool tip, a camera, a foot.
struct Frame {
  std::string name;
  Pose placement = {};  // in the body frame

  BodyIndex body = {};  // filled in by ModelBuilder::build()
};

}  // namespace lithe
