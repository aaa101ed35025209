#include "lithe/step/gradients/column_writer.h"

#include <algorithm>

namespace lithe::internal {

void ColumnWriter::add_force(int dof, const Force<double>& F) const {
  for (int i = dof; i >= 0; i = tree.parent[i]) column.rho[i] += dot(motion_at(stages.kin.S, tree.slot[i]), F);
}

void ColumnWriter::add_row_force(int row, double x) const {
  // Patches ascend by their first rows, so the row's patch is the last one that begins no later.
  const auto after = std::upper_bound(problem.patches.begin(), problem.patches.end(), row,
                                      [](int r, const Patch& patch) { return r < patch.first_row; });
  const Patch& patch = *std::prev(after);
  for (const bool second : {false, true}) {
    const int index = second ? patch.touch_b : patch.touch_a;
    if (index < 0) continue;
    const Touch& touch = problem.touches.touches[index];
    const double* T = problem.side(patch, second) + (row - patch.first_row);
    const auto coefficient = [&](int k) { return x * T[k * patch.stride]; };
    if (touch.size == 1) {
      column.rho[touch.dof] += coefficient(0);
    } else {
      add_force(touch.dof,
                {{coefficient(0), coefficient(1), coefficient(2)}, {coefficient(3), coefficient(4), coefficient(5)}});
    }
  }
}

void ColumnWriter::move_impulse(int row, double x) const {
  if (x == 0) return;
  column.df[row] += x;
  add_row_force(row, -x);
}

double ColumnWriter::bound_sign(int row) const {
  switch (linearization.response.row_mode(row)) {
    case RowMode::at_lower: return -1;
    case RowMode::at_upper: return 1;
    case RowMode::clamping:
    case RowMode::separating: break;
  }
  return 0;
}

}  // namespace lithe::internal
