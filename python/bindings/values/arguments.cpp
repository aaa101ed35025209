#include "python/bindings/values/arguments.h"

#include <fmt/format.h>

#include <nanobind/stl/string.h>

#include "python/bindings/step/records.h"

namespace lithe::python {

StepOptions OptionsIn::get() const {
  if (!object_.is_valid() || object_.is_none()) return {};
  const StepOptions* options = nullptr;
  if (nb::try_cast(object_, options, false) && options) return *options;
  StepOptions from_time_step;
  if (!nb::try_cast(object_, from_time_step.time_step)) {
    throw nb::type_error(fmt::format("options: expected a StepOptions or a time step in seconds, got {}",
                                     nb::type_name(object_.type()).c_str())
                             .c_str());
  }
  return from_time_step;
}

ExternalWrenches WrenchesIn::get(const Model& model) const {
  ExternalWrenches wrenches;
  if (!object_.is_valid() || object_.is_none()) return wrenches;
  nb::dict by_body;
  if (!nb::try_cast(object_, by_body, false)) {
    throw nb::type_error(
        fmt::format("wrenches: expected a dict from names of bodies to [torque (3), force (3)], got {}",
                    nb::type_name(object_.type()).c_str())
            .c_str());
  }
  for (const auto& [body, wrench] : by_body) {
    std::string name;
    if (!nb::try_cast(body, name)) {
      throw nb::type_error(
          fmt::format("wrenches: expected names of bodies, got {}", nb::type_name(body.type()).c_str()).c_str());
    }
    wrenches.push_back({model.body(name), ArrayIn(wrench).vector(fmt::format("wrenches['{}']", name).c_str(), 6)});
  }
  return wrenches;
}

const WarmStart* warm_start_of(nb::handle guess) {
  if (guess.is_none()) return nullptr;
  const Record* record = nullptr;
  if (nb::try_cast(guess, record, false)) return &(*record)->warm_start;
  const WarmStart* warm_start = nullptr;
  if (nb::try_cast(guess, warm_start, false)) return warm_start;
  throw nb::type_error(
      fmt::format("guess: expected a StepRecord or a WarmStart, got {}", nb::type_name(guess.type()).c_str()).c_str());
}

void read_control(const Model& model, const OptionalArray& tau, const OptionalArray& targets,
                  const WrenchesIn& wrenches, Control& out) {
  if (tau) {
    tau->read("tau", model.nv(), out.tau);
  } else {
    out.tau.resize(0);
  }
  if (targets) {
    targets->read("targets", static_cast<Eigen::Index>(model.motors().size()), out.motor_targets);
  } else {
    out.motor_targets.resize(0);
  }
  out.wrenches = wrenches.get(model);
}

}  // namespace lithe::python
