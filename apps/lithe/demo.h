// The parts of `lithe demo`. Each prints to stdout.
#pragma once

#include <cstdint>

namespace lithe::cli {

// A double pendulum's path, drawn, and how well its energy is kept.
void show_double_pendulum(std::uint64_t seed, bool coloured);

// Every derivative of the humanoid's dynamics against central differences: error and time.
void show_derivatives(std::uint64_t seed);

// Contacts of some pairs of shapes: how many points, how long it takes, and their derivatives' errors.
void show_contacts();

// Scenes with hard contact against the textbook.
void show_steps();

// The derivatives of steps with contact against central differences: error and time.
void show_gradients();

// Motions that solvers find: swinging up, taking off, jumping.
void show_motions();

}  // namespace lithe::cli
