#pragma once

#include "lithe/step/gradient_options.h"
#include "lithe/step/step_parameters.h"
#include "python/bindings/values/arrays.h"

// Arguments of functions that differentiate.
namespace lithe::python {

// A StepParameters, a list of names, or None: none.
class ParametersIn {
 public:
  ParametersIn() = default;
  explicit ParametersIn(nb::handle object) : object_(nb::borrow(object)) {}
  StepParameters get(const Model& model) const;

 private:
  nb::object object_;
};

// A GradientOptions, or None: the defaults.
inline GradientOptions gradient_options(const std::optional<GradientOptions>& options, StepParameters parameters = {}) {
  GradientOptions how = options.value_or(GradientOptions());
  how.parameters = std::move(parameters);
  return how;
}

}  // namespace lithe::python

namespace nanobind::detail {

template <>
struct type_caster<lithe::python::ParametersIn> {
  NB_TYPE_CASTER(lithe::python::ParametersIn, const_name("StepParameters | list[str]"))
  bool from_python(handle source, uint8_t, cleanup_list*) noexcept {
    value = lithe::python::ParametersIn(source);
    return true;
  }
  static handle from_cpp(const lithe::python::ParametersIn&, rv_policy, cleanup_list*) noexcept {
    return none().release();
  }
};

}  // namespace nanobind::detail
