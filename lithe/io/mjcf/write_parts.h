#pragma once

#include <string>
#include <string_view>
#include <tinyxml2.h>
#include <unordered_set>
#include <vector>

#include "lithe/io/internal/reader_parts.h"
#include "lithe/io/write_mjcf.h"

namespace lithe::internal::mjcf {

// A number beyond this means none where a list must have one; the reader takes it so.
inline constexpr double kNoLimit = 1e12;

std::string text_of(double number);
std::string text_of(const ConstVecRef& numbers);

// The XML as it grows.
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

  // One line per kind; what it names is the first of its kind.
  void warn(const std::string& kind, const std::string& text);

  std::string xml() const { return printer_.CStr(); }
  std::vector<std::string> warnings() const { return warnings_; }

 private:
  tinyxml2::XMLPrinter printer_;
  std::unordered_set<std::string> kinds_;
  std::vector<std::string> warnings_;
};

// Per joint of a body: its frame at q = 0 in the body frame; and the body in its parent then.
struct NeutralBody {
  Pose X_PB = {};
  std::vector<Pose> X_BJ = {};
};
NeutralBody neutral(const Model& model, const Body& body);

// Of all bodies, in the world.
std::vector<Pose> neutral_poses(const Model& model);

// The joints of a body; slides that follow screws are added to `screws`, by their two names and the pitch.
struct WrittenScrew {
  std::string hinge, slide;
  double pitch = 0;
};
void write_joints(const Model& model, const Body& body, const NeutralBody& at, Output& out,
                  std::vector<WrittenScrew>& screws);

void write_geom(const Model& model, const Shape& shape, std::uint32_t contype, std::uint32_t conaffinity, Output& out);
void write_meshes(const Model& model, Output& out);  // <asset>
// contype and conaffinity per shape.
std::vector<std::pair<std::uint32_t, std::uint32_t>> contact_bits(const Model& model, Output& out);

void write_contacts(const Model& model, Output& out);
void write_equality(const Model& model, const std::vector<WrittenScrew>& screws, const std::vector<Pose>& X_WB,
                    Output& out);
void write_actuators(const Model& model, Output& out);

// Whether a loop is written by two sites, and what they are called.
bool needs_sites(const LoopClosure& loop, const std::vector<Pose>& X_WB);
std::string site_name(const LoopClosure& loop, char end);  // 'a' or 'b'

}  // namespace lithe::internal::mjcf
