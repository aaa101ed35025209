#pragma once

#include <cstdint>
#include <vector>

#include "lithe/linalg/dense_lu.h"

namespace lithe::internal {

// The inverse of a matrix K that gains and loses a row and column at a time, as rows of a problem change their mode.
//
// K⁻¹ is kept as it is and changed in O(m²). Where rows are redundant its entries are as large as the ridge is small, and
// taking such a row out leaves the square of that in rounding: then K is to be set anew instead (kFragile). Where they are
// larger still, even a fresh explicit inverse is worth nothing: LU factors take its place, and every change needs set().
class ModeInverse {
 public:
  // What K⁻¹_ii A_ii may be of a row that leaves by an update.
  static constexpr double kFragile = 3e4;

  // What set() makes of K.
  enum class Form : std::uint8_t {
    inverse,     // or, where it has too few digits, LU factors
    expects_lu,  // the same, but LU first, as one event after such a K: an inverse takes three times as long
    lu,          // LU factors in any case: for a few solutions
  };

  // K as a whole, m×m, columns padded with zeros, and A_ii in the same order. False where it is singular.
  bool set(const PaddedMatrix& K, const double* diagonal, Form form = Form::inverse);

  int size() const { return inverse_.rows; }
  bool uses_lu() const { return uses_lu_; }
  // How an inverse that differs by a few rows is best built.
  Form next_form() const;

  // The following three are not for LU. They return false, and change nothing, where K would become singular. Vectors are
  // padded, and their padding is zero.

  // Adds a row and a column, both over the present m rows, and their diagonal entry.
  bool append(const double* column, const double* row, double corner);
  // Takes row and column k out; the last ones take their place.
  bool remove(int k);
  // Adds `change` to column k.
  bool change_column(int k, const double* change);

  // out = K⁻¹ x.
  void solve(const double* x, double* out) const;
  // K⁻¹_kk; not with LU.
  double diagonal(int k) const { return inverse_.at(k, k); }
  // Whether only the ridge makes K regular; with LU, whether it may.
  bool is_redundant(const double* diagonal) const;

 private:
  bool set_lu(const PaddedMatrix& K, const double* diagonal);
  double largest_share(const double* diagonal) const;
  void widen();

  PaddedMatrix inverse_;  // with LU only its size counts
  bool uses_lu_ = false;
  double smallest_pivot_ = 1;  // of the LU factors, of A_ii
  DenseLu lu_;
  std::vector<int> exchanged_;
  AlignedBuffer product_;
};

}  // namespace lithe::internal
