#include "lithe/lcp/direct/rank_polish.h"

#include <algorithm>
#include <cmath>

#include "lithe/lcp/modes/tolerances.h"

namespace lithe::internal {

namespace {

constexpr double kRefined = 1e-14;  // of s
constexpr int kMostPolishRounds = 8;
// A row of which stiff motors leave less than this share of A_ii is implied by them: what is left of it is rounding.
constexpr double kImpliedByMotors = 1e-9;

}  // namespace

bool RankPolish::run(const PreparedLcp& problem, const LoopStresses& stresses, std::span<const RowRole> roles,
                     std::span<const double> b, std::span<const RowMode> modes, std::span<double> f) {
  modes_ = modes;
  reduced_.reduce(problem, stresses, roles, b, 0);
  for (int i = 0; i < reduced_.size(); ++i) {
    const bool implied = !(reduced_.diagonal(i) > kImpliedByMotors * reduced_.whole_diagonal(i));
    if (implied && modes[i] == RowMode::clamping) return false;
  }
  const PaddedMatrix& A = reduced_.A();
  factor_.compute({.rows = reduced_.rows(), .A = A.column(0), .stride = A.stride, .b = {}, .target = {}}, modes);
  if (!factor_.has_group_inverse()) return false;
  for (AlignedBuffer* buffer : {&f_R_, &w_R_}) buffer->assign(A.stride, 0.0);
  for (int i = 0; i < reduced_.size(); ++i) f_R_[i] = f[reduced_.kept()[i]];
  remove_stress();
  if (!refine(problem.scale)) return false;
  reduced_.recover(f_R_.data(), b, f);
  return true;
}

// Corrections by the group inverse stay in the mode's range.
bool RankPolish::refine(double scale) {
  const std::span<const int> clamping = factor_.clamping();
  double before = LcpRow::kInfinity;
  for (int round = 0;; ++round) {
    follow_normals(f_R_.data());
    multiply(reduced_.A(), f_R_.data(), w_R_.data());
    double worst = 0;
    for (std::size_t k = 0; k < clamping.size(); ++k) {
      x_[k] = w_R_[clamping[k]] + reduced_.b()[clamping[k]];
      worst = std::max(worst, std::abs(x_[k]));
    }
    if (worst <= kRefined * scale) return true;
    if (round == kMostPolishRounds || !(worst <= 0.5 * before)) return worst <= kPolishedResidual * scale;
    before = worst;
    factor_.solve(x_, u_);
    for (std::size_t k = 0; k < clamping.size(); ++k) f_R_[clamping[k]] -= u_[k];
  }
}

// Sets the impulses of friction rows at their bounds.
void RankPolish::follow_normals(double* f_R) const {
  for (const int i : factor_.bounded()) {
    const LcpRow& row = reduced_.rows()[i];
    f_R[i] = (modes_[i] == RowMode::at_upper ? row.friction : -row.friction) * f_R[row.normal];
  }
}

// Takes what is outside the range of the mode's matrix out of f_R.
void RankPolish::remove_stress() {
  const std::span<const int> clamping = factor_.clamping();
  x_.resize(clamping.size());
  u_.resize(clamping.size());
  for (std::size_t k = 0; k < clamping.size(); ++k) x_[k] = f_R_[clamping[k]];
  factor_.project_null(x_, u_);
  for (std::size_t k = 0; k < clamping.size(); ++k) f_R_[clamping[k]] -= u_[k];
}

}  // namespace lithe::internal
