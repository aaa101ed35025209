#include "tests/support/random_model.h"

#include <Eigen/Eigenvalues>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <numbers>
#include <set>
#include <string>

#include "tests/support/plain_dynamics.h"
#include "tests/support/random_test.h"

namespace lithe::test {
namespace {

// A body's joints in short: "PPPB" is a free joint.
std::string kind(const Model& model, const Body& body) {
  std::string letters;
  for (const JointIndex j : body.joints) letters += "RPSB"[static_cast<int>(model.joints()[j].type)];
  return letters;
}

TEST(RandomModel, IsWithinItsSize) {
  for_random_cases(200, [](std::mt19937_64& random) {
    EXPECT_LE(random_model(random).nv(), 60);
    EXPECT_EQ(random_model(random, {.min_dofs = 17, .max_dofs = 17}).nv(), 17);
  });
}

TEST(RandomModel, LeavesNothingOut) {
  std::set<std::string> kinds;
  std::map<std::string, int> seen;
  for_random_cases(300, [&](std::mt19937_64& random) {
    const Model model = random_model(random);
    std::set<int> parents;
    int roots = 0;
    for (std::size_t b = 1; b < model.bodies().size(); ++b) {
      const Body& body = model.bodies()[b];
      kinds.insert(kind(model, body));
      const bool fixed = model.tree().bodies[b].slot < 0;
      if (!parents.insert(body.parent).second) ++seen["branch"];
      if (body.parent == Model::world() && ++roots > 1) ++seen["several roots"];
      if (body.joints.empty() && !fixed) ++seen["welded to a moving body"];
      if (body.parent != Model::world() && model.tree().bodies[body.parent].slot < 0) ++seen["child of a fixed body"];
      if (body.inertia.mass == 0) ++seen["massless"];
      if (!body.placement.R.isIdentity()) ++seen["turned body frame"];
    }
    for (const Joint& joint : model.joints()) {
      if (joint.armature > 0) ++seen["armature"];
      if (joint.axis == -Vec3::UnitZ()) ++seen["axis against z"];
    }
    if (model.gravity() != Vec3(0, 0, -9.81)) ++seen["other gravity"];
  });
  if (few_cases()) return;
  for (const char* composition : {"", "R", "P", "S", "B", "PPPB", "PPR", "RR", "RRR", "PPP", "PR"}) {
    EXPECT_TRUE(kinds.contains(composition)) << "no body hangs on " << composition;
  }
  EXPECT_GT(kinds.size(), 30u);
  for (const char* feature : {"branch", "several roots", "welded to a moving body", "child of a fixed body", "massless",
                              "turned body frame", "armature", "axis against z", "other gravity"}) {
    EXPECT_GE(seen[feature], 5) << feature;
  }
}

TEST(RandomState, MakesTheMassMatrixRegular) {
  for_random_cases(200, [](std::mt19937_64& random) {
    const Model model = random_model(random, {.max_dofs = 30});
    const MatX M = plain_mass_matrix_from_energy(model, random_state(model, random).q);
    const VecX eigenvalues = Eigen::SelfAdjointEigenSolver<MatX>(M, Eigen::EigenvaluesOnly).eigenvalues();
    EXPECT_GT(eigenvalues[0], 1e-9 * eigenvalues[model.nv() - 1]);
  });
}

TEST(RandomState, VisitsTheSpecialAngles) {
  std::map<std::string, int> seen;
  for_random_cases(300, [&](std::mt19937_64& random) {
    const Model model = random_model(random);
    const RandomState state = random_state(model, random);
    for (const Joint& joint : model.joints()) {
      if (joint.type == JointType::ball) {
        const Vec4 x = state.q.segment<4>(joint.q_index);
        if (x == Vec4(0, 0, 0, 1)) ++seen["ball at 0"];
        if (x.head<3>().norm() < 1e-6 && x.w() < 0) ++seen["ball near 2π"];
        if (std::abs(x.w()) < 1e-6) ++seen["ball near π"];
      } else if (joint.type != JointType::prismatic) {
        const double angle = std::abs(state.q[joint.q_index]);
        if (angle == 0) ++seen["angle 0"];
        if (std::abs(angle - std::numbers::pi) < 1e-6) ++seen["angle near π"];
        if (std::abs(angle - 2 * std::numbers::pi) < 1e-6) ++seen["angle near 2π"];
        if (angle > 20) ++seen["large angle"];
      }
    }
    const std::size_t wrenches = random_wrenches(model, random).size();
    ++seen[std::to_string(wrenches) + " wrenches"];
  });
  if (few_cases()) return;
  for (const char* feature : {"ball at 0", "ball near π", "ball near 2π", "angle 0", "angle near π", "angle near 2π",
                              "large angle", "0 wrenches", "1 wrenches", "2 wrenches", "3 wrenches"}) {
    EXPECT_GE(seen[feature], 5) << feature;
  }
}

}  // namespace
}  // namespace lithe::test
