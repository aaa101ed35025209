#pragma once

#include "lithe/contact/contact_problem.h"

namespace lithe {

// Columns of an island's A are this far apart: whole packs may be stored from any row on without reaching the next one.
inline int matrix_stride(const Island& island) { return padded(island.row_count + kLanes - 1); }

// A = T Λ Tᵀ + compliance of every island that has one, from the patches' coefficients and the touches' Λ.
void fill_delassus(ContactProblem& problem);

}  // namespace lithe
