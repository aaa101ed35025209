#pragma once

#include <array>

#include "lithe/dynamics/inverse_dynamics_derivatives.h"
#include "lithe/step/bounce.h"
#include "lithe/step/linearization.h"
#include "lithe/step/response_matrices.h"
#include "lithe/step/step_jacobians.h"
#include "lithe/step/step_jvp.h"

namespace lithe {

struct StepJacobians::Workspace {
  StepLinearization linearization;
  ResponseMatrices matrices;
  InverseDynamicsDerivatives did;
  AlignedBuffer axes;  // S and Ψ̇ under v⁺, twelve numbers per DoF
  AlignedBuffer G;     // per touched body: what its S and Ψ̇ do to v⁺
  std::vector<std::ptrdiff_t> G_start;
  AlignedBuffer push_weights;
  VecX answer;
  LayoutStamp layout;
  std::vector<int> groups;                  // of each tree
  std::array<std::vector<int>, 6> written;  // the groups that each block was last written for
  StepJvp jvp;                              // of single columns
  // Of the modes.
  BounceWorkspace bounce;
};

}  // namespace lithe
