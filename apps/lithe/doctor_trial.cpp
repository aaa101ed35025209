#include "apps/lithe/doctor_trial.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <optional>
#include <utility>

#include "apps/lithe/deadline.h"
#include "apps/lithe/gradcheck_sampler.h"
#include "apps/lithe/report_text.h"
#include "apps/lithe/step_trouble.h"
#include "lithe/scenes/from_file.h"
#include "lithe/scenes/world.h"

namespace lithe::cli {

namespace {

using Verdict = Trial::Verdict;

constexpr double kDeepest = 2e-3;   // m
constexpr double kExplosion = 100;  // m/s or rad/s
constexpr double kSlowStep = 2e-3;  // s: with slower ones a second of motion takes longer than that

double processor_time() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

Trial no(std::string why) { return {Verdict::no, std::move(why)}; }

class TryOut {
 public:
  TryOut(const LoadedModel& loaded, double seconds, const std::function<bool(const char*)>& watch)
      : scene_(scene_on_ground(loaded)), seconds_(seconds), watch_(watch) {}

  Trials run() {
    stand();
    if (!interrupted_ && trials_.stands.verdict != Verdict::not_tried) move();
    if (!interrupted_ && trials_.moves.verdict != Verdict::not_tried) compare();
    return std::move(trials_);
  }

 private:
  bool watch(const char* doing) { return interrupted_ = interrupted_ || (watch_ && watch_(doing)); }

  // Left alone, from the state of the file.
  void start_quietly(const Deadline& deadline) {
    World world(scene_.model, options());
    world.set_state(scene_.q, scene_.v);
    const Control control = {.motor_targets = scene_.motor_targets};
    for (int& i = trials_.quiet_steps; i < Trials::kQuietSteps && !deadline.over() && !watch("left alone"); ++i) {
      if (!has(world.step(control).flags, LcpFlag::targets_dropped)) continue;
      if (trials_.quiet_dropped++ == 0) trials_.quiet_trouble = step_trouble(scene_.model, world.record());
    }
  }

  void stand() {
    const Deadline deadline(seconds_);
    start_quietly(deadline);
    motion_.emplace(scene_);
    const HeldMotion::Settling& s = motion_->settle([&](int) { return deadline.over() || watch("coming to rest"); });
    trials_.settling = s;
    if (interrupted_) return;
    const std::string at_end = fmt::format("{} steps, {} contacts", s.steps, s.contacts);
    if (s.stopped) {
      trials_.stands =
          no(fmt::format("{:.0f} s were up after {} steps", deadline.passed(), trials_.quiet_steps + s.steps));
    } else if (s.diverged || s.top_speed > kExplosion) {
      trials_.stands = no(fmt::format("explodes: {:.3g} m/s or rad/s within {} steps", s.top_speed, s.steps));
    } else if (trials_.quiet_dropped > 0) {
      trials_.stands = no(fmt::format("left alone, {} of the first {} steps drop targets ({})", trials_.quiet_dropped,
                                      trials_.quiet_steps, trials_.quiet_trouble));
    } else if (s.first_dropped > 0 || s.last_dropped > 0) {
      trials_.stands = no(fmt::format("held, {} of {} steps drop targets{}", s.dropped, s.steps, trouble_at_rest()));
    } else if (s.deepest > kDeepest) {
      trials_.stands =
          no(fmt::format("held, it ends {:.2g} mm inside something{}", 1e3 * s.deepest, trouble_at_rest()));
    } else {
      const std::string how = s.quiet ? "at rest" : fmt::format("still moving ({:.2g} m/s or rad/s)", s.speed);
      trials_.stands = {Verdict::yes, fmt::format("{} after {}, no targets dropped at the start", how, at_end)};
    }
  }

  std::string trouble_at_rest() const {
    const std::string trouble = step_trouble(scene_.model, motion_->world().record());
    return trouble.empty() ? "" : " (" + trouble + ")";
  }

  void move() {
    const Deadline deadline(seconds_);
    const double processor_start = processor_time();
    HeldMotion& motion = *motion_;
    motion.start_anew(1);
    double top_speed = 0;
    bool diverged = false;
    while (trials_.steps < Trials::kMotionSteps && !diverged && !deadline.over() && !watch("moving")) {
      const double before = deadline.passed();
      const StepStatus& status = motion.step();
      const double took = deadline.passed() - before;
      if (trials_.steps == 0) trials_.first_seconds = took;
      if (trials_.steps > 0) trials_.most_seconds = std::max(trials_.most_seconds, took);
      ++trials_.steps;
      trials_.dropped += has(status.flags, LcpFlag::targets_dropped);
      diverged = status.diverged;
      if (scene_.model.nv() > 0) top_speed = std::max(top_speed, motion.world().state().v.cwiseAbs().maxCoeff());
    }
    trials_.seconds = deadline.passed();
    trials_.processor_seconds = processor_time() - processor_start;
    if (interrupted_) return;
    judge_motion(diverged, top_speed);
  }

  void judge_motion(bool diverged, double top_speed) {
    const int steps = trials_.steps;
    const double mean = trials_.seconds / std::max(steps, 1);
    const std::string times =
        fmt::format("{} steps in {}: {} each, the slowest {}, the first {}", steps, seconds_text(trials_.seconds),
                    seconds_text(mean), seconds_text(trials_.most_seconds), seconds_text(trials_.first_seconds));
    if (diverged || top_speed > kExplosion) {
      trials_.moves = no(fmt::format("explodes: {:.3g} m/s or rad/s within {} steps", top_speed, steps));
    } else if (steps < Trials::kMotionSteps) {
      trials_.moves =
          no(fmt::format("{:.0f} s were up after {} of {} steps", trials_.seconds, steps, Trials::kMotionSteps));
    } else if (trials_.processor_seconds > kSlowStep * steps) {
      trials_.moves = no("too slow: " + times);
    } else {
      const std::string dropped = trials_.dropped > 0 ? fmt::format("; {} drop targets", trials_.dropped) : "";
      trials_.moves = {Verdict::yes, times + dropped};
    }
  }

  void compare() {
    if (trials_.settling.stopped) {
      trials_.gradients.text = "not tried: it takes too long to come to rest";
      return;
    }
    const GradcheckSettings settings = {
        .samples = Trials::kSamples, .tolerance = Trials::kTolerance, .seconds = seconds_};
    GradcheckReport report("", scene_.model, settings.seed, settings.tolerance, "");
    GradcheckSampler(scene_, settings, *motion_).run(report, [&](long) { return watch("comparing gradients"); });
    trials_.samples = report.samples();
    trials_.compared = report.compared();
    trials_.within_tolerance = report.within_tolerance();
    trials_.max_error = report.max_error();
    trials_.gradient_seconds = report.seconds();
    trials_.gradient_reason = report.reason();
    if (interrupted_) return;
    const std::string errors = report.max_error() ? fmt::format(", largest error {:.1e}", *report.max_error()) : "";
    const std::string cut =
        trials_.samples < Trials::kSamples ? fmt::format("; {:.0f} s were up", report.seconds()) : "";
    const std::string left_out = cut + (report.left_out_text().empty() ? "" : "; left out: " + report.left_out_text());
    const std::string text =
        fmt::format("{} of {} samples compared, {} within {:g}{} ({}){}", trials_.compared, trials_.samples,
                    trials_.within_tolerance, Trials::kTolerance, errors, seconds_text(report.seconds()), left_out);
    const bool enough = trials_.within_tolerance >= kLeastGood && report.verdict() != GradcheckReport::Verdict::wrong;
    trials_.gradients = {enough ? Verdict::yes : Verdict::no, text};
  }

  StepOptions options() const {
    StepOptions options;
    options.time_step = scene_.time_step;
    return options;
  }

  static constexpr long kLeastGood = 8;

  Scene scene_;
  double seconds_;
  const std::function<bool(const char*)>& watch_;
  bool interrupted_ = false;
  std::optional<HeldMotion> motion_;
  Trials trials_;
};

}  // namespace

const char* to_string(Trial::Verdict verdict) {
  switch (verdict) {
    case Verdict::yes: return "yes";
    case Verdict::no: return "no";
    case Verdict::not_tried: return "not tried";
  }
  return "unknown";
}

Trials try_out(const LoadedModel& loaded, double seconds, const std::function<bool(const char*)>& watch) {
  return TryOut(loaded, seconds, watch).run();
}

}  // namespace lithe::cli
