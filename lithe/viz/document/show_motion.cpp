#include "lithe/viz/document/show_motion.h"

#include <algorithm>
#include <utility>

#include "lithe/core/check.h"
#include "lithe/viz/document/internal/position_gradients.h"

namespace lithe {

using namespace internal;

namespace {

// Puts frames together, of which nobody knows in advance how many there will be: numbers are collected one after the
// other, and become matrices at the end.
class MotionBuilder {
 public:
  MotionBuilder(std::string name, double time_step) {
    motion_.name = std::move(name);
    motion_.time_step = time_step;
  }

  void add(const RecordedFrame& frame) {
    if (motion_.times.empty()) {
      nq_ = frame.q.size();
      nv_ = frame.v.size();
    }
    LITHE_CHECK(frame.q.size() == nq_ && frame.v.size() == nv_,
                "frame {} of '{}' has {} coordinates and {} velocities, the first has {} and {}", motion_.times.size(),
                motion_.name, frame.q.size(), frame.v.size(), nq_, nv_);
    motion_.times.push_back(frame.time);
    q_.insert(q_.end(), frame.q.begin(), frame.q.end());
    v_.insert(v_.end(), frame.v.begin(), frame.v.end());
    motion_.contacts.push_back(frame.contacts);
  }

  ShowMotion finish() {
    const auto frames = static_cast<Eigen::Index>(motion_.times.size());
    motion_.q = Eigen::Map<const MatX>(q_.data(), nq_, frames);
    motion_.v = Eigen::Map<const MatX>(v_.data(), nv_, frames);
    return std::move(motion_);
  }

 private:
  ShowMotion motion_;
  Eigen::Index nq_ = 0, nv_ = 0;
  std::vector<double> q_, v_;
};

// A name in quotes, or "none" past the end of the list.
std::string called(const std::vector<std::string>& names, std::size_t i) {
  return i < names.size() ? fmt::format("'{}'", names[i]) : std::string("none");
}

// Every part in words, so that one comparison serves all kinds.
struct Parts {
  std::vector<std::string> bodies, joints, shapes, motors;
};

// A model is compared by the header that its recordings would have, so this serves both sides.
Parts parts_of(const RecordingHeader& header) {
  const auto body = [&](std::uint32_t number) { return fmt::format("{} ('{}')", number, header.bodies.at(number)); };
  Parts parts = {.bodies = header.bodies, .joints = {}, .shapes = {}, .motors = {}};
  for (const RecordingHeader::JointEntry& joint : header.joints) {
    parts.joints.push_back(fmt::format("{}, {} of body {}", joint.name, to_string(joint.type), body(joint.body)));
  }
  for (const RecordingHeader::ShapeEntry& shape : header.shapes) {
    parts.shapes.push_back(fmt::format("{} of body {}", shape.name, body(shape.body)));
  }
  for (const RecordingHeader::MotorEntry& motor : header.motors) {
    parts.motors.push_back(fmt::format("{} of joint '{}'", motor.name, header.joints.at(motor.joint).name));
  }
  return parts;
}

// Names the first part that differs, or that one side has and the other has not.
void compare(const char* kind, const std::vector<std::string>& recorded, const std::vector<std::string>& modelled) {
  for (std::size_t i = 0; i < std::max(recorded.size(), modelled.size()); ++i) {
    LITHE_CHECK(i < recorded.size() && i < modelled.size() && recorded[i] == modelled[i],
                "the recording is not of this model: {} {} is {} there and {} in the model", kind, i,
                called(recorded, i), called(modelled, i));
  }
}

}  // namespace

ShowMotion show_motion(std::string name, double time_step, const std::vector<RecordedFrame>& frames) {
  MotionBuilder builder(std::move(name), time_step);
  for (const RecordedFrame& frame : frames) builder.add(frame);
  return builder.finish();
}

ShowMotion show_motion(std::string name, RecordingReader& reader, int every) {
  LITHE_CHECK(every > 0, "one of every {} frames: it must be 1 or more", every);
  MotionBuilder builder(std::move(name), reader.header().time_step);
  RecordedFrame frame;
  // Which frame is the last shows only when no other follows, so the last one read is kept back for that.
  bool waiting = false;  // the frame read last has not been added
  for (long number = 0; reader.read(frame); ++number) {
    waiting = number % every != 0;
    if (!waiting) builder.add(frame);
  }
  if (waiting) builder.add(frame);
  return builder.finish();
}

void check_recording_fits(const RecordingHeader& header, const Model& model) {
  const Parts recorded = parts_of(header);
  const Parts modelled = parts_of(recording_header(model, header.title, header.time_step));
  compare("body", recorded.bodies, modelled.bodies);
  compare("joint", recorded.joints, modelled.joints);
  compare("shape", recorded.shapes, modelled.shapes);
  if (!recorded.motors.empty()) compare("motor", recorded.motors, modelled.motors);  // version 1 names none
}

ShowGradients show_gradients(const Model& model, std::string loss, const MatX& q, const MatX& by_q,
                             const MatX& by_tau) {
  const Eigen::Index frames = q.cols();
  const auto fits = [&](const MatX& x) { return x.rows() == model.nv() && x.cols() == frames; };
  LITHE_CHECK(
      q.rows() == model.nq() && fits(by_q) && fits(by_tau),
      "gradients of {}×{} by q and {}×{} by forces do not fit states of {}×{}, of a model with nq = {} and nv = {}",
      by_q.rows(), by_q.cols(), by_tau.rows(), by_tau.cols(), q.rows(), frames, model.nq(), model.nv());
  ShowGradients gradients = {.loss = std::move(loss),
                             .bodies = MatX(3 * static_cast<Eigen::Index>(model.bodies().size()), frames),
                             .joints = MatX(static_cast<Eigen::Index>(model.joints().size()), frames)};
  PositionGradients positions(model);
  for (Eigen::Index t = 0; t < frames; ++t) {
    gradients.bodies.col(t) = positions.at(q.col(t), by_q.col(t));
    for (Eigen::Index j = 0; j < gradients.joints.rows(); ++j) {
      const Joint& joint = model.joints()[static_cast<std::size_t>(j)];
      gradients.joints(j, t) =
          joint.nv() == 1 ? by_tau(joint.v_index, t) : by_tau.col(t).segment(joint.v_index, joint.nv()).norm();
    }
  }
  return gradients;
}

}  // namespace lithe
