#pragma once

#include <string>
#include <vector>

#include "lithe/model/model.h"

namespace lithe::bench {

// The model as MuJoCo's XML, so that both engines step the same thing: the same bodies, inertias, joints with their
// springs, dampers, armatures and limits, and the same shapes. There is room for max_contacts contacts; everything else is
// left at MuJoCo's defaults.
//
// DoFs keep their order and meaning, so v is the same vector in both. What MuJoCo has no equal of (screws, motors' laws,
// loops, filters that two shapes read differently) is an Error: this writes benchmarks, it converts no robots.
std::string to_mjcf(const Model& model, double time_step, int max_contacts);

// q in MuJoCo's layout: a free root is its position and then its quaternion, scalar first.
std::vector<double> mujoco_positions(const Model& model, const VecX& q);

}  // namespace lithe::bench
