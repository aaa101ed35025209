#include "tests/viz/live_subjects.h"

#include "lithe/core/check.h"
#include "lithe/scenes/catalogue.h"
#include "lithe/scenes/solids/solids.h"

namespace lithe::test {

namespace {

LiveSubject subject_of(const std::string& name, const Scene& scene) {
  LiveSubject subject = {.name = name,
                         .model = scene.model,
                         .start = {scene.q, scene.v},
                         .time_step = scene.time_step,
                         .motor_targets = scene.motor_targets};
  if (scene.task) {
    subject.loss = LiveLoss{"loss", [task = *scene.task, model = scene.model](const auto& q, const auto& v) {
                              TaskLoss loss = task_loss(task, model, q, v);
                              return LiveLoss::Value{loss.value, std::move(loss.by_q), std::move(loss.by_v)};
                            }};
  }
  return subject;
}

}  // namespace

LiveSubject scene_subject(const std::string& name) { return subject_of(name, scene(name)); }

LiveSubject falling_box() {
  ModelBuilder builder;
  add_ground(builder);
  add_free_solid(builder, "box", 2, Box{Vec3::Constant(0.1)}, Pose::translation(0, 0, 0.5));
  return subject_of("falling box", at_rest(builder));
}

LiveSubject many_boxes(int count) {
  ModelBuilder builder;
  for (int i = 0; i < count; ++i) {
    const std::string name = "box_" + std::to_string(i);
    builder.add_body("world", {.name = name, .inertia = SpatialInertia::box(1, Vec3::Constant(0.2))},
                     free_joint(name, Pose::translation(i, 0, 0)));
  }
  LiveSubject subject = subject_of("many boxes", at_rest(builder));
  subject.time_step = 0.01;
  return subject;
}

LiveCatalogue small_catalogue() {
  return {.entries = {{"falling box", "a box falls"}, {"pendulum", "a pendulum swings"}, {"broken", "nothing"}},
          .open = [](const std::string& name) {
            LITHE_CHECK(name != "broken", "its file is gone");
            return name == "pendulum" ? scene_subject(name) : falling_box();
          }};
}

}  // namespace lithe::test
