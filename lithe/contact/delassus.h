#pragma once

#include <span>

#include "lithe/contact/contact_problem.h"

namespace lithe::internal {

// Columns of an n×n matrix over rows are this far apart: whole packs may be stored from any row on without reaching the next one.
inline int matrix_stride(int rows) { return padded(rows + kLanes - 1); }
inline int matrix_stride(const Island& island) { return matrix_stride(island.row_count); }

// out = L Λ Rᵀ for the rows of neighbouring patches, where L and R (`left`, `right`: coefficients laid out as the patches say)
// are linear forms on touches. Column-major, `stride` ≥ matrix_stride(rows) apart; the padding is set to zero. With
// left = right the result is symmetric, and only half of it is computed.
void multiply_through_touches(const TouchSpace& space, std::span<const Patch> patches, const double* left,
                              const double* right, TouchProductWorkspace& workspace, double* out, int stride);

// l Λ lᵀ of one form of a patch, its numbers `stride` apart.
double own_response(const TouchSpace& space, const Patch& patch, const double* form);

// A = J M̂⁻¹ Jᵀ + compliance of every island that has room for it: G Gᵀ (DofForms), or T Λ Tᵀ, patch by patch, where paths are long. Of the
// others its diagonal, and then Λ is there.
void fill_delassus(const DofTree& tree, ContactProblem& problem);

// The island's problem with A, in `A` where the step has not formed it.
BoxedLcp lcp_with_matrix(const ContactProblem& problem, int island, AlignedBuffer& A, TouchProductWorkspace& workspace);

}  // namespace lithe::internal
