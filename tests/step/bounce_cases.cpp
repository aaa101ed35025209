#include "tests/step/bounce_cases.h"

#include <Eigen/Dense>

#include <cmath>
#include <vector>

#include "lithe/contact/tangent_basis.h"
#include "lithe/model/parameters.h"
#include "lithe/scenes/solids/solids.h"
#include "lithe/step/internal/step_tape.h"
#include "tests/support/constrained_model.h"
#include "tests/support/plain_dynamics.h"
#include "tests/support/plain_step.h"
#include "tests/support/random_model.h"

namespace lithe::test {

using namespace internal;

Striker flying_rod(const Material& material) {
  Striker s;
  s.builder.add_body("world", {.name = "tool", .inertia = SpatialInertia::box(2, {0.8, 0.1, 0.2})}, free_joint("rod"));
  s.tip = Vec3(0.35, 0.05, -0.1);
  s.material = material;
  s.q = VecX::Zero(7);
  s.q.tail<4>() = quaternion_exp(Vec3(0.3, 0.4, -0.2));
  s.v = (VecX(6) << 0.7, -0.4, -1.5, 0.5, 0.8, -0.6).finished();
  s.tau = (VecX(6) << 1, -2, 3, 0.2, -0.1, 0.3).finished();
  return s;
}

Striker swinging_arm(const Material& material) {
  Striker s;
  s.builder.add_body("world", {.name = "upper", .inertia = SpatialInertia::point(1.5, {0, 0, -0.3})},
                     revolute("shoulder", Vec3(0, 1, 0.2)));
  s.builder.add_body("upper", {.name = "tool", .inertia = SpatialInertia::box(0.8, {0.1, 0.2, 0.6})},
                     universal("elbow", Vec3::UnitY(), Vec3::UnitX(), Pose::translation(0, 0, -0.5)));
  s.tip = Vec3(0.05, 0, -0.4);
  s.material = material;
  s.q = (VecX(3) << 0.9, -0.5, 0.2).finished();
  s.v = (VecX(3) << -2.6, -1.2, 0.7).finished();
  s.tau = (VecX(3) << 2, -1, 0.5).finished();
  return s;
}

Model above_ground(Striker s, double time_step, double share) {
  s.builder.add_shape("tool", {.name = "tip",
                               .geometry = Sphere{kTip},
                               .placement = Pose::translation(s.tip),
                               .material = s.material,
                               .margin = 0.01});
  const Model model = s.builder.build();
  const BodyIndex tool = model.body("tool");
  const PlainKinematics kin = plain_kinematics(model, s.q);
  const Vec3 p = kin.X_WB[tool] * s.tip;
  const Vec6 V = kin.J[tool] * s.v;
  const double speed = (V.tail<3>() + V.head<3>().cross(p)).z();
  add_ground(s.builder, s.material, Pose::translation(0, 0, p.z() - kTip + share * time_step * speed));
  return s.builder.build();
}

ContinuousImpact::ContinuousImpact(const Model& model, const StepRecord& record) : model_(model), record_(record) {
  for (const Shape& shape : model.shapes()) {
    if (shape.name == "tip") tip_ = shape;
    if (shape.name == "ground") ground_ = shape.placement.p.z();
  }
  radius_ = std::get<Sphere>(tip_.geometry).radius;
}

Motion ContinuousImpact::after(double duration, const Motion& start) const {
  double c = 0;
  Motion at = start;
  for (int i = 0; i < 12; ++i) {
    c -= gap(at.q) / row(at.q, Vec3::UnitZ()).dot(at.v);
    at = fly(start, c);
  }
  at.v = impact(at.q, at.v);
  return fly(at, duration - c);
}

Motion ContinuousImpact::fly(const Motion& start, double duration) const {
  const auto acceleration = [&](const VecX& q, const VecX& v) {
    return plain_forward_dynamics(model_, q, v, record_.control.tau);
  };
  const int count = 1 + static_cast<int>(std::abs(duration) / 4e-3);
  return integrate(rk4_step, model_, start, duration / count, count, acceleration);
}

Vec3 ContinuousImpact::centre(const VecX& q) const {
  return plain_kinematics(model_, q).X_WB[tip_.body] * tip_.placement.p;
}

VecX ContinuousImpact::row(const VecX& q, const Vec3& direction) const {
  const PlainKinematics kin = plain_kinematics(model_, q);
  const Vec3 p = centre(q) - radius_ * Vec3::UnitZ();
  const Mat6X& J = kin.J[tip_.body];
  VecX row(J.cols());
  for (Eigen::Index j = 0; j < J.cols(); ++j) {
    row[j] = direction.dot(Vec3(J.col(j).tail<3>()) + Vec3(J.col(j).head<3>()).cross(p));
  }
  return row;
}

VecX ContinuousImpact::impact(const VecX& q, const VecX& v) const {
  const TangentBasis basis = tangent_basis(Vec3::UnitZ());
  const Vec3 directions[3] = {Vec3::UnitZ(), basis.t1, basis.t2};
  const Constraint& contact = record_.tape().problem.constraints[0];
  std::vector<VecX> clamping;
  VecX normal_push = row(q, directions[0]);
  for (int k = 0; k < contact.rows; ++k) {
    const VecX J = row(q, directions[k]);
    switch (record_.modes[k]) {
      case RowMode::clamping: clamping.push_back(J); break;
      case RowMode::at_upper: normal_push += contact.material.friction * J; break;
      case RowMode::at_lower: normal_push -= contact.material.friction * J; break;
      case RowMode::separating: ADD_FAILURE() << "no impact"; break;
    }
  }
  const auto n = static_cast<Eigen::Index>(clamping.size());
  MatX J(n, v.size()), P(v.size(), n);
  for (Eigen::Index k = 0; k < n; ++k) {
    J.row(k) = clamping[k].transpose();
    P.col(k) = k == 0 ? normal_push : clamping[k];
  }
  VecX wanted = VecX::Zero(n);
  wanted[0] = -contact.material.restitution * J.row(0).dot(v);
  const MatX MinvP = plain_mass_matrix(model_, q).ldlt().solve(P);
  return v + MinvP * (J * MinvP).partialPivLu().solve(wanted - J * v);
}

StepRecord one_step(const Model& model, const VecX& q, const VecX& v, const VecX& tau, double h,
                    Integrator integrator) {
  StepRecord record;
  StepOptions options;
  options.time_step = h;
  options.integrator = integrator;
  step(model, {q, v}, {.tau = tau}, options, record);
  return record;
}

StepJacobians jacobians_of(const Model& model, const StepRecord& record, const GradientOptions& options) {
  StepJacobians jacobians;
  step_jacobians(model, record, jacobians, StepBlocks::all, options);
  return jacobians;
}

StepParameterJacobian by_parameters(const Model& model, const StepRecord& record,
                                    const std::vector<std::string>& parameters, const GradientOptions& options) {
  StepParameterJacobian jacobian;
  GradientOptions how = options;
  how.parameters = StepParameters(model, parameters);
  step_parameter_jacobian(model, record, jacobian, how);
  return jacobian;
}

std::optional<BouncingCase> random_bounce(std::mt19937_64& random) {
  for (int attempt = 0; attempt < 50; ++attempt) {
    ConstrainedCase c = random_constrained_case(random, {.max_dofs = 20});
    for (const Shape& shape : c.model.shapes()) {
      set_parameter(c.model, "shape/" + shape.name + "/restitution", uniform(random, 0.1, 1));
    }
    BouncingCase result{c.model, {}};
    step(c.model, c.state, c.control, c.options, result.record);
    if (result.record.status.solved() && bounces(result.record)) return result;
  }
  return std::nullopt;
}

}  // namespace lithe::test
