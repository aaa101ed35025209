#include "apps/lithe/live_scene.h"

#include <fstream>

#include "lithe/io/recording.h"
#include "lithe/scenes/catalogue.h"

namespace lithe::cli {

LiveSubject live_subject(const std::string& name, const SceneOptions& options) {
  ShownScene shown = find_shown_scene(name, options);
  const Scene& scene = shown.scene;
  LiveSubject subject = {.name = name,
                         .model = scene.model,
                         .start = {scene.q, scene.v},
                         .time_step = scene.time_step,
                         .motor_targets = scene.motor_targets,
                         .visuals = std::move(shown.visuals)};
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
