#pragma once

#include "python/bindings/values/arrays.h"

namespace lithe::python {

// Small arrays of a known size: points, axes, rotations.
template <int Rows, int Columns = 1>
Eigen::Matrix<double, Rows, Columns> fixed(const ArrayIn& array, const char* name) {
  if constexpr (Columns == 1) {
    return array.vector(name, Rows);
  } else {
    return array.matrix(name, Rows, Columns);
  }
}

}  // namespace lithe::python
