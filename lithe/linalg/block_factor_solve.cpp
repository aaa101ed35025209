#include <type_traits>
#include <utility>

#include "lithe/linalg/block_columns.h"
#include "lithe/linalg/block_factor.h"

// Substitution with the factors of BlockFactor, in two versions: over blocks of any size, and where all blocks belong to free bodies with
// the six numbers of a block in registers.
namespace lithe::internal {

namespace {

// column·x, for `rows` numbers.
LITHE_INLINE double dot_column(const double* column, const double* x, int rows) {
  Pack sum = {};
  for (int r = 0; r < rows; r += kLanes) sum += as_pack(column + r) * as_pack(x + r);
  return lane_sum(sum);
}

// y −= B x.
LITHE_INLINE void subtract_block(const double* B, int rows, int columns, const double* x, double* y) {
  with_block_sizes(rows, columns, [&](auto m, auto n) {
    const int stride = padded(m);
    for (int j = 0; j < n; ++j) subtract_column(B + j * stride, x[j], y, stride);
  });
}

// y −= Bᵀ x. Four columns at a time, because one transposition adds up the lanes of four sums.
LITHE_INLINE void subtract_block_transposed(const double* B, int rows, int columns, const double* x, double* y) {
  with_block_sizes(rows, columns, [&](auto m, auto n) {
    const int stride = padded(m);
    int j = 0;
    for (; j + kLanes <= n; j += kLanes) {
      Pack sum[kLanes] = {};
      for (int r = 0; r < stride; r += kLanes) {
        const Pack xr = as_pack(x + r);
        for (int k = 0; k < kLanes; ++k) sum[k] += as_pack(B + (j + k) * stride + r) * xr;
      }
      transpose(sum[0], sum[1], sum[2], sum[3]);
      as_pack(y + j) -= (sum[0] + sum[2]) + (sum[1] + sum[3]);
    }
    for (; j < n; ++j) y[j] -= dot_column(B + j * stride, x, stride);
  });
}

// A free body's part of a vector, in registers: whoever substitutes waits for each number in turn, and a way through memory would make it
// wait twice as long.
struct Six {
  Pack low, high;

  LITHE_INLINE static Six load(const double* x) { return {as_pack(x), as_pack(x + kLanes)}; }
  LITHE_INLINE void store(double* x) const {
    as_pack(x) = low;
    as_pack(x + kLanes) = high;
  }
  // Number j in all lanes, without a way through memory.
  template <int j>
  LITHE_INLINE Pack spread() const {
    if constexpr (j < kLanes) {
      return __builtin_shufflevector(low, low, j, j, j, j);
    } else {
      return __builtin_shufflevector(high, high, j - kLanes, j - kLanes, j - kLanes, j - kLanes);
    }
  }
  LITHE_INLINE void scale(const double* factors) {
    low *= as_pack(factors);
    high *= as_pack(factors + kLanes);
  }
};

// Calls work(0), …, work(5) with constants.
template <class Work>
LITHE_INLINE void for_each_of_six(Work work) {
  [&]<int... j>(std::integer_sequence<int, j...>) {
    (work(std::integral_constant<int, j>{}), ...);
  }(std::make_integer_sequence<int, 6>{});
}

// y −= B x, in two chains of sums: additions to one would wait for one another.
LITHE_INLINE void subtract_block(const double* B, const Six& x, Six& y) {
  Six odd = {};
  for_each_of_six([&](auto j) {
    const Pack factor = x.spread<j>();
    Six& sum = j % 2 == 0 ? y : odd;
    sum.low -= as_pack(B + 8 * j) * factor;
    sum.high -= as_pack(B + 8 * j + kLanes) * factor;
  });
  y.low += odd.low;
  y.high += odd.high;
}

// sums[j] += lane by lane what makes up column j of Bᵀ y.
LITHE_INLINE void add_block_transposed(const double* B, const Six& y, Pack* sums) {
  for (int j = 0; j < 6; ++j) sums[j] += as_pack(B + 8 * j) * y.low + as_pack(B + 8 * j + kLanes) * y.high;
}
// x −= these sums, added up over their lanes by transposing four at a time.
LITHE_INLINE void subtract_sums(Pack* sums, Six& x) {
  Pack none[2] = {};
  transpose(sums[0], sums[1], sums[2], sums[3]);
  transpose(sums[4], sums[5], none[0], none[1]);
  x.low -= (sums[0] + sums[2]) + (sums[1] + sums[3]);
  x.high -= (sums[4] + none[0]) + (sums[5] + none[1]);
}

// Substitution by columns with zeros on and above (below) the diagonal, whose reciprocals are kept apart. Only the number that a step
// needs is divided in that step; all of x is divided once, at the end. The reciprocals of the padding are zero, so it ends as zero.
LITHE_INLINE void substitute_forwards(const double* columns, const double* inverse, Six& x) {
  for_each_of_six([&](auto j) {
    const Pack factor = x.spread<j>() * broadcast(inverse[j]);
    if (j < kLanes - 1) x.low -= as_pack(columns + 8 * j) * factor;
    if (j < 5) x.high -= as_pack(columns + 8 * j + kLanes) * factor;
  });
  x.scale(inverse);
}
LITHE_INLINE void substitute_backwards(const double* columns, const double* inverse, Six& x) {
  for_each_of_six([&](auto k) {
    constexpr int j = 5 - k;
    const Pack factor = x.spread<j>() * broadcast(inverse[j]);
    if (j > 0) x.low -= as_pack(columns + 8 * j) * factor;
    if (j == 5) x.high -= as_pack(columns + 8 * j + kLanes) * factor;
  });
  x.scale(inverse);
}

// The factors of one block on the diagonal. Their columns are zero on the diagonal and on the other side of it, so whole columns are used.
struct DiagonalFactor {
  const double *first, *second;  // L of L Lᵀ; or U, and L
  const double* inverse;
  const int* exchanged;
  int size;

  // x ← L⁻¹ x.
  LITHE_INLINE void solve_lower(double* x) const {
    with_block_size(size, [&](auto n) {
      for (int j = 0; j < n; ++j) {
        x[j] *= inverse[j];
        subtract_column(first + j * padded(n), x[j], x, padded(n));
      }
    });
  }
  // x ← L⁻ᵀ x.
  LITHE_INLINE void solve_lower_transposed(double* x) const {
    with_block_size(size, [&](auto n) {
      for (int j = n - 1; j >= 0; --j) x[j] = (x[j] - dot_column(first + j * padded(n), x, padded(n))) * inverse[j];
    });
  }
  // x ← D⁻¹ x = U⁻¹ L⁻¹ P x, P exchanging rows.
  LITHE_INLINE void solve_general(double* x) const {
    with_block_size(size, [&](auto n) {
      for (int j = 0; j < n; ++j) std::swap(x[j], x[exchanged[j]]);
      for (int j = 0; j < n; ++j) subtract_column(second + j * padded(n), x[j], x, padded(n));
      for (int j = n - 1; j >= 0; --j) {
        x[j] *= inverse[j];
        subtract_column(first + j * padded(n), x[j], x, padded(n));
      }
    });
  }
  // x ← D⁻ᵀ x = Pᵀ L⁻ᵀ U⁻ᵀ x.
  LITHE_INLINE void solve_general_transposed(double* x) const {
    with_block_size(size, [&](auto n) {
      for (int j = 0; j < n; ++j) x[j] = (x[j] - dot_column(first + j * padded(n), x, padded(n))) * inverse[j];
      for (int j = n - 1; j >= 0; --j) x[j] -= dot_column(second + j * padded(n), x, padded(n));
      for (int j = n - 1; j >= 0; --j) std::swap(x[j], x[exchanged[j]]);
    });
  }
};

// x ← U⁻¹ L⁻¹ x with its rows exchanged.
LITHE_INLINE void substitute_exchanged(const double* L, const double* U, const double* inverse, const int* origin,
                                       Six& x) {
  alignas(32) double before[8];
  x.store(before);
  x.low = Pack{before[origin[0]], before[origin[1]], before[origin[2]], before[origin[3]]};
  x.high = Pack{before[origin[4]], before[origin[5]], 0, 0};
  for_each_of_six([&](auto j) {
    const Pack factor = x.spread<j>();
    if (j < kLanes - 1) x.low -= as_pack(L + 8 * j) * factor;
    if (j < 5) x.high -= as_pack(L + 8 * j + kLanes) * factor;
  });
  substitute_backwards(U, inverse, x);
}

}  // namespace

// Where all blocks are those of free bodies: solve() with each block's part of x in registers.
void BlockFactor::solve_six(double* x) const {
  for (int k = 0; k < graph_->size(); ++k) {
    const BlockGraph::Column& column = graph_->column(k);
    Six own = Six::load(x + column.start);
    if (symmetric_) {
      substitute_forwards(values_.data() + column.diagonal, inverse_pivots_.data() + column.start, own);
      own.store(x + column.start);
    }
    for (const BlockGraph::Entry& entry : graph_->below(column)) {
      double* at = x + graph_->column(entry.row).start;
      Six other = Six::load(at);
      subtract_block(values_.data() + entry.lower, own, other);
      other.store(at);
    }
  }
  for (int k = graph_->size() - 1; k >= 0; --k) {
    const BlockGraph::Column& column = graph_->column(k);
    const double *second = values_.data() + column.spare, *inverse = inverse_pivots_.data() + column.start;
    Six own = Six::load(x + column.start);
    if (symmetric_) {
      Pack sums[6] = {};
      for (const BlockGraph::Entry& entry : graph_->below(column)) {
        add_block_transposed(values_.data() + entry.lower, Six::load(x + graph_->column(entry.row).start), sums);
      }
      subtract_sums(sums, own);
      substitute_backwards(second, inverse, own);
    } else {
      for (const BlockGraph::Entry& entry : graph_->below(column)) {
        subtract_block(values_.data() + entry.upper, Six::load(x + graph_->column(entry.row).start), own);
      }
      substitute_exchanged(second, values_.data() + column.diagonal, inverse, origin_.data() + column.start, own);
    }
    own.store(x + column.start);
  }
}

// Forwards each block passes what it has on to the later ones that it meets, backwards it takes from them. L of the general factors has
// units on its diagonal of blocks, so there D is divided by on the way back only.
void BlockFactor::solve(double* x) const {
  if (graph_->has_only_sixes()) return solve_six(x);
  const auto at = [&](const BlockGraph::Column& column) {
    return DiagonalFactor{values_.data() + column.diagonal, values_.data() + column.spare,
                          inverse_pivots_.data() + column.start, exchanged_.data() + column.start, column.size};
  };
  for (int k = 0; k < graph_->size(); ++k) {
    const BlockGraph::Column& column = graph_->column(k);
    if (symmetric_) at(column).solve_lower(x + column.start);
    for (const BlockGraph::Entry& entry : graph_->below(column)) {
      const BlockGraph::Column& row = graph_->column(entry.row);
      subtract_block(values_.data() + entry.lower, row.size, column.size, x + column.start, x + row.start);
    }
  }
  for (int k = graph_->size() - 1; k >= 0; --k) {
    const BlockGraph::Column& column = graph_->column(k);
    for (const BlockGraph::Entry& entry : graph_->below(column)) {
      const BlockGraph::Column& row = graph_->column(entry.row);
      if (symmetric_) {
        subtract_block_transposed(values_.data() + entry.lower, row.size, column.size, x + row.start, x + column.start);
      } else {
        subtract_block(values_.data() + entry.upper, column.size, row.size, x + row.start, x + column.start);
      }
    }
    if (symmetric_) {
      at(column).solve_lower_transposed(x + column.start);
    } else {
      at(column).solve_general(x + column.start);
    }
  }
}

// S⁻ᵀ = (I + L)⁻ᵀ (D + U)⁻ᵀ: the same with upper and lower blocks in each other's place, so D is divided by on the way forwards.
void BlockFactor::solve_transposed(double* x) const {
  if (symmetric_) return solve(x);
  for (int k = 0; k < graph_->size(); ++k) {
    const BlockGraph::Column& column = graph_->column(k);
    DiagonalFactor{values_.data() + column.diagonal, values_.data() + column.spare,
                   inverse_pivots_.data() + column.start, exchanged_.data() + column.start, column.size}
        .solve_general_transposed(x + column.start);
    for (const BlockGraph::Entry& entry : graph_->below(column)) {
      const BlockGraph::Column& row = graph_->column(entry.row);
      subtract_block_transposed(values_.data() + entry.upper, column.size, row.size, x + column.start, x + row.start);
    }
  }
  for (int k = graph_->size() - 1; k >= 0; --k) {
    const BlockGraph::Column& column = graph_->column(k);
    for (const BlockGraph::Entry& entry : graph_->below(column)) {
      const BlockGraph::Column& row = graph_->column(entry.row);
      subtract_block_transposed(values_.data() + entry.lower, row.size, column.size, x + row.start, x + column.start);
    }
  }
}

}  // namespace lithe::internal
