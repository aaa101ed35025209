#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "lithe/optimize/residual.h"

namespace lithe::residuals {

// The residuals that motions are usually judged by. Names of joints, frames and bodies are looked up when they are made; an unknown
// one is an Error that lists the closest. Targets must be finite; their sizes are compared with the model by Residual::size().

// q ⊖ target (nv numbers; the target has nq), v − target (nv), and one DoF of either.
ResidualPtr configuration(const VecX& target);
ResidualPtr velocity(const VecX& target);
ResidualPtr joint_position(const Model& model, std::string_view joint, double target = 0);  // a 1-DoF joint
ResidualPtr joint_velocity(const Model& model, std::string_view joint, double target = 0);

// u − target: one number per control, as many as the target has.
ResidualPtr controls(const VecX& target);
// u − u of the step before, where there are that many controls.
ResidualPtr control_change(int controls);

// Of a frame, in the world: the place p − target (3), one coordinate of it along a direction (1: up·p/|up| − target), the rotation
// vector from the target to the frame in world axes (3: log(R_WF R_targetᵀ), which jumps where the angle is π), its velocity
// [ω; ṗ] − target (6).
//
// The numbers of the model that decide where a frame is at a given q (places of joints, bodies and the frame, pitches of screws)
// may be free for all of these but the velocity.
ResidualPtr frame_position(const Model& model, std::string_view frame, const Vec3& target);
ResidualPtr frame_height(const Model& model, std::string_view frame, double target, const Vec3& up = Vec3::UnitZ());
ResidualPtr frame_orientation(const Model& model, std::string_view frame, const Mat3& target);
ResidualPtr frame_velocity(const Model& model, std::string_view frame, const Vec6& target = Vec6::Zero());

// Of all bodies together (3 each). The numbers of the model that decide where masses are must not be free.
ResidualPtr centre_of_mass_position(const Vec3& target);
ResidualPtr centre_of_mass_velocity(const Vec3& target = Vec3::Zero());

// |p_a − p_b| − target for the origins of two frames (1). Not smooth where they meet: the derivative is zero there.
ResidualPtr frame_distance(const Model& model, std::string_view frame_a, std::string_view frame_b, double target = 0);

// The sum of the normal forces of all contacts of a body, in N (1: the mean over the step, − target).
ResidualPtr contact_force(const Model& model, std::string_view body, double target = 0);

// x − upper or lower − x for the chosen side of one DoF's position or velocity: ≤ 0 within the bound.
enum class BoundSide { lower, upper };
ResidualPtr position_bound(const Model& model, std::string_view joint, BoundSide side, double bound);
ResidualPtr velocity_bound(const Model& model, std::string_view joint, BoundSide side, double bound);

// Written by the user: any vector-valued function of a point, with its derivatives. check_residual() tries them. Called from several
// threads at once.
struct CustomResidual {
  std::string name = {};
  int size = 1;
  std::function<void(const ResidualPoint& at, VecRef value, ResidualJacobian* jacobian)> evaluate = {};
  bool needs_controls = false, needs_previous_controls = false, needs_impulses = false;
};
ResidualPtr custom(CustomResidual residual);

}  // namespace lithe::residuals

namespace lithe {

// Compares a residual's derivatives with central differences in `samples` random states of the model (within its joints' limits) with
// random controls, `controls` of them. By q, v and the controls at fixed impulses, and by the impulses of a step from that state; not
// by the model's own numbers. Returns the largest error, relative to the largest entry of the part; where it is above `tolerance`,
// `worst` says which entry it is and both values. States next to a jump are drawn again. A part of the wrong size, one that is not
// finite or one that is not set at every call is an infinite error, and `worst` says so. For users who write their own.
struct ResidualCheck {
  double largest_error = 0;
  bool passed = false;
  std::string worst;
};
struct ResidualCheckOptions {
  int samples = 10;
  int controls = 0;
  double tolerance = 1e-6;
  std::uint64_t seed = 1;
};
ResidualCheck check_residual(const Model& model, const Residual& residual, const ResidualCheckOptions& options = {});

}  // namespace lithe
