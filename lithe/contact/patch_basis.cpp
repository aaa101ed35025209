#include "lithe/contact/patch_basis.h"

#include <algorithm>
#include <cmath>

#include "lithe/simd/internal/packed_vectors.h"

namespace lithe::internal {

namespace {

// Columns of forms on one twist, the case that by_gram() is for.
constexpr int kTwist = 6;
// Cholesky of TᵀT loses as many digits as the smallest share that it accepts has zeros; below this one columns are made
// perpendicular one by one.
constexpr double kWellConditioned = 1e-4;
// Below this share of a column's squared length, what is left of it is made perpendicular a second time.
constexpr double kCancelledColumn = 1e-2;
// What rounding leaves in TᵀT of a column's square.
constexpr double kGramRounding = 1e-14;

// A 6×6 matrix by rows, padded.
struct Gram {
  Pack row[kTwist][2];
  double at(int i, int j) const { return row[i][j / kLanes][j % kLanes]; }
};

// TᵀT over the rows that count.
void gram(const double* T, int stride, const double* counts, Gram& G) {
  constexpr int kEntries = kTwist * (kTwist + 1) / 2;
  Pack sum[padded(kEntries)];
  for (int entry = kEntries; entry < padded(kEntries); ++entry) sum[entry] = Pack{};
  const auto add_rows = [&](int r, auto add) {
    const Pack mask = load_anywhere(counts + r);
    Pack x[kTwist];
    for (int k = 0; k < kTwist; ++k) x[k] = mask * as_pack(T + k * stride + r);
    int entry = 0;
    for (int i = 0; i < kTwist; ++i) {
      for (int j = 0; j <= i; ++j) add(sum[entry++], x[i] * x[j]);
    }
  };
  add_rows(0, [](Pack& to, Pack product) { to = product; });
  for (int r = kLanes; r < stride; r += kLanes) add_rows(r, [](Pack& to, Pack product) { to += product; });
  double flat[padded(kEntries)];
  for (int entry = 0; entry < kEntries; entry += kLanes) {
    transpose(sum[entry], sum[entry + 1], sum[entry + 2], sum[entry + 3]);
    store_anywhere(flat + entry, (sum[entry] + sum[entry + 2]) + (sum[entry + 1] + sum[entry + 3]));
  }
  const auto at = [&](int i, int j) { return flat[std::max(i, j) * (std::max(i, j) + 1) / 2 + std::min(i, j)]; };
  for (int i = 0; i < kTwist; ++i) {
    G.row[i][0] = Pack{at(i, 0), at(i, 1), at(i, 2), at(i, 3)};
    G.row[i][1] = Pack{at(i, 4), at(i, 5), 0, 0};
  }
}

}  // namespace

int PatchBasis::compute(const double* T, int stride, int columns, const double* counts, double* Q) {
  columns_ = columns;
  if (columns != kTwist || !by_gram(T, stride, counts, Q)) by_columns(T, stride, columns, counts, Q);
  return rank_;
}

void PatchBasis::write_R(double* R) const {
  const int stride = padded(rank_);
  for (int k = 0; k < columns_; ++k) {
    for (int c = 0; c < stride; ++c) R[k * stride + c] = c < rank_ ? R_[c][k] : 0.0;
  }
}

// Cholesky of TᵀT with pivoting; then R is its factor and Q = T R⁻¹. False where that would lose too many digits.
bool PatchBasis::by_gram(const double* T, int stride, const double* counts, double* Q) {
  Gram G;
  gram(T, stride, counts, G);
  double original[kTwist], left[kTwist];  // of the diagonal; −1: the column is taken
  for (int k = 0; k < kTwist; ++k) original[k] = left[k] = G.at(k, k);
  int order[kTwist];  // the columns taken
  double pivots[kTwist];
  Gram rows;  // of R, times the roots of the pivots
  for (rank_ = 0; rank_ < kTwist; ++rank_) {
    const auto pivot = static_cast<int>(std::max_element(left, left + kTwist) - left);
    if (!(left[pivot] > kGramRounding * original[pivot])) break;
    if (left[pivot] < kWellConditioned * original[pivot]) return false;
    order[rank_] = pivot;
    pivots[rank_] = left[pivot];
    left[pivot] = -1;
    // What is left of the other columns. Those taken before have zeros here but for rounding, which R does not get.
    const Pack inverse = broadcast(1 / pivots[rank_]);
    const Pack row[2] = {G.row[pivot][0], G.row[pivot][1]};
    rows.row[rank_][0] = row[0];
    rows.row[rank_][1] = row[1];
    const Pack share[2] = {inverse * row[0], inverse * row[1]};
    for (int k = 0; k < kTwist; ++k) {
      const Pack factor = broadcast(share[k / kLanes][k % kLanes]);
      G.row[k][0] -= factor * row[0];
      G.row[k][1] -= factor * row[1];
      if (left[k] >= 0) left[k] = std::max(0.0, G.at(k, k));
    }
  }
  // What is left of the other columns may be rounding of the ones taken: then one by one is the way to tell.
  for (int k = 0; k < kTwist; ++k) {
    if (left[k] > kGramRounding * original[k]) return false;
  }
  double inverse_root[kTwist];
  for (int c = 0; c < rank_; ++c) inverse_root[c] = 1 / std::sqrt(pivots[c]);
  for (int c = 0; c < rank_; ++c) {
    for (int k = 0; k < kTwist; ++k) R_[c][k] = inverse_root[c] * rows.at(c, k);
    for (int taken = 0; taken < c; ++taken) R_[c][order[taken]] = 0;
  }
  if (rank_ == kTwist) {
    // A body that cannot move: the columns of a few rows stay in registers.
    for (int r = 0; r < stride; r += kLanes) {
      const Pack mask = load_anywhere(counts + r);
      Pack q[kTwist];
      for (int c = 0; c < kTwist; ++c) {
        Pack x = mask * as_pack(T + order[c] * stride + r);
        for (int k = 0; k < c; ++k) x -= broadcast(R_[k][order[c]]) * q[k];
        q[c] = broadcast(inverse_root[c]) * x;
        as_pack(Q + c * stride + r) = q[c];
      }
    }
    return true;
  }
  for (int c = 0; c < rank_; ++c) {
    const double* column = T + order[c] * stride;
    double* q = Q + c * stride;
    const Pack scale = broadcast(inverse_root[c]);
    for (int r = 0; r < stride; r += kLanes) {
      Pack x = load_anywhere(counts + r) * as_pack(column + r);
      for (int k = 0; k < c; ++k) x -= broadcast(R_[k][order[c]]) * as_pack(Q + k * stride + r);
      as_pack(q + r) = scale * x;
    }
  }
  return true;
}

// Gram–Schmidt with pivoting, twice where much cancels.
void PatchBasis::by_columns(const double* T, int stride, int columns, const double* counts, double* Q) {
  if (work_.size() < static_cast<std::size_t>(columns) * stride) work_.resize(columns * stride);
  double left[kMostColumns], original[kMostColumns];
  int open[kMostColumns];  // columns that may still add a direction
  int open_count = 0;
  for (int k = 0; k < columns; ++k) {
    double* w = work_.data() + k * stride;
    for (int r = 0; r < stride; r += kLanes) as_pack(w + r) = load_anywhere(counts + r) * as_pack(T + k * stride + r);
    left[k] = original[k] = dot(w, w, stride);
    if (original[k] > 0) open[open_count++] = k;
  }
  rank_ = 0;
  while (open_count > 0) {
    // The column of which most is left comes next.
    int best = 0;
    for (int k = 1; k < open_count; ++k) {
      if (left[open[k]] > left[open[best]]) best = k;
    }
    const int pivot = open[best];
    open[best] = open[--open_count];
    double* w = work_.data() + pivot * stride;
    if (left[pivot] < kCancelledColumn * original[pivot]) {
      for (int k = 0; k < rank_; ++k) add_multiple(-dot(Q + k * stride, w, stride), Q + k * stride, w, stride);
    }
    const double square = dot(w, w, stride);
    if (!(square > kDependent * kDependent * original[pivot])) continue;
    double* q = Q + rank_ * stride;
    const Pack scale = broadcast(1 / std::sqrt(square));
    for (int r = 0; r < stride; r += kLanes) as_pack(q + r) = scale * as_pack(w + r);
    ++rank_;
    for (int k = 0; k < open_count; ++k) {
      double* x = work_.data() + open[k] * stride;
      add_multiple(-dot(q, x, stride), q, x, stride);
      left[open[k]] = dot(x, x, stride);
    }
  }
  for (int c = 0; c < rank_; ++c) {
    for (int k = 0; k < columns; ++k) R_[c][k] = dot(Q + c * stride, T + k * stride, stride);
  }
}

}  // namespace lithe::internal
