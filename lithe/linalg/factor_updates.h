#pragma once

#include <span>
#include <vector>

#include "lithe/linalg/block_factor.h"
#include "lithe/linalg/dense_lu.h"

namespace lithe::internal {

// A matrix that differs by a few products u vᵀ from one that has been factorised (Woodbury 1950):
//
//   (S + U Vᵀ)⁻¹ = S⁻¹ − Z (I + Vᵀ Z)⁻¹ Vᵀ S⁻¹,   Z = S⁻¹ U.
//
// v lives on one or two blocks. Each product costs one solve with S and makes the others a little dearer; a dozen of them cost less
// than a factorisation, and leave fewer digits: whoever solves with them refines.
class FactorUpdates {
 public:
  // A form on the coordinates of one or two blocks.
  struct Form {
    int start_a = 0, width_a = 0, start_b = 0, width_b = 0;  // in vectors; widths are whole packs
  };

  void clear() { count_ = 0; }
  int count() const { return count_; }

  // Adds u vᵀ: u over all `coordinates`, v by its numbers, those of block a first.
  void add(const BlockFactor& S, int coordinates, const double* u, const Form& form, const double* v);
  // To be called after products were added. False where the sum is singular.
  bool prepare();
  // x ← (S + U Vᵀ)⁻¹ x.
  void solve(const BlockFactor& S, double* x);

 private:
  double* column(int k) { return Z_.data() + static_cast<std::ptrdiff_t>(k) * coordinates_; }
  double apply(int k, const double* x) const;

  int coordinates_ = 0, count_ = 0;
  AlignedBuffer Z_;  // by columns
  struct Kept {
    Form form;
    std::ptrdiff_t start = 0;
  };
  std::vector<Kept> kept_;  // where each v lives, on the coordinates and in V_
  AlignedBuffer V_;         // the numbers of all v, one after the other
  DenseLu middle_;          // I + Vᵀ Z
  AlignedBuffer x_;         // workspace: (I + Vᵀ Z)⁻¹ Vᵀ S⁻¹ x
};

}  // namespace lithe::internal
