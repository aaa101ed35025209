#pragma once

#include "lithe/dynamics/inverse_mass_matrix.h"
#include "lithe/model/dof_tree.h"
#include "lithe/simd/lanes.h"

namespace lithe::test {

// The kernels' sparse matrices with all their zeros, nv × nv.

// Lower triangular, from storage by path rows: L, L⁻¹ and M's lower half.
MatX dense_from_paths(const DofTree& tree, const AlignedBuffer& rows);

// M⁻¹.
MatX dense(const DofTree& tree, const InverseMassMatrix& inverse);

}  // namespace lithe::test
