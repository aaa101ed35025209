#include "lithe/model/configuration.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <optional>

#include "lithe/core/check.h"
#include "python/bindings/parts.h"
#include "python/bindings/values/arrays.h"

namespace lithe::python {

namespace {

using ConstRow = Eigen::Map<const VecX>;
using Row = Eigen::Map<VecX>;

// One vector of `size` entries, or an array of such vectors in its last dimension: (…, size).
class Rows {
 public:
  Rows(const ArrayIn& array, const char* name, Eigen::Index size) : name_(name), size_(size), view_(array.view(name)) {
    if (view_.shape.empty() || view_.shape.back() != size) {
      throw nb::value_error(
          fmt::format("{}: expected shape ({},) or (…, {}), got {}", name, size, size, shape_text(view_.shape))
              .c_str());
    }
    leading_.assign(view_.shape.begin(), view_.shape.end() - 1);
    for (const Eigen::Index n : leading_) count_ *= n;
  }

  const char* name() const { return name_; }
  const std::vector<Eigen::Index>& leading() const { return leading_; }
  // A single vector goes with every row of the others.
  ConstRow operator[](Eigen::Index i) const { return ConstRow(view_.data + (leading_.empty() ? 0 : i * size_), size_); }

  void check_configurations(const Model& model) const {
    for (Eigen::Index i = 0; i < count_; ++i) {
      try {
        check_configuration(model, (*this)[i]);
      } catch (const Error& error) {
        throw Error(fmt::format("{}: {}", row_name(i), error.what()));
      }
    }
  }
  void check_tangents(const Model& model) const {
    for (Eigen::Index i = 0; i < count_; ++i) check_tangent(model, (*this)[i], row_name(i).c_str());
  }

 private:
  // "q", or of an array "q[3]", "q[3, 1]".
  std::string row_name(Eigen::Index i) const {
    if (leading_.empty()) return name_;
    std::string place;
    for (std::size_t k = leading_.size(); k-- > 0; i /= leading_[k]) {
      place = fmt::format("{}{}{}", i % leading_[k], place.empty() ? "" : ", ", place);
    }
    return fmt::format("{}[{}]", name_, place);
  }

  const char* name_;
  Eigen::Index size_;
  ArrayIn::View view_;
  std::vector<Eigen::Index> leading_;
  Eigen::Index count_ = 1;
};

// The leading dimensions of the result: those that the arguments share; an argument without any fits to all.
std::vector<Eigen::Index> common_shape(
    std::initializer_list<std::pair<const char*, std::vector<Eigen::Index>>> shapes) {
  std::vector<Eigen::Index> common;
  const char* from = nullptr;
  for (const auto& [name, shape] : shapes) {
    if (shape.empty()) continue;
    if (from && shape != common) {
      throw nb::value_error(
          fmt::format("{} has leading dimensions {}, {} has {}: they must be equal, or one of them a single vector",
                      from, shape_text(common), name, shape_text(shape))
              .c_str());
    }
    common = shape;
    from = name;
  }
  return common;
}

// fill(i, out) for each row of an array of shape (leading…, size).
template <class Fill>
Array filled(const std::vector<Eigen::Index>& leading, Eigen::Index size, Fill fill) {
  std::vector<std::size_t> shape(leading.begin(), leading.end());
  Eigen::Index count = 1;
  for (const Eigen::Index n : leading) count *= n;
  shape.push_back(static_cast<std::size_t>(size));
  double* data = nullptr;
  Array result = make_array(shape, data);
  for (Eigen::Index i = 0; i < count; ++i) fill(i, Row(data + i * size, size));
  return result;
}

// An int, or a numpy.random.Generator, which is drawn from.
std::mt19937_64 random_of(nb::handle seed) {
  std::uint64_t number = 0;
  if (nb::hasattr(seed, "integers") && nb::hasattr(seed, "bit_generator")) {
    number = nb::cast<std::uint64_t>(nb::object(seed.attr("integers")(std::uint64_t{1} << 63)));
  } else if (!nb::try_cast(seed, number)) {
    if (PyLong_Check(seed.ptr())) {
      throw nb::value_error(
          fmt::format("seed: expected a number from 0 to 2⁶⁴ − 1, got {}", nb::repr(seed).c_str()).c_str());
    }
    throw nb::type_error(
        fmt::format("seed: expected an int or a numpy.random.Generator, got {}", nb::repr(seed).c_str()).c_str());
  }
  return std::mt19937_64(number);
}

void bind_points(nb::module_& m) {
  m.def(
      "neutral_configuration", [](const Model& model) { return to_numpy(neutral_configuration(model)); },
      nb::arg("model"), "Every joint at 0, every ball at the identity: q (nq,).");
  m.def(
      "random_configuration",
      [](const Model& model, nb::handle seed, std::optional<int> size) {
        std::mt19937_64 random = random_of(seed);
        if (size && *size < 0) throw nb::value_error(fmt::format("size: {} is negative", *size).c_str());
        const auto leading = size ? std::vector<Eigen::Index>{*size} : std::vector<Eigen::Index>{};
        return filled(leading, model.nq(), [&](Eigen::Index, Row out) { out = random_configuration(model, random); });
      },
      nb::arg("model"), nb::arg("seed"), nb::arg("size") = nb::none(),
      nb::sig("def random_configuration(model: Model, seed: int | numpy.random.Generator, size: int | None = None) -> "
              "numpy.typing.NDArray[numpy.float64]"),
      R"(A random configuration (nq,), or `size` of them (size, nq).

Uniform between the joints' limits; where there are none, within ±π rad or ±1 m of 0 (or of the one limit there is).
Balls are uniform over all rotations. `seed` is an int, which always gives the same, or a numpy.random.Generator, which
is drawn from.)");
  m.def(
      "normalized",
      [](const Model& model, const ArrayIn& q) {
        const Rows from(q, "q", model.nq());
        from.check_configurations(model);
        return filled(from.leading(), model.nq(), [&](Eigen::Index i, Row out) { out = normalized(model, from[i]); });
      },
      nb::arg("model"), nb::arg("q"), "q (…, nq) with its quaternions scaled to length one.");
  m.def(
      "check_configuration",
      [](const Model& model, const ArrayIn& q) { Rows(q, "q", model.nq()).check_configurations(model); },
      nb::arg("model"), nb::arg("q"), "Raises an Error if q (…, nq) is not finite, or has a zero quaternion.");
}

void bind_tangents(nb::module_& m) {
  m.def(
      "retract",
      [](const Model& model, const ArrayIn& q, const ArrayIn& delta) {
        const Rows from(q, "q", model.nq());
        const Rows by(delta, "delta", model.nv());
        const auto leading = common_shape({{"q", from.leading()}, {"delta", by.leading()}});
        from.check_configurations(model);
        by.check_tangents(model);
        return filled(leading, model.nq(), [&](Eigen::Index i, Row out) { retract(model, from[i], by[i], out); });
      },
      nb::arg("model"), nb::arg("q"), nb::arg("delta"),
      R"(q ⊕ δ (…, nq): adds δ (…, nv) to q (…, nq); a ball's quaternion is multiplied from the right by exp(δ).

Quaternions come back with length one. Leading dimensions must be equal, or one of the two a single vector, which then
goes with every row of the other.)");
  m.def(
      "difference",
      [](const Model& model, const ArrayIn& q1, const ArrayIn& q0) {
        const Rows to(q1, "q1", model.nq());
        const Rows from(q0, "q0", model.nq());
        const auto leading = common_shape({{"q1", to.leading()}, {"q0", from.leading()}});
        to.check_configurations(model);
        from.check_configurations(model);
        return filled(leading, model.nv(), [&](Eigen::Index i, Row out) { difference(model, to[i], from[i], out); });
      },
      nb::arg("model"), nb::arg("q1"), nb::arg("q0"),
      R"(q₁ ⊖ q₀ (…, nv): the δ with retract(model, q0, δ) = q1; for a ball the shortest one, |δ| ≤ π.

Divided by the time between the two it is the mean velocity. Leading dimensions are as for retract().)");
  m.def(
      "interpolate",
      [](const Model& model, const ArrayIn& q0, const ArrayIn& q1, const ArrayIn& t) {
        const Rows from(q0, "q0", model.nq());
        const Rows to(q1, "q1", model.nq());
        const ArrayIn::View times = t.view("t");
        const auto leading = common_shape({{"q0", from.leading()}, {"q1", to.leading()}, {"t", times.shape}});
        from.check_configurations(model);
        to.check_configurations(model);
        return filled(leading, model.nq(), [&](Eigen::Index i, Row out) {
          out = interpolate(model, from[i], to[i], times.data[times.shape.empty() ? 0 : i]);
        });
      },
      nb::arg("model"), nb::arg("q0"), nb::arg("q1"), nb::arg("t"),
      R"(On the geodesic from q0 (t = 0) to q1 (t = 1): (…, nq).

`t` is a number or an array (…,) of them: interpolate(model, q0, q1, numpy.linspace(0, 1, 50)) is a path (50, nq).)");
}

void bind_configuration_derivatives(nb::module_& m) {
  const auto define = [&](const char* name, auto function, const char* argument, const char* doc) {
    m.def(
        name,
        [function, argument](const Model& model, const ArrayIn& x) {
          return to_numpy(function(model, x.vector(argument, model.nv())));
        },
        nb::arg("model"), nb::arg(argument), doc);
  };
  define("retract_derivative_q", &retract_derivative_q, "delta",
         "∂(q ⊕ δ)/∂q (nv, nv) between tangent spaces: identity, and exp(δ)ᵀ for each ball. δ is (nv,).");
  define("retract_derivative_delta", &retract_derivative_delta, "delta",
         "∂(q ⊕ δ)/∂δ (nv, nv): identity, and the right Jacobian of δ for each ball. δ is (nv,).");
  define("difference_derivative_q1", &difference_derivative_q1, "difference",
         "∂(q₁ ⊖ q₀)/∂q₁ (nv, nv) at difference = q₁ ⊖ q₀ (nv,).");
  define("difference_derivative_q0", &difference_derivative_q0, "difference",
         "∂(q₁ ⊖ q₀)/∂q₀ (nv, nv) at difference = q₁ ⊖ q₀ (nv,).");
}

}  // namespace

void bind_configuration(nb::module_& m) {
  bind_points(m);
  bind_tangents(m);
  bind_configuration_derivatives(m);
}

}  // namespace lithe::python
