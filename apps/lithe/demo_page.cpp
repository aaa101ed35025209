#include "apps/lithe/demo_page.h"

#include <filesystem>
#include <utility>

#include "apps/experiments/motion_gradients.h"
#include "apps/experiments/recorded_motion.h"
#include "lithe/viz/document/show_json.h"

namespace lithe::cli {

namespace {

constexpr const char* kTitle = "catapult";

ShowCurve cost_curve(const Solution& solution) {
  ShowCurve curve = {.name = "cost", .x = {}, .y = {}, .x_label = "iteration", .y_label = "cost", .log_y = true};
  for (const lithe::Progress& line : solution.history) {
    curve.x.push_back(line.iteration);
    curve.y.push_back(line.cost);
  }
  return curve;
}

// The box once more, translucent, where it shall be. A body with visuals is shown by them alone, so what collides of the world becomes
// visual too.
void add_target(const Scene& scene, ShowDocument& show) {
  for (std::size_t i = 0, count = show.shapes.size(); i < count; ++i) {
    ShowShape shape = show.shapes[i];
    if (shape.body != 0) continue;
    shape.visual = true;
    show.shapes.push_back(std::move(shape));
  }
  const Model& model = scene.model;
  ShowShape target = show.shapes[static_cast<std::size_t>(int{model.shape("projectile")})];
  Vec3 place = Vec3::Zero();
  for (const TaskTerm& term : scene.task->terms) {
    place += term.target * model.joints()[model.joint(term.joint)].axis;
  }
  target.name = "target";
  target.body = 0;
  target.visual = true;
  target.placement = Pose::translation(place.x(), place.y(), place.z());
  target.color = Vec4(0.09, 0.52, 0.30, 0.45);
  show.shapes.push_back(std::move(target));
}

}  // namespace

DemoPage::DemoPage(const DemoThrow& found)
    : throw_(found),
      parts_{{"start", experiments::recorded_motion(found.problem, found.start)},
             {"optimised", experiments::recorded_motion(found.problem, found.solution.plan)}} {}

std::vector<std::string> DemoPage::write_recordings(const std::string& folder) const {
  const RecordingHeader header = recording_header(throw_.scene.model, kTitle, throw_.problem.step.time_step);
  std::vector<std::string> files;
  for (const Part& part : parts_) {
    files.push_back((std::filesystem::path(folder) / ("demo_" + part.name + ".lithe")).string());
    experiments::write_recording(files.back(), header, part.frames);
  }
  return files;
}

std::string DemoPage::html(std::string_view viewer_page) const {
  const double step = throw_.problem.step.time_step;
  std::vector<ShowMotion> motions;
  for (const Part& part : parts_) {
    ShowMotion& motion = motions.emplace_back(show_motion(part.name, step, part.frames));
    motion.gradients = experiments::show_task_gradients(throw_.scene, part.frames,
                                                        experiments::motion_gradients(throw_.scene, step, part.frames));
  }
  ShowDocument show = make_show(throw_.scene.model, {}, kTitle, step, motions);
  add_target(throw_.scene, show);
  show.curves.push_back(cost_curve(throw_.solution));
  return to_html(show, viewer_page);
}

}  // namespace lithe::cli
