#pragma once

#include <Eigen/Cholesky>

#include <vector>

#include "lithe/core/eigen.h"

namespace lithe::internal {

// minimise ½ xᵀH x + gᵀx over lower ≤ x ≤ upper, by projected Newton steps (Bertsekas 1982; Tassa, Mansard & Todorov 2014). H is small,
// dense and positive definite.
struct BoxQp {
  VecX x;
  std::vector<int> free;    // the coordinates that no bound holds
  Eigen::LLT<MatX> factor;  // of H in the free coordinates
  bool solved = false;      // false: H is not positive definite there

  void solve(const MatX& H, const VecX& g, const VecX& lower, const VecX& upper);

 private:
  MatX reduced_;
  VecX gradient_, step_, trial_;
};

}  // namespace lithe::internal
