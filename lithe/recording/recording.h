#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lithe/model/model.h"

namespace lithe {

// A motion as plain numbers: what a simulation leaves in a file for a viewer, a plot or a later comparison. It names the
// parts of its model, but holds no model. docs/recording.md has the file format, byte by byte.

// What a file says once, before its frames: which parts the model has, by number and name. A part's number is its place
// in its list.
struct RecordingHeader {
  struct JointEntry {
    std::string name;
    JointType type = JointType::revolute;
    std::uint32_t body = 0;  // that it carries

    bool operator==(const JointEntry&) const = default;
  };
  struct ShapeEntry {
    std::string name;
    std::uint32_t body = 0;  // that it belongs to

    bool operator==(const ShapeEntry&) const = default;
  };
  struct MotorEntry {
    std::string name;
    std::uint32_t joint = 0;  // that it drives

    bool operator==(const MotorEntry&) const = default;
  };

  std::string title;                // of the scene or the model
  double time_step = 0;             // between the frames, s
  std::vector<std::string> bodies;  // the world first
  std::vector<JointEntry> joints;   // in the order of their entries in q and v
  std::vector<ShapeEntry> shapes;
  std::vector<MotorEntry> motors = {};  // none in files of version 1

  int nq() const;
  int nv() const;

  bool operator==(const RecordingHeader&) const = default;
};

// The header of motions of this model, in steps of `time_step` seconds.
RecordingHeader recording_header(const Model& model, std::string title, double time_step);

// A contact of two shapes, in world coordinates (m). The normal is a unit vector from shape b to shape a.
struct RecordedContact {
  std::uint32_t a = 0, b = 0;  // numbers of the shapes
  Vec3 point = Vec3::Zero();
  Vec3 normal = Vec3::Zero();
  Vec3 impulse = Vec3::Zero();  // on a, N·s

  bool operator==(const RecordedContact&) const = default;
};

// A state; the contacts found in it, with their impulses during the step that starts there; and what drove that step.
// The last frame of a motion, from which no step was taken, has neither.
struct RecordedFrame {
  double time = 0;  // s
  VecX q, v;
  std::vector<RecordedContact> contacts = {};
  VecX tau = {};            // nv generalised forces; empty: what drove the step is not known, or there was none
  VecX motor_targets = {};  // one per motor; empty: motors were off

  bool has_controls() const { return tau.size() > 0; }
};

// What the writer and the reader agree on.
namespace recording_format {

inline constexpr char kMagic[8] = {'L', 'I', 'T', 'H', 'E', 'R', 'E', 'C'};
inline constexpr std::uint32_t kVersion = 2;             // that is written
inline constexpr std::uint32_t kFirstVersion = 1;        // the oldest that is read: it has no motors and no controls
inline constexpr std::uint32_t kByteOrder = 0x01020304;  // reads 04 03 02 01 in the file
inline constexpr std::size_t kPrologue = 16;             // magic, version, byte order
inline constexpr std::size_t kBlockHead = 8;             // length and checksum
inline constexpr std::size_t kContactSize = 4 + 4 + 9 * 8;

// What a frame of version 2 says of its step's controls. Zero forces take no place.
inline constexpr std::uint32_t kControlsKnown = 1;
inline constexpr std::uint32_t kForces = 2;   // some are not zero: nv of them follow
inline constexpr std::uint32_t kTargets = 4;  // motors are on: a target of each follows

// What all frames of a file share.
struct FrameLayout {
  std::uint32_t version = kVersion;
  int nq = 0, nv = 0;
  std::size_t motors = 0, shapes = 0;

  // The bytes of a frame's block, its head not counted.
  std::size_t size(std::size_t contacts, std::uint32_t controls) const {
    const std::size_t numbers = 1 + static_cast<std::size_t>(nq) + static_cast<std::size_t>(nv) +
                                ((controls & kForces) != 0 ? static_cast<std::size_t>(nv) : 0) +
                                ((controls & kTargets) != 0 ? motors : 0);
    return (version == 1 ? 4 : 8) + 8 * numbers + kContactSize * contacts;
  }
};
FrameLayout frame_layout(const RecordingHeader& header, std::uint32_t version);

}  // namespace recording_format

}  // namespace lithe
