#include <fmt/format.h>

#include <filesystem>
#include <limits>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "lithe/recording/recorded_contacts.h"
#include "lithe/recording/recording_reader.h"
#include "lithe/recording/recording_writer.h"
#include "python/bindings/parts.h"
#include "python/bindings/step/records.h"
#include "python/bindings/values/arrays.h"
#include "python/bindings/values/names.h"
#include "python/bindings/values/paths.h"

// Motions in files.
namespace lithe::python {

namespace {

// The state that a step started from, with the contacts that were found there and what drove the step.
RecordedFrame frame_of(const StepRecord& record) {
  return {.q = record.state.q,
          .v = record.state.v,
          .contacts = recorded_contacts(record),
          .tau = record.control.tau,
          .motor_targets = record.control.motor_targets};
}

class Writer {
 public:
  Writer(const PathIn& path, const Model& model, const std::string& title, double time_step)
      : path_(path.string()),
        nq_(model.nq()),
        nv_(model.nv()),
        motors_(static_cast<int>(model.motors().size())),
        time_step_(time_step),
        writer_(path_, recording_header(model, title, time_step)) {}

  void append(nb::handle what, const std::optional<double>& time, const OptionalArray& tau,
              const OptionalArray& targets) {
    if (closed_) throw nb::value_error(fmt::format("{} is closed: nothing can be appended", path_).c_str());
    RecordedFrame frame = read(what);
    read_controls(tau, targets, frame);
    frame.time = time.value_or(static_cast<double>(writer_.frames()) * time_step_);
    writer_.append(frame);
  }
  void flush() {
    if (!closed_) writer_.flush();
  }
  void close() {
    if (closed_) return;
    closed_ = true;
    writer_.close();
  }
  std::string describe() const {
    return fmt::format("<RecordingWriter '{}': {} frames{}>", path_, writer_.frames(), closed_ ? ", closed" : "");
  }
  const RecordingWriter& operator*() const { return writer_; }

 private:
  RecordedFrame read(nb::handle what) const {
    const Record* record = nullptr;
    if (nb::try_cast(what, record, false) && record) return frame_of(**record);
    nb::tuple state;
    if (!nb::try_cast(what, state, false) || state.size() != 2) {
      throw nb::type_error(
          fmt::format("state: expected a StepRecord or a tuple (q, v), got {}", nb::type_name(what.type()).c_str())
              .c_str());
    }
    return {.q = ArrayIn(state[0]).vector("q", nq_), .v = ArrayIn(state[1]).vector("v", nv_)};
  }

  void read_controls(const OptionalArray& tau, const OptionalArray& targets, RecordedFrame& frame) const {
    if (!tau && !targets) return;
    if (frame.has_controls()) {
      throw nb::value_error("tau, targets: a StepRecord has its own; give them with a tuple (q, v) only");
    }
    frame.tau = tau ? tau->vector("tau", nv_) : VecX::Zero(nv_);
    frame.motor_targets = vector_or_empty(targets, "targets", motors_);
  }

  std::string path_;
  int nq_, nv_, motors_;
  double time_step_;
  RecordingWriter writer_;
  bool closed_ = false;
};

// A whole recording, one row per frame.
struct Motion {
  RecordingHeader header;
  Array times, q, v, tau, targets;
  std::vector<std::vector<RecordedContact>> contacts;
  bool has_controls, cut_off;
};

// Whether every frame but the last says what drove its step.
bool has_controls(const Recording& recording) {
  for (std::size_t k = 0; k + 1 < recording.frames.size(); ++k) {
    if (!recording.frames[k].has_controls()) return false;
  }
  return recording.frames.size() > 1;
}

Motion read_motion(const PathIn& path) {
  Recording recording;
  {
    const nb::gil_scoped_release released;
    recording = read_recording(path.string());
  }
  const auto frames = static_cast<Eigen::Index>(recording.frames.size());
  VecX times(frames);
  MatX q(recording.header.nq(), frames);
  MatX v(recording.header.nv(), frames);
  MatX tau = MatX::Zero(recording.header.nv(), frames);
  const auto motors = static_cast<Eigen::Index>(recording.header.motors.size());
  MatX targets = MatX::Constant(motors, frames, std::numeric_limits<double>::quiet_NaN());
  const bool controlled = has_controls(recording);
  std::vector<std::vector<RecordedContact>> contacts;
  contacts.reserve(recording.frames.size());
  for (Eigen::Index k = 0; k < frames; ++k) {
    RecordedFrame& frame = recording.frames[static_cast<std::size_t>(k)];
    times[k] = frame.time;
    q.col(k) = frame.q;
    v.col(k) = frame.v;
    if (frame.has_controls()) tau.col(k) = frame.tau;
    if (frame.motor_targets.size() > 0) targets.col(k) = frame.motor_targets;
    contacts.push_back(std::move(frame.contacts));
  }
  return {.header = std::move(recording.header),
          .times = to_numpy(std::move(times)),
          .q = to_numpy_rows(std::move(q)),
          .v = to_numpy_rows(std::move(v)),
          .tau = to_numpy_rows(std::move(tau)),
          .targets = to_numpy_rows(std::move(targets)),
          .contacts = std::move(contacts),
          .has_controls = controlled,
          .cut_off = recording.cut_off};
}

const std::vector<RecordedContact>& contacts_in_frame(const Motion& motion, long frame) {
  const long frames = static_cast<long>(motion.contacts.size());
  if (frame < -frames || frame >= frames) {
    throw nb::index_error(fmt::format("frame {} is out of range: there are {}", frame, frames).c_str());
  }
  return motion.contacts[static_cast<std::size_t>(frame < 0 ? frame + frames : frame)];
}

template <class Entry>
std::vector<std::uint32_t> bodies_of(const std::vector<Entry>& entries) {
  std::vector<std::uint32_t> bodies;
  for (const Entry& entry : entries) bodies.push_back(entry.body);
  return bodies;
}

std::vector<JointType> types_of(const RecordingHeader& header) {
  std::vector<JointType> types;
  for (const auto& joint : header.joints) types.push_back(joint.type);
  return types;
}

// What the header says, for whatever class has one.
template <class Class, class Header>
void define_header(Class& c, Header header) {
  using T = typename Class::Type;
  c.def_prop_ro("title", [header](const T& x) { return header(x).title; }, "Of the scene or the model.");
  c.def_prop_ro("time_step", [header](const T& x) { return header(x).time_step; }, "Between the frames, s.");
  c.def_prop_ro("nq", [header](const T& x) { return header(x).nq(); });
  c.def_prop_ro("nv", [header](const T& x) { return header(x).nv(); });
  c.def_prop_ro("body_names", [header](const T& x) { return header(x).bodies; }, "The world first.");
  c.def_prop_ro(
      "joint_names", [header](const T& x) { return names_of(header(x).joints); },
      "In the order of their entries in q.");
  c.def_prop_ro("joint_types", [header](const T& x) { return types_of(header(x)); });
  c.def_prop_ro(
      "joint_bodies", [header](const T& x) { return bodies_of(header(x).joints); },
      "Numbers of the bodies that they carry.");
  c.def_prop_ro("shape_names", [header](const T& x) { return names_of(header(x).shapes); });
  c.def_prop_ro(
      "shape_bodies", [header](const T& x) { return bodies_of(header(x).shapes); }, "Numbers of their bodies.");
  c.def_prop_ro(
      "motor_names", [header](const T& x) { return names_of(header(x).motors); }, "None in files of version 1.");
}

void bind_writer(nb::module_& m) {
  nb::class_<Writer>(m, "RecordingWriter", R"(Writes a motion to a file, frame by frame.

    with lithe.RecordingWriter('motion.lithe', model, 'humanoid', 1e-3) as writer:
        for _ in range(1000):
            record = lithe.step(model, q, v, options=1e-3)
            writer.append(record)
            q, v = record.q, record.v
        writer.append((q, v))

A program that dies loses at most the last 64 KiB; what is in the file stays readable. A file of that name is
replaced.)")
      .def(nb::init<const PathIn&, const Model&, const std::string&, double>(), nb::arg("path"), nb::arg("model"),
           nb::arg("title") = "", nb::arg("time_step") = 1e-3)
      .def("append", &Writer::append, nb::arg("state").none(), nb::arg("time").none() = nb::none(),
           nb::arg("tau").none() = nb::none(), nb::arg("targets").none() = nb::none(),
           nb::sig("def append(self, state: StepRecord | tuple[numpy.typing.ArrayLike, numpy.typing.ArrayLike], time: "
                   "float | None = None, "
                   "tau: numpy.typing.ArrayLike | None = None, targets: numpy.typing.ArrayLike | None = None) "
                   "-> None"),
           "One more frame, at `time` in seconds (none: the number of frames times the time step). Of a StepRecord it "
           "is the state that the "
           "step started from, with the contacts found there, their impulses and what drove the step; of a tuple (q, "
           "v) it is that state, without contacts. `tau` and `targets` then say what drives the step from it; "
           "without both, nobody knows.")
      .def("flush", &Writer::flush, "What was appended so far is in the file.")
      .def("close", &Writer::close, "Nothing can be appended after.")
      .def(
          "__enter__", [](nb::object self) { return self; }, nb::sig("def __enter__(self) -> RecordingWriter"))
      .def(
          "__exit__", [](Writer& writer, const nb::args&) { writer.close(); },
          nb::sig("def __exit__(self, *args: object) -> None"))
      .def_prop_ro("frames", [](const Writer& writer) { return (*writer).frames(); })
      .def_prop_ro("bytes", [](const Writer& writer) { return (*writer).bytes(); })
      .def("__repr__", &Writer::describe);
}

nb::object array_or_none(const VecX& vector) { return vector.size() > 0 ? to_numpy(vector).object : nb::none(); }

void bind_frames(nb::module_& m) {
  nb::class_<RecordedContact>(m, "RecordedContact", "A contact point of a frame, in the world.")
      .def_ro("shape_a", &RecordedContact::a, "Number of the first shape.")
      .def_ro("shape_b", &RecordedContact::b)
      .def_prop_ro(
          "point", [](const RecordedContact& c) { return to_numpy(VecX(c.point)); }, "(3,), m.")
      .def_prop_ro(
          "normal", [](const RecordedContact& c) { return to_numpy(VecX(c.normal)); }, "(3,), from shape b to shape a.")
      .def_prop_ro(
          "impulse", [](const RecordedContact& c) { return to_numpy(VecX(c.impulse)); },
          "(3,), on shape a during the step, N·s.")
      .def("__repr__", [](const RecordedContact& c) {
        return fmt::format("<RecordedContact of shapes {} and {}: impulse {:.3g} N·s>", c.a, c.b, c.impulse.norm());
      });
  nb::class_<RecordedFrame>(
      m, "RecordedFrame",
      "A state, the contacts found in it with their impulses during the step that starts there, and what drove it.")
      .def_ro("time", &RecordedFrame::time, "s.")
      .def_prop_ro(
          "q", [](const RecordedFrame& frame) { return to_numpy(frame.q); }, "(nq,)")
      .def_prop_ro(
          "v", [](const RecordedFrame& frame) { return to_numpy(frame.v); }, "(nv,)")
      .def_prop_ro("contacts", [](const RecordedFrame& frame) { return frame.contacts; })
      .def_prop_ro(
          "tau", [](const RecordedFrame& frame) { return array_or_none(frame.tau); },
          nb::sig("def tau(self) -> numpy.typing.NDArray[numpy.float64] | None"),
          "(nv,), generalised forces during that step; None: what drove it is not known, or there was none.")
      .def_prop_ro(
          "targets", [](const RecordedFrame& frame) { return array_or_none(frame.motor_targets); },
          nb::sig("def targets(self) -> numpy.typing.NDArray[numpy.float64] | None"),
          "Of the motors, (motors,); None: motors were off.")
      .def("__repr__", [](const RecordedFrame& frame) {
        return fmt::format("<RecordedFrame at {:g} s: {} contacts>", frame.time, frame.contacts.size());
      });
}

}  // namespace

void bind_recording(nb::module_& m) {
  bind_writer(m);
  bind_frames(m);

  nb::class_<Motion> motion(
      m, "Recording",
      "A motion as plain numbers, one row per frame. It names the parts of its model, but holds no model.");
  define_header(motion, [](const Motion& x) -> const RecordingHeader& { return x.header; });
  motion.def_prop_ro(
            "times", [](const Motion& x) { return x.times; }, "(T,), s.")
      .def_prop_ro(
          "q", [](const Motion& x) { return x.q; }, "(T, nq)")
      .def_prop_ro(
          "v", [](const Motion& x) { return x.v; }, "(T, nv)")
      .def_prop_ro(
          "tau", [](const Motion& x) { return x.tau; },
          "(T, nv), generalised forces during the step that starts in each frame; zero where they are not known and in "
          "the last frame.")
      .def_prop_ro(
          "targets", [](const Motion& x) { return x.targets; },
          "Of the motors, (T, motors); NaN where motors were off and in the last frame.")
      .def_ro("has_controls", &Motion::has_controls, "Whether every frame but the last says what drove its step.")
      .def(
          "contacts", [](const Motion& x, long frame) { return contacts_in_frame(x, frame); }, nb::arg("frame"),
          "The contacts found in a frame, with their impulses during the step that starts there.")
      .def_ro("cut_off", &Motion::cut_off, "Whether the file ended within a frame.")
      .def("__len__", [](const Motion& x) { return x.contacts.size(); })
      .def("__repr__", [](const Motion& x) {
        return fmt::format("<Recording '{}': {} frames, nq={}, nv={}, {:g} s apart{}>", x.header.title,
                           x.contacts.size(), x.header.nq(), x.header.nv(), x.header.time_step,
                           x.cut_off ? ", cut off" : "");
      });
  m.def("read_recording", &read_motion, nb::arg("path"),
        "A whole recording. A file that was cut off is read up to its last full frame; any other damage is an Error "
        "'file:offset: error: …'.");

  nb::class_<RecordingReader> reader(
      m, "RecordingReader", "Reads a recording frame by frame: for frame in lithe.RecordingReader('motion.lithe'): …");
  reader
      .def(
          "__init__", [](RecordingReader* self, const PathIn& path) { new (self) RecordingReader(path.string()); },
          nb::arg("path"))
      .def_prop_ro("cut_off", &RecordingReader::cut_off, "Whether the file ended within a frame: known at its end.")
      .def(
          "__iter__", [](nb::object self) { return self; }, nb::sig("def __iter__(self) -> RecordingReader"))
      .def("__next__", [](RecordingReader& self) {
        RecordedFrame frame;
        if (!self.read(frame)) throw nb::stop_iteration();
        return frame;
      });
  define_header(reader, [](const RecordingReader& x) -> const RecordingHeader& { return x.header(); });
}

}  // namespace lithe::python
