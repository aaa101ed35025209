#include "apps/lithe/optimize_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "apps/lithe/json.h"
#include "apps/lithe/report_text.h"
#include "lithe/optimize/scene_problem.h"

namespace lithe::cli {

namespace {

constexpr std::size_t kLineWidth = 100;  // of what stands beside a title

// A sentence, broken between words.
std::string lines(const char* title, std::string text) {
  std::string out;
  while (text.size() > kLineWidth) {
    const std::size_t blank = text.rfind(' ', kLineWidth);
    if (blank == std::string::npos) break;
    out += line(out.empty() ? title : "", text.substr(0, blank));
    text.erase(0, blank + 1);
  }
  return out + line(out.empty() ? title : "", text);
}

const char* name_of(TaskTerm::Of of) { return of == TaskTerm::Of::position ? "position" : "velocity"; }

std::string unit_of(const TaskTerm& term, const Model& model) {
  const bool slides = model.joints()[model.joint(term.joint)].type == JointType::prismatic;
  return std::string(slides ? "m" : "rad") + (term.of == TaskTerm::Of::velocity ? "/s" : "");
}

TermValue at_end(const TaskTerm& term, const OptimizeReport& report) {
  const Trajectory& motion = report.solution.trajectory;
  return term_value(term, report.scene.model, motion.q.col(motion.steps()), motion.v.col(motion.steps()));
}

PointValue at_end(const TaskPoint& point, const OptimizeReport& report) {
  const Trajectory& motion = report.solution.trajectory;
  return point_value(point, report.scene.model, motion.q.col(motion.steps()));
}

// A robot has many joints: of a long list, those that cost most.
constexpr std::size_t kMostSaid = 12;

template <class Part>
std::vector<Part> worth_saying(std::vector<Part> parts, const OptimizeReport& report) {
  if (parts.size() <= kMostSaid) return parts;
  std::ranges::stable_sort(parts, std::greater(),
                           [&](const Part& part) { return std::abs(at_end(part, report).cost); });
  parts.resize(kMostSaid);
  return parts;
}

std::string coordinates(const Vec3& p) { return fmt::format("({:.4g}, {:.4g}, {:.4g})", p.x(), p.y(), p.z()); }

std::string points_text(const OptimizeReport& report, const char* title) {
  std::string text;
  for (const TaskPoint& point : worth_saying(report.scene.task->points, report)) {
    const PointValue value = at_end(point, report);
    const std::string which = point.point.isZero(0) ? "" : fmt::format(" {}", coordinates(point.point));
    text +=
        line(text.empty() ? title : "", fmt::format("{}{}  at {} m  wanted {}  cost {:.4g}", point.body, which,
                                                    coordinates(value.place), coordinates(point.target), value.cost));
  }
  return text;
}

// One line per term: where the joint came to, where it should, and what that costs. The same for points.
std::string terms_text(const OptimizeReport& report) {
  const std::vector<TaskTerm> terms = worth_saying(report.scene.task->terms, report);
  std::size_t width = 0;
  for (const TaskTerm& term : terms) width = std::max(width, term.joint.size());
  constexpr std::size_t kReached = 17;
  std::string text = points_text(report, "at the end");
  for (const TaskTerm& term : terms) {
    const TermValue value = at_end(term, report);
    const std::string most = term.weight < 0 ? "wanted most" : "wanted least";
    const std::string aim = term.form == TaskTerm::Form::square ? fmt::format("wanted {:g}", term.target) : most;
    const std::string reached = fmt::format("{:.4g} {}", value.x, unit_of(term, report.scene.model));
    text +=
        line(text.empty() ? "at the end" : "", fmt::format("{:<{}}  {}  {:<{}}  {:<12}  cost {:.4g}", term.joint, width,
                                                           name_of(term.of), reached, kReached, aim, value.cost));
  }
  const std::size_t unsaid = report.scene.task->terms.size() - terms.size();
  return text + (unsaid > 0 ? line("", fmt::format("and {} that cost less", unsaid)) : "");
}

std::string terms_json(const OptimizeReport& report) {
  std::vector<std::string> terms;
  for (const TaskTerm& term : report.scene.task->terms) {
    const TermValue value = at_end(term, report);
    terms.push_back(JsonObject()
                        .add("joint", term.joint)
                        .add("of", name_of(term.of))
                        .add("value", value.x)
                        .add("target", term.target)
                        .add("weight", term.weight)
                        .add("cost", value.cost)
                        .text());
  }
  return fmt::format("{}", fmt::join(terms, ",\n  "));
}

JsonObject coordinates_json(const Vec3& p) { return JsonObject().add("x", p.x()).add("y", p.y()).add("z", p.z()); }

std::string points_json(const OptimizeReport& report) {
  std::vector<std::string> points;
  for (const TaskPoint& point : report.scene.task->points) {
    const PointValue value = at_end(point, report);
    points.push_back(JsonObject()
                         .add("body", point.body)
                         .add("point", coordinates_json(point.point))
                         .add("place", coordinates_json(value.place))
                         .add("target", coordinates_json(point.target))
                         .add("weight", point.weight)
                         .add("cost", value.cost)
                         .text());
  }
  return fmt::format("{}", fmt::join(points, ",\n  "));
}

std::string history_json(const Solution& solution) {
  std::vector<std::string> lines;
  for (const lithe::Progress& progress : solution.history) {
    lines.push_back(JsonObject()
                        .add("iteration", progress.iteration)
                        .add("cost", progress.cost)
                        .add("best_cost", progress.best_cost)
                        .add("infeasibility", progress.infeasibility)
                        .add("seconds", progress.seconds)
                        .text());
  }
  return fmt::format("{}", fmt::join(lines, ",\n  "));
}

}  // namespace

std::string OptimizeReport::text() const {
  const StageSeconds& s = solution.seconds;
  std::string text = fmt::format("{}: {}, {} steps of {:g} ms\n\n", scene_name, scene.task->description, problem.steps,
                                 1e3 * problem.step.time_step);
  text += line("method", fmt::format("{}, {} {}", method, threads, threads == 1 ? "thread" : "threads"));
  text += line("cost", fmt::format("{:.6g} → {:.6g}", cost_before, solution.cost));
  text += line("iterations", fmt::format("{}", solution.iterations));
  text += line("time", fmt::format("{}: rollouts {}, derivatives {}, solving {}", seconds_text(s.total),
                                   seconds_text(s.rollout), seconds_text(s.derivatives), seconds_text(s.solve)));
  text += line("violation", fmt::format("{:.2g}", solution.infeasibility));
  text += lines("outcome", solution.message.empty() ? to_string(solution.reason) : solution.message);
  if (solution.reason == StopReason::saddle && !aware) text += line("", "On this command line that is --aware.");
  return text + terms_text(*this);
}

std::string OptimizeReport::json() const {
  const StageSeconds& s = solution.seconds;
  JsonObject report;
  report.add("scene", scene_name)
      .add("method", method)
      .add("steps", problem.steps)
      .add("hold", problem.hold)
      .add("time_step", problem.step.time_step)
      .add("cost_before", cost_before)
      .add("cost", solution.cost)
      .add("infeasibility", solution.infeasibility)
      .add("iterations", solution.iterations)
      .add("seconds", JsonObject()
                          .add("rollout", s.rollout)
                          .add("derivatives", s.derivatives)
                          .add("solve", s.solve)
                          .add("total", s.total))
      .add("reason", to_string(solution.reason))
      .add("message", solution.message)
      .add("threads", threads)
      .add("seed", static_cast<long>(seed));
  std::string members = report.text();
  members.pop_back();  // the brace: lists follow
  return fmt::format("{},\n \"terms\": [\n  {}\n ],\n \"points\": [\n  {}\n ],\n \"history\": [\n  {}\n ]}}\n", members,
                     terms_json(*this), points_json(*this), history_json(solution));
}

}  // namespace lithe::cli
