#include "python/bindings/optimize/residual_adapter.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <utility>

#include "lithe/core/check.h"
#include "lithe/model/configuration.h"
#include "lithe/model/parameters.h"
#include "lithe/step/step.h"

namespace lithe::python {

namespace {

// Of central differences: ∛ε balances what is cut off against rounding.
constexpr double kStep = 6e-6;

constexpr std::array kNames = {"q", "v", "u", "u_before", "f", "parameters"};
constexpr std::array kParts = {"by_q", "by_v", "by_u", "by_u_before", "by_f", "by_parameters"};
constexpr std::array kAll = {Input::q, Input::v, Input::u, Input::u_before, Input::f, Input::parameters};

const char* part_name(Input input) { return kParts[static_cast<std::size_t>(input)]; }

template <class Jacobian>  // const or not
auto& part_of(Jacobian& jacobian, Input input) {
  switch (input) {
    case Input::q: return jacobian.by_q;
    case Input::v: return jacobian.by_v;
    case Input::u: return jacobian.by_u;
    case Input::u_before: return jacobian.by_u_before;
    case Input::f: return jacobian.by_f;
    case Input::parameters: break;
  }
  return jacobian.by_parameters;
}

int count_of(const ResidualPoint& at, Input input) {
  switch (input) {
    case Input::q:
    case Input::v: return at.model.nv();
    case Input::u: return static_cast<int>(at.u.size());
    case Input::u_before: return static_cast<int>(at.u_before.size());
    case Input::f: return at.record ? static_cast<int>(at.record->f.size()) : 0;
    case Input::parameters: break;
  }
  return at.parameters.size();
}

// A point beside another one: each function calls `see` with the point where one number is moved by `by`.
template <class See>
void see_moved(const ResidualPoint& at, Input input, int i, double by, See see) {
  Kinematics kin;
  const auto with = [&](const Model& model, const ConstVecRef& q, const ConstVecRef& v, const ConstVecRef& u,
                        const ConstVecRef& u_before, const StepRecord* record, bool moves) {
    see(ResidualPoint{.model = model,
                      .t = at.t,
                      .q = q,
                      .v = v,
                      .u = u,
                      .u_before = u_before,
                      .kin = moves ? kin : at.kin,
                      .record = record,
                      .parameters = at.parameters},
        moves ? &kin : nullptr);
  };
  const auto added = [&](const ConstVecRef& x) {
    VecX moved = x;
    moved[i] += by;
    return moved;
  };
  switch (input) {
    case Input::q: {
      const VecX q = retract(at.model, at.q, by * VecX::Unit(at.model.nv(), i));
      return with(at.model, q, at.v, at.u, at.u_before, at.record, true);
    }
    case Input::v: return with(at.model, at.q, added(at.v), at.u, at.u_before, at.record, true);
    case Input::u: return with(at.model, at.q, at.v, added(at.u), at.u_before, at.record, false);
    case Input::u_before: return with(at.model, at.q, at.v, at.u, added(at.u_before), at.record, false);
    case Input::f: {
      StepRecord record = *at.record;
      record.f[i] += by;
      return with(at.model, at.q, at.v, at.u, at.u_before, &record, false);
    }
    case Input::parameters: {
      Model model = at.model;
      const std::string& name = at.parameters.names()[i];
      set_parameter(model, name, parameter(model, name) + by);
      return with(model, at.q, at.v, at.u, at.u_before, at.record, true);
    }
  }
}

double size_at(const ResidualPoint& at, Input input, int i) {
  switch (input) {
    case Input::v: return at.v[i];
    case Input::u: return at.u[i];
    case Input::u_before: return at.u_before[i];
    case Input::parameters: return parameter(at.model, at.parameters.names()[i]);
    default: return 0;
  }
}

// What a call of the function gave.
struct Answer {
  VecX value;
  Inputs seen;
  Inputs given;  // derivatives that came along
};

class FunctionResidual : public Residual {
 public:
  FunctionResidual(const PythonResidual& residual, std::shared_ptr<CallState> state)
      : function_(residual.function),
        name_(residual.name),
        size_(residual.size),
        depends_on_(residual.depends_on),
        state_(std::move(state)) {
    if (depends_on_) needs_ = *depends_on_;
  }

  // Learns from a call what was not said.
  void learn(const FirstCall& first) {
    if (depends_on_ && size_ > 0) return;
    Kinematics kin;
    StepRecord record;
    if (!first.at_end) step(first.model, first.state, {}, first.step, record);
    const ResidualPoint at = {.model = first.model,
                              .t = first.t,
                              .q = first.state.q,
                              .v = first.state.v,
                              .u = first.u,
                              .u_before = first.u_before,
                              .kin = kin,
                              .record = first.at_end ? nullptr : &record,
                              .parameters = first.parameters};
    const Answer answer = call(at, true, &kin, nullptr, false);
    size_ = static_cast<int>(answer.value.size());
    if (depends_on_) return;
    for (const Input input : {Input::u_before, Input::f}) {
      if (answer.seen.has(input)) needs_.add(input);
    }
  }

  std::string name() const override { return name_; }
  int size(const Model&) const override { return size_; }
  // Where nothing was said, looking at controls that are not there is an Error of the point itself.
  bool needs_controls() const override { return depends_on_ && needs_.has(Input::u); }
  bool needs_previous_controls() const override { return needs_.has(Input::u_before); }
  bool needs_impulses() const override { return needs_.has(Input::f); }

  void evaluate(const ResidualPoint& at, VecRef value, ResidualJacobian* jacobian) const override {
    const nb::gil_scoped_acquire gil;
    const Answer answer = call(at, jacobian != nullptr, nullptr, jacobian, true);
    value = answer.value;
    if (!jacobian) return;
    for (const Input input : kAll) {
      if (answer.given.has(input)) continue;
      MatX& part = part_of(*jacobian, input);
      const bool wanted = depends_on_ ? depends_on_->has(input) : answer.seen.has(input);
      const int count = wanted ? count_of(at, input) : 0;
      part.resize(count > 0 ? size_ : 0, count);
      for (int i = 0; i < count; ++i) difference(at, input, i, answer.value, part);
    }
  }

 private:
  Answer call(const ResidualPoint& at, bool wants_derivatives, Kinematics* stale, ResidualJacobian* jacobian,
              bool guarded) const {
    nb::object object;
    nb::object result;
    Inputs seen;
    const auto once = [&] {
      object = nb::cast(PointView(at, wants_derivatives, stale));
      PointView& point = nb::cast<PointView&>(object);
      if (guarded && !depends_on_) point.allow_only(needs_);
      struct AtExit {
        PointView& of;
        ~AtExit() { of.end(); }
      } const at_exit{point};
      result = function_(object);
      seen = point.seen();
    };
    try {
      once();
    } catch (const nb::python_error& error) {
      // Ctrl-C while the function was at work: the solver stops in order, for which it needs this value.
      if (!state_ || !error.matches(PyExc_KeyboardInterrupt) || state_->interrupted.exchange(true)) throw;
      once();
    }
    Answer answer = {.value = {}, .seen = seen, .given = {}};
    const bool pair = nb::isinstance<nb::tuple>(result) && nb::len(result) == 2 && nb::isinstance<nb::dict>(result[1]);
    answer.value = value_of(pair ? nb::object(result[0]) : result);
    if (pair && jacobian) read_derivatives(at, nb::cast<nb::dict>(result[1]), *jacobian, answer.given);
    return answer;
  }

  VecX value_of(nb::handle result) const {
    VecX value;
    if (PyFloat_Check(result.ptr())) {
      value = VecX::Constant(1, PyFloat_AS_DOUBLE(result.ptr()));
    } else {
      const std::string what = fmt::format("what {} returns", name_);
      const ArrayIn::View view = ArrayIn(result).view(what.c_str());
      if (view.shape.size() > 1 || view.size() == 0) {
        throw nb::value_error(fmt::format("{}: expected a number, an array (k,), or one of these and a dict of "
                                          "derivatives; got an array {}",
                                          what, shape_text(view.shape))
                                  .c_str());
      }
      value = Eigen::Map<const VecX>(view.data, view.size());
    }
    if (size_ > 0 && value.size() != size_) {
      throw nb::value_error(fmt::format("{} has {} numbers, but returned {}", name_, size_, value.size()).c_str());
    }
    return value;
  }

  void read_derivatives(const ResidualPoint& at, const nb::dict& by_name, ResidualJacobian& out, Inputs& given) const {
    const auto rows = static_cast<Eigen::Index>(size_);
    for (const auto& [key, derivative] : by_name) {
      const std::string name = nb::cast<std::string>(nb::str(key));
      const auto* const known = std::ranges::find(kParts, name);
      if (known == kParts.end()) {
        throw nb::value_error(
            fmt::format(
                "the derivatives of {}: expected by_q, by_v, by_u, by_u_before, by_f or by_parameters, got '{}'", name_,
                name)
                .c_str());
      }
      const Input input = kAll[static_cast<std::size_t>(known - kParts.begin())];
      MatX& part = part_of(out, input);
      const int count = count_of(at, input);
      given.add(input);
      part.resize(0, 0);
      if (derivative.is_none() || count == 0) continue;
      const std::string what = fmt::format("{} of {}", name, name_);
      const ArrayIn array(derivative);
      const ArrayIn::View view = array.view(what.c_str());
      // One number needs no second dimension; a number alone is by one thing.
      if (rows == 1 && view.shape.size() < 2 && view.size() == count) {
        part = Eigen::Map<const MatX>(view.data, 1, count);
      } else {
        part = array.matrix(what.c_str(), rows, count);
      }
    }
  }

  // Column i of the derivatives by an input.
  void difference(const ResidualPoint& at, Input input, int i, const VecX& here, MatX& part) const {
    const double h = kStep * std::max(1.0, std::abs(size_at(at, input, i)));
    std::array<VecX, 2> beside = {here, here};
    double apart = 0;
    for (const int side : {0, 1}) {
      try {
        see_moved(at, input, i, side == 0 ? -h : h, [&](const ResidualPoint& point, Kinematics* stale) {
          beside[side] = call(point, false, stale, nullptr, true).value;
        });
        apart += h;
      } catch (const Error&) {
        // No model has this number, as a friction below zero: the other side will do.
        if (input != Input::parameters) throw;
      }
    }
    part.col(i).setZero();
    if (apart > 0) part.col(i) = (beside[1] - beside[0]) / apart;
  }

  nb::handle function_;
  std::string name_;
  int size_;
  std::optional<Inputs> depends_on_;
  Inputs needs_;
  std::shared_ptr<CallState> state_;
};

}  // namespace

const char* name_of(Input input) { return kNames[static_cast<std::size_t>(input)]; }

nb::dict to_dict(const ResidualJacobian& jacobian) {
  nb::dict parts;
  for (const Input input : kAll) {
    const MatX& part = part_of(jacobian, input);
    if (part.size() > 0) parts[part_name(input)] = to_numpy(part).object;
  }
  return parts;
}

ResidualPtr residual_for(const PythonResidual& residual, const FirstCall& first, std::shared_ptr<CallState> state) {
  if (!residual.is_function()) return residual.library;
  auto made = std::make_shared<FunctionResidual>(residual, std::move(state));
  made->learn(first);
  return made;
}

}  // namespace lithe::python
