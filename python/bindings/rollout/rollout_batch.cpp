#include <fmt/format.h>

#include <memory>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include "lithe/core/check.h"
#include "lithe/core/thread_pool.h"
#include "lithe/rollout/rollout_gradient.h"
#include "python/bindings/parts.h"
#include "python/bindings/rollout/rollout_arguments.h"
#include "python/bindings/step/gradient_arguments.h"
#include "python/bindings/step/worlds.h"
#include "python/bindings/values/arguments.h"

namespace lithe::python {

namespace {

// A cotangent of shape (worlds, steps, size), or nothing.
struct TimesIn {
  TimesIn(const OptionalArray& array, const char* name, Eigen::Index worlds, Eigen::Index steps, Eigen::Index size)
      : steps_(steps), size_(size) {
    if (!array) return;
    view_ = array->view(name);
    const std::vector<Eigen::Index> wanted = {worlds, steps, size};
    if (view_.shape != wanted) {
      throw nb::value_error(
          fmt::format("{}: expected shape {}, got {}", name, shape_text(wanted), shape_text(view_.shape)).c_str());
    }
  }
  // size × steps of one world; empty if there is nothing.
  MatX of(Eigen::Index world) const {
    if (!view_.data) return {};
    return Eigen::Map<const MatX>(view_.data + world * steps_ * size_, size_, steps_);
  }

 private:
  ArrayIn::View view_;
  Eigen::Index steps_, size_;
};

struct GradientBatch {
  Array q, v, tau, parameters;
  std::vector<RolloutReport> reports;

  std::vector<int> cut() const {
    return indices_of(reports, [](const RolloutReport& report) { return report.cuts > 0; });
  }
};

class RolloutsOfWorlds {
 public:
  RolloutsOfWorlds(const Model& model, int size, int threads) : pool_(threads), worlds_(model, size), rollouts_(size) {}

  void run(const RowsIn& q, const RowsIn& v, const TimesIn& tau, int steps, const TimesIn& targets,
           const StepParameters& parameters, const MatX& values, RolloutOptions options);
  GradientBatch vjp(const OptionalArray& q, const OptionalArray& v, const OptionalArray& tau);

  Array states(bool velocities) const {
    const auto rows = static_cast<std::size_t>(velocities ? worlds_.base().nv() : worlds_.base().nq());
    double* data = nullptr;
    Array out = make_array({rollouts_.size(), static_cast<std::size_t>(steps_) + 1, rows}, data);
    for (std::size_t i = 0; i < rollouts_.size(); ++i) {
      const MatX& motion = velocities ? rollouts_[i].trajectory.v : rollouts_[i].trajectory.q;
      Eigen::Map<MatX>(data + i * (static_cast<std::size_t>(steps_) + 1) * rows, motion.rows(), motion.cols()) = motion;
    }
    return out;
  }
  std::vector<int> diverged_at() const {
    std::vector<int> at;
    for (const Rollout& rollout : rollouts_) at.push_back(rollout.trajectory.diverged_at);
    return at;
  }
  std::vector<int> diverged() const {
    return indices_of(rollouts_, [](const Rollout& rollout) { return rollout.trajectory.diverged_at >= 0; });
  }
  int size() const { return worlds_.size(); }
  int steps() const { return steps_; }

 private:
  ThreadPool pool_;
  Worlds worlds_;
  int steps_ = 0;
  std::vector<Rollout> rollouts_;
  RolloutOptions options_;
};

void RolloutsOfWorlds::run(const RowsIn& q, const RowsIn& v, const TimesIn& tau, int steps, const TimesIn& targets,
                           const StepParameters& parameters, const MatX& values, RolloutOptions options) {
  worlds_.set(parameters, values);
  options_ = std::move(options);
  steps_ = steps;
  pool_.parallel_for(size(), [&](int i, int) {
    Controls controls = {.steps = steps, .tau = tau.of(i), .motor_targets = targets.of(i)};
    for (int t = 0; t < controls.motor_targets.cols(); ++t) {
      Control at = {.motor_targets = controls.motor_targets.col(t)};
      worlds_.adjust(i, at);
      controls.motor_targets.col(t) = at.motor_targets;
    }
    RolloutOptions of_world = options_;
    of_world.step = worlds_.options(i, options_.step);
    try {
      rollout(worlds_.model(i), {q.row(i), v.row(i)}, controls, of_world, rollouts_[i]);
    } catch (const Error& error) {
      throw Error(fmt::format("world {}: {}", i, error.what()));
    }
  });
}

GradientBatch RolloutsOfWorlds::vjp(const OptionalArray& q, const OptionalArray& v, const OptionalArray& tau) {
  const int nv = worlds_.base().nv(), count = worlds_.parameters().size();
  const TimesIn qs(q, "q", size(), steps_ + 1, nv), vs(v, "v", size(), steps_ + 1, nv),
      taus(tau, "tau", size(), steps_, nv);
  const auto rows = static_cast<std::size_t>(size()), columns = static_cast<std::size_t>(nv);
  double *by_q = nullptr, *by_v = nullptr, *by_tau = nullptr, *by_parameters = nullptr;
  GradientBatch out = {make_array({rows, columns}, by_q),
                       make_array({rows, columns}, by_v),
                       make_array({rows, static_cast<std::size_t>(steps_), columns}, by_tau),
                       make_array({rows, static_cast<std::size_t>(count)}, by_parameters),
                       {}};
  out.reports.resize(rows);
  const nb::gil_scoped_release released;
  std::vector<RolloutVjpWorkspace> workspaces(pool_.size());
  std::vector<RolloutGradient> gradients(pool_.size());
  pool_.parallel_for(size(), [&](int i, int w) {
    RolloutGradient& gradient = gradients[w];
    rollout_vjp(worlds_.model(i), rollouts_[i], {.q = qs.of(i), .v = vs.of(i), .tau = taus.of(i)}, options_,
                workspaces[w], gradient);
    Eigen::Map<VecX>(by_q + i * columns, nv) = gradient.q;
    Eigen::Map<VecX>(by_v + i * columns, nv) = gradient.v;
    Eigen::Map<MatX>(by_tau + static_cast<std::ptrdiff_t>(i) * steps_ * nv, nv, steps_) = gradient.tau;
    if (count > 0)
      Eigen::Map<VecX>(by_parameters + static_cast<std::ptrdiff_t>(i) * count, count) = gradient.parameters;
    out.reports[i] = gradient.report;
  });
  return out;
}

}  // namespace

MatX rows_or_repeated(const ArrayIn& array, const char* name, int steps, int size) {
  const ArrayIn::View view = array.view(name);
  if (view.shape == std::vector<Eigen::Index>{size}) return Eigen::Map<const VecX>(view.data, size).replicate(1, steps);
  return array.matrix(name, steps, size).transpose();
}

void bind_rollout_batch(nb::module_& m) {
  nb::class_<GradientBatch>(m, "RolloutGradientBatch", "Gradients of many rollouts, a row per world.")
      .def_ro("q", &GradientBatch::q, "(worlds, nv), by the initial q, in its tangent.")
      .def_ro("v", &GradientBatch::v, "(worlds, nv)")
      .def_ro("tau", &GradientBatch::tau, "(worlds, T, nv)")
      .def_ro("parameters", &GradientBatch::parameters, "(worlds, parameters)")
      .def_ro("reports", &GradientBatch::reports, "A RolloutReport per world.")
      .def_prop_ro("cut", &GradientBatch::cut, "The worlds in which what flows back became too large for a double.");

  nb::class_<RolloutsOfWorlds>(m, "RolloutBatch", "T steps of many worlds, and what their gradients are taken from.")
      .def_prop_ro(
          "q", [](const RolloutsOfWorlds& r) { return r.states(false); }, "(worlds, T + 1, nq)")
      .def_prop_ro(
          "v", [](const RolloutsOfWorlds& r) { return r.states(true); }, "(worlds, T + 1, nv)")
      .def_prop_ro("diverged", &RolloutsOfWorlds::diverged, "The worlds in which numbers overflowed.")
      .def_prop_ro("diverged_at", &RolloutsOfWorlds::diverged_at,
                   "Per world: the step in which numbers overflowed, or −1.")
      .def("vjp", &RolloutsOfWorlds::vjp, nb::arg("q") = nb::none(), nb::arg("v") = nb::none(),
           nb::arg("tau") = nb::none(),
           "Gradients from those by all states q and v (worlds, T + 1, nv), and by the forces themselves tau (worlds, "
           "T, nv).")
      .def("__len__", &RolloutsOfWorlds::size)
      .def("__repr__", [](const RolloutsOfWorlds& r) {
        return fmt::format("<RolloutBatch: {} worlds, {} steps>", r.size(), r.steps());
      });

  m.def(
      "rollout_batch",
      [](const Model& model, const ArrayIn& q, const ArrayIn& v, const OptionalArray& tau, std::optional<int> steps,
         const OptionsIn& options, const OptionalArray& targets, const ParametersIn& parameters,
         const OptionalArray& values, const std::optional<GradientOptions>& gradient, const std::string& tape,
         int checkpoint_every, int threads) {
        const ArrayIn::View states = q.view("q");
        if (states.shape.size() != 2) {
          throw nb::value_error(
              fmt::format("q: expected shape (worlds, {}), got {}", model.nq(), shape_text(states.shape)).c_str());
        }
        const int worlds = static_cast<int>(states.shape[0]), motors = static_cast<int>(model.motors().size());
        if (worlds == 0) throw nb::value_error("q: no worlds; give one row or more");
        if (!tau && !steps) throw nb::value_error("steps: say how many, or give tau (worlds, T, nv)");
        int T = steps.value_or(0);
        if (tau) {
          const ArrayIn::View forces = tau->view("tau");
          if (forces.shape.size() != 3 || (steps && forces.shape[1] != T)) {
            throw nb::value_error(fmt::format("tau: expected shape ({}, {}, {}), got {}", worlds,
                                              steps ? fmt::format("{}", T) : "T", model.nv(), shape_text(forces.shape))
                                      .c_str());
          }
          T = static_cast<int>(forces.shape[1]);
        }
        const RowsIn qs(q, "q", worlds, model.nq()), vs(v, "v", worlds, model.nv());
        const TimesIn taus(tau, "tau", worlds, T, model.nv()), goals(targets, "targets", worlds, T, motors);
        const StepParameters names = parameters.get(model);
        const MatX numbers = values ? values->matrix("values", worlds, names.size()) : MatX();
        RolloutOptions how = {.step = options.get(),
                              .tape = tape_of(tape),
                              .checkpoint_every = checkpoint_every,
                              .gradient = gradient_options(gradient, names)};
        auto out = std::make_unique<RolloutsOfWorlds>(model, worlds, threads);
        const nb::gil_scoped_release released;
        out->run(qs, vs, taus, T, goals, names, numbers, std::move(how));
        return out;
      },
      nb::arg("model"), nb::arg("q"), nb::arg("v"), nb::arg("tau") = nb::none(), nb::kw_only(),
      nb::arg("steps") = nb::none(), nb::arg("options").none() = nb::none(), nb::arg("targets") = nb::none(),
      nb::arg("parameters").none() = nb::none(), nb::arg("values") = nb::none(), nb::arg("gradient") = nb::none(),
      nb::arg("tape") = "checkpoints", nb::arg("checkpoint_every") = 0, nb::arg("threads") = 0,
      R"(T steps of many worlds at once: q (worlds, nq), v (worlds, nv), tau (worlds, T, nv), targets (worlds, T, motors).

`parameters` and `values` (worlds, parameters) as in StepBatch.step(). Each world has the bits of a rollout() of its own, on any number of
threads.)");
}

}  // namespace lithe::python
