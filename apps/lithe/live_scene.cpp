#include "apps/lithe/live_scene.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "lithe/recording/recording.h"
#include "lithe/scenes/catalogue.h"

namespace lithe::cli {

namespace {

// What people read. Viewers choose scenes of the catalogue by it, so a robot that is called like one of them goes by its file's name.
std::string live_name(const std::string& asked, const ShownScene& shown) {
  if (!names_file(asked)) return asked;
  const std::vector<std::string> scenes = scene_names();
  const bool is_taken = std::ranges::find(scenes, shown.name) != scenes.end();
  return is_taken ? std::filesystem::path(asked).filename().string() : shown.name;
}

}  // namespace

LiveSubject live_subject(const std::string& name, const SceneOptions& options) {
  ShownScene shown = find_shown_scene(name, options);
  const Scene& scene = shown.scene;
  LiveSubject subject = {.name = live_name(name, shown),
                         .model = scene.model,
                         .start = {scene.q, scene.v},
                         .time_step = scene.time_step,
                         .motor_targets = scene.motor_targets,
                         .visuals = std::move(shown.visuals),
                         .excepted_pairs = std::move(shown.excepted_pairs)};
  if (scene.task) {
    subject.loss = LiveLoss{"loss", [task = *scene.task, model = scene.model](const auto& q, const auto& v) {
                              TaskLoss loss = task_loss(task, model, q, v);
                              return LiveLoss::Value{loss.value, std::move(loss.by_q), std::move(loss.by_v)};
                            }};
  }
  return subject;
}

LiveCatalogue live_catalogue() {
  LiveCatalogue catalogue;
  for (const std::string& name : scene_names()) catalogue.entries.push_back({name, scene_description(name)});
  catalogue.open = [](const std::string& name) { return live_subject(name, {}); };
  return catalogue;
}

bool is_recording(const std::string& name) {
  std::ifstream file(name, std::ios::binary);
  char magic[sizeof recording_format::kMagic] = {};
  return file.read(magic, sizeof magic) && std::equal(std::begin(magic), std::end(magic), recording_format::kMagic);
}

}  // namespace lithe::cli
