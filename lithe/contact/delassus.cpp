#include "lithe/contact/delassus.h"

#include <algorithm>

#include "lithe/linalg/padded_matrix.h"
#include "lithe/linalg/symmetric_matrix.h"

namespace lithe::internal {

namespace {

// What unit impulses in the rows of one patch do to all touches of a block: a column of `stride` per row.
struct Response {
  int block = -1;
  int stride = 0;
  const double* columns = nullptr;
};

// out = Λ[:, touch] x for every row of the patch's side, or added to it.
void respond(const TouchSpace& space, int touch, const double* coefficients, const Patch& patch, bool add,
             double* out) {
  const Touch& t = space.touches[touch];
  const TouchBlock& block = space.blocks[t.block];
  const double* Lambda = space.Lambda_column(block, t.first);
  for (int row = 0; row < patch.row_count; ++row, ++coefficients, out += block.stride) {
    if (t.size == 6) {
      Pack x[6];
      for (int k = 0; k < 6; ++k) x[k] = broadcast(coefficients[k * patch.stride]);
      for (int i = 0; i < block.stride; i += kLanes) {
        Pack y = add ? as_pack(out + i) : Pack{};
        for (int k = 0; k < 6; ++k) y += as_pack(Lambda + k * block.stride + i) * x[k];
        as_pack(out + i) = y;
      }
    } else {
      const Pack x = broadcast(coefficients[0]);
      for (int i = 0; i < block.stride; i += kLanes) {
        as_pack(out + i) = (add ? as_pack(out + i) : Pack{}) + as_pack(Lambda + i) * x;
      }
    }
  }
}

// A[rows of `patch`, columns] (+)= coefficients of one of its sides times the responses at its touch. `Size` 6 or 1. Each number
// of a response is read once for `Packs` packs of rows.
template <int Size, bool add, int Packs>
LITHE_INLINE void multiply_rows(const double* coefficients, int coefficient_stride, const double* response,
                                int response_stride, int columns, double* A, int stride) {
  Pack c[Packs][Size];
  for (int p = 0; p < Packs; ++p) {
    for (int k = 0; k < Size; ++k) c[p][k] = as_pack(coefficients + k * coefficient_stride + kLanes * p);
  }
  for (int j = 0; j < columns; ++j, response += response_stride, A += stride) {
    Pack sum[Packs];
    for (int p = 0; p < Packs; ++p) sum[p] = add ? load_anywhere(A + kLanes * p) : Pack{};
    for (int k = 0; k < Size; ++k) {
      const Pack y = broadcast(response[k]);
      for (int p = 0; p < Packs; ++p) sum[p] += c[p][k] * y;
    }
    for (int p = 0; p < Packs; ++p) store_anywhere(A + kLanes * p, sum[p]);
  }
}

template <int Size, bool add>
LITHE_INLINE void multiply_block(const double* coefficients, const Patch& patch, const double* response,
                                 int response_stride, int columns, double* A, int stride) {
  int r = 0;
  for (; r + 2 * kLanes <= patch.stride; r += 2 * kLanes) {
    multiply_rows<Size, add, 2>(coefficients + r, patch.stride, response, response_stride, columns, A + r, stride);
  }
  if (r < patch.stride) {
    multiply_rows<Size, add, 1>(coefficients + r, patch.stride, response, response_stride, columns, A + r, stride);
  }
}

void multiply_block(int size, bool add, const double* coefficients, const Patch& patch, const double* response,
                    int response_stride, int columns, double* A, int stride) {
  if (size == 6 && !add) multiply_block<6, false>(coefficients, patch, response, response_stride, columns, A, stride);
  if (size == 6 && add) multiply_block<6, true>(coefficients, patch, response, response_stride, columns, A, stride);
  if (size == 1 && !add) multiply_block<1, false>(coefficients, patch, response, response_stride, columns, A, stride);
  if (size == 1 && add) multiply_block<1, true>(coefficients, patch, response, response_stride, columns, A, stride);
}

// Where two patches have no tree in common their rows do not feel each other.
void clear_block(const Patch& patch, int columns, double* A, int stride) {
  for (int j = 0; j < columns; ++j) std::fill_n(A + static_cast<std::ptrdiff_t>(j) * stride, patch.stride, 0.0);
}

// The products of the rows of some patches, one after the other, through Λ.
class PatchProducts {
  using DofRun = TouchProductWorkspace::DofRun;

 public:
  PatchProducts(const TouchSpace& space, std::span<const Patch> patches, int first_row, const double* left,
                const double* right, TouchProductWorkspace& workspace, double* out, int stride)
      : space_(space),
        patches_(patches),
        first_row_(first_row),
        left_(left),
        right_(right),
        workspace_(workspace),
        out_(out),
        stride_(stride) {}

  // Patch by patch, from the diagonal down or from the top. Later patches overwrite what an earlier one's last pack leaves
  // beyond its rows; those of one row on a DoF, which leave nothing, come last.
  void fill(bool lower_only) {
    list_dof_rows();
    const int count = static_cast<int>(patches_.size());
    for (int q = 0; q < count; ++q) {
      const Patch& source = patches_[q];
      if (source.row_count == 0) continue;
      find_responses(source);
      double* columns = out_ + static_cast<std::ptrdiff_t>(source.first_row - first_row_) * stride_;
      for (const int p : workspace_.others) {
        if (lower_only && p < q) continue;
        write_block(patches_[p], source.row_count, columns + patches_[p].first_row - first_row_);
      }
      const int first_row = lower_only ? source.first_row : first_row_;
      for (const DofRun& run : workspace_.dof_runs) write_dof_rows(run, first_row, source.row_count, columns);
    }
  }

 private:
  const double* side(const double* coefficients, const Patch& patch, bool second) const {
    return coefficients + patch.start + (second ? space_.size_of(patch.touch_a) * patch.stride : 0);
  }

  // Λ Rᵀ of the source's rows, in the blocks of its one or two trees.
  void find_responses(const Patch& source) {
    const int a = space_.block_of(source.touch_a);
    const int b = space_.block_of(source.touch_b);
    const auto size = [&](int block) { return block < 0 ? 0 : space_.blocks[block].stride * source.row_count; };
    const std::size_t needed = static_cast<std::size_t>(size(a)) + static_cast<std::size_t>(b == a ? 0 : size(b));
    grow(workspace_.responses, needed);
    double* to = workspace_.responses.data();
    count_ = 0;
    if (a >= 0) {
      respond(space_, source.touch_a, side(right_, source, false), source, false, to);
      responses_[count_++] = {a, space_.blocks[a].stride, to};
    }
    if (b >= 0 && b == a) {
      respond(space_, source.touch_b, side(right_, source, true), source, true, to);
    } else if (b >= 0) {
      to += size(a);
      respond(space_, source.touch_b, side(right_, source, true), source, false, to);
      responses_[count_++] = {b, space_.blocks[b].stride, to};
    }
  }

  // Motors, dry friction and limits: many patches of one number each, for which a block's loops are long ways.
  bool is_row_on_a_dof(const Patch& patch) const {
    return patch.row_count == 1 && patch.touch_a >= 0 && patch.touch_b < 0 && space_.touches[patch.touch_a].size == 1;
  }

  // Finds runs of neighbouring rows on DoFs of one tree, and lists the patches that are none.
  void list_dof_rows() {
    std::vector<DofRun>& runs = workspace_.dof_runs;
    workspace_.dof_rows.clear();
    workspace_.others.clear();
    runs.clear();
    for (std::size_t p = 0; p < patches_.size(); ++p) {
      const Patch& patch = patches_[p];
      if (!is_row_on_a_dof(patch)) {
        if (patch.row_count > 0) workspace_.others.push_back(static_cast<int>(p));
        continue;
      }
      const Touch& touch = space_.touches[patch.touch_a];
      const bool follows = !runs.empty() && runs.back().block == touch.block &&
                           runs.back().first_row + runs.back().count == patch.first_row;
      if (!follows) {
        const int first = static_cast<int>(workspace_.dof_rows.size());
        runs.push_back({.block = touch.block, .first_row = patch.first_row, .first = first, .count = 0});
      }
      ++runs.back().count;
      workspace_.dof_rows.push_back({left_[patch.start], touch.first});
    }
  }

  // The rows of a run from `first_row` on.
  void write_dof_rows(const DofRun& run, int first_row, int columns, double* to) const {
    const int skipped = std::max(0, first_row - run.first_row);
    if (skipped >= run.count) return;
    const auto rows = std::span(workspace_.dof_rows).subspan(run.first + skipped, run.count - skipped);
    to += run.first_row + skipped - first_row_;
    const Response* response = nullptr;
    for (int r = 0; r < count_; ++r) {
      if (responses_[r].block == run.block) response = &responses_[r];
    }
    for (int j = 0; j < columns; ++j, to += stride_) {
      if (response == nullptr) {
        std::fill_n(to, rows.size(), 0.0);
        continue;
      }
      const double* column = response->columns + static_cast<std::ptrdiff_t>(j) * response->stride;
      for (std::size_t r = 0; r < rows.size(); ++r) to[r] = rows[r].coefficient * column[rows[r].coordinate];
    }
  }

  // The rows of a patch by the columns of the source, through every tree that both act on.
  void write_block(const Patch& patch, int columns, double* to) const {
    bool written = false;
    for (const bool b : {false, true}) {
      const int touch = b ? patch.touch_b : patch.touch_a;
      if (touch < 0) continue;
      const Touch& t = space_.touches[touch];
      for (int r = 0; r < count_; ++r) {
        if (responses_[r].block != t.block) continue;
        multiply_block(t.size, written, side(left_, patch, b), patch, responses_[r].columns + t.first,
                       responses_[r].stride, columns, to, stride_);
        written = true;
      }
    }
    if (!written) clear_block(patch, columns, to, stride_);
  }

  const TouchSpace& space_;
  std::span<const Patch> patches_;
  int first_row_;
  const double* left_;
  const double* right_;
  TouchProductWorkspace& workspace_;
  double* out_;
  int stride_;
  Response responses_[2];
  int count_ = 0;
};

// Rows from n up to the stride become zero.
void clear_padding(double* matrix, int n, int stride) {
  for (int j = 0; j < n; ++j) {
    double* column = matrix + static_cast<std::ptrdiff_t>(j) * stride;
    std::fill(column + n, column + stride, 0.0);
  }
}

}  // namespace

void multiply_through_touches(const TouchSpace& space, std::span<const Patch> patches, const double* left,
                              const double* right, TouchProductWorkspace& workspace, double* out, int stride) {
  if (patches.empty()) return;
  const int first_row = patches.front().first_row;
  const int rows = patches.back().first_row + patches.back().row_count - first_row;
  PatchProducts(space, patches, first_row, left, right, workspace, out, stride).fill(left == right);
  clear_padding(out, rows, stride);
  if (left == right) mirror_lower_triangle(out, rows, stride);
}

double own_response(const TouchSpace& space, const Patch& patch, const double* form) {
  double sum = 0;
  const double* left = form;
  for (const int a : {patch.touch_a, patch.touch_b}) {
    if (a < 0) continue;
    const Touch& touch_a = space.touches[a];
    const double* right = form;
    for (const int b : {patch.touch_a, patch.touch_b}) {
      if (b < 0) continue;
      const Touch& touch_b = space.touches[b];
      for (int j = 0; j < touch_b.size && touch_a.block == touch_b.block; ++j) {
        const double* Lambda = space.Lambda_column(space.blocks[touch_b.block], touch_b.first + j) + touch_a.first;
        for (int i = 0; i < touch_a.size; ++i) sum += left[i * patch.stride] * Lambda[i] * right[j * patch.stride];
      }
      right += touch_b.size * patch.stride;
    }
    left += touch_a.size * patch.stride;
  }
  return sum;
}

namespace {

// diag(T Λ Tᵀ) of one patch, four rows at a time: its rows lie side by side in T's columns.
void fill_diagonal(ContactProblem& problem, const Patch& patch) {
  const TouchSpace& space = problem.touches;
  for (int row = 0; row < patch.stride; row += kLanes) {
    Pack sum = {};
    for (const bool second_a : {false, true}) {
      const int a = second_a ? patch.touch_b : patch.touch_a;
      if (a < 0) continue;
      const Touch& touch_a = space.touches[a];
      const double* left = problem.side(patch, second_a) + row;
      for (const bool second_b : {false, true}) {
        const int b = second_b ? patch.touch_b : patch.touch_a;
        if (b < 0 || space.touches[b].block != touch_a.block) continue;
        const Touch& touch_b = space.touches[b];
        const double* right = problem.side(patch, second_b) + row;
        for (int j = 0; j < touch_b.size; ++j) {
          const double* Lambda = space.Lambda_column(space.blocks[touch_b.block], touch_b.first + j) + touch_a.first;
          Pack response = {};
          for (int i = 0; i < touch_a.size; ++i) {
            response += broadcast(Lambda[i]) * as_pack(left + static_cast<std::ptrdiff_t>(i) * patch.stride);
          }
          sum += response * as_pack(right + static_cast<std::ptrdiff_t>(j) * patch.stride);
        }
      }
    }
    for (int r = row; r < std::min(row + kLanes, patch.row_count); ++r) {
      problem.diagonals[patch.first_row + r] = sum[r - row] + problem.compliance[patch.first_row + r];
    }
  }
}

// A_ii of an island whose A is not formed.
void fill_diagonal(ContactProblem& problem, int island) {
  for (const Patch& patch : problem.patches_of(island)) fill_diagonal(problem, patch);
}

}  // namespace

namespace {

// D on the diagonal of A.
void add_compliance(const ContactProblem& problem, const Island& island, double* A) {
  const int stride = matrix_stride(island);
  for (int j = 0; j < island.row_count; ++j) {
    A[static_cast<std::ptrdiff_t>(j) * (stride + 1)] += problem.compliance[island.first_row + j];
  }
}

// A of one island as T Λ Tᵀ, patch by patch.
void fill_matrix(const ContactProblem& problem, int island_index, TouchProductWorkspace& workspace, double* A) {
  const Island& island = problem.islands.islands()[island_index];
  const int stride = matrix_stride(island);
  multiply_through_touches(problem.touches, problem.patches_of(island_index), problem.coefficients.data(),
                           problem.coefficients.data(), workspace, A, stride);
  add_compliance(problem, island, A);
}

// The same through the rows as forms on DoFs; false where they have too many.
bool fill_matrix_by_forms(const DofTree& tree, ContactProblem& problem, int island_index, double* A) {
  const Island& island = problem.islands.islands()[island_index];
  if (!problem.forms.compute(tree, problem.touches, problem.patches_of(island_index), problem.coefficients.data(),
                             island.row_count)) {
    return false;
  }
  problem.forms.multiply(A, matrix_stride(island));
  add_compliance(problem, island, A);
  return true;
}

}  // namespace

void fill_delassus(const DofTree& tree, ContactProblem& problem) {
  for (int i = 0; i < problem.island_count(); ++i) {
    const bool formed = problem.A_start[i] >= 0;
    double* A = formed ? problem.A.data() + problem.A_start[i] : nullptr;
    if (formed && fill_matrix_by_forms(tree, problem, i, A)) continue;
    problem.touches.find_Lambda(tree);
    if (formed) {
      fill_matrix(problem, i, problem.products, A);
    } else {
      fill_diagonal(problem, i);
    }
  }
}

BoxedLcp lcp_with_matrix(const ContactProblem& problem, int island_index, AlignedBuffer& A,
                         TouchProductWorkspace& workspace) {
  if (problem.A_start[island_index] >= 0) return problem.lcp(island_index);
  const Island& island = problem.islands.islands()[island_index];
  const int stride = matrix_stride(island);
  A.assign(static_cast<std::size_t>(stride) * island.row_count, 0.0);
  fill_matrix(problem, island_index, workspace, A.data());
  const auto part = [&](const auto& all) { return std::span(all).subspan(island.first_row, island.row_count); };
  return {.rows = part(problem.rows),
          .A = A.data(),
          .stride = stride,
          .b = part(problem.b),
          .target = part(problem.target)};
}

}  // namespace lithe::internal
