#include "lithe/dynamics/placement_derivatives.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/dynamics/moving_model.h"
#include "tests/support/allocation_counter.h"
#include "tests/support/differentiate.h"
#include "tests/support/random_test.h"

namespace lithe::test {
namespace {

// The model with a joint's placement turned and shifted by δ = [rotation; translation].
Model displaced(Model model, JointIndex index, const VecX& delta) {
  Joint joint = model.joints()[index];
  joint.placement.R = rotation_exp(delta.head<3>()) * joint.placement.R;
  joint.placement.p += delta.tail<3>();
  model.set_joint(index, joint);
  return model;
}

MatX placement_derivatives_of(const MovingModel& m, JointIndex joint) {
  InverseDynamicsDerivatives did;
  rnea_derivatives(m.model, m.kin, m.id, did, m.wrenches);
  MatX dtau;
  placement_derivatives(m.model, m.kin, m.id, did, joint, dtau, m.wrenches);
  return dtau;
}

MatX numeric_placement_derivatives(const MovingModel& m, JointIndex joint) {
  return central_difference(
      [&](const VecX& delta) -> VecX {
        return inverse_dynamics(displaced(m.model, joint, delta), m.state.q, m.state.v, m.state.a, m.wrenches);
      },
      6);
}

TEST(PlacementDerivatives, OfALinkLengthAreTheTextbooks) {
  // Two hinges about y at rest, stretched out along x, with 1 kg at the end: the shoulder holds −m g (l + 1), the elbow
  // −m g. Lengthening the first link, l, by dl costs the shoulder −m g dl and the elbow nothing.
  const Model arm = ModelBuilder()
                        .add_body("world", {.name = "upper", .inertia = SpatialInertia::sphere(1, 0.1)},
                                  revolute("shoulder", Vec3::UnitY()))
                        .add_body("upper", {.name = "lower", .inertia = SpatialInertia::point(1, {1, 0, 0})},
                                  revolute("elbow", Vec3::UnitY(), Pose::translation(2, 0, 0)))
                        .build();
  const MovingModel m(arm, {.q = VecX::Zero(2), .v = VecX::Zero(2), .a = VecX::Zero(2), .tau = {}});
  const MatX dtau = placement_derivatives_of(m, arm.joint("elbow"));
  EXPECT_NEAR(dtau(0, 3), -9.81, 1e-13);
  EXPECT_NEAR(dtau(1, 3), 0, 1e-13);
}

TEST(PlacementDerivatives, MatchDifferences) {
  ErrorSummary error("inverse dynamics by placement");
  for_random_cases(2000, [&](std::mt19937_64& random) {
    MovingModel m(random);
    m.wrenches.clear();
    rnea(m.model, m.kin, m.state.a, m.id);
    const JointIndex joint = m.random_joint(random);
    error.add(relative_error(placement_derivatives_of(m, joint), numeric_placement_derivatives(m, joint)));
  });
}

TEST(PlacementDerivatives, MatchDifferencesUnderExternalWrenches) {
  ErrorSummary error("inverse dynamics with wrenches by placement");
  for_random_cases(2000, [&](std::mt19937_64& random) {
    MovingModel m(random);
    // One more on a body that the joint may well move.
    m.wrenches.push_back({BodyIndex(static_cast<int>(m.model.bodies().size()) - 1), random_vector(random, 6, 10)});
    rnea(m.model, m.kin, m.state.a, m.id, m.wrenches);
    const JointIndex joint = m.random_joint(random);
    error.add(relative_error(placement_derivatives_of(m, joint), numeric_placement_derivatives(m, joint)));
  });
}

TEST(PlacementDerivatives, OfTheFirstJointByTranslationAreZero) {
  // Gravity is the same everywhere, and so are wrenches that ride on the bodies.
  for_random_cases(100, [](std::mt19937_64& random) {
    const MovingModel m(random);
    EXPECT_LE(placement_derivatives_of(m, JointIndex(0)).rightCols<3>().cwiseAbs().maxCoeff(),
              1e-11 * (1 + m.id.tau.cwiseAbs().maxCoeff()));
  });
}

TEST(PlacementDerivatives, AreTheSameTenKilometresAway) {
  for_random_cases(100, [](std::mt19937_64& random) {
    const MovingModel near(random);
    const MovingModel far(moved(near.model, 1e4 * random_axis(random)), near.state, near.wrenches);
    const JointIndex joint = near.random_joint(random);
    EXPECT_LE(relative_error(placement_derivatives_of(far, joint), placement_derivatives_of(near, joint), 1), 1e-9);
  });
}

TEST(PlacementDerivatives, RefuseWhatIsNotThere) {
  std::mt19937_64 random(1);
  const MovingModel m(random, {.min_dofs = 10});
  const int joints = static_cast<int>(m.model.joints().size());
  InverseDynamicsDerivatives did;
  MatX dtau;
  EXPECT_EQ(error_text([&] { placement_derivatives(m.model, m.kin, m.id, did, JointIndex(joints), dtau); }),
            fmt::format("joint index {0} is out of range: the model has {0} joints", joints));
  EXPECT_EQ(error_text([&] { placement_derivatives(m.model, m.kin, m.id, did, JointIndex(0), dtau); }),
            "this InverseDynamicsDerivatives was not computed for this model: call rnea_derivatives() with this model "
            "first");
}

TEST(PlacementDerivatives, AllocateNothingOnceWarm) {
  if (!AllocationGuard::supported()) GTEST_SKIP() << AllocationGuard::kWhyNot;
  std::mt19937_64 random(1);
  MovingModel m(random, {.min_dofs = 20});
  m.wrenches.push_back({BodyIndex(static_cast<int>(m.model.bodies().size()) - 1), Vec6::Ones()});
  rnea(m.model, m.kin, m.state.a, m.id, m.wrenches);
  InverseDynamicsDerivatives did;
  rnea_derivatives(m.model, m.kin, m.id, did, m.wrenches);
  MatX dtau;
  placement_derivatives(m.model, m.kin, m.id, did, JointIndex(2), dtau, m.wrenches);
  const AllocationGuard guard;
  placement_derivatives(m.model, m.kin, m.id, did, JointIndex(2), dtau, m.wrenches);
  const long allocations = guard.count();
  EXPECT_EQ(allocations, 0);
}

}  // namespace
}  // namespace lithe::test
