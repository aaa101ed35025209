#include "lithe/recording/recording.h"

#include <utility>

namespace lithe {

namespace {

// Entries of a joint in q and in v. The header knows types only, no joints of a model.
int coordinates(JointType type) { return type == JointType::ball ? 4 : 1; }
int velocities(JointType type) { return type == JointType::ball ? 3 : 1; }

}  // namespace

int RecordingHeader::nq() const {
  int count = 0;
  for (const JointEntry& joint : joints) count += coordinates(joint.type);
  return count;
}

int RecordingHeader::nv() const {
  int count = 0;
  for (const JointEntry& joint : joints) count += velocities(joint.type);
  return count;
}

RecordingHeader recording_header(const Model& model, std::string title, double time_step) {
  RecordingHeader header = {
      .title = std::move(title), .time_step = time_step, .bodies = {}, .joints = {}, .shapes = {}, .motors = {}};
  for (const Body& body : model.bodies()) header.bodies.push_back(body.name);
  for (const Joint& joint : model.joints()) {
    header.joints.push_back({joint.name, joint.type, static_cast<std::uint32_t>(int{joint.body})});
  }
  for (const Shape& shape : model.shapes()) {
    header.shapes.push_back({shape.name, static_cast<std::uint32_t>(int{shape.body})});
  }
  for (const Motor& motor : model.motors()) {
    header.motors.push_back({motor.name, static_cast<std::uint32_t>(int{motor.joint})});
  }
  return header;
}

recording_format::FrameLayout recording_format::frame_layout(const RecordingHeader& header, std::uint32_t version) {
  return {.version = version,
          .nq = header.nq(),
          .nv = header.nv(),
          .motors = header.motors.size(),
          .shapes = header.shapes.size()};
}

}  // namespace lithe
