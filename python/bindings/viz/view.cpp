#include <fmt/format.h>

#include <memory>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "lithe/scenes/task.h"
#include "lithe/viz/live/live_view.h"
#include "python/bindings/parts.h"
#include "python/bindings/values/arguments.h"
#include "python/bindings/values/arrays.h"

// A world in browsers.
namespace lithe::python {

namespace {

LiveLoss loss_of(const Task& task, const Model& model) {
  return {"loss", [task, model](const ConstVecRef& q, const ConstVecRef& v) {
            const TaskLoss loss = task_loss(task, model, q, v);
            return LiveLoss::Value{loss.value, loss.by_q, loss.by_v};
          }};
}

// Closed when Python says so, which may be long before the object goes, and while other threads of Python use it.
class View {
  // (Before its uses, which deduce its type.)
  // Others of Python's threads go on meanwhile.
  template <class Work>
  auto call(Work work) const {
    std::shared_ptr<LiveView> live = live_;
    if (!live) throw nb::value_error(fmt::format("the view of '{}' is closed", name_).c_str());
    const nb::gil_scoped_release release;
    // If somebody closes it now, it ends here, without Python's lock.
    struct Last {
      std::shared_ptr<LiveView>& live;
      ~Last() { live.reset(); }
    } const last{live};
    return work(*live);
  }

 public:
  View(LiveSubject subject, const std::string& page, const LiveViewOptions& options)
      : name_(subject.name), nq_(subject.model.nq()), nv_(subject.model.nv()) {
    const nb::gil_scoped_release release;
    live_ = std::make_shared<LiveView>(std::move(subject), LiveCatalogue{}, page, options);
    address_ = live_->address();
  }
  ~View() { close(); }

  const std::string& address() const { return address_; }
  bool closed() const { return live_ == nullptr; }
  int clients() const {
    return live_ ? call([](LiveView& live) { return live.clients(); }) : 0;
  }
  void show(const ArrayIn& q, const ArrayIn& v, double time) const {
    const VecX q_read = q.vector("q", nq_), v_read = v.vector("v", nv_);
    call([&](LiveView& live) {
      live.play(false);
      live.show(q_read, v_read, time);
    });
  }
  void play(bool playing) const {
    call([&](LiveView& live) { live.play(playing); });
  }
  std::tuple<Array, Array, double> now() const {
    LiveView::Moment moment = call([](LiveView& live) { return live.now(); });
    return {to_numpy(std::move(moment.state.q)), to_numpy(std::move(moment.state.v)), moment.time};
  }
  void close() {
    std::shared_ptr<LiveView> closing = std::move(live_);
    const nb::gil_scoped_release release;
    closing.reset();
  }
  std::string describe() const { return fmt::format("<LiveView '{}': {}>", name_, closed() ? "closed" : address_); }

 private:
  std::shared_ptr<LiveView> live_;
  std::string name_, address_;
  int nq_, nv_;
};

}  // namespace

void bind_view(nb::module_& m) {
  nb::class_<View>(m, "LiveView",
                   "A simulation in browsers of this machine, in a thread of its own; view() makes one of a World.")
      .def(
          "__init__",
          [](View* self, const Model& model, const ArrayIn& q, const ArrayIn& v, const std::string& page,
             const std::string& name, const OptionsIn& options, const OptionalArray& targets,
             const std::vector<Visual>& visuals, const std::vector<ExceptedPair>& excepted_pairs,
             const std::optional<Task>& task, bool interactive, bool paused, int port, const std::string& token) {
            LiveSubject subject = {.name = name,
                                   .model = model,
                                   .start = {q.vector("q", model.nq()), v.vector("v", model.nv())},
                                   .time_step = options.get().time_step,
                                   .step = options.get(),
                                   .visuals = visuals,
                                   .excepted_pairs = excepted_pairs};
            if (targets) subject.motor_targets = targets->vector("targets", static_cast<int>(model.motors().size()));
            if (task) subject.loss = loss_of(*task, model);
            new (self) View(std::move(subject), page,
                            {.port = port, .token = token, .paused = paused, .can_step = interactive});
          },
          nb::arg("model"), nb::arg("q"), nb::arg("v"), nb::arg("page"), nb::kw_only(), nb::arg("name") = "world",
          nb::arg("options").none() = nb::none(), nb::arg("targets").none() = nb::none(),
          nb::arg("visuals") = std::vector<Visual>(), nb::arg("excepted_pairs") = std::vector<ExceptedPair>(),
          nb::arg("task").none() = nb::none(), nb::arg("interactive") = true, nb::arg("paused") = false,
          nb::arg("port") = 0, nb::arg("token") = "",
          R"(page is the viewer's page, as text. It starts in q (nq,), v (nv,).

visuals        what only the eye sees of it; of a Scene or a LoadedModel, as the next
excepted_pairs the pairs of links that the panel lists as never touching
interactive    browsers can play, reset and push; else they see what show() gives
paused         wait for Play; else it plays when the first browser is there
port, token    of the address; by default any that is free, and a random one)")
      .def_prop_ro("address", &View::address, "What to open in a browser of this machine.")
      .def_prop_ro("clients", &View::clients, "How many browsers look.")
      .def_prop_ro("closed", &View::closed)
      .def("show", &View::show, nb::arg("q"), nb::arg("v"), nb::arg("time"),
           "Pauses, and goes to q (nq,), v (nv,) at this time. A time that does not ascend starts the history anew.")
      .def(
          "play", [](View& self) { self.play(true); }, "Lets it run.")
      .def(
          "pause", [](View& self) { self.play(false); }, "Stops it.")
      .def("now", &View::now, "The state q (nq,), v (nv,) and the time that browsers see.")
      .def("close", &View::close, "Ends the simulation and lets the browsers go. A second time it does nothing.")
      .def("__repr__", &View::describe);
}

}  // namespace lithe::python
