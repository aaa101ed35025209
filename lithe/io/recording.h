#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lithe/model/model.h"

namespace lithe {

// A motion as plain numbers: what a simulation leaves in a file for a viewer, a plot or a later comparison. It names the
// parts of its model, but holds no model. docs/recording.md has the file format, byte by byte.

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

  std::string title;                // of the scene or the model
  double time_step = 0;             // between the frames, s
  std::vector<std::string> bodies;  // the world first
  std::vector<JointEntry> joints;   // in the order of their entries in q and v
  std::vector<ShapeEntry> shapes;

  int nq() const;
  int nv() const;

  bool operator==(const RecordingHeader&) const = default;
};

RecordingHeader recording_header(const Model& model, std::string title, double time_step);

// World coordinates; the normal points from shape b to shape a.
struct RecordedContact {
  std::uint32_t a = 0, b = 0;  // numbers of the shapes
  Vec3 point = Vec3::Zero();
  Vec3 normal = Vec3::Zero();
  Vec3 impulse = Vec3::Zero();  // on a, N·s

  bool operator==(const RecordedContact&) const = default;
};

// A state, and the contacts found in it with their impulses during the step that starts there. The last frame of a
// motion, from which no step was taken, has none.
struct RecordedFrame {
  double time = 0;  // s
  VecX q, v;
  std::vector<RecordedContact> contacts = {};
};

// What the writer and the reader agree on.
namespace recording_format {

inline constexpr char kMagic[8] = {'L', 'I', 'T', 'H', 'E', 'R', 'E', 'C'};
inline constexpr std::uint32_t kVersion = 1;
inline constexpr std::uint32_t kByteOrder = 0x01020304;  // reads 04 03 02 01 in the file
inline constexpr std::size_t kPrologue = 16;             // magic, version, byte order
inline constexpr std::size_t kBlockHead = 8;             // length and checksum
inline constexpr std::size_t kContactSize = 4 + 4 + 9 * 8;

// The bytes of a frame's block, its head not counted.
inline std::size_t frame_size(int nq, int nv, std::size_t contacts) {
  return 4 + 8 * (1 + static_cast<std::size_t>(nq) + static_cast<std::size_t>(nv)) + kContactSize * contacts;
}

}  // namespace recording_format

}  // namespace lithe
