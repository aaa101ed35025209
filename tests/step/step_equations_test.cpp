#include <Eigen/Cholesky>
#include <gtest/gtest.h>

#include "lithe/model/configuration.h"
#include "lithe/step/internal/recorded_stages.h"
#include "tests/support/constrained_model.h"
#include "tests/support/differentiate.h"
#include "tests/support/plain_step.h"
#include "tests/support/random_test.h"

// The step against the same equations written down densely.
namespace lithe::test {

using namespace internal;
namespace {

constexpr int kCases = 3000;
constexpr double kTolerance = 1e-8;

Eigen::Map<const VecX> as_vector(const std::vector<double>& x, std::size_t size) {
  return {x.data(), static_cast<Eigen::Index>(size)};
}

// The islands' matrices put together.
MatX whole_matrix(const ContactProblem& problem) {
  const auto n = static_cast<Eigen::Index>(problem.rows.size());
  MatX A = MatX::Zero(n, n);
  for (int i = 0; i < problem.island_count(); ++i) {
    const BoxedLcp lcp = problem.lcp(i);
    const int first = problem.islands.islands()[i].first_row;
    for (int c = 0; c < lcp.size(); ++c) {
      for (int r = 0; r < lcp.size(); ++r) A(first + r, first + c) = lcp.at(r, c);
    }
  }
  return A;
}

StepRecord step_of(const ConstrainedCase& c) {
  StepRecord record;
  step(c.model, c.state, c.control, c.options, record);
  return record;
}

TEST(StepEquations, FreeMotionIsThatOfTheDenseEquations) {
  for_random_cases(kCases, [](std::mt19937_64& random) {
    const ConstrainedCase c = random_constrained_case(random);
    const StepRecord record = step_of(c);
    EXPECT_LT(relative_error(mass_stages_of(c.model, record).v_free, plain_step(c.model, record).v_free), kTolerance);
  });
}

TEST(StepEquations, RowsFeelTheDenseDelassusMatrix) {
  for_random_cases(kCases, [](std::mt19937_64& random) {
    const ConstrainedCase c = random_constrained_case(random);
    const StepRecord record = step_of(c);
    if (record.f.empty()) return Outcome::skipped;
    const PlainStep plain = plain_step(c.model, record);
    MatX A = plain.J * plain.M_hat.llt().solve(plain.J.transpose());
    A.diagonal() += plain.compliance;
    EXPECT_LT(relative_error(whole_matrix(lcps_of(c.model, record)), A), kTolerance);
    return Outcome::checked;
  });
}

TEST(StepEquations, OffsetsAreFreeVelocitiesMinusTargets) {
  int corrections = 0;
  int reduced = 0;
  for_random_cases(kCases, [&](std::mt19937_64& random) {
    const ConstrainedCase c = random_constrained_case(random);
    const StepRecord record = step_of(c);
    const std::size_t n = record.f.size();
    PlainStep plain = plain_step(c.model, record);
    for (const Constraint& constraint : record.tape().problem.constraints) {
      if (constraint.rule == TargetRule::correction || constraint.rule == TargetRule::capped) ++corrections;
      if (constraint.rule != TargetRule::reduced) continue;
      // Its correction would have done too much work (correction_energy.h).
      ++reduced;
      EXPECT_TRUE(has(record.status.flags, LcpFlag::targets_dropped));
      for (int row = constraint.first_row; row < constraint.first_row + constraint.rows; ++row) {
        EXPECT_LE(std::abs(record.tape().problem.target[row]),
                  std::abs(plain.target[row]) + 1e-12);  // rounding of a closed loop
        plain.target[row] = record.tape().problem.target[row];
      }
    }
    EXPECT_LT(relative_error(as_vector(record.tape().problem.target, n), plain.target), kTolerance);
    EXPECT_LT(relative_error(as_vector(lcps_of(c.model, record).b, n), plain.J * plain.v_free - plain.target),
              kTolerance);
  });
  if (few_cases()) return;
  EXPECT_LT(reduced, corrections);  // most of them stay
}

TEST(StepEquations, ImpulsesChangeTheMotionThroughTheRows) {
  for_random_cases(kCases, [](std::mt19937_64& random) {
    const ConstrainedCase c = random_constrained_case(random);
    const StepRecord record = step_of(c);
    const PlainStep plain = plain_step(c.model, record);
    const VecX impulse = plain.J.transpose() * as_vector(record.f, record.f.size());
    const VecX v = plain.v_free + plain.M_hat.llt().solve(impulse);
    const double scale = std::max(1.0, impulse.cwiseAbs().maxCoeff() * 1e-3);
    EXPECT_LT(relative_error(record.next.v, v, scale), kTolerance);
    EXPECT_LT(relative_error(constraint_forces(c.model, record) * c.options.time_step, impulse, scale), 1e-6);
  });
}

TEST(StepEquations, EveryRowKeepsItsBounds) {
  for_random_cases(kCases, [&](std::mt19937_64& random) {
    const ConstrainedCase c = random_constrained_case(random);
    const StepRecord record = step_of(c);
    const ContactProblem& problem = problem_of(record);
    ASSERT_TRUE(record.next.q.allFinite() && record.next.v.allFinite());
    ASSERT_FALSE(record.status.diverged);
    EXPECT_TRUE(record.status.solved());  // however contradictory
    for (const Island& island : record.tape().problem.islands) {
      const std::span<const double> f = std::span(record.f).subspan(island.first_row, island.row_count);
      for (int i = 0; i < island.row_count; ++i) {
        const RowBounds bounds = bounds_of(problem.rows[island.first_row + i], f);
        EXPECT_GE(f[i], bounds.lower - 1e-7 * std::abs(f[i]));
        EXPECT_LE(f[i], bounds.upper + 1e-7 * std::abs(f[i]));
      }
    }
  });
}

TEST(StepEquations, IntegratorsMoveAlongTheTangent) {
  for_random_cases(kCases / 3, [](std::mt19937_64& random) {
    const ConstrainedCase c = random_constrained_case(random);
    const StepRecord record = step_of(c);
    const VecX& v = c.options.integrator == Integrator::semi_implicit ? record.next.v : c.state.v;
    EXPECT_EQ(record.next.q, retract(c.model, c.state.q, c.options.time_step * v));
  });
}

TEST(StepEquations, IslandsDoNotFeelOneAnother) {
  for_random_cases(
      kCases / 3,
      [](std::mt19937_64& random) {
        const ConstrainedCase c = random_constrained_case(random, {.min_dofs = 12, .max_dofs = 30, .new_root = 0.5});
        const StepRecord record = step_of(c);
        if (record.tape().problem.island_count() < 2) return Outcome::skipped;
        const PlainStep plain = plain_step(c.model, record);
        const MatX A = plain.J * plain.M_hat.llt().solve(plain.J.transpose());
        const std::vector<Island>& islands = record.tape().problem.islands;
        for (std::size_t i = 0; i + 1 < islands.size(); ++i) {
          const Island& a = islands[i];
          const Island& b = islands[i + 1];
          EXPECT_LT(A.block(a.first_row, b.first_row, a.row_count, b.row_count).cwiseAbs().maxCoeff(),
                    1e-10 * A.cwiseAbs().maxCoeff());
        }
        return Outcome::checked;
      },
      0.3);
}

}  // namespace
}  // namespace lithe::test
