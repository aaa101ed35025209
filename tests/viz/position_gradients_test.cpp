#include "lithe/viz/document/internal/position_gradients.h"

#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <Eigen/QR>
#include <Eigen/SVD>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "lithe/dynamics/body_motion.h"
#include "lithe/model/configuration.h"
#include "lithe/scenes/catalogue.h"
#include "lithe/scenes/robots/pendulum.h"
#include "tests/support/differentiate.h"
#include "tests/support/error_text.h"
#include "tests/support/random_model.h"
#include "tests/support/random_test.h"

namespace lithe::test {

using namespace internal;
namespace {

Vec3 place_of(const Model& model, const VecX& q, int body) {
  Kinematics kin;
  kinematics(model, q, kin);
  return body_pose(model, kin, BodyIndex(body)).p;
}

// Any smooth function of the configuration: of where all bodies are and how they are turned.
double sample_function(const Model& model, const VecX& q) {
  Kinematics kin;
  kinematics(model, q, kin);
  std::vector<Pose> poses;
  body_poses(model, kin, poses);
  double sum = 0;
  for (std::size_t b = 1; b < poses.size(); ++b) {
    const double phase = static_cast<double>(b);
    sum += std::sin(poses[b].p.dot(Vec3(0.3, -0.5, 0.7)) + phase) + poses[b].R.row(0).dot(Vec3(0.2, phase / 10, 0.4));
  }
  return sum;
}

VecX gradient_of(const Model& model, const VecX& q) {
  return central_difference(model, q, [&](const VecX& x) { return VecX::Constant(1, sample_function(model, x)); })
      .transpose();
}

// The step of least kinetic energy that moves a body by δx as far as it can be moved, by another algorithm than the one tested: the body's
// Jacobian by differences, and in the metric of M (= LLᵀ, dense) the shortest solution of a rank-deficient system.
class LeastEnergyStep {
 public:
  LeastEnergyStep(const Model& model, const VecX& q, int body)
      : L_(mass_matrix(model, q).llt().matrixL()),
        system_(central_difference(model, q, [&](const VecX& x) { return VecX(place_of(model, x, body)); }) *
                L_.transpose().inverse()) {
    solver_.setThreshold(1e-6);  // what is less is the differences' noise
    solver_.compute(system_);
  }
  VecX operator()(const Vec3& dx) const {
    return L_.transpose().triangularView<Eigen::Upper>().solve(solver_.solve(dx));
  }
  int rank() const { return static_cast<int>(solver_.rank()); }
  // What the weights of heavy directions change at most, as a share.
  double weight_error() const {
    const VecX mobility = Eigen::JacobiSVD<MatX>(system_).singularValues().cwiseAbs2();
    return rank() == 0 ? 0 : std::pow((mobility[0] / mobility[rank() - 1] - 1) / PositionGradients::kHeavy, 4);
  }
  // How far a metre moves the coordinates at most: where it is far, differences lose their digits.
  double reach() const {
    double most = 0;
    for (int k = 0; k < 3; ++k) most = std::max(most, (*this)(Vec3::Unit(k)).norm());
    return most;
  }

 private:
  MatX L_, system_;
  Eigen::CompleteOrthogonalDecomposition<MatX> solver_;
};

constexpr double kFar = 10;

// ∂f/∂x of a body by differences: f after the step of least energy for each small δx.
Vec3 numeric_gradient(const Model& model, const VecX& q, const LeastEnergyStep& step) {
  return central_difference(
             [&](const VecX& dx) { return VecX::Constant(1, sample_function(model, retract(model, q, step(dx)))); }, 3)
      .transpose();
}

TEST(PositionGradients, AgreeWithDifferencesAlongStepsOfLeastEnergy) {
  for_random_cases(60, [](std::mt19937_64& random) {
    const Model model = random_model(random, {.max_dofs = 20});
    const VecX q = random_state(model, random, {.largest_angle = 10}).q;
    PositionGradients gradients(model);
    const VecX found = gradients.at(q, gradient_of(model, q));
    int compared = 0;
    for (int body = 1; body < static_cast<int>(model.bodies().size()); ++body) {
      const LeastEnergyStep step(model, q, body);
      if (step.reach() > kFar || step.weight_error() > 1e-4) continue;
      ++compared;
      EXPECT_LT(relative_error(found.segment<3>(3 * body), numeric_gradient(model, q, step)),
                1e-6 + 2 * step.weight_error())
          << "body " << body << ", rank " << step.rank();
    }
    return compared > 0 ? Outcome::checked : Outcome::skipped;
  });
}

TEST(PositionGradients, AgreeWithDifferencesInEveryScene) {
  int compared = 0;
  for (const std::string& name : scene_names()) {
    SCOPED_TRACE(name);
    const Scene start = scene(name);
    const VecX& q = start.q;
    PositionGradients gradients(start.model);
    const VecX found = gradients.at(q, gradient_of(start.model, q));
    const int bodies = static_cast<int>(start.model.bodies().size());
    for (int body = 0; body < bodies; body += 1 + bodies / 12) {
      const LeastEnergyStep step(start.model, q, body);
      if (step.reach() > kFar || step.weight_error() > 1e-4) continue;
      ++compared;
      EXPECT_LT(relative_error(found.segment<3>(3 * body), numeric_gradient(start.model, q, step)),
                1e-6 + 2 * step.weight_error())
          << body;
    }
  }
  EXPECT_GT(compared, 80);
}

// A free body can be moved alone: the gradient is the ordinary one by its three sliding joints.
TEST(PositionGradients, OfAFreeBodyAreThoseOfItsPlace) {
  const Model model = scene("tumbling_body").model;
  const VecX q = neutral_configuration(model);
  VecX by_q(6);
  by_q << 1, -2, 3, 0, 0, 0;
  PositionGradients gradients(model);
  EXPECT_LT((gradients.at(q, by_q).segment<3>(3) - Vec3(1, -2, 3)).norm(), 1e-12);
}

// The end of a rod that hangs down can be moved sideways only, by a metre per radian, whatever hangs from it.
TEST(PositionGradients, HaveNothingWhereABodyCannotGo) {
  const Model model = scene("double_pendulum").model;
  ASSERT_EQ(model.bodies().size(), 3u);  // the lower rod's origin is the end of the upper one
  PositionGradients gradients(model);
  const VecX& found = gradients.at(VecX::Zero(2), Eigen::Vector2d(5, 0));
  EXPECT_EQ(found.head<6>(), VecX::Zero(6));  // the world, and a rod that turns about its origin
  EXPECT_EQ(found[7], 0);
  EXPECT_NEAR(found[8], 0, 1e-12);
  EXPECT_NEAR(std::abs(found[6]), 5 / kPendulumLength, 1e-12);
}

// Of an arm that is all but stretched, the end can hardly be moved along it: what would take a turn of many radians does not count.
TEST(PositionGradients, StayShortWhereABodyCanHardlyGo) {
  const Model model = scene("catapult").model;
  VecX q = VecX::Zero(5);
  PositionGradients gradients(model);
  const int end = 3 * static_cast<int>(model.body("segment_3"));
  double longest = 0;
  for (double bend = 1; bend > 1e-9; bend *= 0.8) {
    q[3] = q[4] = bend;
    longest = std::max(longest, gradients.at(q, Eigen::Matrix<double, 5, 1>::Ones()).segment<3>(end).norm());
  }
  q[3] = q[4] = 1;
  EXPECT_LT(longest, 10 * gradients.at(q, Eigen::Matrix<double, 5, 1>::Ones()).segment<3>(end).norm());
}

TEST(PositionGradients, RefuseWhatDoesNotFit) {
  const Model model = scene("pendulum").model;
  PositionGradients gradients(model);
  expect_error([&] { gradients.at(VecX::Zero(1), VecX::Zero(2)); }, "by_q");
  expect_error([&] { gradients.at(VecX::Zero(1), VecX::Constant(1, std::nan(""))); }, "by_q");
  expect_error([&] { gradients.at(VecX::Zero(2), VecX::Zero(1)); }, "q");
}

TEST(ShowGradients, HaveANumberPerJointAndAnArrowPerBody) {
  std::mt19937_64 random(3);
  const Model model = random_model(random, {.min_dofs = 20, .max_dofs = 20});
  const auto balls = std::ranges::count(model.joints(), JointType::ball, &Joint::type);
  ASSERT_GT(balls, 0);
  MatX q(model.nq(), 2), by_q(model.nv(), 2), by_tau(model.nv(), 2);
  for (int t = 0; t < 2; ++t) {
    q.col(t) = random_state(model, random).q;
    by_q.col(t) = random_vector(random, model.nv());
    by_tau.col(t) = random_vector(random, model.nv());
  }
  const ShowGradients found = show_gradients(model, "miss", q, by_q, by_tau);
  EXPECT_EQ(found.loss, "miss");
  PositionGradients positions(model);
  for (int t = 0; t < 2; ++t) {
    EXPECT_EQ(found.bodies.col(t), positions.at(q.col(t), by_q.col(t)));
    for (std::size_t j = 0; j < model.joints().size(); ++j) {
      const Joint& joint = model.joints()[j];
      const double number = found.joints(static_cast<Eigen::Index>(j), t);
      if (joint.type == JointType::ball) {
        EXPECT_DOUBLE_EQ(number, by_tau.col(t).segment<3>(joint.v_index).norm());
      } else {
        EXPECT_EQ(number, by_tau(joint.v_index, t));
      }
    }
  }
  expect_error([&] { show_gradients(model, "", q, by_q.leftCols(1), by_tau); }, "do not fit states");
  expect_error([&] { show_gradients(model, "", q, by_q, by_tau.topRows(1)); }, "do not fit states");
}

}  // namespace
}  // namespace lithe::test
