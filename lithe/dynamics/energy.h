#pragma once

#include "lithe/dynamics/kinematics.h"

namespace lithe {

// Energies of the bodies that can move, in joule. Springs are not part of them.

// ½ vᵀ M v = ½ Σ V·(I V) + ½ Σ armature·v²
double kinetic_energy(const Model& model, const Kinematics& kin);

// −Σ m g·c: zero for a body at the height of the world's origin. Its gradient by q is gravity_compensation().
double potential_energy(const Model& model, const Kinematics& kin);

}  // namespace lithe
