#include <Eigen/Dense>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>
#include <string>
#include <vector>

#include "lithe/contact/tangent_basis.h"
#include "lithe/model/configuration.h"
#include "lithe/model/parameters.h"
#include "lithe/scenes/solids.h"
#include "lithe/step/bounce.h"
#include "lithe/step/displaced_step.h"
#include "lithe/step/step.h"
#include "tests/step/parameter_cases.h"
#include "tests/step/trajectory.h"
#include "tests/support/allocation_counter.h"
#include "tests/support/constrained_model.h"
#include "tests/support/differentiate.h"
#include "tests/support/integrate.h"
#include "tests/support/plain_dynamics.h"
#include "tests/support/plain_step.h"
#include "tests/support/random_model.h"
#include "tests/support/random_test.h"
#include "tests/support/step_worlds.h"

// Derivatives through elastic impacts: those of the motion in continuous time, of which a simulation that stops at the very
// moment of the impact is the judge; and the paper's.
namespace lithe::test {
namespace {

constexpr double kTip = 0.05;  // radius of the sphere that hits the ground

// A model whose body "tool" carries a sphere at `tip` that is about to hit the ground.
struct Striker {
  ModelBuilder builder;
  VecX q, v, tau;
  Vec3 tip;
  Material material;
};

// A rod that flies, with spin; it hits the ground off its middle.
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

// A two-link arm that swings its hand to the ground.
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

// The same with the ground at the height that the sphere will reach after a share of the step.
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

// The motion through one impact of sphere "tip" with the ground, in continuous time: smooth motion up to the very moment of
// the impact, Newton's law with friction there, smooth motion after it.
class ContinuousImpact {
 public:
  // `record`: which rows stick and which slide.
  ContinuousImpact(const Model& model, const StepRecord& record) : model_(model), record_(record) {
    for (const Shape& shape : model.shapes()) {
      if (shape.name == "tip") tip_ = shape;
      if (shape.name == "ground") ground_ = shape.placement.p.z();
    }
    radius_ = std::get<Sphere>(tip_.geometry).radius;
  }

  Motion after(double duration, const Motion& start) const {
    double c = 0;
    Motion at = start;
    for (int i = 0; i < 12; ++i) {
      c -= gap(at.q) / row(at.q, Vec3::UnitZ()).dot(at.v);
      at = fly(start, c);
    }
    at.v = impact(at.q, at.v);
    return fly(at, duration - c);
  }

 private:
  Motion fly(const Motion& start, double duration) const {
    const auto acceleration = [&](const VecX& q, const VecX& v) {
      return plain_forward_dynamics(model_, q, v, record_.control.tau);
    };
    const int count = 1 + static_cast<int>(std::abs(duration) / 4e-3);
    return integrate(rk4_step, model_, start, duration / count, count, acceleration);
  }
  Vec3 centre(const VecX& q) const { return plain_kinematics(model_, q).X_WB[tip_.body] * tip_.placement.p; }
  double gap(const VecX& q) const { return centre(q).z() - radius_ - ground_; }
  VecX row(const VecX& q, const Vec3& direction) const {
    const PlainKinematics kin = plain_kinematics(model_, q);
    const Vec3 p = centre(q) - radius_ * Vec3::UnitZ();
    const Mat6X& J = kin.J[tip_.body];
    VecX row(J.cols());
    for (Eigen::Index j = 0; j < J.cols(); ++j) {
      row[j] = direction.dot(Vec3(J.col(j).tail<3>()) + Vec3(J.col(j).head<3>()).cross(p));
    }
    return row;
  }
  VecX impact(const VecX& q, const VecX& v) const {
    const TangentBasis basis = tangent_basis(Vec3::UnitZ());
    const Vec3 directions[3] = {Vec3::UnitZ(), basis.t1, basis.t2};
    const Constraint& contact = record_.problem.constraints[0];
    std::vector<VecX> clamping;
    VecX normal_push = row(q, directions[0]);
    for (int k = 0; k < contact.rows; ++k) {
      const VecX J = row(q, directions[k]);
      switch (record_.classes[k]) {
        case RowClass::clamping: clamping.push_back(J); break;
        case RowClass::at_upper: normal_push += contact.material.friction * J; break;
        case RowClass::at_lower: normal_push -= contact.material.friction * J; break;
        case RowClass::separating: ADD_FAILURE() << "no impact"; break;
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

  const Model& model_;
  const StepRecord& record_;
  Shape tip_;
  double radius_ = 0, ground_ = 0;
};

struct Blocks {
  MatX qq, vq, qv, vv;
};

// By differences: q⁺ in the tangent of where it is.
Blocks differentiate(const Model& model, const StepRecord& record, const ContinuousImpact& motion) {
  const double h = record.options.time_step();
  const Motion start = {record.state.q, record.state.v};
  const Motion end = motion.after(h, start);
  const auto out = [&](const Motion& from) {
    const Motion to = motion.after(h, from);
    VecX both(2 * model.nv());
    both << difference(model, to.q, end.q), to.v;
    return both;
  };
  const double step = 1e-3 * h;
  const MatX by_q =
      central_difference([&](const VecX& d) { return out({retract(model, start.q, d), start.v}); }, model.nv(), step);
  const MatX by_v = central_difference([&](const VecX& d) { return out({start.q, start.v + d}); }, model.nv(), 1e-4);
  const int n = model.nv();
  return {by_q.topRows(n), by_q.bottomRows(n), by_v.topRows(n), by_v.bottomRows(n)};
}

// The same by parameters, over a longer time: [∂q; ∂v] at its end. `record` is the step of the impact.
MatX differentiate(const Model& model, const StepRecord& record, const std::vector<std::string>& parameters,
                   const Motion& start, double duration) {
  const Motion end = ContinuousImpact(model, record).after(duration, start);
  const auto out = [&](const VecX& d) {
    Model changed = model;
    for (int k = 0; k < d.size(); ++k) {
      if (d[k] != 0) set_parameter(changed, parameters[k], parameter(model, parameters[k]) + d[k]);
    }
    const Motion to = ContinuousImpact(changed, record).after(duration, start);
    VecX both(2 * model.nv());
    both << difference(model, to.q, end.q), to.v;
    return both;
  };
  return central_difference(out, static_cast<int>(parameters.size()), 1e-3 * record.options.time_step());
}

// All parameters that may move the moment of an impact.
std::vector<std::string> surface_parameters(const Model& model) {
  const StepParameters all(model, parameter_names(model));
  std::vector<std::string> names;
  for (int k = 0; k < all.size(); ++k) {
    if (moves_surfaces(all.entries()[k])) names.push_back(all.names()[k]);
  }
  return names;
}

StepRecord one_step(const Model& model, const VecX& q, const VecX& v, const VecX& tau, double h,
                    Integrator integrator = Integrator::semi_implicit) {
  StepRecord record;
  StepOptions options;
  options.constraints.time_step = h;
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
  step_parameter_jacobian(model, record, StepParameters(model, parameters), jacobian, options);
  return jacobian;
}

// The largest relative error of the four blocks.
double error_of(const Striker& s, double h, double share) {
  const Model model = above_ground(s, h, share);
  const StepRecord record = one_step(model, s.q, s.v, s.tau, h);
  EXPECT_TRUE(bounces(record));
  const Blocks truth = differentiate(model, record, ContinuousImpact(model, record));
  const StepJacobians jacobians = jacobians_of(model, record, {});
  EXPECT_EQ(jacobians.report.mode, GradientMode::bounce_mass_metric);
  return std::max({relative_error(jacobians.dqnext_dq, truth.qq), relative_error(jacobians.dvnext_dq, truth.vq),
                   relative_error(jacobians.dqnext_dv, truth.qv, 1e-12),
                   relative_error(jacobians.dvnext_dv, truth.vv)});
}

// And of the two by parameters.
double parameter_error_of(const Striker& s, double h, double share) {
  const Model model = above_ground(s, h, share);
  const StepRecord record = one_step(model, s.q, s.v, s.tau, h);
  EXPECT_TRUE(bounces(record));
  const std::vector<std::string> names = surface_parameters(model);
  const MatX truth = differentiate(model, record, names, {s.q, s.v}, h);
  const StepParameterJacobian jacobian = by_parameters(model, record, names, {});
  EXPECT_EQ(jacobian.report.mode, GradientMode::bounce_mass_metric);
  return std::max(relative_error(jacobian.dqnext, truth.topRows(model.nv())),
                  relative_error(jacobian.dvnext, truth.bottomRows(model.nv())));
}

// The error of either, for a striker, a time step and the share of it after which the impact comes, is of first order in the
// time step: without friction, sliding, sticking; with the impact at the beginning, in the middle and at the end of the step.
template <class Error>
void expect_first_order(Error error_at) {
  for (const double friction : {0.0, 0.15, 3.0}) {
    for (const auto make : {flying_rod, swinging_arm}) {
      for (const double share : {0.0, 0.4, 0.9}) {
        const Striker s = make({.friction = friction, .restitution = 0.7});
        SCOPED_TRACE("friction " + std::to_string(friction) + ", " + std::to_string(s.v.size()) + " DoFs, after " +
                     std::to_string(share) + " of the step");
        const double error = error_at(s, 1e-4, share);
        EXPECT_LT(error, 5e-3);
        EXPECT_LT(error_at(s, 1e-5, share), 0.11 * error);
      }
    }
  }
}

TEST(Bounce, IsTheMotionThroughTheImpact) { expect_first_order(error_of); }

TEST(Bounce, ByWhatMovesSurfacesIsTheMotionThroughTheImpact) { expect_first_order(parameter_error_of); }

// A ball that is thrown at the ground, seen when it has left it again. It sticks to the ground as it hits it and rolls off, so
// that x, too, tells how large it is.
struct ThrownBall {
  static constexpr double kRadius = 0.1, kSpeed = 0.8, kRestitution = 0.7, kDrop = 0.3, kTime = 0.3;

  static Model model() {
    const Material rubber = {.friction = 5, .restitution = kRestitution};
    ModelBuilder builder;
    add_free_solid(builder, "ball", 1, Sphere{kRadius}, Pose::translation(0, 0, kRadius + kDrop), rubber);
    add_ground(builder, rubber);
    return builder.build();
  }

  // x, z, ẋ, ż, by the textbook; `changes` are those of the radius, of the height of the ground and of the start.
  static VecX end(const VecX& changes) {
    const double r = kRadius + changes[0];
    const double drop = kDrop + changes[2] - changes[0] - changes[1];
    const double t = std::sqrt(2 * drop / kGravity), rest = kTime - t;
    const double vx = kSpeed * r * r / (r * r + 0.4 * kRadius * kRadius);
    const double vz = kRestitution * kGravity * t;
    const double z = r + changes[1] + vz * rest - 0.5 * kGravity * rest * rest;
    return (VecX(4) << kSpeed * t + vx * rest, z, vx, vz - kGravity * rest).finished();
  }
};

TEST(Bounce, OfABallInARolloutIsThatOfTheTextbook) {
  const Model model = ThrownBall::model();
  const StepParameters parameters(model, {"shape/ball/radius", "shape/ground/z"});
  const MatX truth = central_difference(ThrownBall::end, 3, 1e-3);
  for (const double h : {1e-3, 1e-4}) {
    const State start = {neutral_configuration(model), ThrownBall::kSpeed * VecX::Unit(6, 0)};
    StepOptions options;
    options.constraints.time_step = h;
    const std::vector<VecX> tau(static_cast<std::size_t>(std::lround(ThrownBall::kTime / h)));
    const Trajectory trajectory = roll_out(model, start, tau, options);
    const auto row = [&](int output, const GradientOptions& gradient_options) {
      StepCotangent by_end = {VecX::Zero(6), VecX::Zero(6)};
      (output < 2 ? by_end.q : by_end.v)[output % 2 == 0 ? 0 : 2] = 1;
      const TrajectoryGradient gradient =
          gradient_of(model, trajectory, at_end(trajectory, by_end), gradient_options, &parameters);
      EXPECT_EQ(gradient.bounced, gradient_options.bounce == Bounce::off ? 0 : 1);
      return Vec3(gradient.parameters[0], gradient.parameters[1], gradient.q[2]);
    };
    for (int k = 0; k < 4; ++k) {
      SCOPED_TRACE("output " + std::to_string(k) + ", time step " + std::to_string(h));
      EXPECT_LT(relative_error(row(k, {}), truth.row(k).transpose()), 20 * h);
      if (k % 2 == 0) continue;
      // The step as computed rises no higher where the ground does.
      EXPECT_EQ(row(k, GradientOptions::exact()).head<2>().norm(), 0);
    }
  }
}

TEST(Bounce, OfAnArmInARolloutIsTheMotionThroughTheImpact) {
  for (const double friction : {0.0, 3.0}) {
    SCOPED_TRACE("friction " + std::to_string(friction));
    const Striker s = swinging_arm({.friction = friction, .restitution = 0.7});
    constexpr double kTime = 0.08;
    const Model model = above_ground(s, kTime, 0.5);
    const std::vector<std::string> names = surface_parameters(model);  // lengths of links among them
    const StepParameters parameters(model, names);
    const auto error_at = [&](double h) {
      StepOptions options;
      options.constraints.time_step = h;
      const std::vector<VecX> tau(static_cast<std::size_t>(std::lround(kTime / h)), s.tau);
      const Trajectory trajectory = roll_out(model, {s.q, s.v}, tau, options);
      const auto impact = std::find_if(trajectory.records.begin(), trajectory.records.end(),
                                       [](const StepRecord& record) { return bounces(record); });
      const MatX truth = differentiate(model, *impact, names, {s.q, s.v}, kTime);
      MatX gradients(6, parameters.size());
      for (int k = 0; k < 6; ++k) {
        const StepCotangent by_end = {k < 3 ? VecX(VecX::Unit(3, k)) : VecX(VecX::Zero(3)),
                                      k < 3 ? VecX(VecX::Zero(3)) : VecX(VecX::Unit(3, k - 3))};
        const TrajectoryGradient gradient = gradient_of(model, trajectory, at_end(trajectory, by_end), {}, &parameters);
        EXPECT_EQ(gradient.bounced, 1);
        gradients.row(k) = gradient.parameters.transpose();
      }
      return std::max(relative_error(gradients.topRows(3), truth.topRows(3)),
                      relative_error(gradients.bottomRows(3), truth.bottomRows(3)));
    };
    EXPECT_LT(error_at(1e-3), 0.05);
    EXPECT_LT(error_at(1e-4), 0.005);
  }
}

TEST(Bounce, IsTheSameWhereverAllOfItTakesPlace) {
  // To raise the ground is to lower all the rest, by its coordinates or by where its first joint is.
  const Striker s = flying_rod({.friction = 0.15, .restitution = 0.7});
  const double h = 1e-3;
  const Model model = above_ground(s, h, 0.4);
  for (const Integrator integrator : {Integrator::semi_implicit, Integrator::explicit_position}) {
    const StepRecord record = one_step(model, s.q, s.v, s.tau, h, integrator);
    ASSERT_TRUE(bounces(record));
    for (const Bounce bounce : {Bounce::off, Bounce::mass_metric, Bounce::paper}) {
      const StepParameterJacobian by =
          by_parameters(model, record, {"shape/ground/z", "joint/rod.x/z"}, {.bounce = bounce});
      const StepJacobians jacobians = jacobians_of(model, record, {.bounce = bounce});
      EXPECT_LT((by.dqnext.col(0) + by.dqnext.col(1)).cwiseAbs().maxCoeff(), 1e-12);
      EXPECT_LT((by.dvnext.col(0) + by.dvnext.col(1)).cwiseAbs().maxCoeff(), 1e-11);
      EXPECT_LT((by.dqnext.col(1) + VecX::Unit(6, 2) - jacobians.dqnext_dq.col(2)).cwiseAbs().maxCoeff(), 1e-12);
      EXPECT_LT((by.dvnext.col(1) - jacobians.dvnext_dq.col(2)).cwiseAbs().maxCoeff(), 1e-11);
    }
  }
}

TEST(Bounce, DoesNotDependOnTheIntegrator) {
  for (const double friction : {0.0, 0.15, 3.0}) {
    for (const Bounce bounce : {Bounce::mass_metric, Bounce::paper}) {
      SCOPED_TRACE("friction " + std::to_string(friction));
      const Striker s = flying_rod({.friction = friction, .restitution = 0.7});
      const double h = 1e-5;
      const Model model = above_ground(s, h, 0.4);
      const auto blocks = [&](Integrator integrator) {
        return jacobians_of(model, one_step(model, s.q, s.v, s.tau, h, integrator), {.bounce = bounce});
      };
      const StepJacobians implicit = blocks(Integrator::semi_implicit);
      const StepJacobians now = blocks(Integrator::explicit_position);
      EXPECT_LT(relative_error(now.dqnext_dq, implicit.dqnext_dq), 1e-3);
      EXPECT_LT(relative_error(now.dqnext_dv, implicit.dqnext_dv, 1e-12), 1e-3);
      EXPECT_LT(relative_error(now.dvnext_dq, implicit.dvnext_dq), 1e-12);
    }
  }
}

// A free box of 1 kg over the ground, moving with v, at rest otherwise; `gap` under it.
Model box_over_ground(const Material& material, double gap) {
  ModelBuilder builder;
  builder.set_gravity(Vec3::Zero());
  add_free_solid(builder, "box", 1, Box{{0.3, 0.2, 0.1}}, Pose::translation(0, 0, 0.1 + gap), material);
  add_ground(builder, material);
  return builder.build();
}

struct Normals {
  MatX N;     // rows × nv
  VecX e;     // restitution
  MatX Minv;  // of M̂
};
Normals bouncing_normals(const Model& model, const StepRecord& record) {
  const PlainStep plain = plain_step(model, record);
  Normals normals{MatX(0, model.nv()), VecX(), plain.M_hat.inverse()};
  for (const Constraint& constraint : record.problem.constraints) {
    if (constraint.rule != TargetRule::restitution) continue;
    const Eigen::Index k = normals.N.rows();
    normals.N.conservativeResize(k + 1, Eigen::NoChange);
    normals.e.conservativeResize(k + 1);
    normals.N.row(k) = plain.J.row(constraint.first_row);
    normals.e[k] = constraint.material.restitution;
  }
  return normals;
}

TEST(Bounce, OfSeveralSmoothContactsIsTheImpactsMatrix) {
  // Four corners at once: S = I − M⁻¹NᵀA⁺(1 + e)N with A = N M⁻¹Nᵀ of rank three.
  const Model model = box_over_ground({.friction = 0, .restitution = 0.6}, -1e-9);
  const VecX v = (VecX(6) << 0.2, 0, -1, 0, 0, 0.1).finished();
  const StepRecord record = one_step(model, neutral_configuration(model), v, {}, 1e-7);
  const Normals normals = bouncing_normals(model, record);
  ASSERT_EQ(normals.N.rows(), 4);
  const MatX A = normals.N * normals.Minv * normals.N.transpose();
  const MatX S = MatX::Identity(6, 6) - normals.Minv * normals.N.transpose() *
                                            A.completeOrthogonalDecomposition().pseudoInverse() *
                                            (VecX::Ones(4) + normals.e).asDiagonal() * normals.N;
  const StepJacobians jacobians = jacobians_of(model, record, {});
  EXPECT_LT((jacobians.dqnext_dq - S).cwiseAbs().maxCoeff(), 1e-6);
  EXPECT_LT((jacobians.dvnext_dv - S).cwiseAbs().maxCoeff(), 1e-6);
  EXPECT_LT((jacobians.dqnext_dv - 1e-7 * S).cwiseAbs().maxCoeff(), 1e-12);
}

TEST(Bounce, OfAFlatLandingIsThatOfOneContactUnderItsMiddle) {
  // With gravity the velocity block counts the impact once, not once per corner: ∂v⁺/∂z = (1 + e) g/|v|.
  Model model = box_over_ground({.friction = 1, .restitution = 0.6}, -1e-9);
  model.set_gravity(Vec3(0, 0, -kGravity));
  const VecX v = -2 * VecX::Unit(6, 2);
  const StepRecord record = one_step(model, neutral_configuration(model), v, {}, 1e-6);
  const StepJacobians jacobians = jacobians_of(model, record, {});
  EXPECT_NEAR(jacobians.dqnext_dq(2, 2), -0.6, 1e-5);
  EXPECT_NEAR(jacobians.dvnext_dq(2, 2), 1.6 * kGravity / 2, 1e-4);
  // To raise the ground, or to make the box higher, is the opposite of raising the box.
  const StepParameterJacobian by = by_parameters(model, record, {"shape/ground/z", "shape/box/half_z"}, {});
  for (int k = 0; k < 2; ++k) {
    EXPECT_NEAR(by.dqnext(2, k), 1.6, 1e-5);
    EXPECT_NEAR(by.dvnext(2, k), -1.6 * kGravity / 2, 1e-4);
  }
}

TEST(Bounce, ByThePapersRuleSolvesItsLeastSquares) {
  // Over all entries of X: min ‖X − I‖² subject to n̂ᵢᵀ X n̂ᵢ/|n̂ᵢ|² = −eᵢ, as the appendix writes it: W holds n̂n̂ᵀ/|n̂|² as columns.
  const Model model = box_over_ground({.friction = 0.5, .restitution = 0.6}, -1e-9);
  const VecX v = (VecX(6) << 0.2, 0, -1, 0, 0, 0.1).finished();
  const StepRecord record = one_step(model, neutral_configuration(model), v, {}, 1e-7);
  const Normals normals = bouncing_normals(model, record);
  ASSERT_EQ(normals.N.rows(), 4);
  MatX W(36, 4);
  for (int k = 0; k < 4; ++k) {
    const VecX n = normals.N.row(k).transpose();
    const MatX block = n * n.transpose() / n.squaredNorm();
    W.col(k) = Eigen::Map<const VecX>(block.data(), 36);
  }
  const MatX I = MatX::Identity(6, 6);
  const VecX centre = Eigen::Map<const VecX>(I.data(), 36);
  const VecX x = centre - W.transpose().completeOrthogonalDecomposition().solve(normals.e + W.transpose() * centre);
  const MatX X = Eigen::Map<const MatX>(x.data(), 6, 6);
  const StepJacobians jacobians = jacobians_of(model, record, {.bounce = Bounce::paper});
  EXPECT_EQ(jacobians.report.mode, GradientMode::bounce_paper);
  EXPECT_LT((jacobians.dqnext_dq - X).cwiseAbs().maxCoeff(), 1e-6);
  EXPECT_LT((jacobians.dqnext_dv - 1e-7 * X).cwiseAbs().maxCoeff(), 1e-12);
  const StepJacobians exact = jacobians_of(model, record, GradientOptions::exact());
  EXPECT_EQ(jacobians.dvnext_dq, exact.dvnext_dq);
  EXPECT_EQ(jacobians.dvnext_dv, exact.dvnext_dv);
}

TEST(Bounce, OfTwoBodiesApartDoesNotMixThem) {
  const Material rubber = {.friction = 0.8, .restitution = 0.5};
  ModelBuilder builder;
  add_free_solid(builder, "left", 1, Sphere{0.1}, Pose::translation(-1, 0, 0.1), rubber);
  add_free_solid(builder, "right", 2, Sphere{0.1}, Pose::translation(1, 0, 0.1), rubber);
  add_ground(builder, rubber);
  const Model model = builder.build();
  const VecX v = (VecX(12) << 1, 0, -2, 3, 1, 0, 0, 1, -3, 0, -4, 2).finished();
  const StepRecord record = one_step(model, neutral_configuration(model), v, {}, 1e-3);
  const StepJacobians both = jacobians_of(model, record, {});
  ASSERT_EQ(both.report.mode, GradientMode::bounce_mass_metric);
  for (const MatX* block : {&both.dqnext_dq, &both.dqnext_dv, &both.dvnext_dq, &both.dvnext_dv}) {
    EXPECT_EQ(block->topRightCorner(6, 6).norm(), 0);
    EXPECT_EQ(block->bottomLeftCorner(6, 6).norm(), 0);
    EXPECT_GT(block->bottomRightCorner(6, 6).norm(), 0);
  }
}

TEST(Bounce, LeavesWhatOnlyRestsAlone) {
  // A block that slides over smooth ground into an elastic wall: its way back is x ↦ −e x, and the ground holds it as before.
  const Material rubber = {.friction = 0, .restitution = 0.6};
  ModelBuilder builder;
  add_free_solid(builder, "block", 1, Box{Vec3::Constant(0.1)}, Pose::translation(0, 0, 0.1), rubber);
  add_ground(builder, rubber);
  builder.add_shape("world", {.name = "wall",
                              .geometry = Plane{},
                              .placement = {rotation_about(Vec3::UnitY(), -std::numbers::pi / 2), Vec3(0.1, 0, 0)},
                              .material = rubber});
  const Model model = builder.build();
  const StepRecord record = one_step(model, neutral_configuration(model), VecX::Unit(6, 0), {}, 1e-3);
  const StepJacobians bouncing = jacobians_of(model, record, {});
  const StepJacobians exact = jacobians_of(model, record, GradientOptions::exact());
  ASSERT_EQ(bouncing.report.mode, GradientMode::bounce_mass_metric);
  EXPECT_NEAR(bouncing.dqnext_dq(0, 0), -0.6, 1e-9);
  EXPECT_NEAR(exact.dqnext_dq(0, 0), 1, 1e-9);
  for (int k = 1; k < 3; ++k) {
    EXPECT_NEAR(bouncing.dqnext_dq(k, k), exact.dqnext_dq(k, k), 1e-9);
    EXPECT_NEAR(bouncing.dvnext_dq(k, k), exact.dvnext_dq(k, k), 1e-6);
  }
}

TEST(Bounce, BesideAPlasticLandingStaysBounded) {
  // A dumbbell lands on both ends, one of rubber and one of lead: targets of the order gap/Δt act on the lead in the same step.
  ModelBuilder builder;
  builder.add_body("world", {.name = "bar", .inertia = SpatialInertia::box(1, {1, 0.1, 0.1})},
                   free_joint("bar", Pose::translation(0, 0, 0.1)));
  for (const double side : {-1.0, 1.0}) {
    builder.add_shape("bar", {.name = side < 0 ? "rubber" : "lead",
                              .geometry = Sphere{0.1},
                              .placement = Pose::translation(0.5 * side, 0, 0),
                              .material = {.friction = 0.3, .restitution = side < 0 ? 0.7 : 0.0},
                              .margin = 0.01});
  }
  add_ground(builder, {.friction = 0.3, .restitution = 0});
  const Model model = builder.build();
  const auto correction = [&](double h) {
    VecX q = neutral_configuration(model);
    q[2] = 0.4 * h;
    const VecX v = (VecX(6) << 0, 0, -1, 0, 0.1, 0).finished();
    const StepRecord record = one_step(model, q, v, {}, h);
    EXPECT_TRUE(bounces(record));
    EXPECT_EQ(record.problem.constraints.size(), 2U);
    return MatX(jacobians_of(model, record, {}).dvnext_dq -
                jacobians_of(model, record, GradientOptions::exact()).dvnext_dq);
  };
  const MatX coarse = correction(1e-4), fine = correction(1e-6);
  EXPECT_LT(coarse.cwiseAbs().maxCoeff(), 1e3);
  EXPECT_LT(relative_error(coarse, fine), 0.05);
}

// A random mechanism in trouble with bouncy shapes, tried until something bounces.
struct BouncingCase {
  Model model;
  StepRecord record;
};
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

// [∂q⁺/∂q ∂q⁺/∂v; ∂v⁺/∂q ∂v⁺/∂v] by Jacobians, and products with it from either side.
struct Derivative {
  MatX J;            // 2nv × 2nv
  VecX left, right;  // λᵀJ, J x
};
Derivative derivative(const BouncingCase& c, const VecX& lambda, const VecX& x, Bounce bounce, GradientMode mode) {
  const int n = c.model.nv();
  const GradientOptions options = {.bounce = bounce};
  Derivative d{MatX(2 * n, 2 * n), VecX(2 * n), VecX(2 * n)};
  const StepJacobians J = jacobians_of(c.model, c.record, options);
  d.J << J.dqnext_dq, J.dqnext_dv, J.dvnext_dq, J.dvnext_dv;
  StepVjp vjp;
  step_vjp(c.model, c.record, {.q = lambda.head(n), .v = lambda.tail(n)}, vjp, options);
  d.left << vjp.q, vjp.v;
  StepJvp jvp;
  step_jvp(c.model, c.record, {.q = x.head(n), .v = x.tail(n)}, jvp, options);
  d.right << jvp.q, jvp.v;
  for (const GradientMode each : {J.report.mode, vjp.report.mode, jvp.report.mode}) EXPECT_EQ(each, mode);
  return d;
}

TEST(Bounce, CorrectsJacobiansAndProductsAlike) {
  // On top of the step's own derivative, whose products have tests of their own.
  for_random_cases(100, [](std::mt19937_64& random) {
    const std::optional<BouncingCase> c = random_bounce(random);
    if (!c) return Outcome::skipped;
    const int n = 2 * c->model.nv();
    const VecX lambda = random_vector(random, n), x = random_vector(random, n);
    const Derivative exact = derivative(*c, lambda, x, Bounce::off, GradientMode::exact);
    for (const Bounce bounce : {Bounce::mass_metric, Bounce::paper}) {
      const Derivative d =
          derivative(*c, lambda, x, bounce,
                     bounce == Bounce::paper ? GradientMode::bounce_paper : GradientMode::bounce_mass_metric);
      const MatX change = d.J - exact.J;
      const MatX size = d.J.cwiseAbs() + exact.J.cwiseAbs();  // what the difference is rounded by
      EXPECT_GT(change.norm(), 1e-3);
      EXPECT_LT((d.left - exact.left - change.transpose() * lambda).cwiseAbs().maxCoeff(),
                1e-12 * (size.transpose() * lambda.cwiseAbs()).maxCoeff());
      EXPECT_LT((d.right - exact.right - change * x).cwiseAbs().maxCoeff(), 1e-12 * (size * x.cwiseAbs()).maxCoeff());
    }
    return Outcome::checked;
  });
}

TEST(Bounce, CorrectsProductsWithParametersAlike) {
  int moved = 0;
  for_random_cases(100, [&](std::mt19937_64& random) {
    const std::optional<BouncingCase> c = random_bounce(random);
    if (!c) return Outcome::skipped;
    const int n = c->model.nv();
    const StepParameters parameters(c->model, step_parameter_names(c->model));
    const StepCotangent lambda = {random_vector(random, n), random_vector(random, n)};
    const StepTangent x = {.parameters = random_vector(random, parameters.size())};
    const auto derivative_of = [&](Bounce bounce) {
      Derivative d{MatX(2 * n, parameters.size()), VecX(), VecX(2 * n)};
      const StepParameterJacobian J = by_parameters(c->model, c->record, parameters.names(), {.bounce = bounce});
      d.J << J.dqnext, J.dvnext;
      StepVjp vjp;
      step_vjp(c->model, c->record, lambda, vjp, {.bounce = bounce}, &parameters);
      d.left = vjp.parameters;
      StepJvp jvp;
      step_jvp(c->model, c->record, x, jvp, {.bounce = bounce}, &parameters);
      d.right << jvp.q, jvp.v;
      for (const GradientReport& report : {vjp.report, jvp.report}) EXPECT_EQ(J.report.mode, report.mode);
      return d;
    };
    const Derivative exact = derivative_of(Bounce::off);
    VecX weights(2 * n);
    weights << lambda.q, lambda.v;
    for (const Bounce bounce : {Bounce::mass_metric, Bounce::paper}) {
      const Derivative d = derivative_of(bounce);
      const MatX change = d.J - exact.J;
      const MatX size = d.J.cwiseAbs() + exact.J.cwiseAbs();
      const VecX left_error = d.left - exact.left - change.transpose() * weights;
      const VecX right_error = d.right - exact.right - change * x.parameters;
      EXPECT_LT(left_error.cwiseAbs().maxCoeff(), 1e-12 * (size.transpose() * weights.cwiseAbs()).maxCoeff());
      EXPECT_LT(right_error.cwiseAbs().maxCoeff(), 1e-12 * (size * x.parameters.cwiseAbs()).maxCoeff());
      for (int k = 0; k < parameters.size(); ++k) {
        const bool changed = !change.col(k).isZero(0);
        moved += changed ? 1 : 0;
        EXPECT_LE(changed, moves_surfaces(parameters.entries()[k])) << parameters.names()[k];
      }
    }
    return Outcome::checked;
  });
  if (only_seed() != 0) return;
  EXPECT_GE(moved, 1000);
}

TEST(Bounce, KnowsHowParametersMoveGaps) {
  // Over all shapes, against differences of the gaps that steps find.
  int checked = 0;
  for_random_cases(200, [&](std::mt19937_64& random) {
    const ConstrainedCase at = random_solids_case(random);
    StepRecord record, moved;
    step(at.model, at.state, at.control, at.options, record);
    StepLinearization linearization;
    if (!bounces(record) || !linearize(at.model, record, record.classes, {}, linearization)) return;
    const auto gaps_of = [](const StepRecord& from) {
      VecX gaps = VecX::Zero(static_cast<Eigen::Index>(from.problem.rows.size()));
      for (const Constraint& constraint : from.problem.constraints) {
        if (constraint.rule != TargetRule::restitution) continue;
        gaps[constraint.first_row] = from.contacts.contacts[constraint.index].gap;
      }
      return gaps;
    };
    const StepParameters parameters(at.model, parameter_names(at.model));
    ParameterColumns columns;
    columns.start(at.model, record, linearization);
    for (int k = 0; k < parameters.size(); ++k) {
      const ParameterColumn& x = columns.column(at.model, record, linearization, parameters.entries()[k]);
      const VecX gap = Eigen::Map<const VecX>(x.gap.data(), static_cast<Eigen::Index>(record.problem.rows.size()));
      if (!moves_surfaces(parameters.entries()[k])) {
        EXPECT_TRUE(gap.isZero(0)) << parameters.names()[k];
        continue;
      }
      bool switched = false;
      const MatX numeric = central_difference(
          [&](const VecX& d) -> VecX {
            Model model = at.model;
            set_parameter(model, parameters.names()[k], parameter(at.model, parameters.names()[k]) + d[0]);
            step(model, at.state, at.control, at.options, moved);
            switched = switched || mode_switch(at.model, record, model, moved) != ModeSwitch::none;
            return switched ? gaps_of(record) : gaps_of(moved);
          },
          1, 1e-6);
      if (switched) continue;
      EXPECT_LT(relative_error(gap, numeric, 1), 1e-8) << parameters.names()[k];
      checked += gap.isZero(0) ? 0 : 1;
    }
  });
  if (only_seed() != 0) return;
  EXPECT_GE(checked, 200);
}

TEST(Bounce, ChangesNothingWhereNothingBounces) {
  for_random_cases(
      50,
      [](std::mt19937_64& random) {
        const ConstrainedCase c = random_constrained_case(random);
        StepRecord record;
        step(c.model, c.state, c.control, c.options, record);
        if (bounces(record)) return Outcome::skipped;
        const StepJacobians usual = jacobians_of(c.model, record, {});
        const StepJacobians exact = jacobians_of(c.model, record, GradientOptions::exact());
        EXPECT_EQ(usual.report.mode, GradientMode::exact);
        EXPECT_EQ(usual.dqnext_dq, exact.dqnext_dq);
        EXPECT_EQ(usual.dvnext_dq, exact.dvnext_dq);
        EXPECT_EQ(usual.dqnext_dv, exact.dqnext_dv);
        return Outcome::checked;
      },
      0.3);
}

TEST(Bounce, AllocatesNothingWhenWarm) {
  if (!AllocationGuard::supported()) GTEST_SKIP() << AllocationGuard::kWhyNot;
  const Model model = box_over_ground({.friction = 0.5, .restitution = 0.6}, -1e-9);
  const VecX v = (VecX(6) << 0.2, 0, -1, 0.3, 0, 0.1).finished();
  const StepRecord record = one_step(model, neutral_configuration(model), v, {}, 1e-3);
  ASSERT_TRUE(bounces(record));
  const StepCotangent by_next = {VecX::Ones(6), VecX::Ones(6)};
  const StepParameters parameters(model, step_parameter_names(model));
  const StepTangent direction = {.q = VecX::Ones(6), .v = VecX::Ones(6), .parameters = VecX::Ones(parameters.size())};
  for (const Bounce bounce : {Bounce::mass_metric, Bounce::paper}) {
    const GradientOptions options = {.bounce = bounce};
    StepVjp vjp;
    StepJvp jvp;
    StepJacobians jacobians;
    StepParameterJacobian parameter_jacobian;
    const auto all = [&] {
      step_vjp(model, record, by_next, vjp, options, &parameters);
      step_jvp(model, record, direction, jvp, options, &parameters);
      step_jacobians(model, record, jacobians, StepBlocks::state, options);
      step_parameter_jacobian(model, record, parameters, parameter_jacobian, options);
    };
    all();
    const AllocationGuard guard;
    all();
    const long allocations = guard.count();
    EXPECT_EQ(allocations, 0);
  }
}

}  // namespace
}  // namespace lithe::test
