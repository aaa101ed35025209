#pragma once

#include <string>

#include "lithe/core/index.h"
#include "lithe/spatial/pose.h"

namespace lithe {

// Holds a frame of body a on a frame of body b, and so closes a loop that the tree of joints leaves open.
struct LoopClosure {
  enum class Kind {
    ball,  // the frames' origins coincide: 3 rows
    weld,  // the frames coincide: 6 rows
  };

  std::string name;
  Kind kind = Kind::ball;
  Pose placement_a = {};  // of the frame in body a
  Pose placement_b = {};  // and in body b

  BodyIndex a = {}, b = {};  // filled in by ModelBuilder::build(); either may be the world
};

// Makes a 1-DoF joint follow another: q = multiplier·q_source + offset. A multiplier of 0 locks it at the offset.
struct Mimic {
  std::string name;
  double multiplier = 1;
  double offset = 0;

  JointIndex joint = {}, source = {};  // filled in by ModelBuilder::build()
};

}  // namespace lithe
