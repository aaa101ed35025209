#pragma once

#include <array>
#include <cstddef>
#include <random>

#include "lithe/dynamics/external_wrenches.h"
#include "lithe/model/model_builder.h"

namespace lithe::test {

// Random models and states that leave no corner of the model language out: every joint type and composition, lists of
// joints with placements of their own, welded bodies (to the world too, with children), branches, several roots,
// massless bodies, bodies whose frame is not their joint's, axes along and against z, gravity in any direction.
//
// The mass matrix is never singular in the states that random_state() gives: all the joints of one body are
// independent there, and each body with joints has a full inertia.
struct RandomModelOptions {
  int min_dofs = 1;  // the number is log-uniform between these: small models are as frequent as large ones
  int max_dofs = 60;
  double new_root = 0.1;  // chance that a body hangs on the world,
  double branch = 0.3;    // or on any body so far; otherwise on the last one
  double armature = 0.3;  // chance that a joint has some
  bool balls = true;
};

Model random_model(std::mt19937_64& random, const RandomModelOptions& options = {});

// The builder that would give this model's bodies, joints and frames again.
ModelBuilder builder_of(const Model& model);

struct RandomState {
  VecX q, v, a, tau;
};

struct RandomStateOptions {
  // Some angles are this large. Finite differences lose the digits that q ± h loses; tests that take none may go
  // beyond kPackTrigRange.
  double largest_angle = 100;
  // How independent the joints of one body are at least: the smallest singular value of their axes.
  double independence = 0.1;
};

// Angles are often at or near multiples of π/2, balls near rotations by 0, π and 2π: off by 1e-4, 1e-8, 1e-12 or 0.
RandomState random_state(const Model& model, std::mt19937_64& random, const RandomStateOptions& options = {});

// None to three, on any bodies but the world.
ExternalWrenches random_wrenches(const Model& model, std::mt19937_64& random);

// Parts.
double uniform(std::mt19937_64& random, double low, double high);
double log_uniform(std::mt19937_64& random, double low, double high);
int uniform_int(std::mt19937_64& random, int low, int high);  // both included
bool chance(std::mt19937_64& random, double probability);
VecX random_vector(std::mt19937_64& random, int size, double scale = 1);  // Gaussian
Vec3 random_vec3(std::mt19937_64& random, double scale = 1);              // Gaussian
Vec3 random_axis(std::mt19937_64& random);                                // a unit vector, often along ±x, ±y, ±z
Mat3 random_rotation(std::mt19937_64& random);
// Uniform over all rotations: along no axis, so that no normal lies on the seam of the tangents by design.
Mat3 any_rotation(std::mt19937_64& random);
Pose random_pose(std::mt19937_64& random);               // sometimes only a shift, sometimes the identity
SpatialInertia random_inertia(std::mt19937_64& random);  // of a possible body
template <class T, std::size_t N>
T pick(std::mt19937_64& random, const std::array<T, N>& choices) {
  return choices[uniform_int(random, 0, static_cast<int>(N) - 1)];
}

}  // namespace lithe::test
