#include "lithe/contact/touch_sweeps.h"

#include <algorithm>

#include "lithe/lcp/sweeps/gauss_seidel_iteration.h"

namespace lithe::internal {

namespace {

// The island's A as the iteration of Gauss–Seidel sees it (gauss_seidel_iteration.h), without A.
class TouchOperator {
 public:
  TouchOperator(ContactProblem& problem, int island, SweepWorkspace& work)
      : problem_(problem),
        work_(work),
        space_(problem.touches),
        island_(problem.islands.islands()[island]),
        first_patch_(problem.first_patch[island]),
        last_patch_(problem.first_patch[island + 1]),
        velocities_(problem.touch_vector.data()) {
    const std::size_t rows = island_.row_count;
    work.patch.resize(rows);
    work.impulse.assign(rows, 0.0);
    for (int p = first_patch_; p < last_patch_; ++p) {
      const Patch& patch = problem.patches[p];
      for (int r = 0; r < patch.row_count; ++r) work.patch[patch.first_row - island_.first_row + r] = p;
    }
  }

  double diagonal(int i) const { return diagonals()[i]; }
  double velocity(int i) const {
    return motion(i) + compliance(i) * work_.impulse[i] + problem_.b[island_.first_row + i];
  }

  // Every touch of the row's trees answers: its velocities change by Λ Tᵀ e_i change.
  void push(int i, double change) {
    work_.impulse[i] += change;
    const Patch& patch = problem_.patches[work_.patch[i]];
    for (const bool b : {false, true}) {
      const int touch = b ? patch.touch_b : patch.touch_a;
      if (touch < 0) continue;
      const Touch& t = space_.touches[touch];
      const TouchBlock& block = space_.blocks[t.block];
      const double* x = problem_.side(patch, b) + (i - (patch.first_row - island_.first_row));
      double* y = velocities_ + block.start;
      for (int k = 0; k < t.size; ++k) {
        const Pack push = broadcast(x[k * patch.stride] * change);
        const double* column = space_.Lambda_column(block, t.first + k);
        for (int r = 0; r < block.stride; r += kLanes) as_pack(y + r) += as_pack(column + r) * push;
      }
    }
  }

  // Computes w afresh: the touches begin at rest and take one push after the other.
  void evaluate(std::span<const double> f, std::span<double> w) {
    for (int p = first_patch_; p < last_patch_; ++p) clear_velocities(problem_.patches[p]);
    std::fill(work_.impulse.begin(), work_.impulse.end(), 0.0);
    for (int i = 0; i < island_.row_count; ++i) push(i, f[i]);
    for (int i = 0; i < island_.row_count; ++i) w[i] = velocity(i);
  }

  double velocity_scale() const { return lithe::velocity_scale(rows(), diagonals(), offsets()); }
  double residual(std::span<const double> f, std::span<const double> w) const {
    return lithe::residual(rows(), diagonals(), offsets(), f, w);
  }
  std::span<const LcpRow> rows() const { return std::span(problem_.rows).subspan(first(), count()); }

 private:
  std::size_t first() const { return island_.first_row; }
  std::size_t count() const { return island_.row_count; }
  LcpDiagonal diagonals() const { return {problem_.diagonals.data() + island_.first_row, 1}; }
  std::span<const double> offsets() const { return std::span(problem_.b).subspan(first(), count()); }
  double compliance(int i) const { return problem_.compliance[island_.first_row + i]; }

  // The touches that a patch acts on, with all others of their trees, come to rest.
  void clear_velocities(const Patch& patch) const {
    for (const int touch : {patch.touch_a, patch.touch_b}) {
      if (touch < 0) continue;
      const TouchBlock& block = space_.blocks[space_.block_of(touch)];
      std::fill_n(velocities_ + block.start, block.stride, 0.0);
    }
  }

  // J v of a row, from the velocities of its touches.
  double motion(int i) const {
    const Patch& patch = problem_.patches[work_.patch[i]];
    double sum = 0;
    for (const bool b : {false, true}) {
      const int touch = b ? patch.touch_b : patch.touch_a;
      if (touch < 0) continue;
      const Touch& t = space_.touches[touch];
      const double* x = problem_.side(patch, b) + (i - (patch.first_row - island_.first_row));
      const double* y = velocities_ + space_.start_of(t);
      for (int k = 0; k < t.size; ++k) sum += x[k * patch.stride] * y[k];
    }
    return sum;
  }

  ContactProblem& problem_;
  SweepWorkspace& work_;
  const TouchSpace& space_;
  const Island& island_;
  int first_patch_, last_patch_;
  double* velocities_;  // of the touches, caused by the impulses
};

}  // namespace

LcpReport solve_by_sweeps(ContactProblem& problem, int island, const LcpOptions& options, SweepWorkspace& work,
                          std::span<double> f, std::span<double> w, std::span<RowMode> modes) {
  TouchOperator A(problem, island, work);
  return gauss_seidel::iterate(A.rows(), A, options, f, w, modes);
}

}  // namespace lithe::internal
