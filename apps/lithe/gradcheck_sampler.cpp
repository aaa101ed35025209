#include "apps/lithe/gradcheck_sampler.h"

#include <algorithm>
#include <utility>

#include "apps/lithe/deadline.h"
#include "apps/lithe/random_controls.h"
#include "apps/lithe/step_trouble.h"
#include "lithe/model/parameters.h"

namespace lithe::cli {

namespace {

// The first bit of friction adds rows, the first bit of restitution a bounce: at zero there is no derivative.
bool is_threshold(const Model& model, const std::string& parameter_name) {
  for (const char* attribute : {"/friction", "/restitution", "/dry_friction"}) {
    if (parameter_name.ends_with(attribute)) return parameter(model, parameter_name) == 0;
  }
  return false;
}

}  // namespace

GradcheckSampler::GradcheckSampler(const Scene& scene, const GradcheckSettings& settings)
    : scene_(scene), settings_(settings) {
  for (const std::string& name : parameter_names(scene.model)) {
    if (!is_threshold(scene.model, name)) names_.push_back(name);
  }
  for (const Motor& motor : scene.model.motors()) names_.push_back("motor/" + motor.name + "/target");
  names_.push_back("time_step");
}

GradcheckSampler::GradcheckSampler(const Scene& scene, const GradcheckSettings& settings, HeldMotion motion)
    : GradcheckSampler(scene, settings) {
  motion_.emplace(std::move(motion));
  at_rest_ = true;
}

void GradcheckSampler::run(GradcheckReport& report, const std::function<bool(long)>& watch) {
  const Deadline deadline(settings_.seconds);
  using End = GradcheckReport::End;
  const long first = settings_.only >= 0 ? settings_.only : 0;
  const long count = settings_.only >= 0 ? 1 : settings_.samples;
  long done = -1;
  bool interrupted = false;
  stop_ = [&] { return deadline.over() || (interrupted = interrupted || (watch && watch(done))); };
  report.set_parameters(static_cast<long>(std::min(names_.size(), static_cast<std::size_t>(settings_.parameters))),
                        static_cast<long>(names_.size()));
  bool going = true;
  if (settings_.settled) going = settle(report);
  for (done = 0; going && done < count; ++done) going = !stop_() && add(first + done, report);
  const End end = going ? End::all_done : interrupted ? End::interrupted : End::out_of_time;
  report.finish(count, end, deadline.passed());
}

bool GradcheckSampler::settle(GradcheckReport& report) {
  if (!motion_) motion_.emplace(scene_);
  if (!at_rest_) motion_->settle([&](int) { return stop_(); });
  report.set_settling(motion_->settling());
  at_rest_ = true;
  return !motion_->settling().stopped;
}

bool GradcheckSampler::add(long sample, GradcheckReport& report) {
  std::mt19937_64 random(settings_.seed * 0x9e3779b97f4a7c15 + static_cast<std::uint64_t>(sample));
  if (!(settings_.settled ? move_from_rest(random) : move_from_start(random))) return false;
  const std::vector<std::string> names = some_parameters(random);
  const GradcheckOptions options = {.seed = random(), .stop = stop_};
  const GradcheckResult& result = checker_.check(scene_.model, record_, StepParameters(scene_.model, names), options);
  if (result.stopped) return false;
  report.add(sample, result, names, gradient_trouble(scene_.model, record_, result.report));
  return true;
}

bool GradcheckSampler::move_from_rest(std::mt19937_64& random) {
  motion_->start(random());
  for (auto steps = random() % static_cast<std::uint64_t>(settings_.steps); steps > 0; --steps) {
    if (stop_()) return false;
    motion_->step();
  }
  motion_->step_released(scene_.model, record_);
  return true;
}

bool GradcheckSampler::move_from_start(std::mt19937_64& random) {
  RandomControls forces(scene_.model, random());
  StepOptions options;
  options.time_step = scene_.time_step;
  State state = {scene_.q, scene_.v};
  Control control = {.motor_targets = scene_.motor_targets};
  record_.warm_start.clear();
  for (auto steps = random() % static_cast<std::uint64_t>(settings_.steps) + 1; steps > 0; --steps) {
    if (stop_()) return false;
    control.tau = forces.next();
    lithe::step(scene_.model, state, control, options, record_, &record_.warm_start);
    state = record_.next;
  }
  return true;
}

// The first few of a shuffled list.
std::vector<std::string> GradcheckSampler::some_parameters(std::mt19937_64& random) const {
  std::vector<std::string> names = names_;
  const std::size_t count = std::min(names.size(), static_cast<std::size_t>(settings_.parameters));
  for (std::size_t i = 0; i < count; ++i) std::swap(names[i], names[i + random() % (names.size() - i)]);
  names.resize(count);
  return names;
}

}  // namespace lithe::cli
