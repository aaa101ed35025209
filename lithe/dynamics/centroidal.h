#pragma once

#include "lithe/dynamics/kinematics.h"

namespace lithe {

// The model as a whole: centre of mass and momentum of all bodies that can move, over all trees. World axes, angular
// part first. A model whose moving bodies have no mass (or that has none) has no centre: asking is an Error.

Vec3 centre_of_mass(const Model& model, const Kinematics& kin);           // in the world
Vec3 centre_of_mass_velocity(const Model& model, const Kinematics& kin);  // = linear momentum / mass

// [angular momentum about the given place in the world; linear momentum]. Rotors (armature) are not bodies and
// carry none.
Vec6 spatial_momentum(const Model& model, const Kinematics& kin, const Vec3& about = Vec3::Zero());
// The same about the centre of mass, h_G = [k; l].
Vec6 centroidal_momentum(const Model& model, const Kinematics& kin);

// All of it at once, with the matrices (Orin, Goswami & Lee 2013): h_G = A_G v, ċ = J v.
struct Centroidal {
  double mass = 0;
  Vec3 com = Vec3::Zero();           // c
  Vec3 com_velocity = Vec3::Zero();  // ċ
  Vec6 momentum = Vec6::Zero();      // h_G
  Mat6X A_G;                         // 6×nv, the centroidal momentum matrix: also ∂h_G/∂v
  Mat3X com_jacobian;                // 3×nv, J = ∂c/∂q = ∂ċ/∂v: the lower half of A_G over the mass

  Lanes<10> I;  // composite inertia of each DoF's subtree, about its tree's origin
};
void centroidal(const Model& model, const Kinematics& kin, Centroidal& out);

// How it changes with q at fixed v. (By v: A_G and J.)
struct CentroidalDerivatives {
  Mat6X dmomentum_dq;      // 6×nv, ∂h_G/∂q, about the centre of mass that moves along
  Mat3X dcom_velocity_dq;  // 3×nv

  Lanes<6> momentum;  // of each DoF's subtree, about its tree's origin
};
// `c` must come from centroidal() at the same q and v.
void centroidal_derivatives(const Model& model, const Kinematics& kin, const Centroidal& c, CentroidalDerivatives& out);

}  // namespace lithe
