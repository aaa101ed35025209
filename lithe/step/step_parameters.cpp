#include "lithe/step/step_parameters.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "lithe/core/check.h"
#include "lithe/core/internal/suggest.h"
#include "lithe/model/parameters.h"

namespace lithe {

using namespace internal;

namespace {

using Entry = StepParameters::Entry;

constexpr std::string_view kTimeStep = "time_step";
constexpr std::string_view kMotor = "motor/", kTarget = "/target";

// The kinds of the model's own parameters have the same names here.
Entry::Kind kind_of(ParameterKind kind) {
  switch (kind) {
    case ParameterKind::body: return Entry::Kind::body;
    case ParameterKind::joint: return Entry::Kind::joint;
    case ParameterKind::shape: return Entry::Kind::shape;
    case ParameterKind::frame: return Entry::Kind::frame;
    case ParameterKind::motor: return Entry::Kind::motor;
    case ParameterKind::loop: return Entry::Kind::loop;
    case ParameterKind::mimic: return Entry::Kind::mimic;
    case ParameterKind::gravity: break;
  }
  return Entry::Kind::gravity;
}

// The motor target that "motor/NAME/target" stands for; NAME may contain slashes.
std::optional<Entry> find_target(const Model& model, std::string_view name) {
  if (!name.starts_with(kMotor) || !name.ends_with(kTarget) || name.size() < kMotor.size() + kTarget.size()) return {};
  const std::string_view motor = name.substr(kMotor.size(), name.size() - kMotor.size() - kTarget.size());
  for (std::size_t m = 0; m < model.motors().size(); ++m) {
    if (model.motors()[m].name == motor) return Entry{Entry::Kind::motor_target, static_cast<int>(m), 0};
  }
  return {};
}

// What a name stands for; nothing where there is no such parameter.
std::optional<Entry> find_entry(const Model& model, std::string_view name) {
  if (name == kTimeStep) return Entry{Entry::Kind::time_step, 0, 0};
  if (const std::optional<Entry> target = find_target(model, name)) return target;
  const std::optional<ParameterPlace> place = find_parameter(model, name);
  if (!place) return {};
  return Entry{kind_of(place->kind), place->index, place->attribute};
}

}  // namespace

StepParameters::StepParameters(const Model& model, std::vector<std::string> names)
    : names_(std::move(names)), structure_(model.tree().structure) {
  entries_.reserve(names_.size());
  for (const std::string& name : names_) {
    const std::optional<Entry> entry = find_entry(model, name);
    if (!entry) {
      const std::vector<std::string> known = step_parameter_names(model);
      LITHE_CHECK(false, "a step of this model has no parameter '{}'{}", name,
                  did_you_mean(name, std::vector<std::string_view>(known.begin(), known.end())));
    }
    entries_.push_back(*entry);
  }
}

StepParameters StepParameters::motor_targets(const Model& model) {
  std::vector<std::string> names;
  for (const Motor& motor : model.motors()) names.push_back(fmt::format("{}{}{}", kMotor, motor.name, kTarget));
  return StepParameters(model, std::move(names));
}

std::vector<std::string> step_parameter_names(const Model& model) {
  std::vector<std::string> names = parameter_names(model);
  for (const Motor& motor : model.motors()) {
    names.push_back(std::string(kMotor) + motor.name + std::string(kTarget));
  }
  names.emplace_back(kTimeStep);
  return names;
}

}  // namespace lithe
