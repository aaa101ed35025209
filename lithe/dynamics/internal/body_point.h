#pragma once

#include "lithe/dynamics/internal/slot_vectors.h"
#include "lithe/dynamics/inverse_dynamics.h"

namespace lithe::internal {

// A point that rides on a body. It is all that the motion of a body (its origin), of a frame (its origin) and of
// any other point have in common, so whatever is asked about those is computed for this.
struct BodyPoint {
  int dof;            // the last DoF that moves it; −1: the body is fixed in the world
  int slot;           // of that DoF
  Vector3<double> p;  // relative to the tree's origin; on a fixed body, in the world
};

// Both refuse an index out of range, and a Kinematics of another model.
BodyPoint body_point(const Model& model, const Kinematics& kin, BodyIndex body, const Vec3& p_B = Vec3::Zero());
BodyPoint frame_point(const Model& model, const Kinematics& kin, FrameIndex frame);

// Fills a matrix of nv columns: column(slot), a motion [angular; linear], for every DoF that moves the point, zero
// for the others. With three rows it takes the linear parts. A ball's three DoFs follow one another on the way up to
// the root, so all three are visited.
template <int Rows, class Column>
void fill_columns(const Model& model, const BodyPoint& point, Eigen::Matrix<double, Rows, Eigen::Dynamic>& out,
                  Column column) {
  const DofTree& tree = model.tree();
  out.setZero(Rows, tree.nv);
  for (int dof = point.dof; dof >= 0; dof = tree.parent[dof]) {
    out.col(dof) = to_eigen(column(tree.slot[dof])).template tail<Rows>();
  }
}

// The rotation of the (z-aligned) joint frame behind a slot, in the world.
Mat3 joint_rotation(const Kinematics& kin, int slot);

// [ω; velocity of the point], world axes.
inline Motion<double> velocity_at(const Kinematics& kin, const BodyPoint& point) {
  return point.slot < 0 ? Motion<double>{} : moved_to(motion_at(kin.V, point.slot), point.p);
}

void check_body(const Model& model, BodyIndex body);

}  // namespace lithe::internal
