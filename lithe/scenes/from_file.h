#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lithe/io/load.h"
#include "lithe/scenes/ground.h"
#include "lithe/scenes/scene.h"

namespace lithe {

// What a file holds, in the state and with the time step that it gives; or in the state, and with the motor targets, of a keyframe of it.
// An unknown keyframe is an Error that lists those there are.
Scene scene_from(const LoadedModel& loaded, std::string_view keyframe = {});

// The same with the ground under it that it wants where it starts (lithe/scenes/ground.h).
Scene scene_on_ground(const LoadedModel& loaded, const Ground& ground = {}, std::string_view keyframe = {});

struct OpenOptions {
  LoadOptions load = {};
  Ground ground = {};         // a scene of the catalogue has its own, or none: it takes automatic and no alone
  std::string keyframe = {};  // of a file, instead of load.keyframe
};

// A scene, and what only the eye sees of it.
struct ShownScene {
  std::string name;  // the scene's, or what the file calls its robot; if it does not, the file's, without folders
  Scene scene;
  std::vector<Visual> visuals = {};
  std::vector<LoadWarning> warnings = {};         // about the file
  std::string start = {};                         // LoadedModel::start
  std::vector<ExceptedPair> excepted_pairs = {};  // LoadedModel::excepted_pairs
};

// Where the name of a scene is asked for, that of a robot file may stand: this tells them apart. A file's has a '/' or a '.' in it, or is
// no scene's and there is a file of that name.
bool names_file(const std::string& name);

// The one way from a name to what is simulated, for all programs: a scene of the catalogue, or what a file holds on its ground.
ShownScene open_scene(const std::string& name, const OpenOptions& options = {});
ShownScene open_scene(const LoadedModel& loaded, const OpenOptions& options = {});  // `options.load` is over

}  // namespace lithe
