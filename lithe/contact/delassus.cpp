#include "lithe/contact/delassus.h"

#include <algorithm>

#include "lithe/contact/symmetric_matrix.h"

namespace lithe {

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

void clear_block(const Patch& patch, int columns, double* A, int stride) {
  for (int j = 0; j < columns; ++j) std::fill_n(A + static_cast<std::ptrdiff_t>(j) * stride, patch.stride, 0.0);
}

class IslandMatrix {
 public:
  IslandMatrix(ContactProblem& problem, int island)
      : problem_(problem),
        space_(problem.touches),
        island_(problem.islands.islands()[island]),
        stride_(matrix_stride(island_)),
        A_(problem.A.data() + problem.A_start[island]) {}

  // The blocks on and below the diagonal, patch by patch, then the rest by symmetry. Later patches overwrite what an earlier
  // one's last pack leaves beyond its rows.
  void fill(int first_patch, int last_patch) {
    for (int q = first_patch; q < last_patch; ++q) {
      const Patch& source = problem_.patches[q];
      find_responses(source);
      double* columns = A_ + static_cast<std::ptrdiff_t>(source.first_row - island_.first_row) * stride_;
      for (int p = q; p < last_patch; ++p) {
        const Patch& patch = problem_.patches[p];
        write_block(patch, source.row_count, columns + patch.first_row - island_.first_row);
      }
    }
    for (int j = 0; j < island_.row_count; ++j) {
      double* column = A_ + static_cast<std::ptrdiff_t>(j) * stride_;
      column[j] += problem_.compliance[island_.first_row + j];
      std::fill(column + island_.row_count, column + stride_, 0.0);
    }
    mirror_lower_triangle(A_, island_.row_count, stride_);
  }

 private:
  void find_responses(const Patch& source) {
    const int a = space_.block_of(source.touch_a);
    const int b = space_.block_of(source.touch_b);
    const auto size = [&](int block) { return block < 0 ? 0 : space_.blocks[block].stride * source.row_count; };
    const std::size_t needed = static_cast<std::size_t>(size(a)) + static_cast<std::size_t>(b == a ? 0 : size(b));
    if (problem_.responses.size() < needed) problem_.responses.resize(needed);
    double* out = problem_.responses.data();
    count_ = 0;
    if (a >= 0) {
      respond(space_, source.touch_a, problem_.side(source, false), source, false, out);
      responses_[count_++] = {a, space_.blocks[a].stride, out};
    }
    if (b >= 0 && b == a) {
      respond(space_, source.touch_b, problem_.side(source, true), source, true, out);
    } else if (b >= 0) {
      out += size(a);
      respond(space_, source.touch_b, problem_.side(source, true), source, false, out);
      responses_[count_++] = {b, space_.blocks[b].stride, out};
    }
  }

  void write_block(const Patch& patch, int columns, double* A) const {
    bool written = false;
    for (const bool b : {false, true}) {
      const int touch = b ? patch.touch_b : patch.touch_a;
      if (touch < 0) continue;
      const Touch& t = space_.touches[touch];
      for (int r = 0; r < count_; ++r) {
        if (responses_[r].block != t.block) continue;
        multiply_block(t.size, written, problem_.side(patch, b), patch, responses_[r].columns + t.first,
                       responses_[r].stride, columns, A, stride_);
        written = true;
      }
    }
    if (!written) clear_block(patch, columns, A, stride_);
  }

  ContactProblem& problem_;
  const TouchSpace& space_;
  const Island& island_;
  int stride_;
  double* A_;
  Response responses_[2];
  int count_ = 0;
};

}  // namespace

void fill_delassus(ContactProblem& problem) {
  for (int island = 0; island < problem.island_count(); ++island) {
    if (problem.A_start[island] < 0) continue;
    IslandMatrix(problem, island).fill(problem.first_patch[island], problem.first_patch[island + 1]);
  }
}

}  // namespace lithe
