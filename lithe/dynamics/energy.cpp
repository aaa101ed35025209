#include "lithe/dynamics/energy.h"

#include "lithe/dynamics/internal/body_point.h"
#include "lithe/dynamics/internal/stage_check.h"
#include "lithe/dynamics/internal/tree_totals.h"

namespace lithe {

using namespace internal;

double kinetic_energy(const Model& model, const Kinematics& kin) {
  check_stage(model, kin.layout, "Kinematics", "kinematics()");
  const DofTree& tree = model.tree();
  Pack twice = {};
  for (int s = 0; s < tree.slot_count; s += kLanes) {
    const Motion<Pack> V = load_motion(kin.V, s);
    const Pack v = kin.v.pack(0, s);
    twice += dot(V, load_inertia(kin.I, s) * V) + tree.armature.pack(0, s) * v * v;
  }
  return 0.5 * lane_sum(twice);
}

double potential_energy(const Model& model, const Kinematics& kin) {
  check_stage(model, kin.layout, "Kinematics", "kinematics()");
  const DofTree& tree = model.tree();
  double energy = 0;
  for (std::size_t t = 0; t < tree.trees.size(); ++t) {
    const TreeMass part = tree_mass(tree.trees[t], kin);
    energy -= model.gravity().dot(part.first_moment + part.mass * kin.origin[t]);
  }
  return energy;
}

}  // namespace lithe
