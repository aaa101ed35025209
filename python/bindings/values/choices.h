#pragma once

#include <fmt/format.h>

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <string>

namespace nb = nanobind;

namespace lithe::python {

// An argument that is a member of an enumeration or its name: target=MotorTarget.position or target='position'. What it
// should be is said where it is read, so that errors can name the argument and list the choices.
template <class Enum>
class Choice {
 public:
  Choice() = default;
  explicit Choice(nb::handle object) : object_(nb::borrow(object)) {}

  Enum get(const char* name) const {
    Enum value = {};
    if (nb::try_cast(object_, value, nb::isinstance<nb::str>(object_))) return value;
    std::string choices;
    for (const nb::handle member : nb::type<Enum>()) {
      choices += fmt::format("{}'{}'", choices.empty() ? "" : ", ", nb::cast<std::string>(member.attr("value")));
    }
    throw nb::value_error(
        fmt::format("{}: expected one of {}, got {}", name, choices, nb::repr(object_).c_str()).c_str());
  }

 private:
  nb::object object_;
};

}  // namespace lithe::python

namespace nanobind::detail {

template <class Enum>
struct type_caster<lithe::python::Choice<Enum>> {
  NB_TYPE_CASTER(lithe::python::Choice<Enum>, make_caster<Enum>::Name + const_name(" | str"))
  bool from_python(handle source, uint8_t, cleanup_list*) noexcept {
    value = lithe::python::Choice<Enum>(source);
    return true;
  }
  static handle from_cpp(const lithe::python::Choice<Enum>&, rv_policy, cleanup_list*) noexcept {
    return none().release();
  }
};

}  // namespace nanobind::detail
