#pragma once

#include <map>
#include <string>
#include <variant>

#include "lithe/step/step_record.h"
#include "python/bindings/values/arrays.h"

// Arguments that several functions take.
namespace lithe::python {

// A StepOptions, a time step in seconds, or None: the defaults.
class OptionsIn {
 public:
  OptionsIn() = default;
  explicit OptionsIn(nb::handle object) : object_(nb::borrow(object)) {}
  StepOptions get() const;

 private:
  nb::object object_;
};

// {'body': [torque (3), force (3)]}, or None.
class WrenchesIn {
 public:
  WrenchesIn() = default;
  explicit WrenchesIn(nb::handle object) : object_(nb::borrow(object)) {}
  ExternalWrenches get(const Model& model) const;

 private:
  nb::object object_;
};

// Of a StepRecord or a WarmStart; null of None. The object must last.
const WarmStart* warm_start_of(nb::handle guess);

void read_control(const Model& model, const OptionalArray& tau, const OptionalArray& targets,
                  const WrenchesIn& wrenches, Control& out);

}  // namespace lithe::python

namespace nanobind::detail {

template <>
struct type_caster<lithe::python::OptionsIn> {
  NB_TYPE_CASTER(lithe::python::OptionsIn, const_name("StepOptions | float"))
  bool from_python(handle source, uint8_t, cleanup_list*) noexcept {
    value = lithe::python::OptionsIn(source);
    return true;
  }
  static handle from_cpp(const lithe::python::OptionsIn&, rv_policy, cleanup_list*) noexcept {
    return none().release();
  }
};

template <>
struct type_caster<lithe::python::WrenchesIn> {
  NB_TYPE_CASTER(lithe::python::WrenchesIn, const_name("collections.abc.Mapping[str, numpy.typing.ArrayLike]"))
  bool from_python(handle source, uint8_t, cleanup_list*) noexcept {
    value = lithe::python::WrenchesIn(source);
    return true;
  }
  static handle from_cpp(const lithe::python::WrenchesIn&, rv_policy, cleanup_list*) noexcept {
    return none().release();
  }
};

}  // namespace nanobind::detail
