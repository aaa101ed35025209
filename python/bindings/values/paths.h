#pragma once

#include <filesystem>
#include <nanobind/nanobind.h>
#include <nanobind/stl/filesystem.h>
#include <string>

namespace nb = nanobind;

namespace lithe::python {

// The name of a file: a str or anything with __fspath__().
struct PathIn {
  std::filesystem::path path;
  std::string string() const { return path.string(); }
};

}  // namespace lithe::python

namespace nanobind::detail {

template <>
struct type_caster<lithe::python::PathIn> {
  NB_TYPE_CASTER(lithe::python::PathIn, const_name("str | os.PathLike[str]"))
  bool from_python(handle source, uint8_t flags, cleanup_list* cleanup) noexcept {
    make_caster<std::filesystem::path> caster;
    if (!caster.from_python(source, flags, cleanup)) return false;
    value.path = std::move(caster.value);
    return true;
  }
  static handle from_cpp(const lithe::python::PathIn& path, rv_policy policy, cleanup_list* cleanup) noexcept {
    return make_caster<std::filesystem::path>::from_cpp(path.path, policy, cleanup);
  }
};

}  // namespace nanobind::detail
