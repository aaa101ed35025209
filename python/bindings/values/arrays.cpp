#include "python/bindings/values/arrays.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nanobind/stl/string.h>

namespace lithe::python {

namespace {

using Fast = nb::ndarray<const double, nb::ndim<1>, nb::device::cpu>;
using Plain = nb::ndarray<const double, nb::c_contig, nb::device::cpu>;

[[noreturn]] void refuse(const std::string& text) { throw nb::value_error(text.c_str()); }

// numpy.asarray(object, float64): only what is numbers, and loses nothing but digits.
nb::object as_float64(nb::handle object, const char* name) {
  static PyObject* numpy = nb::module_::import_("numpy").release().ptr();
  const nb::handle np(numpy);
  nb::object array;
  try {
    array = np.attr("asarray")(object);
  } catch (nb::python_error& error) {
    if (!error.matches(PyExc_Exception)) throw;  // Ctrl-C
    refuse(fmt::format("{}: expected an array of numbers, got {} ({}: {})", name, nb::type_name(object.type()).c_str(),
                       nb::type_name(error.type()).c_str(), nb::str(error.value()).c_str()));
  }
  const nb::object dtype = array.attr("dtype");  // an object: of an attribute, nb::str() casts instead of printing
  const auto kind = nb::cast<std::string>(dtype.attr("kind"));
  if (kind != "f" && kind != "i" && kind != "u") {
    refuse(fmt::format("{}: expected real numbers (float64), got {} of dtype {}", name,
                       nb::type_name(object.type()).c_str(), nb::str(dtype).c_str()));
  }
  // Not ascontiguousarray(), which makes (1,) of a number.
  return np.attr("asarray")(array, np.attr("float64"), "C");
}

}  // namespace

std::string shape_text(const std::vector<Eigen::Index>& shape) {
  return shape.size() == 1 ? fmt::format("({},)", shape[0]) : fmt::format("({})", fmt::join(shape, ", "));
}

Eigen::Index ArrayIn::View::size() const {
  Eigen::Index size = 1;
  for (const Eigen::Index n : shape) size *= n;
  return size;
}

ArrayIn::View ArrayIn::view(const char* name) const {
  View view;
  view.owner = object_;
  Plain array;
  if (!nb::try_cast(object_, array, false)) {
    view.owner = as_float64(object_, name);
    array = nb::cast<Plain>(view.owner, false);
  }
  view.data = array.data();
  for (std::size_t i = 0; i < array.ndim(); ++i) view.shape.push_back(static_cast<Eigen::Index>(array.shape(i)));
  return view;
}

void ArrayIn::read(const char* name, Eigen::Index size, VecX& out) const {
  Fast array;
  if (nb::try_cast(object_, array, false) && static_cast<Eigen::Index>(array.shape(0)) == size) {
    out = Eigen::Map<const VecX, 0, Eigen::InnerStride<>>(array.data(), size, Eigen::InnerStride<>(array.stride(0)));
    return;
  }
  out = vector(name);
  if (out.size() != size) refuse(fmt::format("{}: expected shape ({},), got ({},)", name, size, out.size()));
}

VecX ArrayIn::vector(const char* name, Eigen::Index size) const {
  VecX out;
  read(name, size, out);
  return out;
}

VecX ArrayIn::vector(const char* name) const {
  const View at = view(name);
  if (at.shape.size() != 1) {
    refuse(fmt::format("{}: expected a vector, of shape (n,), got shape {}", name, shape_text(at.shape)));
  }
  return Eigen::Map<const VecX>(at.data, at.shape[0]);
}

MatX ArrayIn::matrix(const char* name, Eigen::Index rows, Eigen::Index columns) const {
  const View at = view(name);
  const auto fits = [](Eigen::Index wanted, Eigen::Index is) { return wanted < 0 || wanted == is; };
  if (at.shape.size() != 2 || !fits(rows, at.shape[0]) || !fits(columns, at.shape[1])) {
    const auto text = [](Eigen::Index n) { return n < 0 ? std::string("any") : fmt::format("{}", n); };
    refuse(fmt::format("{}: expected shape ({}, {}), got {}", name, text(rows), text(columns), shape_text(at.shape)));
  }
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  return Eigen::Map<const RowMajor>(at.data, at.shape[0], at.shape[1]);
}

VecX vector_or_empty(const OptionalArray& array, const char* name, Eigen::Index size) {
  return array ? array->vector(name, size) : VecX();
}

VecX vector_or_empty(const OptionalArray& array, const char* name) { return array ? array->vector(name) : VecX(); }

namespace {

using Vector = nb::ndarray<nb::numpy, double, nb::ndim<1>>;
using Matrix = nb::ndarray<nb::numpy, double, nb::ndim<2>>;
using ConstVector = nb::ndarray<nb::numpy, const double, nb::ndim<1>>;
using ConstMatrix = nb::ndarray<nb::numpy, const double, nb::ndim<2>>;

template <class NdArray>
Array exported(const NdArray& array) {
  return {nb::cast(array)};
}

template <class T>
nb::capsule keep(T* object) {
  return nb::capsule(object, [](void* p) noexcept { delete static_cast<T*>(p); });
}

}  // namespace

Array to_numpy(VecX vector) {
  auto* memory = new VecX(std::move(vector));
  const nb::capsule owner = keep(memory);
  return exported(Vector(memory->data(), {static_cast<std::size_t>(memory->size())}, owner));
}

Array to_numpy(const std::vector<double>& vector) {
  return to_numpy(VecX(Eigen::Map<const VecX>(vector.data(), static_cast<Eigen::Index>(vector.size()))));
}

Array to_numpy(MatX matrix) {
  auto* memory = new MatX(std::move(matrix));
  const nb::capsule owner = keep(memory);
  return exported(Matrix(memory->data(),
                         {static_cast<std::size_t>(memory->rows()), static_cast<std::size_t>(memory->cols())}, owner,
                         {1, memory->rows()}));
}

Array to_numpy_rows(MatX by_column) {
  auto* memory = new MatX(std::move(by_column));
  const nb::capsule owner = keep(memory);
  return exported(Matrix(memory->data(),
                         {static_cast<std::size_t>(memory->cols()), static_cast<std::size_t>(memory->rows())}, owner));
}

Array make_array(std::vector<std::size_t> shape, double*& data) {
  std::size_t size = 1;
  for (const std::size_t n : shape) size *= n;
  auto* memory = new VecX(static_cast<Eigen::Index>(size));
  const nb::capsule owner = keep(memory);
  data = memory->data();
  return exported(nb::ndarray<nb::numpy, double>(data, shape.size(), shape.data(), owner));
}

Array view_of(const double* data, Eigen::Index size, nb::handle owner) {
  return exported(ConstVector(data, {static_cast<std::size_t>(size)}, owner));
}

Array view_of(const MatX& matrix, nb::handle owner) {
  return exported(ConstMatrix(matrix.data(),
                              {static_cast<std::size_t>(matrix.rows()), static_cast<std::size_t>(matrix.cols())}, owner,
                              {1, matrix.rows()}));
}

}  // namespace lithe::python
