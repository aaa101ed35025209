#include "lithe/contact/mode_response.h"

#include <algorithm>
#include <cmath>

#include "lithe/contact/delassus.h"
#include "lithe/linalg/dense_lu.h"
#include "lithe/simd/internal/packed_vectors.h"

namespace lithe::internal {

namespace {

// Squared share of what a touch can move that counts as rounding.
constexpr double kInert = 1e-12;
// From so many coordinates on an island solved without A has no B# either: products by trees keep fewer digits in directions that
// only the ridge holds (1e-7 in sliding walls), but a dense inverse would take longer than the step.
constexpr int kManyCoordinates = 240;
// Where the joints leave less than this of what a touch could move, that is what is left of rounding when B's rank is judged.
constexpr double kCancelled = 1e-4;
// Coordinates whose scale is below this share of their patch's largest are measured by its rows.
constexpr double kSlight = 1e-3;
// A B whose inverse, both scaled to B's unit diagonal, has larger entries than this gets its solutions refined.
constexpr double kIllConditioned = 100;
// The same where all DoFs are held: no push moves anything then, and what rounding leaves of it is all there is to see.
constexpr double kIllConditionedHold = 20;
// The rank of B, in shares of its diagonal: as the solver judges A_C.
constexpr double kSingular = 1e-10;
// Above this condition of VU nothing is left of sixteen digits after two divisions by it.
constexpr double kWorstCore = 1e13;
// Squared share of a push that counts as outside the range of Q.
constexpr double kOutside = 1e-22;

constexpr int kMostColumns = PatchBasis::kMostColumns;

// out[k][c] = column c of `left` · column k of `right`, for `count` and `columns` of them.
void project(const double* left, int rows, int count, const double* right, int columns, double* out, int out_stride) {
  for (int c = 0; c < count; c += kLanes) {
    const double* q[kLanes];
    for (int j = 0; j < kLanes; ++j) q[j] = left + std::min(c + j, count - 1) * rows;
    for (int k = 0; k < columns; ++k) {
      const double* x = right + k * rows;
      Pack sum[kLanes] = {};
      for (int r = 0; r < rows; r += kLanes) {
        const Pack y = as_pack(x + r);
        for (int j = 0; j < kLanes; ++j) sum[j] += as_pack(q[j] + r) * y;
      }
      transpose(sum[0], sum[1], sum[2], sum[3]);
      // Lanes past the last column must be zero.
      as_pack(out + k * out_stride + c) = select_below(count - c, (sum[0] + sum[2]) + (sum[1] + sum[3]), Pack{});
    }
  }
}

// max |M_ij|.
double largest_entry(const PaddedMatrix& matrix) {
  double largest = 0;
  for (int j = 0; j < matrix.columns; ++j) {
    for (int i = 0; i < matrix.rows; ++i) largest = std::max(largest, std::abs(matrix.at(i, j)));
  }
  return largest;
}

// G = Uᵀ V for matrices of equal shape.
void gram(const PaddedMatrix& U, const PaddedMatrix& V, PaddedMatrix& G) {
  G.resize(U.columns, V.columns);
  for (int j = 0; j < V.columns; ++j) {
    double* column = G.column(j);
    std::fill(column, column + G.stride, 0.0);
    for (int i = 0; i < U.columns; ++i) column[i] = dot(U.column(i), V.column(j), U.stride);
  }
}

}  // namespace

int ModeResponse::rank() const {
  int sum = 0;
  for (const Part& part : parts_) sum += part.rank;
  return sum;
}

// Takes the modes over. A friction row has no impulse where its normal does not clamp, and follows its normal with ±μ where it is at a
// bound.
void ModeResponse::classify(const ContactProblem& problem, std::span<const RowMode> modes) {
  const std::size_t n = problem.rows.size();
  modes_.assign(modes.begin(), modes.end());
  follow_.assign(n, 0.0);
  normal_.assign(n, -1);
  sliding_ = false;
  parts_.resize(problem.island_count());
  for (int i = 0; i < problem.island_count(); ++i) {
    const Island& island = problem.islands.islands()[i];
    Part& part = parts_[i];
    part = {};
    for (int row = island.first_row; row < island.first_row + island.row_count; ++row) {
      const LcpRow& lcp_row = problem.rows[row];
      if (lcp_row.kind == RowKind::friction) {
        const int normal = island.first_row + lcp_row.normal;
        if (modes_[normal] != RowMode::clamping) {
          modes_[row] = RowMode::separating;
        } else if (is_at_bound(modes_[row])) {
          normal_[row] = normal;
          follow_[row] = modes_[row] == RowMode::at_upper ? lcp_row.friction : -lcp_row.friction;
          part.sliding = sliding_ = true;
        }
      }
      if (modes_[row] == RowMode::clamping) ++part.clamping;
    }
  }
}

// How many DoFs the trees of each island have. Clamping rows of that rank hold all of them.
void ModeResponse::count_dofs(const DofTree& tree, const Islands& islands) {
  for (std::size_t t = 0; t < tree.trees.size(); ++t) {
    const int island = islands.island_of(static_cast<int>(t));
    if (island >= 0) parts_[island].dofs += tree.trees[t].dof_count;
  }
}

// Finds Q of a patch, and R if that comes with it. Returns the number of coordinates.
int ModeResponse::basis_of(const ContactProblem& problem, int index) {
  const Patch& patch = problem.patches[index];
  const int stride = patch.stride;
  int clamping = 0, only = -1;
  bool relative = true, compliant = false;
  grow(rows_, stride);
  double* counts = rows_.data();
  for (int r = 0; r < patch.row_count; ++r) {
    const int row = patch.first_row + r;
    const bool clamps = modes_[row] == RowMode::clamping;
    counts[r] = clamps ? 1 : 0;
    relative = relative && problem.rows[row].kind != RowKind::two_sided;
    if (!clamps) continue;
    ++clamping;
    only = r;
    compliant = compliant || problem.compliance[row] != 0;
  }
  std::fill(counts + patch.row_count, counts + stride, 0.0);
  R_known_[index] = 0;
  if (clamping == 0) return 0;
  double* Q = Q_.data() + Q_start_[index];
  const bool one_contact = patch.row_count == 3 && problem.rows[patch.first_row + 1].kind == RowKind::friction;
  if (clamping == 1 || one_contact || compliant) {
    // Independent, or kept apart: the rows themselves.
    int rank = 0;
    for (int r = clamping == 1 ? only : 0; r < patch.row_count && rank < clamping; ++r) {
      if (counts[r] == 0) continue;
      double* column = Q + rank++ * stride;
      std::fill(column, column + stride, 0.0);
      column[r] = 1;
    }
    return rank;
  }
  // The rows of contacts measure how a moves relative to b: b's part is a's, taken about another point.
  const int size_a = problem.touches.size_of(patch.touch_a);
  const int size_b = problem.touches.size_of(patch.touch_b);
  const int columns = relative && std::max(size_a, size_b) == 6 ? 6 : size_a + size_b;
  const int rank = basis_.compute(problem.coefficients.data() + patch.start, stride, columns, counts, Q);
  R_known_[index] = columns == size_a + size_b ? 1 : 0;
  return rank;
}

// Q of all patches. Coordinates of a patch are next to one another, and those of each island begin at a whole pack.
void ModeResponse::find_bases(const ContactProblem& problem) {
  const auto count = static_cast<int>(problem.patches.size());
  compressed_.resize(count);
  Q_start_.resize(count);
  R_known_.resize(count);
  int Q_size = 0;
  for (int p = 0; p < count; ++p) {
    const Patch& patch = problem.patches[p];
    Q_start_[p] = Q_size;
    Q_size += patch.stride * PatchBasis::kMostColumns;
  }
  grow(Q_, Q_size);
  int start = 0;
  for (const Patch& patch : problem.patches) {
    const int columns = problem.touches.size_of(patch.touch_a) + problem.touches.size_of(patch.touch_b);
    start += columns * std::min(padded(patch.row_count), padded(PatchBasis::kMostColumns));
  }
  grow(R_, start);
  if (sliding_) grow(Pt_, start);
  start = 0;
  size_ = 0;
  for (int i = 0; i < problem.island_count(); ++i) {
    Part& part = parts_[i];
    part.first = size_;
    for (int p = problem.first_patch[i]; p < problem.first_patch[i + 1]; ++p) {
      const Patch& patch = problem.patches[p];
      const int rank = basis_of(problem, p);
      compressed_[p] = {.touch_a = patch.touch_a,
                        .touch_b = patch.touch_b,
                        .first_row = part.first + part.size,
                        .row_count = rank,
                        .start = start,
                        .stride = padded(rank)};
      if (R_known_[p]) basis_.write_R(R_.data() + start);
      part.size += rank;
      start += padded(rank) * (problem.touches.size_of(patch.touch_a) + problem.touches.size_of(patch.touch_b));
    }
    size_ += padded(part.size);
  }
  D_.assign(size_, 0.0);
  compliant_ = false;
}

// R = Qᵀ T, P̃ᵀ = (X Q)ᵀ T.
void ModeResponse::compress(const ContactProblem& problem, int index) {
  const Patch& patch = problem.patches[index];
  const Patch& to = compressed_[index];
  const int columns = problem.touches.size_of(patch.touch_a) + problem.touches.size_of(patch.touch_b);
  const double* T = problem.coefficients.data() + patch.start;
  const double* basis = Q(index);
  if (!R_known_[index]) project(basis, patch.stride, to.row_count, T, columns, R_.data() + to.start, to.stride);
  const double* compliance = problem.compliance.data() + patch.first_row;
  for (int r = 0; r < patch.row_count; ++r) {
    if (compliance[r] == 0 || modes_[patch.first_row + r] != RowMode::clamping) continue;
    // Such a patch has unit columns.
    for (int c = 0; c < to.row_count; ++c) {
      if (basis[c * patch.stride + r] != 0) D_[to.first_row + c] = compliance[r];
    }
    compliant_ = true;
  }
  if (!sliding_) return;
  bool slides = false;
  for (int r = 0; r < patch.row_count; ++r) slides = slides || normal_[patch.first_row + r] >= 0;
  if (!slides) {
    std::copy_n(R_.data() + to.start, columns * to.stride, Pt_.data() + to.start);
    return;
  }
  // X Q: the columns of Q, with rows that slide filled in from their normals.
  grow(rows_, static_cast<std::size_t>(kMostColumns) * patch.stride);
  double* extended = rows_.data();
  std::copy_n(basis, to.row_count * patch.stride, extended);
  for (int r = 0; r < patch.row_count; ++r) {
    const int row = patch.first_row + r;
    if (normal_[row] < 0) continue;
    for (int c = 0; c < to.row_count; ++c) {
      double* column = extended + c * patch.stride;
      column[r] = follow_[row] * column[normal_[row] - patch.first_row];
    }
  }
  project(extended, patch.stride, to.row_count, T, columns, Pt_.data() + to.start, to.stride);
}

void ModeResponse::compress_forms(const ContactProblem& problem, const double* forms, AlignedBuffer& out) const {
  grow(out, R_.size());
  for (std::size_t p = 0; p < compressed_.size(); ++p) {
    const Patch& patch = problem.patches[p];
    const Patch& to = compressed_[p];
    const int columns = problem.touches.size_of(patch.touch_a) + problem.touches.size_of(patch.touch_b);
    project(Q(static_cast<int>(p)), patch.stride, to.row_count, forms + patch.start, columns, out.data() + to.start,
            to.stride);
  }
}

// Whether some combination of impulses that the clamping rows do not feel pushes through the rows that slide.
bool ModeResponse::pushes_outside(const ContactProblem& problem, int index) {
  const Patch& patch = problem.patches[index];
  const Patch& to = compressed_[index];
  const int columns = problem.touches.size_of(patch.touch_a) + problem.touches.size_of(patch.touch_b);
  grow(rows_, patch.stride);
  double* push = rows_.data();
  double largest = 0, outside = 0;
  for (int k = 0; k < columns; ++k) {
    const double* T = problem.coefficients.data() + patch.start + k * patch.stride;
    std::fill(push, push + patch.stride, 0.0);
    for (int r = 0; r < patch.row_count; ++r) {
      const int row = patch.first_row + r;
      if (normal_[row] >= 0) push[normal_[row] - patch.first_row] += follow_[row] * T[r];
    }
    largest = std::max(largest, dot(push, push, patch.stride));
    for (int c = 0; c < to.row_count; ++c) {
      const double* q = Q(index) + c * patch.stride;
      add_multiple(-dot(q, push, patch.stride), q, push, patch.stride);
    }
    outside = std::max(outside, dot(push, push, patch.stride));
  }
  return outside > kOutside * largest;
}

// B of one island and its inverse. Coordinates that nothing moves are set apart first; where B is singular all the same, B# comes of a rank
// factorisation.
void ModeResponse::invert(const ContactProblem& problem, int island) {
  Part& part = parts_[island];
  const int n = part.size;
  part.rank = n;
  part.stride = padded(n);
  if (n == 0) return;
  if (part.by_trees >= 0) {
    part.rank = std::min(n, part.dofs);
    part.regular = false;  // nothing is known; what is said of singular ones holds for all
    return;
  }
  const auto patches = patches_of(problem, island);
  const double* right = part.sliding ? Pt_.data() : R_.data();
  matrix_.resize(n, n);
  matrix_.stride = matrix_stride(n);
  grow(matrix_.data, static_cast<std::size_t>(matrix_.stride) * n);
  grow(scale_, n);
  grow(reach_, n);
  const auto form = [&] {
    multiply_through_touches(problem.touches, patches, R_.data(), right, products_, matrix_.data.data(),
                             matrix_.stride);
    if (compliant_) {
      for (int k = 0; k < n; ++k) matrix_.at(k, k) += D_[part.first + k];
    }
  };
  form();
  if (part.sliding) {
    find_scales(problem, part, patches);
  } else {
    for (int k = 0; k < n; ++k) scale_[k] = std::sqrt(std::max(0.0, matrix_.at(k, k)));
  }
  const bool inert = drop_inert(problem, part, patches);
  for (int p = problem.first_patch[island]; p < problem.first_patch[island + 1]; ++p) scale_slight(problem, part, p);
  part.regular = (!inert || set_inert_apart(part)) &&
                 (part.sliding ? internal::invert(matrix_, exchanged_) : invert_positive(matrix_));
  // 1/B⁻¹_kk is the pivot of row k if it is eliminated last; where B is symmetric no entry is larger than the diagonal's.
  double largest_share = 0;
  for (int j = 0; j < n && part.regular; ++j) {
    for (int i = part.sliding ? 0 : j; i < (part.sliding ? n : j + 1); ++i) {
      largest_share = std::max(largest_share, std::abs(matrix_.at(i, j)) * scale_[i] * scale_[j]);
    }
  }
  part.regular = part.regular && largest_share < 1 / kSingular;
  if (!part.regular) {
    ill_conditioned_ = true;
    form();
    invert_singular(part);
  } else {
    // B# is zero on coordinates that nothing moves.
    for (int k = 0; k < n && inert; ++k) {
      if (scale_[k] != 0) continue;
      matrix_.at(k, k) = 0;
      --part.rank;
    }
    if (largest_share > (part.rank < part.dofs ? kIllConditioned : kIllConditionedHold)) {
      part.refined = ill_conditioned_ = true;
      // The inverse goes aside, and B is made once more, because inversion has overwritten it.
      left_.resize(n, n);
      for (int k = 0; k < n; ++k) std::copy_n(matrix_.column(k), left_.stride, left_.column(k));
      form();
      refine_inverse();
    }
  }
  for (int k = 0; k < n; ++k)
    std::copy_n(matrix_.column(k), part.stride, inverse_.data() + part.start + k * part.stride);
}

// From B in matrix_ and its inverse Y in left_ to Y + Y (I − B Y) in matrix_: one step of Newton's method (Schulz 1933).
void ModeResponse::refine_inverse() {
  const int n = left_.columns, rows = left_.stride;
  right_.resize(n, n);
  for (int j = 0; j < n; ++j) {
    multiply(matrix_.column(0), matrix_.stride, n, left_.column(j), right_.column(j), rows);
    for (int i = 0; i < rows; ++i) right_.at(i, j) = (i == j ? 1.0 : 0.0) - right_.at(i, j);
  }
  for (int j = 0; j < n; ++j) {
    multiply(left_.column(0), left_.stride, n, right_.column(j), matrix_.column(j), rows);
    for (int i = 0; i < n; ++i) matrix_.at(i, j) += left_.at(i, j);
  }
}

// √(R Λ Rᵀ + D̃)_kk: what the coordinates of B are measured by, also where friction makes B's own diagonal small.
void ModeResponse::find_scales(const ContactProblem& problem, const Part& part, std::span<const Patch> patches) {
  for (const Patch& patch : patches) {
    for (int c = 0; c < patch.row_count; ++c) {
      const double square = own_response(problem.touches, patch, R_.data() + patch.start + c) + D_[patch.first_row + c];
      scale_[patch.first_row + c - part.first] = std::sqrt(std::max(0.0, square));
    }
  }
}

// Where much less of a coordinate is felt than of others of its patch (points that are almost one), its own size is no measure.
// It is measured by the rows that have a part in it, as the solver does: what B has of coordinate c alone is Q_ic² B_cc of row
// i's A_ii.
void ModeResponse::scale_slight(const ContactProblem& problem, const Part& part, int index) {
  const Patch& patch = problem.patches[index];
  const Patch& compressed = compressed_[index];
  if (compressed.row_count < 2) return;
  double* scale = scale_.data() + compressed.first_row - part.first;
  const double largest = *std::max_element(scale, scale + compressed.row_count);
  for (int c = 0; c < compressed.row_count; ++c) {
    if (scale[c] > kSlight * largest || scale[c] == 0) continue;
    const double* q = Q(index) + c * patch.stride;
    double largest_part = 0;
    for (int r = 0; r < patch.row_count; ++r) {
      if (q[r] == 0) continue;
      const double response = own_response(problem.touches, patch, problem.coefficients.data() + patch.start + r) +
                              problem.compliance[patch.first_row + r];
      if (response > 0) largest_part = std::max(largest_part, q[r] * q[r] / response);
    }
    if (largest_part > 0) scale[c] = std::max(scale[c], 1 / std::sqrt(largest_part));
  }
}

// Coordinates that no impulse moves, because the joints do not let the touch turn that way: what B has there is rounding, so their
// scale becomes zero. True if there are any.
bool ModeResponse::drop_inert(const ContactProblem& problem, const Part& part, std::span<const Patch> patches) {
  const TouchSpace& space = problem.touches;
  bool any = false;
  for (const Patch& patch : patches) {
    double* reach = reach_.data() + patch.first_row - part.first;
    double* scale = scale_.data() + patch.first_row - part.first;
    const double* form = R_.data() + patch.start;
    Pack reached[kMostColumns / kLanes] = {};
    for (const int index : {patch.touch_a, patch.touch_b}) {
      if (index < 0) continue;
      const Touch& touch = space.touches[index];
      const TouchBlock& block = space.blocks[touch.block];
      const double* diagonal = space.Lambda_column(block, touch.first) + touch.first;
      double mobility = 0;
      for (int k = 0; k < touch.size; ++k) mobility = std::max(mobility, diagonal[k * (block.stride + 1)]);
      for (int c = 0; c < patch.stride; c += kLanes) {
        Pack squares = {};
        for (int k = 0; k < touch.size; ++k) {
          const Pack x = as_pack(form + k * patch.stride + c);
          squares += x * x;
        }
        reached[c / kLanes] += broadcast(mobility) * squares;
      }
      form += touch.size * patch.stride;
    }
    for (int c = 0; c < patch.row_count; ++c) {
      reach[c] = reached[c / kLanes][c % kLanes];
      if (scale[c] * scale[c] > kInert * (reach[c] + D_[patch.first_row + c])) {
        if (scale[c] * scale[c] < kCancelled * reach[c]) scale[c] = std::sqrt(kCancelled * reach[c]);
        continue;
      }
      scale[c] = 0;
      any = true;
    }
  }
  return any;
}

// Puts 1 in the place of the inert coordinates' rows and columns, which are zero but for rounding, so that the rest can be inverted
// as it is. False where friction makes one of these columns more than that.
bool ModeResponse::set_inert_apart(const Part& part) {
  const int n = part.size;
  for (int k = 0; k < n; ++k) {
    if (scale_[k] != 0) continue;
    double* column = matrix_.column(k);
    for (int j = 0; j < n && part.sliding; ++j) {
      if (column[j] * column[j] > kInert * scale_[j] * scale_[j] * reach_[k]) return false;
    }
    std::fill_n(column, n, 0.0);
    for (int j = 0; j < n; ++j) matrix_.at(k, j) = 0;
    column[k] = 1;
  }
  return true;
}

// B# = U (VU)⁻² V from B = U V; where VU is singular too, B⁺, and no null-space term.
void ModeResponse::invert_singular(Part& part) {
  const int n = part.size;
  for (int k = 0; k < n; ++k) scale_[k] = scale_[k] > 0 ? 1 / scale_[k] : 0.0;
  // RankFactor wants columns padded to whole packs and no more.
  for (int k = 0; k < n; ++k) std::copy_n(matrix_.column(k), part.stride, matrix_.data.data() + k * part.stride);
  matrix_.stride = part.stride;
  factor_.compute_general(matrix_, scale_.data(), kSingular);
  const PaddedMatrix& U = factor_.U;
  const PaddedMatrix& Vt = factor_.Vt;
  const int r = factor_.rank;
  part.rank = r;
  PaddedMatrix& left = left_;  // n×r: B# = left rightᵀ
  PaddedMatrix& right = right_;
  gram(Vt, U, core_);
  const double before = largest_entry(core_);
  const bool group = r == 0 || (internal::invert(core_, exchanged_) && before * largest_entry(core_) < kWorstCore);
  // out = M C, column by column.
  const auto times = [n, r](const PaddedMatrix& M, const PaddedMatrix& C, PaddedMatrix& out) {
    out.resize(n, r);
    for (int j = 0; j < r; ++j) multiply(M.column(0), M.stride, r, C.column(j), out.column(j), M.stride);
  };
  if (group) {
    times(U, core_, right);
    times(right, core_, left);
    right.resize(n, r);
    std::copy_n(Vt.column(0), static_cast<std::ptrdiff_t>(Vt.stride) * r, right.column(0));
  } else {
    part.polished = false;
    gram(U, U, core_);
    internal::invert(core_, exchanged_);
    times(U, core_, right);
    gram(Vt, Vt, core_);
    internal::invert(core_, exchanged_);
    times(Vt, core_, left);
  }
  matrix_.resize(n, n);
  for (int j = 0; j < n; ++j) {
    double* column = matrix_.column(j);
    std::fill(column, column + matrix_.stride, 0.0);
    for (int k = 0; k < r; ++k) add_multiple(right.at(j, k), left.column(k), column, matrix_.stride);
  }
}

void ModeResponse::compute(const DofTree& tree, const ContactProblem& problem, std::span<const RowMode> modes,
                           std::span<const LcpReport> reports, bool matrices) {
  classify(problem, modes);
  count_dofs(tree, problem.islands);
  find_bases(problem);
  for (int p = 0; p < static_cast<int>(problem.patches.size()); ++p) compress(problem, p);
  by_trees_count_ = 0;
  // Large islands that were solved without A are answered without B#, too.
  for (int i = 0; i < problem.island_count() && !matrices; ++i) {
    Part& part = parts_[i];
    if (problem.A_start[i] >= 0 || part.size < kManyCoordinates) continue;
    if (static_cast<int>(by_trees_.size()) == by_trees_count_) by_trees_.emplace_back();
    const Island& island = problem.islands.islands()[i];
    const auto own = std::span(modes_).subspan(island.first_row, island.row_count);
    if (by_trees_[by_trees_count_].compute(tree, problem, i, own)) part.by_trees = by_trees_count_++;
  }
  std::ptrdiff_t storage = 0;
  for (Part& part : parts_) {
    part.start = storage;
    if (part.by_trees < 0) storage += static_cast<std::ptrdiff_t>(padded(part.size)) * part.size;
  }
  grow(inverse_, storage);
  null_term_ = free_impulses_ = ill_conditioned_ = false;
  for (int i = 0; i < problem.island_count(); ++i) {
    Part& part = parts_[i];
    const LcpFlag flags = reports.empty() ? LcpFlag::none : reports[i].flags;
    part.polished = !has(flags, LcpFlag::unpolished) && !has(flags, LcpFlag::unsolved);
    invert(problem, i);
    if (!part.polished || part.clamping == part.rank) continue;
    // From here on there are more clamping rows than they have rank, so f is a choice among many. That moves bodies only where rows that
    // slide push on what the clamping ones do not feel.
    free_impulses_ = true;
    part.null_term = part.sliding && !part.regular;
    for (int p = problem.first_patch[i]; part.sliding && !part.null_term && p < problem.first_patch[i + 1]; ++p) {
      part.null_term = pushes_outside(problem, p);
    }
    null_term_ = null_term_ || part.null_term;
  }
  find_held(problem);
}

// The bodies that rows between them and the world hold in all six directions, without any that slides.
void ModeResponse::find_held(const ContactProblem& problem) {
  held_.assign(problem.touches.touches.size(), 0);
  for (int i = 0; i < problem.island_count(); ++i) {
    if (!parts_[i].regular || parts_[i].refined) continue;  // beyond rounding only
    for (int p = problem.first_patch[i]; p < problem.first_patch[i + 1]; ++p) {
      const Patch& patch = problem.patches[p];
      if (compressed_[p].row_count != 6 || (patch.touch_a >= 0 && patch.touch_b >= 0)) continue;
      bool slides = false;
      for (int r = 0; r < patch.row_count; ++r) slides = slides || normal_[patch.first_row + r] >= 0;
      if (!slides) held_[std::max(patch.touch_a, patch.touch_b)] = 1;
    }
  }
}

}  // namespace lithe::internal
