#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "apps/lithe/random_controls.h"
#include "bench/mujoco_world.h"
#include "lithe/io/load.h"
#include "lithe/io/mujoco_bridge.h"
#include "lithe/scenes/scene.h"
#include "lithe/step/step_record.h"

namespace lithe::bench {

// A model that both engines step: the same MJCF from the same state with the same controls.
struct Subject {
  std::string name;
  Scene scene;
  LoadedModel loaded;  // from the MJCF: how MuJoCo numbers things
  std::string file;    // the MJCF; empty: it is `text`
  std::string text;

  MujocoWorld mujoco() const { return file.empty() ? MujocoWorld::from_text(text) : MujocoWorld::from_file(file); }
};

// What an MJCF file holds, where it starts (LoadOptions::keyframe; where the file has no such keyframe, as by default). An Error says why it cannot
// be compared.
Subject subject_from_file(const std::string& name, const std::string& path, const std::string& keyframe = {});
// A scene of our own; MuJoCo gets what write_mjcf() makes of it.
Subject subject_from_scene(const std::string& name, Scene scene);

// An Error unless MuJoCo has the same coordinates, controls and time step, and at the start the same mass matrix, to `tolerance`.
void check_same_model(const Subject& subject, MujocoWorld& mujoco, double tolerance);

// What sets a model in motion, drawn anew at each step.
enum class Shaking : std::uint8_t {
  controls,  // uniform in the ranges of the file's actuators, −1 to 1 where it gives none; without actuators, forces
  forces,    // on every DoF, RandomControls, beside controls at rest
};

// The controls of both engines, step by step. At rest: the targets of the state that the model starts in, and no efforts.
class Drive {
 public:
  explicit Drive(const Subject& subject);                                                  // at rest
  Drive(const Subject& subject, std::uint64_t seed, Shaking shaking = Shaking::controls);  // in motion

  void next();
  const Control& ours() const { return ours_; }
  void give(MujocoWorld& mujoco) const;

 private:
  void set_ours();

  const Subject& subject_;
  MujocoBridge bridge_;
  std::optional<std::mt19937_64> random_;
  std::optional<cli::RandomControls> forces_;
  VecX ctrl_;
  VecX at_rest_, drawn_;  // forces: of the actuators, and those drawn
  Control ours_;
};

struct ModelFile {
  std::string name, path;
};

// The MJCF files in places separated by ':', as LITHE_MODELS names them. Of a folder and those below: its scene.xml; without one, its
// scene_*.xml; without any, every file with a <worldbody>. A place may be a file, too. They are called as the folder of their scene.xml or as
// the file, with the folder before it where that is taken already.
std::vector<ModelFile> model_files(const std::string& places);

}  // namespace lithe::bench
