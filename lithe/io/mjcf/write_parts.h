#pragma once

#include <string>
#include <string_view>
#include <tinyxml2.h>
#include <unordered_set>
#include <vector>

#include "lithe/io/internal/reader_parts.h"
#include "lithe/io/write_mjcf.h"

namespace lithe::internal::mjcf {

// A limit of this size stands for none, where a range must have two numbers. The reader takes it so.
inline constexpr double kNoLimit = 1e12;

// Numbers as text, in full; those of a vector with blanks between.
std::string text_of(double number);
std::string text_of(const ConstVecRef& numbers);

// The XML document as it grows, with warnings about what it cannot hold.
class Output {
 public:
  void open(const char* element) { printer_.OpenElement(element); }
  void close() { printer_.CloseElement(); }
  void attribute(const char* name, const std::string& value) { printer_.PushAttribute(name, value.c_str()); }
  void attribute(const char* name, double value) { attribute(name, text_of(value)); }
  void attribute(const char* name, const Vec3& value) { attribute(name, text_of(value)); }
  void attribute_unless(double usual, const char* name, double value) {
    if (value != usual) attribute(name, value);
  }
  void pose(const Pose& X);  // pos and quat, where they are not the identity

  // Adds a warning, if it is the first one of its kind.
  void warn(const std::string& kind, const std::string& text);

  std::string xml() const { return printer_.CStr(); }
  std::vector<std::string> warnings() const { return warnings_; }

 private:
  tinyxml2::XMLPrinter printer_;
  std::unordered_set<std::string> kinds_;
  std::vector<std::string> warnings_;
};

// A body at q = 0: its frame in its parent's, and the frame of each of its joints in the body's.
struct NeutralBody {
  Pose X_PB = {};
  std::vector<Pose> X_BJ = {};
};
NeutralBody neutral(const Model& model, const Body& body);

// The poses of all bodies in the world at q = 0.
std::vector<Pose> neutral_poses(const Model& model);

// Writes the joints of a body. The slides that follow screws are added to `screws`, by the names of both and the pitch,
// m/rad.
struct WrittenScrew {
  std::string hinge, slide;
  double pitch = 0;
};
void write_joints(const Model& model, const Body& body, const NeutralBody& at, Output& out,
                  std::vector<WrittenScrew>& screws);

// Write a shape as <geom>, and the points of all convex meshes as <asset>.
void write_geom(const Model& model, const Shape& shape, std::uint32_t contype, std::uint32_t conaffinity, Output& out);
void write_meshes(const Model& model, Output& out);  // <asset>
// The contype and conaffinity of each shape.
std::vector<std::pair<std::uint32_t, std::uint32_t>> contact_bits(const Model& model, Output& out);

// Write the sections <contact>, <equality> and <actuator>, where there is anything to say in them.
void write_contacts(const Model& model, Output& out);
void write_equality(const Model& model, const std::vector<WrittenScrew>& screws, const std::vector<Pose>& X_WB,
                    Output& out);
void write_actuators(const Model& model, Output& out);

// Whether a loop is written by two sites, and what these are called.
bool needs_sites(const LoopClosure& loop, const std::vector<Pose>& X_WB);
std::string site_name(const LoopClosure& loop, char end);  // 'a' or 'b'

}  // namespace lithe::internal::mjcf
