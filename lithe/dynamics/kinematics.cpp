#include "lithe/dynamics/kinematics.h"

#include <Eigen/Geometry>

#include <cmath>

#include "lithe/dynamics/internal/tree_sums.h"
#include "lithe/model/configuration.h"
#include "lithe/simd/internal/pack_trig.h"
#include "lithe/spatial/internal/lane_algebra.h"

namespace lithe {

using namespace internal;

namespace {

using JointFrame = Kinematics::JointFrame;

void resize(const Model& model, Kinematics& kin) {
  if (!kin.layout.changed(model.tree())) return;
  kin.at_rest = false;
  const int slots = model.tree().slot_count;
  kin.frames.assign(slots, JointFrame{});
  kin.origin.resize(model.tree().trees.size());
  kin.R_p.resize(slots);
  kin.S.resize(slots);
  kin.V.resize(slots);
  kin.V_parent.resize(slots);
  kin.Psi_dot.resize(slots);
  kin.I.resize(slots);
  kin.v.resize(slots);
  kin.sine.resize_zero(slots);
  kin.cosine.resize(slots);
}

void sines_and_cosines(const DofTree& tree, const ConstVecRef& q, Kinematics& kin) {
  double largest = 0;
  for (const DofTree::TreeJoint& joint : tree.joints) {
    if (joint.type != JointType::revolute && joint.type != JointType::screw) continue;
    kin.sine.at(0, joint.slot) = q[joint.q_index];
    largest = std::max(largest, std::abs(q[joint.q_index]));
  }
  if (largest <= kPackTrigRange) [[likely]] {
    for (int s = 0; s < tree.slot_count; s += kLanes) {
      const Pack angle = kin.sine.pack(0, s);
      sin_cos(angle, kin.sine.pack(0, s), kin.cosine.pack(0, s));
    }
  } else {
    for (int s = 0; s < tree.slot_count; ++s) {
      const double angle = kin.sine.at(0, s);
      kin.sine.at(0, s) = std::sin(angle);
      kin.cosine.at(0, s) = std::cos(angle);
    }
  }
}

// Four three-vectors, one to a pack, as packs of their x, y and z.
LITHE_INLINE Vector3<Pack> transposed(Pack a, Pack b, Pack c, Pack d) {
  transpose(a, b, c, d);
  return {a, b, c};
}

LITHE_INLINE Pack combine(const JointFrame& frame, const double* c) {
  return frame.x * c[0] + frame.y * c[1] + frame.z * c[2];
}

// The joint's frame from the one it is mounted in: a fixed placement, then the motion along or about z. (Member by
// member: copies of whole frames would go through memory.)
LITHE_INLINE void place_joint(const JointFrame& mount, const DofTree::TreeJoint& joint, const ConstVecRef& q,
                              const Kinematics& kin, JointFrame& out) {
  const double* R = joint.R.data();
  Pack x = combine(mount, R);
  Pack y = combine(mount, R + 3);
  Pack z = combine(mount, R + 6);
  Pack p = mount.p + combine(mount, joint.p.data());
  if (joint.type == JointType::ball) {
    const Mat3 turn = rotation_from_quaternion(q.segment<4>(joint.q_index));
    const double* T = turn.data();
    const Pack x0 = x, y0 = y, z0 = z;
    x = x0 * T[0] + y0 * T[1] + z0 * T[2];
    y = x0 * T[3] + y0 * T[4] + z0 * T[5];
    z = x0 * T[6] + y0 * T[7] + z0 * T[8];
  } else {
    // The sine of a prismatic joint's slot is 0 and its cosine 1; a revolute joint slides by nothing.
    const Pack c = broadcast(kin.cosine.at(0, joint.slot));
    const Pack s = broadcast(kin.sine.at(0, joint.slot));
    const Pack x0 = x;
    x = x0 * c + y * s;
    y = y * c - x0 * s;
    p += z * (joint.slide * q[joint.q_index]);
  }
  out.x = x;
  out.y = y;
  out.z = z;
  out.p = p;
}

LITHE_INLINE void place_joints(const DofTree& tree, int begin, int end, const ConstVecRef& q, Kinematics& kin) {
  const JointFrame world = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {}};
  for (int j = begin; j < end; ++j) {
    const DofTree::TreeJoint& joint = tree.joints[j];
    const JointFrame& mount = joint.parent_slot < 0 ? world : kin.frames[joint.parent_slot];
    place_joint(mount, joint, q, kin, kin.frames[joint.slot]);
    if (joint.type == JointType::ball) kin.frames[joint.slot + 1] = kin.frames[joint.slot + 2] = kin.frames[joint.slot];
  }
}

void joint_frames(const DofTree& tree, const ConstVecRef& q, Kinematics& kin) {
  for (std::size_t t = 0; t < tree.trees.size(); ++t) {
    const DofTree::Tree& part = tree.trees[t];
    place_joints(tree, part.first_joint, part.root_joint_end, q, kin);
    // From here on, places are relative to the root body's.
    const int root_slot = tree.slot[tree.joint_end[tree.joints[part.root_joint_end - 1].dof] - 1];
    const Pack origin = kin.frames[root_slot].p;
    kin.origin[t] = Vec3(origin[0], origin[1], origin[2]);
    for (int s = part.first_slot; s <= root_slot; ++s) kin.frames[s].p -= origin;
    place_joints(tree, part.root_joint_end, part.joint_end, q, kin);
  }
  for (int s = 0; s < tree.slot_count; s += kLanes) {
    const JointFrame* f = &kin.frames[s];
    store_vector(kin.R_p, s, transposed(f[0].x, f[1].x, f[2].x, f[3].x), 0);
    store_vector(kin.R_p, s, transposed(f[0].y, f[1].y, f[2].y, f[3].y), 3);
    store_vector(kin.R_p, s, transposed(f[0].z, f[1].z, f[2].z, f[3].z), 6);
    store_vector(kin.R_p, s, transposed(f[0].p, f[1].p, f[2].p, f[3].p), 9);
  }
}

// S = [turn·z; turn·(p × z) + slide·z]; a ball's columns are its child's x, y and z.
void motion_axes(const DofTree& tree, Kinematics& kin) {
  for (int s = 0; s < tree.slot_count; s += kLanes) {
    const Vector3<Pack> z = load_vector(kin.R_p, s, 6);
    const Vector3<Pack> p = load_vector(kin.R_p, s, 9);
    const Vector3<Pack> w = tree.turn_slide.pack(0, s) * z;
    store(kin.S, s, Motion<Pack>{w, cross(p, w) + tree.turn_slide.pack(1, s) * z});
  }
  for (const int dof : tree.balls) {
    const int s = tree.slot[dof];
    const JointFrame& frame = kin.frames[s];
    const Vec3 p(frame.p[0], frame.p[1], frame.p[2]);
    const Pack columns[3] = {frame.x, frame.y, frame.z};
    for (int c = 0; c < 3; ++c) {
      const Vec3 w(columns[c][0], columns[c][1], columns[c][2]);
      const Vec3 v = p.cross(w);
      for (int k = 0; k < 3; ++k) {
        kin.S.at(k, s + c) = w[k];
        kin.S.at(3 + k, s + c) = v[k];
      }
    }
  }
}

// Each link's inertia turned into world axes and moved to the tree's origin.
void link_inertias(const DofTree& tree, Kinematics& kin) {
  for (int s = 0; s < tree.slot_count; s += kLanes) {
    const Vector3<Pack> x = load_vector(kin.R_p, s, 0), y = load_vector(kin.R_p, s, 3), z = load_vector(kin.R_p, s, 6);
    const Inertia10<Pack> link = load_inertia(tree.link, s);  // link.h is the centre of mass here, not m·c
    const Vector3<Pack> c = load_vector(kin.R_p, s, 9) + link.h.x * x + link.h.y * y + link.h.z * z;
    const Vector3<Pack> h = link.m * c;
    // Columns of R·I, then I_world = (R I) Rᵀ − m [c]×².
    const Vector3<Pack> u = link.xx * x + link.xy * y + link.xz * z;
    const Vector3<Pack> v = link.xy * x + link.yy * y + link.yz * z;
    const Vector3<Pack> w = link.xz * x + link.yz * y + link.zz * z;
    kin.I.pack(0, s) = link.m;
    store_vector(kin.I, s, h, 1);
    kin.I.pack(4, s) = u.x * x.x + v.x * y.x + w.x * z.x + h.y * c.y + h.z * c.z;
    kin.I.pack(5, s) = u.x * x.y + v.x * y.y + w.x * z.y - h.x * c.y;
    kin.I.pack(6, s) = u.x * x.z + v.x * y.z + w.x * z.z - h.x * c.z;
    kin.I.pack(7, s) = u.y * x.y + v.y * y.y + w.y * z.y + h.x * c.x + h.z * c.z;
    kin.I.pack(8, s) = u.y * x.z + v.y * y.z + w.y * z.z - h.y * c.z;
    kin.I.pack(9, s) = u.z * x.z + v.z * y.z + w.z * z.z + h.x * c.x + h.y * c.y;
  }
}

void positions(const Model& model, const ConstVecRef& q, Kinematics& kin) {
  check_configuration(model, q);
  resize(model, kin);
  const DofTree& tree = model.tree();
  sines_and_cosines(tree, q, kin);
  joint_frames(tree, q, kin);
  motion_axes(tree, kin);
  link_inertias(tree, kin);
}

}  // namespace

Vec3 place_in_tree(const Kinematics& kin, int slot, const Vec3& in_joint_frame) {
  const Kinematics::JointFrame& f = kin.frames[slot];
  const Pack p = f.p + combine(f, in_joint_frame.data());
  return Vec3(p[0], p[1], p[2]);
}

void kinematics(const Model& model, const ConstVecRef& q, const ConstVecRef& v, Kinematics& kin) {
  check_tangent(model, v, "v");
  positions(model, q, kin);
  kin.at_rest = false;
  const DofTree& tree = model.tree();
  dofs_to_slots(tree, v.data(), kin.v);
  const Motion<double> at_rest = {};
  sum_outwards(tree, at_rest, [&](int s) { return kin.v.pack(0, s) * load_motion(kin.S, s); }, kin.V_parent, kin.V);
  for (int s = 0; s < tree.slot_count; s += kLanes) {
    store(kin.Psi_dot, s, cross(load_motion(kin.V_parent, s), load_motion(kin.S, s)));
  }
}

void kinematics(const Model& model, const ConstVecRef& q, Kinematics& kin) {
  positions(model, q, kin);
  if (kin.at_rest) return;  // as the last call left it
  kin.at_rest = true;
  kin.v.set_zero();
  kin.V.set_zero();
  kin.V_parent.set_zero();
  kin.Psi_dot.set_zero();
}

}  // namespace lithe
