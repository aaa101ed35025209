#pragma once

#include "lithe/step/gradients/column_writer.h"

namespace lithe::internal {

// Parameters that enter through the geometry of contacts and loop closures alone: where shapes sit on their bodies, how large
// they are, where loops hold. Points and normals move, while the bodies move as they did: with ∂p, ∂n and ∂gap of a contact,
// u and ω the velocities of a relative to b at p, and F = f_n n + f₁ t₁ + f₂ t₂,
//
//   e of a direction t   [∂d] − ∂t·u − ∂p·(t × ω)   [and −e(∂n·uᵛ + ∂p·(n × ωᵛ)) where it bounces, under the old velocities]
//   on a (b: minus)      ∂F = f_n ∂n + f₁ ∂t₁ + f₂ ∂t₂ at p, and the moment ∂p × F
//   gap where it bounces ∂gap by a size, n·(shift of a − shift of b) by a shift, as n̂ᵀδq is for q

void write_shape_placement(ColumnWriter& writer, ShapeIndex shape, int axis);  // axes of the body
// `size`: a radius is the first size of its shape, a half length the second; half sizes of a box in their order.
void write_shape_size(ColumnWriter& writer, ShapeIndex shape, int size);
void write_loop_placement(ColumnWriter& writer, LoopIndex loop, bool second, int axis);  // axes of the body

// Bodies first … end − 1 of those that move with `dof` (−1: fixed in the world).
struct RigidGroup {
  int first, end;
  int dof;
  bool has(const DofTree& tree, BodyIndex body) const {
    return first <= body && body < end && tree.bodies[body].dof == dof;
  }
};
// All shapes and loop frames on these bodies are shifted, in world axes.
void shift_surfaces(ColumnWriter& writer, const RigidGroup& bodies, const Vec3& shift);

}  // namespace lithe::internal
