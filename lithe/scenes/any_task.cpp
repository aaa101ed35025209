#include "lithe/scenes/any_task.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <vector>

#include "lithe/core/check.h"
#include "lithe/core/internal/suggest.h"
#include "lithe/dynamics/body_motion.h"
#include "lithe/scenes/ground.h"

namespace lithe {

using namespace internal;

namespace {

constexpr double kSeconds = 0.5;
constexpr int kShots = 25;
// What a rad/s or m/s at the end costs, where a rad or m costs 1: a robot that comes to rest within a tenth of a second is off by as much.
constexpr double kRestWeight = 0.01;

Task empty_task(const Scene& scene, std::string description) {
  LITHE_CHECK(scene.model.nv() > 0, "task: nothing in this model can move");
  const int steps = std::max(1, static_cast<int>(std::lround(kSeconds / scene.time_step)));
  return {.description = std::move(description), .steps = steps, .shot = std::max(1, steps / kShots)};
}

void add_rest(const Scene& scene, Task& task) {
  for (const Joint& joint : scene.model.joints()) {
    if (joint.nv() == 1)
      task.terms.push_back({.joint = joint.name, .of = TaskTerm::Of::velocity, .weight = kRestWeight});
  }
}

// Three points at a metre's distance in the three directions of a body say how it is turned: where each should be.
void add_orientation(const Scene& scene, const Kinematics& kin, BodyIndex body, Task& task) {
  const Pose X_WB = body_pose(scene.model, kin, body);
  for (int axis = 0; axis < 3; ++axis) {
    task.points.push_back(
        {.body = scene.model.bodies()[body].name, .point = Vec3::Unit(axis), .target = X_WB * Vec3(Vec3::Unit(axis))});
  }
}

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  while (true) {
    const std::size_t start = text.find_first_not_of(" \t");
    if (start == std::string_view::npos) return words;
    text.remove_prefix(start);
    const std::size_t length = std::min(text.find_first_of(" \t"), text.size());
    words.push_back(text.substr(0, length));
    text.remove_prefix(length);
  }
}

double number_from(std::string_view word, std::string_view task) {
  double number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  LITHE_CHECK(error == std::errc() && end == word.data() + word.size() && std::isfinite(number),
              "task '{}': '{}' is no number", task, word);
  return number;
}

}  // namespace

Task hold_task(const Scene& scene) {
  Task task = empty_task(scene, "stay as it starts");
  Kinematics kin;
  kinematics(scene.model, scene.q, kin);
  for (const Joint& joint : scene.model.joints()) {
    if (joint.nv() == 1) {
      task.terms.push_back({.joint = joint.name, .target = scene.q[joint.q_index]});
    } else {
      add_orientation(scene, kin, joint.body, task);
    }
  }
  add_rest(scene, task);
  return task;
}

Task reach_task(const Scene& scene, std::string_view body_or_frame, const Vec3& target) {
  const Model& model = scene.model;
  LITHE_CHECK(target.allFinite(), "task: the place ({}, {}, {}) is not finite", target.x(), target.y(), target.z());
  TaskPoint point = {.body = {}, .target = target};
  BodyIndex body;
  const auto frame = std::ranges::find(model.frames(), body_or_frame, &Frame::name);
  if (frame != model.frames().end()) {
    body = frame->body;
    point.point = frame->placement.p;
  } else {
    const auto found = std::ranges::find(model.bodies(), body_or_frame, &Body::name);
    if (found == model.bodies().end()) {
      std::vector<std::string_view> known;
      for (const Body& each : model.bodies()) known.push_back(each.name);
      for (const Frame& each : model.frames()) known.push_back(each.name);
      throw Error(fmt::format("task: there is no body or frame named '{}'{}", body_or_frame,
                              did_you_mean(body_or_frame, known)));
    }
    body = BodyIndex(static_cast<int>(found - model.bodies().begin()));
  }
  LITHE_CHECK(model.tree().bodies[body].dof >= 0, "task: '{}' is fixed in the world, and reaches nothing",
              body_or_frame);
  point.body = model.bodies()[body].name;
  Task task = empty_task(scene, fmt::format("bring {} to ({:g}, {:g}, {:g}) and stop there", body_or_frame, target.x(),
                                            target.y(), target.z()));
  task.points.push_back(std::move(point));
  add_rest(scene, task);
  return task;
}

Task rise_task(const Scene& scene, double height) {
  LITHE_CHECK(std::isfinite(height), "task: the height is {}; it must be finite", height);
  const std::optional<JointIndex> falling = falling_joint(scene.model, scene.q);
  LITHE_CHECK(falling, "task 'rise' is for what can fall: a floating base, or a joint that slides up without a limit");
  const Joint& joint = scene.model.joints()[*falling];
  Kinematics kin;
  kinematics(scene.model, scene.q, kin);
  const double rise = dof_axis(scene.model, kin, joint.v_index).tail<3>().dot(up_direction(scene.model));
  Task task = empty_task(scene, fmt::format("be {:g} m higher than at the start", height));
  task.terms.push_back({.joint = joint.name, .target = scene.q[joint.q_index] + height / rise});
  return task;
}

Task task_from(const Scene& scene, std::string_view text) {
  const std::vector<std::string_view> words = words_of(text);
  const std::size_t count = words.size();
  if (count == 1 && words[0] == "hold") return hold_task(scene);
  if (count == 2 && words[0] == "rise") return rise_task(scene, number_from(words[1], text));
  if (count >= 5 && words[0] == "reach") {
    // A name may have blanks in it: the numbers are the last three words.
    const char* end = words[count - 4].data() + words[count - 4].size();
    const std::string_view name(words[1].data(), static_cast<std::size_t>(end - words[1].data()));
    return reach_task(scene, name,
                      {number_from(words[count - 3], text), number_from(words[count - 2], text),
                       number_from(words[count - 1], text)});
  }
  for (const std::string_view usage : {"hold", "reach NAME X Y Z", "rise HEIGHT"}) {
    if (count > 0 && words[0] == words_of(usage)[0]) {
      throw Error(fmt::format("task '{}' is not complete, or has too much: it is written '{}'", text, usage));
    }
  }
  throw Error(
      fmt::format("there is no task '{}'; any robot can be set 'hold', 'reach NAME X Y Z' or 'rise HEIGHT'", text));
}

}  // namespace lithe
