#pragma once

#include <vector>

#include "lithe/model/model.h"
#include "lithe/simd/lanes.h"

namespace lithe {

// Where everything is and how it moves, at (q, v). Computed by kinematics(); everything else in this room
// starts from it.
//
// Per DoF (see DofTree for slots): spatial vectors are angular first, in world axes, about the *tree's origin*,
// which is the root body's origin at this q. It counts as fixed when something is differentiated. Far from the
// world's origin nothing is lost, and sums over bodies need no transforms.
struct Kinematics {
  // One joint frame per slot, z along the joint axis: columns of R and the place p, relative to the tree's
  // origin. A ball's three slots hold the same frame; unused slots hold zeros.
  struct JointFrame {
    Pack x, y, z, p;
  };
  std::vector<JointFrame, CacheAligned<JointFrame>> frames;
  std::vector<Vec3> origin;  // per tree, in the world

  Lanes<12> R_p;      // the same frames, lane by lane: columns x, y, z of R, then p
  Lanes<6> S;         // motion axis of each DoF
  Lanes<6> V;         // velocity behind the DoF's joint
  Lanes<6> V_parent;  // velocity before it
  Lanes<6> Psi_dot;   // V_parent × S: how S moves with what it is mounted on
  Lanes<10> I;        // link inertias: m, m·c, I about the tree's origin
  Lanes<1> v;         // the velocity, by slot

  Lanes<1> sine, cosine;  // of the joint angles; 0 and 1 where there is none

  LayoutStamp layout;
  bool at_rest = false;  // everything that v multiplies is zero
};

// q and v are checked: sizes, finite, no zero quaternion. Without v, at rest.
void kinematics(const Model& model, const ConstVecRef& q, const ConstVecRef& v, Kinematics& out);
void kinematics(const Model& model, const ConstVecRef& q, Kinematics& out);

// A point that rides behind `slot`'s joint, given in the joint's frame: where it is, relative to the tree's origin.
Vec3 place_in_tree(const Kinematics& kin, int slot, const Vec3& in_joint_frame);

}  // namespace lithe
