#include "bench/motion.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "bench/clocks.h"
#include "lithe/scenes/world.h"

namespace lithe::bench {

namespace {

// What is averaged over steps: a line here is a column there.
struct StatusTally {
  const char* name;
  double (*of)(const StepStatus&);
};
constexpr StatusTally kStatusTallies[] = {
    {"contacts", [](const StepStatus& s) -> double { return s.contacts; }},
    {"rows", [](const StepStatus& s) -> double { return s.rows; }},
    {"islands", [](const StepStatus& s) -> double { return s.islands; }},
    {"guessed", [](const StepStatus& s) -> double { return s.guessed; }},
    {"followed", [](const StepStatus& s) -> double { return s.followed; }},
    {"active_set", [](const StepStatus& s) -> double { return s.active_set; }},
    {"path", [](const StepStatus& s) -> double { return s.path; }},
    {"other", [](const StepStatus& s) -> double { return s.other; }},
    {"unsolved", [](const StepStatus& s) -> double { return s.unsolved; }},
    {"factorizations", [](const StepStatus& s) -> double { return s.factorizations; }},
    {"events", [](const StepStatus& s) -> double { return s.events; }},
    {"targets_dropped", [](const StepStatus& s) -> double { return has(s.flags, LcpFlag::targets_dropped); }},
    {"unpolished", [](const StepStatus& s) -> double { return has(s.flags, LcpFlag::unpolished); }},
};

struct MujocoTally {
  const char* name;
  double (*of)(const MujocoWorld&);
};
constexpr MujocoTally kMujocoTallies[] = {
    {"contacts", [](const MujocoWorld& m) -> double { return m.contacts(); }},
    {"rows", [](const MujocoWorld& m) -> double { return m.rows(); }},
    {"iterations", [](const MujocoWorld& m) -> double { return m.iterations(); }},
    {"overflowed", [](const MujocoWorld& m) -> double { return m.overflowed(); }},
};

// One engine with the model where it starts, stepped under a drive of its own.
class OurEngine {
 public:
  OurEngine(const Subject& subject, Drive drive)
      : subject_(subject), drive_(std::move(drive)), world_(subject.scene.model) {
    world_.options.time_step = subject.scene.time_step;
    restart();
  }
  void prepare() { drive_.next(); }
  void step() { world_.step(drive_.ours()); }
  bool diverged() const { return world_.status().diverged; }
  void restart() { world_.set_state(subject_.scene.q, subject_.scene.v); }

  static constexpr std::size_t kTallies = std::size(kStatusTallies);
  static const char* tally_name(std::size_t k) { return kStatusTallies[k].name; }
  double tally(std::size_t k) const { return kStatusTallies[k].of(world_.status()); }

 private:
  const Subject& subject_;
  Drive drive_;
  World world_;
};

class MujocoEngine {
 public:
  MujocoEngine(const Subject& subject, Drive drive, const MujocoWorld& mujoco)
      : subject_(subject), drive_(std::move(drive)), bridge_(subject.loaded), world_(mujoco.another()) {
    restart();
  }
  void prepare() {
    drive_.next();
    drive_.give(world_);
  }
  void step() { world_.step(); }
  bool diverged() const { return world_.diverged(); }
  void restart() { world_.start(bridge_.qpos_from_q(subject_.scene.q), bridge_.qvel_from_v(subject_.scene.v)); }

  static constexpr std::size_t kTallies = std::size(kMujocoTallies);
  static const char* tally_name(std::size_t k) { return kMujocoTallies[k].name; }
  double tally(std::size_t k) const { return kMujocoTallies[k].of(world_); }

 private:
  const Subject& subject_;
  Drive drive_;
  MujocoBridge bridge_;
  MujocoWorld world_;
};

// The steps of one engine from one start: their times, and sums of the tallies from step `counted` on.
template <class Engine>
class Run {
 public:
  Run(Engine engine, int counted) : engine_(std::move(engine)), counted_(counted) {}

  // Steps up to number `end`. A later pass only takes the shorter times.
  void run_to(int end, std::vector<double>& times, bool again) {
    for (; done_ < end; ++done_) {
      engine_.prepare();
      const double time = thread_microseconds_of([&] { engine_.step(); });
      spent_ += time;
      if (again) {
        double& best = times[static_cast<std::size_t>(done_)];
        best = std::min(best, time);
      } else {
        times.push_back(time);
      }
      if (done_ >= counted_) {
        for (std::size_t k = 0; k < Engine::kTallies; ++k) sums_[k] += engine_.tally(k);
      }
      if (engine_.diverged()) {
        ++restarts_;
        engine_.restart();
      }
    }
  }

  double spent() const { return spent_; }  // µs
  int restarts() const { return restarts_; }
  double sum(std::size_t k) const { return sums_[k]; }

 private:
  Engine engine_;
  int counted_;
  int done_ = 0;
  int restarts_ = 0;
  double spent_ = 0;
  std::array<double, Engine::kTallies> sums_ = {};
};

// One start, measured in both engines.
struct PairedTimes {
  std::vector<double> ours, mujoco;
};

// Adds to the means what a run has summed.
template <class Engine>
void add_sums(const Run<Engine>& run, EngineResult::Means& sums) {
  if (sums.empty()) {
    for (std::size_t k = 0; k < Engine::kTallies; ++k) sums.emplace_back(Engine::tally_name(k), 0);
  }
  for (std::size_t k = 0; k < Engine::kTallies; ++k) sums[k].second += run.sum(k);
}

// Runs both engines in turn, block by block, at most `steps` steps; less where the time is over, but the same number in both. `make_drive`
// gives every run its own.
template <class MakeDrive>
PairedTimes measure(const Subject& subject, const MujocoWorld* mujoco, const MotionSettings& settings, int steps,
                    int counted, double microseconds, MakeDrive make_drive, MotionResult& result, bool motion) {
  PairedTimes times;
  for (int pass = 0; pass < settings.passes; ++pass) {
    Run<OurEngine> ours(OurEngine(subject, make_drive()), counted);
    std::optional<Run<MujocoEngine>> theirs;
    if (mujoco != nullptr) theirs.emplace(MujocoEngine(subject, make_drive(), *mujoco), counted);
    const bool again = pass > 0;
    const int wanted = again ? static_cast<int>(times.ours.size()) : steps;
    for (int end = 0; end < wanted;) {
      end = std::min(end + settings.block, wanted);
      ours.run_to(end, times.ours, again);
      if (theirs) theirs->run_to(end, times.mujoco, again);
      const double spent = ours.spent() + (theirs ? theirs->spent() : 0);
      if (!again && settings.seconds > 0 && spent > microseconds) break;
    }
    if (again) continue;
    add_sums(ours, motion ? result.ours.motion_means : result.ours.rest_means);
    result.ours.restarts += ours.restarts();
    if (theirs) {
      add_sums(*theirs, motion ? result.mujoco->motion_means : result.mujoco->rest_means);
      result.mujoco->restarts += theirs->restarts();
    }
  }
  return times;
}

void divide(EngineResult::Means& means, std::size_t count) {
  for (auto& [name, value] : means) value /= static_cast<double>(std::max<std::size_t>(1, count));
}

// Puts the times of one start where they belong.
void take_motion(const std::vector<double>& times, int skipped, EngineResult& result) {
  const std::size_t begin = std::min(times.size(), static_cast<std::size_t>(skipped));
  result.first = std::max(result.first, times.front());
  for (std::size_t i = 1; i < begin; ++i) result.early = std::max(result.early, times[i]);
  result.motion.us.insert(result.motion.us.end(), times.begin() + static_cast<std::ptrdiff_t>(begin), times.end());
}

void take_rest(const std::vector<double>& times, int settling, EngineResult& result) {
  const std::size_t begin = std::min(times.size(), static_cast<std::size_t>(settling));
  result.rest.us.assign(times.begin() + static_cast<std::ptrdiff_t>(begin), times.end());
}

// Means where there were sums.
void finish(MotionResult& result) {
  for (EngineResult* engine : {&result.ours, result.mujoco ? &*result.mujoco : nullptr}) {
    if (engine == nullptr) continue;
    divide(engine->motion_means, engine->motion.us.size());
    divide(engine->rest_means, engine->rest.us.size());
  }
}

}  // namespace

double StepTimes::mean() const {
  return us.empty() ? std::numeric_limits<double>::quiet_NaN()
                    : std::accumulate(us.begin(), us.end(), 0.0) / static_cast<double>(us.size());
}

double StepTimes::quantile(double share) const {
  if (us.empty()) return std::numeric_limits<double>::quiet_NaN();
  std::vector<double> sorted = us;
  const auto rank = static_cast<std::ptrdiff_t>(std::ceil(share * static_cast<double>(us.size())));
  const auto at = sorted.begin() + std::max<std::ptrdiff_t>(rank, 1) - 1;
  std::nth_element(sorted.begin(), at, sorted.end());
  return *at;
}

MotionResult measure_motion(const Subject& subject, const MujocoWorld* mujoco, const MotionSettings& settings) {
  MotionResult result;
  if (mujoco != nullptr) result.mujoco.emplace();
  for (int seed = 1; seed <= settings.seeds; ++seed) {
    const PairedTimes times = measure(
        subject, mujoco, settings, settings.skipped + settings.steps, settings.skipped,
        1e6 * settings.seconds / settings.seeds,
        [&] { return Drive(subject, static_cast<std::uint64_t>(seed), settings.shaking); }, result, true);
    take_motion(times.ours, settings.skipped, result.ours);
    if (mujoco != nullptr) take_motion(times.mujoco, settings.skipped, *result.mujoco);
  }
  const PairedTimes rest = measure(
      subject, mujoco, settings, settings.settling + settings.rest_steps, settings.settling, 1e6 * settings.seconds,
      [&] { return Drive(subject); }, result, false);
  take_rest(rest.ours, settings.settling, result.ours);
  if (mujoco != nullptr) take_rest(rest.mujoco, settings.settling, *result.mujoco);
  finish(result);
  return result;
}

MotionResult measure_settling(const Subject& subject, const MujocoWorld* mujoco, const MotionSettings& settings) {
  MotionResult result;
  if (mujoco != nullptr) result.mujoco.emplace();
  const PairedTimes times = measure(
      subject, mujoco, settings, settings.skipped + settings.steps, settings.skipped, 1e6 * settings.seconds,
      [&] { return Drive(subject); }, result, true);
  const auto settled = static_cast<int>(times.ours.size() - times.ours.size() / 5);
  const auto take = [&](const std::vector<double>& us, EngineResult& engine) {
    take_motion(us, settings.skipped, engine);
    take_rest(us, settled, engine);
  };
  take(times.ours, result.ours);
  if (mujoco != nullptr) take(times.mujoco, *result.mujoco);
  finish(result);
  return result;
}

}  // namespace lithe::bench
