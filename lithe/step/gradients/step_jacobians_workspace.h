#pragma once

#include <array>

#include "lithe/dynamics/internal/column_products.h"
#include "lithe/dynamics/inverse_dynamics_derivatives.h"
#include "lithe/step/gradients/bounce.h"
#include "lithe/step/gradients/linearization.h"
#include "lithe/step/gradients/response_matrices.h"
#include "lithe/step/step_jacobians.h"
#include "lithe/step/step_jvp.h"

namespace lithe::internal {

struct StepJacobiansWorkspace {
  StepLinearization linearization;
  ResponseMatrices matrices;  // N and K
  InverseDynamicsDerivatives did;
  AlignedBuffer columns_q, columns_v;  // ∂r/Δt by the DoFs of one chain
  // One side of a patch, and where those of a touch start.
  struct Side {
    int patch;
    bool second;
  };
  std::vector<Side> sides;
  std::vector<int> first_side;
  // What touches add to a few columns of ∂v⁺/∂q: columns of N (of a tree's DoFs) or of K (tree −1), and where their weights start.
  struct TouchTerm {
    int tree;
    int first, count;
    int weights, weight_stride;
  };
  std::vector<TouchTerm> touch_terms;
  AlignedBuffer weights;  // of all touch_terms
  int weight_count = 0;
  // How a ball's part of q⁺ follows Δt·v⁺ (the columns of a 3×3 matrix) and q.
  struct BallTurn {
    int dof;
    Pack columns[3];
    Mat3 by_q;
  };
  std::vector<BallTurn> turns;
  std::vector<WeightedColumns> terms;       // of a few columns,
  AlignedBuffer sums;                       // and these columns
  VecX answer;                              // how v⁺ answers a unit demand of one row (nv)
  LayoutStamp layout;                       // the structure that `written` is about
  std::vector<int> groups;                  // of each tree
  std::array<std::vector<int>, 6> written;  // the groups that each block was last written for
  StepJvp jvp;                              // of single columns
  // Of the modes.
  BounceWorkspace bounce;
};

}  // namespace lithe::internal
