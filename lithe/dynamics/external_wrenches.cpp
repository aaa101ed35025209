#include "lithe/dynamics/external_wrenches.h"

#include <Eigen/Geometry>

#include <cmath>

#include "lithe/core/check.h"
#include "lithe/dynamics/kinematics.h"

namespace lithe {

namespace {

struct PlacedWrench {
  int slot;  // −1: on a fixed body
  Vec3 p;    // the body's origin, relative to the tree's
  Vec6 about_tree_origin;
};

PlacedWrench place(const Model& model, const Kinematics& kin, const ExternalWrench& w) {
  LITHE_CHECK(w.body.valid() && static_cast<std::size_t>(w.body) < model.bodies().size(),
              "an external wrench acts on body index {}, but the model has {} bodies", static_cast<int>(w.body),
              model.bodies().size());
  for (int k = 0; k < 6; ++k) {
    LITHE_CHECK(std::isfinite(w.wrench[k]), "entry {} of the external wrench on body '{}' is {}; it must be finite", k,
                model.bodies()[w.body].name, w.wrench[k]);
  }
  const DofTree::BodyPlace& at = model.tree().bodies[w.body];
  if (at.slot < 0) return {-1, Vec3::Zero(), Vec6::Zero()};
  const Vec3 p = place_in_tree(kin, at.slot, at.X_JB.p);
  Vec6 F = w.wrench;
  F.head<3>() += p.cross(w.wrench.tail<3>());
  return {at.slot, p, F};
}

}  // namespace

void subtract_wrenches(const Model& model, const Kinematics& kin, const ExternalWrenches& wrenches, Lanes<6>& F) {
  for (const ExternalWrench& wrench : wrenches) {
    const PlacedWrench placed = place(model, kin, wrench);
    if (placed.slot < 0) continue;
    for (int k = 0; k < 6; ++k) F.at(k, placed.slot) -= placed.about_tree_origin[k];
  }
}

void wrench_derivatives(const Model& model, const Kinematics& kin, const ExternalWrenches& wrenches, Lanes<18>& T,
                        Lanes<6>& sum) {
  T.set_zero();
  sum.set_zero();
  for (const ExternalWrench& wrench : wrenches) {
    const PlacedWrench placed = place(model, kin, wrench);
    if (placed.slot < 0) continue;
    // A DoF moves the origin by ω × p + v, and the moment p × f by that × f.
    const Mat3 f = skew(wrench.wrench.tail<3>());
    Eigen::Matrix<double, 3, 6> upper;
    upper << f * skew(placed.p), -f;
    for (int r = 0; r < 3; ++r) {
      for (int c = 0; c < 6; ++c) T.at(6 * r + c, placed.slot) += upper(r, c);
    }
    for (int k = 0; k < 6; ++k) sum.at(k, placed.slot) += placed.about_tree_origin[k];
  }
}

}  // namespace lithe
