#include "lithe/dynamics/centroidal.h"

#include <Eigen/Geometry>

#include "lithe/core/check.h"
#include "lithe/dynamics/internal/body_point.h"
#include "lithe/dynamics/internal/stage_check.h"
#include "lithe/dynamics/internal/tree_sums.h"
#include "lithe/dynamics/internal/tree_totals.h"

namespace lithe {

using namespace internal;

namespace {

struct MassCentre {
  double mass;
  Vec3 com;
};

MassCentre mass_centre(const Model& model, const Kinematics& kin) {
  check_stage(model, kin.layout, "Kinematics", "kinematics()");
  const DofTree& tree = model.tree();
  double mass = 0;
  Vec3 moment = Vec3::Zero();
  for (std::size_t t = 0; t < tree.trees.size(); ++t) {
    const TreeMass part = tree_mass(tree.trees[t], kin);
    mass += part.mass;
    moment += part.first_moment + part.mass * kin.origin[t];
  }
  LITHE_CHECK(mass > 0, "the model has no centre of mass: its moving bodies' total mass is {} (nv = {})", mass,
              model.nv());
  return {mass, moment / mass};
}

// The same wrench-like vector [n; f] about another place: `from` there is the old place minus the new one.
Vec6 shifted(const Vec6& h, const Vec3& from) {
  Vec6 out = h;
  out.head<3>() += from.cross(h.tail<3>());
  return out;
}

// Calls visit(dof, slot, origin), `origin` being the origin of the DoF's tree in the world.
template <class Visit>
void for_each_dof(const DofTree& tree, const Kinematics& kin, Visit visit) {
  for (std::size_t t = 0; t < tree.trees.size(); ++t) {
    const DofTree::Tree& part = tree.trees[t];
    for (int dof = part.first_dof; dof < part.first_dof + part.dof_count; ++dof) {
      visit(dof, tree.slot[dof], kin.origin[t]);
    }
  }
}

}  // namespace

Vec3 centre_of_mass(const Model& model, const Kinematics& kin) { return mass_centre(model, kin).com; }

Vec3 centre_of_mass_velocity(const Model& model, const Kinematics& kin) {
  return spatial_momentum(model, kin).tail<3>() / mass_centre(model, kin).mass;
}

Vec6 spatial_momentum(const Model& model, const Kinematics& kin, const Vec3& about) {
  check_stage(model, kin.layout, "Kinematics", "kinematics()");
  const DofTree& tree = model.tree();
  Vec6 h = Vec6::Zero();
  for (std::size_t t = 0; t < tree.trees.size(); ++t) {
    h += shifted(tree_momentum(tree.trees[t], kin), kin.origin[t] - about);
  }
  return h;
}

Vec6 centroidal_momentum(const Model& model, const Kinematics& kin) {
  return spatial_momentum(model, kin, centre_of_mass(model, kin));
}

void centroidal(const Model& model, const Kinematics& kin, Centroidal& out) {
  const MassCentre centre = mass_centre(model, kin);
  const DofTree& tree = model.tree();
  out.mass = centre.mass;
  out.com = centre.com;
  out.momentum = spatial_momentum(model, kin, centre.com);
  out.com_velocity = out.momentum.tail<3>() / out.mass;
  out.I = kin.I;
  sum_inwards(tree, out.I);
  // Column j: the momentum of the subtree when only DoF j moves.
  out.A_G.resize(6, tree.nv);
  for_each_dof(tree, kin, [&](int dof, int slot, const Vec3& origin) {
    out.A_G.col(dof) = shifted(to_eigen(inertia_at(out.I, slot) * motion_at(kin.S, slot)), origin - out.com);
  });
  out.com_jacobian = out.A_G.bottomRows<3>() / out.mass;
}

void centroidal_derivatives(const Model& model, const Kinematics& kin, const Centroidal& c,
                            CentroidalDerivatives& out) {
  check_stage(model, kin.layout, "Kinematics", "kinematics()");
  const DofTree& tree = model.tree();
  LITHE_CHECK(c.A_G.cols() == tree.nv && c.I.slots() == tree.slot_count,
              "this Centroidal has {} columns, the model has nv = {}: call centroidal() with this model", c.A_G.cols(),
              tree.nv);
  out.momentum.resize(tree.slot_count);
  for (int s = 0; s < tree.slot_count; s += kLanes) {
    store(out.momentum, s, load_inertia(kin.I, s) * load_motion(kin.V, s));
  }
  sum_inwards(tree, out.momentum);
  // DoF j carries the subtree's inertias and axes along; only the velocity before j stays behind. So with h, I the
  // subtree's momentum and inertia, ∂h/∂q_j = S_j ×* h + I (V_λ × S_j). Then the centre of mass moves under it:
  // k = n + (origin − c) × l.
  out.dmomentum_dq.resize(6, tree.nv);
  const Vec3 l = c.momentum.tail<3>();
  for_each_dof(tree, kin, [&](int dof, int slot, const Vec3& origin) {
    const Force<double> carried = cross(motion_at(kin.S, slot), force_at(out.momentum, slot));
    const Force<double> dh = carried + inertia_at(c.I, slot) * motion_at(kin.Psi_dot, slot);
    out.dmomentum_dq.col(dof) = shifted(to_eigen(dh), origin - c.com);
    out.dmomentum_dq.col(dof).head<3>() -= c.com_jacobian.col(dof).cross(l);
  });
  out.dcom_velocity_dq = out.dmomentum_dq.bottomRows<3>() / c.mass;
}

}  // namespace lithe
