#include "lithe/contact/contact_problem.h"

#include <algorithm>
#include <cmath>

#include "lithe/contact/constraint_rows.h"
#include "lithe/contact/delassus.h"
#include "lithe/contact/tree_forms.h"
#include "lithe/core/check.h"
#include "lithe/linalg/padded_matrix.h"

namespace lithe::internal {

namespace {

// Rounding of positions, as a share of their distance from the origin.
constexpr double kPositionRounding = 4e-16;

// Neighbouring constraints of one island on the same touches share a patch.
void find_patches(ContactProblem& problem) {
  const TouchSpace& space = problem.touches;
  problem.patches.clear();
  problem.first_patch.clear();
  for (const Island& island : problem.islands.islands()) {
    problem.first_patch.push_back(static_cast<int>(problem.patches.size()));
    for (int c = 0; c < island.constraint_count; ++c) {
      const Constraint& constraint = problem.constraints[island.first_constraint + c];
      const auto [a, b] = touches_of(space, constraint);
      const bool fresh = c == 0 || problem.patches.back().touch_a != a || problem.patches.back().touch_b != b;
      if (fresh) problem.patches.push_back({.touch_a = a, .touch_b = b, .first_row = constraint.first_row});
      problem.patches.back().row_count += constraint.rows;
    }
  }
  problem.first_patch.push_back(static_cast<int>(problem.patches.size()));
  int size = 0;
  for (Patch& patch : problem.patches) {
    patch.start = size;
    patch.stride = padded(patch.row_count);
    size += patch.stride * (space.size_of(patch.touch_a) + space.size_of(patch.touch_b));
  }
  grow(problem.coefficients, size);
  // Every row is written; what pads them is zero.
  for (const Patch& patch : problem.patches) {
    if (patch.row_count == patch.stride) continue;
    const int columns = space.size_of(patch.touch_a) + space.size_of(patch.touch_b);
    double* column = problem.coefficients.data() + patch.start;
    for (int k = 0; k < columns; ++k, column += patch.stride) {
      std::fill(column + patch.row_count, column + patch.stride, 0.0);
    }
  }
}

// Room for all that is kept by row; which islands get A, and where it lies.
void lay_out(const DofTree& tree, const LcpOptions& lcp, bool matrices, ContactProblem& problem) {
  const std::size_t rows = problem.islands.row_count();
  // Whole packs are written at any row, so there is room for three numbers more.
  for (auto* vector : {&problem.target, &problem.b, &problem.compliance}) vector->resize(rows + kLanes);
  std::fill(problem.compliance.begin(), problem.compliance.end(), 0.0);
  problem.rows.resize(rows);
  problem.diagonals.resize(rows);
  problem.A_start.clear();
  std::ptrdiff_t size = 0;
  for (int i = 0; i < problem.island_count(); ++i) {
    const Island& island = problem.islands.islands()[i];
    const bool formed = !prefers_trees(tree, problem, i, lcp);
    problem.A_start.push_back(formed ? size : -1);
    if (formed) size += static_cast<std::ptrdiff_t>(matrix_stride(island)) * island.row_count;
  }
  problem.has_matrices = matrices;
  if (matrices) grow(problem.A, size);
  grow(problem.touch_vector, problem.touches.size);
}

// One side of a patch: its coefficients, and where its touch sits in a vector over touches.
struct BodySide {
  const double* coefficients;
  const double* vector;
  int size;
};

// out[r] = Σ over sides and k of coefficient_k[r]·vector[k], for all rows of a patch.
LITHE_INLINE void combine(const BodySide* sides, int side_count, int stride, double* out) {
  for (int r = 0; r < stride; r += kLanes) {
    Pack sum = {};
    for (int s = 0; s < side_count; ++s) {
      const double* c = sides[s].coefficients + r;
      if (sides[s].size == 6) {
        for (int k = 0; k < 6; ++k) sum += as_pack(c + k * stride) * broadcast(sides[s].vector[k]);
      } else {
        sum += as_pack(c) * broadcast(sides[s].vector[0]);
      }
    }
    store_anywhere(out + r, sum);
  }
}

}  // namespace

BoxedLcp ContactProblem::lcp(int island_index) const {
  const Island& island = islands.islands()[island_index];
  const std::size_t first = island.first_row;
  const std::size_t count = island.row_count;
  LITHE_CHECK(has_matrices || count == 0, "this problem has no matrices: see lcps_of()");
  LITHE_CHECK(A_start[island_index] >= 0, "this island has no matrix: see lcp_with_matrix()");
  return {.rows = std::span(rows).subspan(first, count),
          .A = A.data() + A_start[island_index],
          .stride = matrix_stride(island),
          .b = std::span(b).subspan(first, count),
          .target = std::span(target).subspan(first, count),
          .scales = scales_of(island_index)};
}

LcpDiagonal ContactProblem::diagonal(int island_index) const {
  const Island& island = islands.islands()[island_index];
  LITHE_CHECK(has_matrices || island.row_count == 0, "this problem has no matrices: see lcps_of()");
  if (A_start[island_index] < 0) return {diagonals.data() + island.first_row, 1};
  return {A.data() + A_start[island_index], matrix_stride(island) + 1};
}

void ContactProblem::clear() {
  constraints.clear();
  constraint_of_contact.clear();
  islands.clear();
  patches.clear();
  rows.clear();
}

void row_velocities(const ContactProblem& problem, const double* touch_velocities, double* out) {
  row_velocities(problem, problem.coefficients.data(), touch_velocities, out);
}

void row_velocities(const ContactProblem& problem, const double* coefficients, const double* touch_velocities,
                    double* out) {
  for (const Patch& patch : problem.patches) {
    BodySide sides[2];
    int count = 0;
    for (const bool b : {false, true}) {
      const int touch = b ? patch.touch_b : patch.touch_a;
      if (touch < 0) continue;
      const Touch& t = problem.touches.touches[touch];
      sides[count++] = {problem.side(coefficients, patch, b), touch_velocities + problem.touches.start_of(t), t.size};
    }
    combine(sides, count, patch.stride, out + patch.first_row);
  }
}

void touch_impulses(const ContactProblem& problem, const double* f, double* phi) {
  touch_impulses(problem, problem.coefficients.data(), f, phi);
}

void touch_impulses(const ContactProblem& problem, const double* coefficients, const double* f, double* phi) {
  std::fill_n(phi, problem.touches.size, 0.0);
  for (const Patch& patch : problem.patches) {
    for (const bool b : {false, true}) {
      const int touch = b ? patch.touch_b : patch.touch_a;
      if (touch < 0) continue;
      const double* c = problem.side(coefficients, patch, b);
      double* at = phi + problem.touches.start_of(problem.touches.touches[touch]);
      for (int k = 0; k < problem.touches.size_of(touch); ++k, c += patch.stride) {
        Pack sums = {};
        int r = 0;
        for (; r + kLanes <= patch.row_count; r += kLanes)
          sums += as_pack(c + r) * load_anywhere(f + patch.first_row + r);
        // f may end with these rows, so the rest goes one by one.
        double sum = lane_sum(sums);
        for (; r < patch.row_count; ++r) sum += c[r] * f[patch.first_row + r];
        at[k] += sum;
      }
    }
  }
}

namespace {

// Everything but b and A, for which there is room if they are wanted.
void assemble_rows(const Model& model, const ContactInput& in, const ConstraintOptions& options, const LcpOptions& lcp,
                   bool matrices, ContactProblem& problem) {
  const DofTree& tree = model.tree();
  problem.islands.find(tree, problem.constraints);
  index_contacts(problem.constraints, in.contacts.contacts.size(), problem.constraint_of_contact);
  problem.touches.collect(tree, problem.constraints);
  find_patches(problem);
  lay_out(tree, lcp, matrices, problem);
  write_coefficients(model, in, problem);

  double* touch_velocities = problem.touch_vector.data();
  if (std::any_of(problem.constraints.begin(), problem.constraints.end(),
                  [](const Constraint& constraint) { return constraint.material.restitution > 0; })) {
    problem.velocity.resize(problem.rows.size() + kLanes);
    problem.touches.velocities(tree, in.kin, in.kin.v, touch_velocities);
    row_velocities(problem, touch_velocities, problem.velocity.data());
  } else {
    problem.velocity.clear();
  }
  write_rows(model, in, options, problem);
  problem.touches.compute(model, in.kin, in.inverse);
  if (!matrices) problem.touches.find_Lambda(tree);
}

// A loop that is closed up to rounding asks for a velocity all the same, that of the rounding within one step. Near a dead centre it takes
// impulses of any size to provide it, and joints' dry friction at its bounds; so in islands with loops such velocities are none.
void ignore_rounding(const Model& model, const ContactInput& in, double time_step, ContactProblem& problem) {
  for (const Island& island : problem.islands.islands()) {
    double distance = 0;
    for (int c = island.first_constraint; c < island.first_constraint + island.constraint_count; ++c) {
      const Constraint& constraint = problem.constraints[c];
      if (constraint.kind != ConstraintKind::ball_loop && constraint.kind != ConstraintKind::weld_loop) continue;
      const LoopClosure& loop = model.loops()[constraint.index];
      distance = std::max({distance, in.X_WB[loop.a].p.norm(), in.X_WB[loop.b].p.norm()});
    }
    const double nothing = kPositionRounding * distance / time_step;
    for (double& b : std::span(problem.b).subspan(island.first_row, island.row_count)) {
      if (std::abs(b) <= nothing) b = 0;
    }
  }
}

}  // namespace

void assemble(const Model& model, const ContactInput& in, const ConstraintOptions& options, const LcpOptions& lcp,
              ContactProblem& problem) {
  assemble_rows(model, in, options, lcp, true, problem);
  double* touch_velocities = problem.touch_vector.data();
  problem.touches.velocities(model.tree(), in.kin, in.v_free_slots, touch_velocities);
  row_velocities(problem, touch_velocities, problem.b.data());
  for (int i = 0; i < problem.islands.row_count(); ++i) problem.b[i] -= problem.target[i];
  if (!model.loops().empty()) ignore_rounding(model, in, options.time_step, problem);
  fill_delassus(model.tree(), problem);
  problem.scales.clear();
}

void assemble_again(const Model& model, const ContactInput& in, const ConstraintOptions& options, const LcpOptions& lcp,
                    const SettledConstraints& settled, ContactProblem& problem) {
  problem.constraints.assign(settled.constraints.begin(), settled.constraints.end());
  assemble_rows(model, in, options, lcp, false, problem);
  std::ranges::copy(settled.constraints, problem.constraints.begin());  // with their rules
  std::ranges::copy(settled.target, problem.target.begin());
  problem.target_dropped.assign(problem.rows.size(), 0);
  std::ranges::copy(settled.target_dropped, problem.target_dropped.begin());
}

}  // namespace lithe::internal
