#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lithe/recording/recording_reader.h"

namespace lithe {

// A number over time, for a plot.
struct ShowSeries {
  std::string name, unit;
  std::vector<double> values;  // one per frame
};

// How a loss depends on a motion: what a viewer draws as arrows and colours.
struct ShowGradients {
  std::string loss;  // its name
  MatX bodies;       // 3·bodies × T: by the position of each body's origin in the world
  MatX joints;       // joints × T: by the force of each joint
};

// A motion to be shown: states with their times, and what happened there.
//
// Fill it from wherever the states come from, or let one of the functions below do so.
struct ShowMotion {
  std::string name;
  double time_step = 0;                                     // of the simulation, s: impulses over it are mean forces
  std::vector<double> times;                                // T, ascending, s
  MatX q, v;                                                // nq, nv × T
  std::vector<std::vector<RecordedContact>> contacts = {};  // T, or empty: none at all
  std::vector<ShowSeries> series = {};                      // besides those that make_show() adds
  std::optional<ShowGradients> gradients = {};
};

ShowMotion show_motion(std::string name, double time_step, const std::vector<RecordedFrame>& frames);

// What is left in the recording: its first frame, then one of `every`, then the last one. A file that was cut off gives
// the frames up to its last full one (reader.cut_off()).
ShowMotion show_motion(std::string name, RecordingReader& reader, int every = 1);

// Throws an Error that names the first difference unless the recording is one of this model: the same bodies, joints,
// shapes and (where it names any) motors, by number, name and place.
void check_recording_fits(const RecordingHeader& header, const Model& model);

// What a viewer takes, of T frames: q is nq × T, the gradients by it and by the joints' forces nv × T. A joint's number is ∂f/∂τ, of a
// ball the length of it. Sizes that do not fit are an Error.
ShowGradients show_gradients(const Model& model, std::string loss, const MatX& q, const MatX& by_q, const MatX& by_tau);

}  // namespace lithe
