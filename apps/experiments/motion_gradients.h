#pragma once

#include <vector>

#include "lithe/recording/recording.h"
#include "lithe/scenes/scene.h"
#include "lithe/step/gradient_options.h"
#include "lithe/viz/document/show_motion.h"

namespace lithe::experiments {

// How the loss of a task at the end of a motion depends on all that came before.
struct MotionGradients {
  double loss = 0;
  MatX by_q;        // nv × frames, in the tangent of each q
  MatX by_tau;      // nv × frames; zero in the last, from which no step was taken
  int cut_at = -1;  // before this frame gradients are too large for a double, and zeros stand for them; −1: nowhere
};

// Back from the end through the steps of a recorded motion, each of which is taken once more from its frame:
//
//   λ_T = ∂loss/∂x_T,   λ_t = (∂x_{t+1}/∂x_t)ᵀ λ_{t+1},   x = (q, v)
//
// Errors: the scene has no task; a frame does not say what drove its step; a step that is taken again does not lead to the next
// frame (the scene has other numbers than that of the recording, frames were left out, or somebody pushed).
MotionGradients motion_gradients(const Scene& scene, double time_step, const std::vector<RecordedFrame>& frames,
                                 const GradientOptions& options = {});

// The same as a viewer takes it.
ShowGradients show_task_gradients(const Scene& scene, const std::vector<RecordedFrame>& frames,
                                  const MotionGradients& gradients);

}  // namespace lithe::experiments
