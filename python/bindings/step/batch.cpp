#include <fmt/format.h>

#include <memory>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "lithe/core/check.h"
#include "lithe/core/thread_pool.h"
#include "lithe/rollout/internal/for_each_record.h"
#include "lithe/step/step.h"
#include "lithe/step/step_jacobians.h"
#include "lithe/step/step_jvp.h"
#include "lithe/step/step_vjp.h"
#include "python/bindings/parts.h"
#include "python/bindings/step/gradient_arguments.h"
#include "python/bindings/step/worlds.h"
#include "python/bindings/values/arguments.h"

namespace lithe::python {

using namespace internal;

namespace {

// Calls visit(body, row) for the normal row of every contact, once for each of the two bodies.
template <class Visit>
void for_each_normal_row(const Model& model, const StepRecord& record, Visit visit) {
  const std::vector<Contact>& contacts = record.contacts.contacts;
  for (std::size_t k = 0; k < contacts.size(); ++k) {
    const int row = contact_row(record, static_cast<int>(k));
    visit(static_cast<int>(model.shapes()[contacts[k].a].body), row);
    visit(static_cast<int>(model.shapes()[contacts[k].b].body), row);
  }
}

// Row i; nothing where there is no array.
void take_row(const RowsIn& rows, int i, VecX& out) {
  if (rows.empty()) {
    out.resize(0);
  } else {
    out = rows.row(i);
  }
}

// Where the time step is among the parameters, or −1: forces are impulses divided by it.
int time_step_among(const StepParameters& parameters) {
  for (int k = 0; k < parameters.size(); ++k) {
    if (parameters.entries()[k].kind == StepParameters::Entry::Kind::time_step) return k;
  }
  return -1;
}

struct VjpBatch {
  Array q, v, tau, parameters;
  std::vector<GradientReport> reports;

  std::vector<int> overflowed() const {
    return indices_of(reports, [](const GradientReport& report) { return report.overflowed; });
  }
};

// What a thread needs for a world. It carries nothing over, so all batches of a process share it, thread by thread.
struct StepWorker {
  State state;
  Control control;
  StepCotangent cotangent;
  StepTangent tangent;
  StepVjp vjp;
  StepJvp jvp;
  StepJacobians jacobians;
};

StepWorker& step_worker() {
  thread_local StepWorker worker;
  return worker;
}

struct JacobianBatch {
  Array dqnext_dq, dqnext_dv, dqnext_dtau, dvnext_dq, dvnext_dv, dvnext_dtau;
};

struct JvpBatch {
  Array q, v, body_forces;
};

class StepBatch {
 public:
  StepBatch(const Model& model, int size, int threads) : pool_(threads), worlds_(model, size), records_(size) {}

  void step(const ArrayIn& q, const ArrayIn& v, const OptionalArray& tau, const OptionsIn& options,
            const OptionalArray& targets, const ParametersIn& parameters, const OptionalArray& values, bool warm);
  VjpBatch vjp(const OptionalArray& q, const OptionalArray& v, const OptionalArray& body_forces,
               const std::optional<GradientOptions>& options);
  JvpBatch jvp(const OptionalArray& q, const OptionalArray& v, const OptionalArray& tau,
               const OptionalArray& parameters, const std::optional<GradientOptions>& options);
  JacobianBatch jacobians(const std::optional<GradientOptions>& options);

  // Memory and threads stay; the next step is of this model.
  void set_model(const Model& model) {
    worlds_.set_base(model);
    stepped_ = false;
  }

  Array q() const {
    return gather(model().nq(), [](const StepRecord& r) -> const VecX& { return r.next.q; });
  }
  Array v() const {
    return gather(model().nv(), [](const StepRecord& r) -> const VecX& { return r.next.v; });
  }
  Array body_forces() const;
  StepStatus status(int i) const;
  std::vector<int> contacts() const;
  std::vector<int> diverged() const {
    check_stepped();
    return indices_of(records_, [](const StepRecord& record) { return record.status.diverged; });
  }
  const Model& model() const { return worlds_.base(); }
  int size() const { return worlds_.size(); }
  int threads() const { return pool_.size(); }

 private:
  template <class Get>
  Array gather(int columns, Get get) const {
    check_stepped();
    double* data = nullptr;
    Array out = make_array({static_cast<std::size_t>(size()), static_cast<std::size_t>(columns)}, data);
    for (int i = 0; i < size(); ++i)
      Eigen::Map<VecX>(data + static_cast<std::ptrdiff_t>(i) * columns, columns) = get(records_[i]);
    return out;
  }
  void check_stepped() const {
    if (!stepped_) throw nb::value_error("no step was taken with this batch yet: call step() first");
  }
  std::size_t bodies() const { return model().bodies().size(); }

  ThreadPool pool_;
  Worlds worlds_;
  std::vector<StepRecord> records_;
  bool stepped_ = false;
};

void StepBatch::step(const ArrayIn& q, const ArrayIn& v, const OptionalArray& tau, const OptionsIn& options,
                     const OptionalArray& targets, const ParametersIn& parameters, const OptionalArray& values,
                     bool warm) {
  const int motors = static_cast<int>(model().motors().size());
  const RowsIn qs(q, "q", size(), model().nq()), vs(v, "v", size(), model().nv()),
      taus(tau, "tau", size(), model().nv());
  const RowsIn goals(targets, "targets", size(), motors);
  const StepParameters names = parameters.get(model());
  const MatX numbers = values ? values->matrix("values", size(), names.size()) : MatX();
  const StepOptions of_all = options.get();
  const nb::gil_scoped_release released;
  worlds_.set(names, numbers);
  const bool guess = warm && stepped_;
  stepped_ = false;
  pool_.parallel_for(size(), [&](int i, int) {
    StepWorker& worker = step_worker();
    worker.state.q = qs.row(i);
    worker.state.v = vs.row(i);
    take_row(taus, i, worker.control.tau);
    take_row(goals, i, worker.control.motor_targets);
    worlds_.adjust(i, worker.control);
    try {
      lithe::step(worlds_.model(i), worker.state, worker.control, worlds_.options(i, of_all), records_[i],
                  guess ? &records_[i].warm_start : nullptr);
    } catch (const Error& error) {
      throw Error(fmt::format("world {}: {}", i, error.what()));
    }
  });
  stepped_ = true;
}

Array StepBatch::body_forces() const {
  check_stepped();
  double* data = nullptr;
  Array out = make_array({static_cast<std::size_t>(size()), bodies()}, data);
  for (int i = 0; i < size(); ++i) {
    Eigen::Map<VecX> forces(data + i * bodies(), static_cast<Eigen::Index>(bodies()));
    forces.setZero();
    const StepRecord& record = records_[i];
    for_each_normal_row(model(), record,
                        [&](int body, int row) { forces[body] += record.f[row] / record.options.time_step; });
  }
  return out;
}

StepStatus StepBatch::status(int i) const {
  check_stepped();
  if (i < 0 || i >= size()) throw nb::index_error(fmt::format("world {} of a batch of {}", i, size()).c_str());
  return records_[i].status;
}

std::vector<int> StepBatch::contacts() const {
  check_stepped();
  std::vector<int> counts;
  for (const StepRecord& record : records_) counts.push_back(record.status.contacts);
  return counts;
}

VjpBatch StepBatch::vjp(const OptionalArray& q, const OptionalArray& v, const OptionalArray& body_forces,
                        const std::optional<GradientOptions>& options) {
  check_stepped();
  const int nv = model().nv(), count = worlds_.parameters().size();
  const RowsIn qs(q, "q", size(), nv), vs(v, "v", size(), nv);
  const RowsIn forces(body_forces, "body_forces", size(), static_cast<Eigen::Index>(bodies()));
  const auto rows = static_cast<std::size_t>(size());
  double *by_q = nullptr, *by_v = nullptr, *by_tau = nullptr, *by_parameters = nullptr;
  VjpBatch out = {make_array({rows, static_cast<std::size_t>(nv)}, by_q),
                  make_array({rows, static_cast<std::size_t>(nv)}, by_v),
                  make_array({rows, static_cast<std::size_t>(nv)}, by_tau),
                  make_array({rows, static_cast<std::size_t>(count)}, by_parameters),
                  {}};
  out.reports.resize(rows);
  const GradientOptions how = gradient_options(options, worlds_.parameters());
  const nb::gil_scoped_release released;
  for_each_record(records_, pool_, [&](int i, int) {
    StepWorker& worker = step_worker();
    const StepRecord& record = records_[i];
    StepCotangent& by_next = worker.cotangent;
    take_row(qs, i, by_next.q);
    take_row(vs, i, by_next.v);
    by_next.f.resize(0);
    if (!forces.empty()) {
      by_next.f.setZero(static_cast<Eigen::Index>(record.f.size()));
      for_each_normal_row(model(), record,
                          [&](int body, int row) { by_next.f[row] += forces.row(i)[body] / record.options.time_step; });
    }
    step_vjp(worlds_.model(i), record, by_next, worker.vjp, how);
    const auto offset = static_cast<std::ptrdiff_t>(i) * nv;
    Eigen::Map<VecX>(by_q + offset, nv) = worker.vjp.q;
    Eigen::Map<VecX>(by_v + offset, nv) = worker.vjp.v;
    Eigen::Map<VecX>(by_tau + offset, nv) = worker.vjp.tau;
    if (count > 0)
      Eigen::Map<VecX>(by_parameters + static_cast<std::ptrdiff_t>(i) * count, count) = worker.vjp.parameters;
    if (const int k = time_step_among(worlds_.parameters()); k >= 0 && !forces.empty()) {
      const double h = record.options.time_step;
      double& by_time_step = by_parameters[static_cast<std::ptrdiff_t>(i) * count + k];
      for_each_normal_row(model(), record,
                          [&](int body, int row) { by_time_step -= forces.row(i)[body] * record.f[row] / (h * h); });
    }
    out.reports[i] = worker.vjp.report;
  });
  return out;
}

JvpBatch StepBatch::jvp(const OptionalArray& q, const OptionalArray& v, const OptionalArray& tau,
                        const OptionalArray& parameters, const std::optional<GradientOptions>& options) {
  check_stepped();
  const int nv = model().nv();
  const RowsIn qs(q, "q", size(), nv), vs(v, "v", size(), nv), taus(tau, "tau", size(), nv);
  const RowsIn numbers(parameters, "parameters", size(), worlds_.parameters().size());
  const auto rows = static_cast<std::size_t>(size());
  double *by_q = nullptr, *by_v = nullptr, *forces = nullptr;
  const JvpBatch out = {make_array({rows, static_cast<std::size_t>(nv)}, by_q),
                        make_array({rows, static_cast<std::size_t>(nv)}, by_v), make_array({rows, bodies()}, forces)};
  const GradientOptions how = gradient_options(options, worlds_.parameters());
  const nb::gil_scoped_release released;
  for_each_record(records_, pool_, [&](int i, int) {
    StepWorker& worker = step_worker();
    const StepRecord& record = records_[i];
    StepTangent& x = worker.tangent;
    take_row(qs, i, x.q);
    take_row(vs, i, x.v);
    take_row(taus, i, x.tau);
    take_row(numbers, i, x.parameters);
    step_jvp(worlds_.model(i), record, x, worker.jvp, how);
    Eigen::Map<VecX>(by_q + static_cast<std::ptrdiff_t>(i) * nv, nv) = worker.jvp.q;
    Eigen::Map<VecX>(by_v + static_cast<std::ptrdiff_t>(i) * nv, nv) = worker.jvp.v;
    Eigen::Map<VecX> of_body(forces + i * bodies(), static_cast<Eigen::Index>(bodies()));
    of_body.setZero();
    for_each_normal_row(model(), record,
                        [&](int body, int row) { of_body[body] += worker.jvp.f[row] / record.options.time_step; });
    if (const int k = time_step_among(worlds_.parameters()); k >= 0 && !numbers.empty()) {
      const double h = record.options.time_step, change = numbers.row(i)[k];
      for_each_normal_row(model(), record,
                          [&](int body, int row) { of_body[body] -= record.f[row] * change / (h * h); });
    }
  });
  return out;
}

JacobianBatch StepBatch::jacobians(const std::optional<GradientOptions>& options) {
  check_stepped();
  const auto nv = static_cast<std::size_t>(model().nv());
  double* data[6] = {};
  Array arrays[6];
  for (int b = 0; b < 6; ++b) arrays[b] = make_array({static_cast<std::size_t>(size()), nv, nv}, data[b]);
  const GradientOptions how = gradient_options(options);
  {
    const nb::gil_scoped_release released;
    for_each_record(records_, pool_, [&](int i, int) {
      StepJacobians& J = step_worker().jacobians;
      step_jacobians(worlds_.model(i), records_[i], J, StepBlocks::state, how);
      const MatX* blocks[6] = {&J.dqnext_dq, &J.dqnext_dv, &J.dqnext_dtau, &J.dvnext_dq, &J.dvnext_dv, &J.dvnext_dtau};
      using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
      for (int b = 0; b < 6; ++b) {
        Eigen::Map<RowMajor>(data[b] + i * nv * nv, static_cast<Eigen::Index>(nv), static_cast<Eigen::Index>(nv)) =
            *blocks[b];
      }
    });
  }
  return {arrays[0], arrays[1], arrays[2], arrays[3], arrays[4], arrays[5]};
}

}  // namespace

void bind_batch(nb::module_& m) {
  bind_rollouts(m);
  bind_rollout_batch(m);

  nb::class_<VjpBatch>(m, "StepVjpBatch", "Gradients by the inputs of many steps, a row per world.")
      .def_ro("q", &VjpBatch::q, "(worlds, nv), in the tangent of each q.")
      .def_ro("v", &VjpBatch::v, "(worlds, nv)")
      .def_ro("tau", &VjpBatch::tau, "(worlds, nv)")
      .def_ro("parameters", &VjpBatch::parameters, "(worlds, parameters)")
      .def_ro("reports", &VjpBatch::reports, "A GradientReport per world.")
      .def_prop_ro("overflowed", &VjpBatch::overflowed, "The worlds whose gradient is too large for a double.")
      .def("__repr__", [](const VjpBatch& b) { return fmt::format("<StepVjpBatch: {} worlds>", b.reports.size()); });
  nb::class_<JacobianBatch>(m, "StepJacobianBatch", "The derivatives of many steps, each block (worlds, nv, nv).")
      .def_ro("dqnext_dq", &JacobianBatch::dqnext_dq)
      .def_ro("dqnext_dv", &JacobianBatch::dqnext_dv)
      .def_ro("dqnext_dtau", &JacobianBatch::dqnext_dtau)
      .def_ro("dvnext_dq", &JacobianBatch::dvnext_dq)
      .def_ro("dvnext_dv", &JacobianBatch::dvnext_dv)
      .def_ro("dvnext_dtau", &JacobianBatch::dvnext_dtau);
  nb::class_<JvpBatch>(m, "StepJvpBatch", "How the results of many steps move, a row per world.")
      .def_ro("q", &JvpBatch::q, "(worlds, nv), in the tangent of each next q.")
      .def_ro("v", &JvpBatch::v, "(worlds, nv)")
      .def_ro("body_forces", &JvpBatch::body_forces, "(worlds, bodies), N.");

  nb::class_<StepBatch>(m, "StepBatch",
                        R"(Many worlds of one model, stepped and differentiated together on several threads.

Worlds may differ in state, forces, motor targets and in numbers of the model. Each result has the bits that step(), step_vjp() … give
for that world alone, on any number of threads. The model is copied: later changes of it are not seen.)")
      .def(
          "__init__",
          [](StepBatch* self, const Model& model, int size, int threads) {
            if (size < 1) throw nb::value_error(fmt::format("size: {} worlds; give 1 or more", size).c_str());
            new (self) StepBatch(model, size, threads);
          },
          nb::arg("model"), nb::arg("size"), nb::kw_only(), nb::arg("threads") = 0, "threads=0: one per core.")
      .def("set_model", &StepBatch::set_model, nb::arg("model"), "Copies this model instead of the one before.")
      .def(
          "step", &StepBatch::step, nb::arg("q"), nb::arg("v"), nb::arg("tau") = nb::none(), nb::kw_only(),
          nb::arg("options").none() = nb::none(), nb::arg("targets") = nb::none(),
          nb::arg("parameters").none() = nb::none(), nb::arg("values") = nb::none(), nb::arg("warm") = false,
          R"(A step of every world. q (worlds, nq), v and tau (worlds, nv), targets (worlds, motors); an array for a single world holds for all.

`parameters` names numbers of the model, as in StepParameters; `values` (worlds, parameters) are what they are in each world (none: the
model's own), and vjp() differentiates by them. `warm`: start each solver from what the last step of this batch left there.)")
      .def_prop_ro("q", &StepBatch::q, "The next configurations (worlds, nq).")
      .def_prop_ro("v", &StepBatch::v, "The next velocities (worlds, nv).")
      .def_prop_ro(
          "body_forces", &StepBatch::body_forces,
          "The sum of the normal contact forces on each body, as magnitudes (worlds, bodies), N, mean over the step.")
      .def_prop_ro("contacts", &StepBatch::contacts, "The number of contact points in each world.")
      .def_prop_ro("diverged", &StepBatch::diverged,
                   "The worlds in which numbers overflowed: they stay where they were.")
      .def("status", &StepBatch::status, nb::arg("world"))
      .def("vjp", &StepBatch::vjp, nb::arg("q") = nb::none(), nb::arg("v") = nb::none(),
           nb::arg("body_forces") = nb::none(), nb::kw_only(), nb::arg("options") = nb::none(),
           "Gradients by the inputs of the last step, from those by the next q and v (worlds, nv) and by body_forces "
           "(worlds, bodies).")
      .def("jvp", &StepBatch::jvp, nb::arg("q") = nb::none(), nb::arg("v") = nb::none(), nb::arg("tau") = nb::none(),
           nb::arg("parameters") = nb::none(), nb::kw_only(), nb::arg("options") = nb::none(),
           "How the results of the last step move with its inputs: each (worlds, nv), parameters (worlds, parameters).")
      .def("jacobians", &StepBatch::jacobians, nb::kw_only(), nb::arg("options") = nb::none(),
           "All derivatives of the last step by q, v and tau.")
      .def_prop_ro("size", &StepBatch::size)
      .def_prop_ro("threads", &StepBatch::threads)
      .def("__len__", &StepBatch::size)
      .def("__repr__", [](const StepBatch& b) {
        return fmt::format("<StepBatch: {} worlds of nv={}, {} threads>", b.size(), b.model().nv(), b.threads());
      });
}

}  // namespace lithe::python
