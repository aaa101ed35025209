#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lithe/core/eigen.h"

namespace nb = nanobind;

// Arrays as they come from Python and go there.
//
// A vector of C++ is an array (n,). A matrix with one column per thing (per step, per world) is an array with one *row* per thing, in
// C order, which is the same memory; a Jacobian keeps its rows and columns, and is in Fortran order.
namespace lithe::python {

// Anything that numpy.asarray() takes. What it should be is said where it is read, so that errors can name it.
class ArrayIn {
 public:
  ArrayIn() = default;
  explicit ArrayIn(nb::handle object) : object_(nb::borrow(object)) {}

  // A copy. Refuses what is not numbers, and any other shape than (size,), with the name of the argument: ValueError.
  void read(const char* name, Eigen::Index size, VecX& out) const;
  VecX vector(const char* name, Eigen::Index size) const;
  VecX vector(const char* name) const;  // of any size
  // (rows, columns), each as expected or, if −1, any.
  MatX matrix(const char* name, Eigen::Index rows, Eigen::Index columns) const;

  // Contiguous float64 of any shape, without a copy where the object is that already. Valid as long as this object.
  struct View {
    const double* data = nullptr;
    std::vector<Eigen::Index> shape;
    nb::object owner;
    Eigen::Index size() const;
  };
  View view(const char* name) const;

  nb::handle object() const { return object_; }

 private:
  nb::object object_;
};

using OptionalArray = std::optional<ArrayIn>;

// Nothing where the argument is None.
VecX vector_or_empty(const OptionalArray& array, const char* name, Eigen::Index size);
VecX vector_or_empty(const OptionalArray& array, const char* name);  // of any size

// An array on its way to Python.
struct Array {
  nb::object object;
};

// New arrays, which own their memory.
Array to_numpy(VecX vector);          // (n,)
Array to_numpy(MatX matrix);          // rows and columns as they are
Array to_numpy_rows(MatX by_column);  // one row per column
Array to_numpy(const std::vector<double>& vector);
// One of any shape, in C order; `data` is its memory, not set.
Array make_array(std::vector<std::size_t> shape, double*& data);

// Arrays that look into `owner`'s memory and keep it alive. They are read-only.
Array view_of(const double* data, Eigen::Index size, nb::handle owner);
inline Array view_of(const VecX& vector, nb::handle owner) { return view_of(vector.data(), vector.size(), owner); }
Array view_of(const MatX& matrix, nb::handle owner);

// "(3, 4)", for messages.
std::string shape_text(const std::vector<Eigen::Index>& shape);

}  // namespace lithe::python

namespace nanobind::detail {

template <>
struct type_caster<lithe::python::ArrayIn> {
  NB_TYPE_CASTER(lithe::python::ArrayIn, const_name("numpy.typing.ArrayLike"))
  bool from_python(handle source, uint8_t, cleanup_list*) noexcept {
    if (source.is_none()) return false;
    value = lithe::python::ArrayIn(source);
    return true;
  }
  static handle from_cpp(const lithe::python::ArrayIn& value, rv_policy, cleanup_list*) noexcept {
    return value.object().inc_ref();
  }
};

template <>
struct type_caster<lithe::python::Array> {
  NB_TYPE_CASTER(lithe::python::Array, const_name("numpy.typing.NDArray[numpy.float64]"))
  bool from_python(handle, uint8_t, cleanup_list*) noexcept { return false; }
  static handle from_cpp(const lithe::python::Array& array, rv_policy, cleanup_list*) noexcept {
    return handle(array.object).inc_ref();
  }
};

}  // namespace nanobind::detail
