#include "apps/lithe/simulation_report.h"

#include <fmt/format.h>

#include <utility>

#include "apps/lithe/json.h"
#include "apps/lithe/report_text.h"

namespace lithe::cli {

namespace {

double energy(const World& world) { return world.kinetic_energy() + world.potential_energy(); }

std::string joint_of_dof(const Model& model, int dof) {
  for (const Joint& joint : model.joints()) {
    if (joint.v_index <= dof && dof < joint.v_index + joint.nv()) return joint.name;
  }
  return "";
}

double per_cent(long part, long whole) {
  return whole > 0 ? 100.0 * static_cast<double>(part) / static_cast<double>(whole) : 0.0;
}

std::string bytes_text(std::size_t bytes) {
  const double b = static_cast<double>(bytes);
  if (b < 1e3) return fmt::format("{} bytes", bytes);
  return b < 1e6 ? fmt::format("{:.1f} kB", 1e-3 * b) : fmt::format("{:.1f} MB", 1e-6 * b);
}

}  // namespace

SimulationReport::SimulationReport(std::string scene, const World& world, long steps_wanted)
    : scene_(std::move(scene)),
      bodies_(static_cast<int>(world.model().bodies().size()) - 1),
      dofs_(world.model().nv()),
      time_step_(world.options.time_step),
      steps_wanted_(steps_wanted),
      energy_start_(energy(world)) {}

void SimulationReport::add_step(const World& world, double seconds) {
  const StepStatus& status = world.status();
  if (seconds > seconds_.most) slowest_step_ = steps_;
  ++steps_;
  seconds_.add(seconds);
  contacts_.add(status.contacts);
  rows_.add(status.rows);
  islands_.add(status.islands);
  for (const LcpReport& lcp : world.record().reports) count(lcp);
  if (status.singular_dof >= 0 && held_.empty()) held_ = joint_of_dof(world.model(), status.singular_dof);
  diverged_ |= status.diverged;
}

void SimulationReport::count(const LcpReport& lcp) {
  if (has(lcp.flags, LcpFlag::targets_dropped)) ++lcps_.targets_dropped;
  if (lcp.stage == LcpStage::none) return;
  if (!lcp.solved()) {
    ++lcps_.unsolved;
  } else {
    switch (lcp.stage) {
      case LcpStage::guess: ++lcps_.guess; break;
      case LcpStage::follow: ++lcps_.followed; break;
      case LcpStage::active_set: ++lcps_.active_set; break;
      case LcpStage::path: ++lcps_.path; break;
      default: ++lcps_.other;
    }
  }
  if (has(lcp.flags, LcpFlag::unpolished)) ++lcps_.unpolished;
  lcps_.factorizations += lcp.factorizations;
  lcps_.events += lcp.events;
  lcps_.residual = std::max(lcps_.residual, lcp.residual);
}

void SimulationReport::finish(const World& world, double seconds, bool interrupted) {
  wall_ = seconds;
  simulated_ = world.time();
  energy_end_ = energy(world);
  interrupted_ = interrupted;
}

void SimulationReport::add_recording(const std::string& path, std::size_t frames, std::size_t bytes) {
  recording_ = path;
  frames_ = frames;
  bytes_ = bytes;
}

std::string SimulationReport::last_step() const { return fmt::format("step {} (t = {:.6g} s)", steps_, simulated_); }

std::string SimulationReport::lcp_text() const {
  const long total = lcps_.total();
  if (total == 0) return "none: nothing touched, no limit was reached and no motor ran";
  std::string text = fmt::format("{}: guess {:.3g} %, followed {:.3g} %, active set {:.3g} %, path {:.3g} %", total,
                                 per_cent(lcps_.guess, total), per_cent(lcps_.followed, total),
                                 per_cent(lcps_.active_set, total), per_cent(lcps_.path, total));
  if (lcps_.other > 0) text += fmt::format(", Gauss–Seidel {:.3g} %", per_cent(lcps_.other, total));
  text += fmt::format(", unsolved {:.3g} %", per_cent(lcps_.unsolved, total));
  return text;
}

std::string SimulationReport::outcome_text() const {
  std::string text;
  if (interrupted_) text += line("stopped", fmt::format("at {} of {}", last_step(), steps_wanted_));
  if (diverged_) text += line("diverged", fmt::format("at {}: numbers overflowed", last_step()));
  if (!held_.empty()) text += line("held still", fmt::format("joint {}: it moves nothing that has inertia", held_));
  return text;
}

std::string SimulationReport::text() const {
  const double mean_seconds = mean(seconds_);
  const double pace = seconds_.sum > 0 ? simulated_ / seconds_.sum : 0;
  std::string text = fmt::format("{}: {} {}, {} DoFs, {} steps of {:g} ms\n\n", scene_, bodies_,
                                 bodies_ == 1 ? "body" : "bodies", dofs_, steps_, 1e3 * time_step_);
  text += outcome_text();
  text += line("simulated", fmt::format("{:.6g} s in {} ({:.3g} × real time)", simulated_, seconds_text(wall_), pace));
  if (steps_ > 0) {
    text += line("step", fmt::format("{}; the slowest, number {}, {}", seconds_text(mean_seconds), slowest_step_ + 1,
                                     seconds_text(seconds_.most)));
    text += line("contacts", fmt::format("{:.1f} per step, at most {:.0f}", mean(contacts_), contacts_.most));
    text += line("rows", fmt::format("{:.1f} per step, at most {:.0f}; {:.1f} islands, at most {:.0f}", mean(rows_),
                                     rows_.most, mean(islands_), islands_.most));
    text += line("LCPs", lcp_text());
  }
  if (lcps_.total() > 0) {
    text += line("", fmt::format("worst residual {:.1e}, {} unpolished, {} with targets dropped", lcps_.residual,
                                 lcps_.unpolished, lcps_.targets_dropped));
  }
  text += line("energy", fmt::format("{:.6g} J at the start, {:.6g} J at the end", energy_start_, energy_end_));
  if (!recording_.empty()) {
    text += line("recording", fmt::format("{} ({} frames, {})", recording_, frames_, bytes_text(bytes_)));
  }
  return text;
}

std::string SimulationReport::json() const {
  const auto tally = [&](const Tally& t) { return JsonObject().add("mean", mean(t)).add("max", t.most); };
  const long total = lcps_.total();
  JsonObject lcps;
  lcps.add("count", total)
      .add("guess_percent", per_cent(lcps_.guess, total))
      .add("followed_percent", per_cent(lcps_.followed, total))
      .add("active_set_percent", per_cent(lcps_.active_set, total))
      .add("path_percent", per_cent(lcps_.path, total))
      .add("other_percent", per_cent(lcps_.other, total))
      .add("unsolved_percent", per_cent(lcps_.unsolved, total))
      .add("unsolved", lcps_.unsolved)
      .add("unpolished", lcps_.unpolished)
      .add("targets_dropped", lcps_.targets_dropped)
      .add("factorizations", lcps_.factorizations)
      .add("events", lcps_.events)
      .add("worst_residual", lcps_.residual);
  JsonObject report;
  report.add("scene", scene_)
      .add("bodies", bodies_)
      .add("dofs", dofs_)
      .add("time_step", time_step_)
      .add("steps", steps_)
      .add("steps_wanted", steps_wanted_)
      .add("simulated_seconds", simulated_)
      .add("wall_seconds", wall_)
      .add("step_microseconds", JsonObject().add("mean", 1e6 * mean(seconds_)).add("max", 1e6 * seconds_.most))
      .add("contacts", tally(contacts_))
      .add("rows", tally(rows_))
      .add("islands", tally(islands_))
      .add("lcps", lcps)
      .add("energy", JsonObject().add("start", energy_start_).add("end", energy_end_))
      .add("diverged", diverged_)
      .add("interrupted", interrupted_);
  if (!held_.empty()) report.add("held_joint", held_);
  if (!recording_.empty()) {
    report.add("recording", JsonObject()
                                .add("file", recording_)
                                .add("frames", static_cast<long>(frames_))
                                .add("bytes", static_cast<long>(bytes_)));
  }
  return report.text() + "\n";
}

}  // namespace lithe::cli
