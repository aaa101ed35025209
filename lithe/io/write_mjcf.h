#pragma once

#include <string>
#include <vector>

#include "lithe/model/model.h"

namespace lithe {

// What an MJCF file says and a Model does not.
struct MjcfWriteOptions {
  std::string name = "model";
  double time_step = 2e-3;  // s
};

struct MjcfFile {
  std::string xml;
  std::vector<std::string> warnings = {};  // what MJCF cannot hold, one line per kind
};

// Writes a model as MJCF, with every number in full, so that load_mjcf gives back the same bodies, joints, limits,
// springs, shapes, loops and motors, to rounding.
//
//   joints    all of a body's joints stand in it, from the parent outwards; a free joint (named as free_joint() names it, in
//             the world's frame, without resistance) is a <freejoint>. A screw becomes a hinge and a slide that follows it.
//   shapes    are geoms without mass; a convex mesh is its points. Filters become contype and conaffinity.
//   loops     are <connect> (by sites, where the two points are apart in the neutral pose) and <weld>; mimics are <joint> in
//             <equality>.
//   motors    are <position> and <velocity>; a rigid one gets a large gain.
//   no limit  where a joint has one on its other side is written as 1e12.
//
// A ball joint whose frame is turned against its body's frame changes the meaning of its four numbers in q, since MJCF
// measures them in the body's axes: there is a warning. Restitution, velocity limits, a ball's rest orientation and
// planes on moving bodies are lost, each with a warning.
MjcfFile write_mjcf(const Model& model, const MjcfWriteOptions& options = {});

}  // namespace lithe
