#include "lithe/io/sdf/parts.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <numbers>

#include "lithe/io/internal/reader_parts.h"

namespace lithe::internal {

namespace {

constexpr double kLargest = 1e15;

// Refuses a number that is too large in size, and returns the others. bounded_numbers() does so for each of several.
double bounded(const XmlElement& element, double value) {
  if (std::abs(value) <= kLargest) return value;
  element.fail(fmt::format("<{}> is {}; numbers beyond {:g} are not accepted", element.name(), value, kLargest));
}

VecX bounded_numbers(const XmlElement& element, int count) {
  VecX numbers = element.text_numbers(count, count);
  for (const double value : numbers) bounded(element, value);
  return numbers;
}

// Where `name` stands in the list, or -1.
int position(std::initializer_list<std::string_view> list, std::string_view name) {
  const auto found = std::find(list.begin(), list.end(), name);
  return found == list.end() ? -1 : static_cast<int>(found - list.begin());
}

// Warns of attributes that are not known. Declarations of name spaces are for XML itself.
void check_attributes(SdfContext& context, const XmlElement& element, const SdfKnown& known) {
  for (const auto& [name, value] : element.attributes()) {
    if (position(known.attributes, name) >= 0 || name.starts_with("xmlns")) continue;
    context.warnings.add(element.place(), fmt::format("sdf.unknown.{}.{}", element.name(), name),
                         fmt::format("attribute {}=\"{}\" of <{}> is not known and was ignored", name, shortened(value),
                                     element.name()));
  }
}

// The rotation in a <pose> with seven numbers: x y z, then the quaternion in the order x y z w.
Mat3 quaternion_rotation(SdfContext& context, const XmlElement& element, const VecX& numbers) {
  VecX wxyz(4);
  wxyz << numbers[6], numbers[3], numbers[4], numbers[5];
  return rotation_from_wxyz(wxyz, element.place(), context.warnings);
}

// Reads the text of a <pose>: x y z and roll, pitch, yaw, in rad unless degrees="true"; or a quaternion (from SDF 1.9
// on). An empty one is the identity.
Pose pose_of_text(SdfContext& context, const XmlElement& element) {
  if (element.text().empty()) return {};
  const char* format = element.attribute("rotation_format");
  const bool degrees = element.flag("degrees").value_or(false);
  if (format && std::string_view(format) == "quat_xyzw") {
    if (degrees) element.fail("degrees=\"true\" goes with roll, pitch and yaw, not with a quaternion");
    const VecX numbers = bounded_numbers(element, 7);
    return {quaternion_rotation(context, element, numbers), numbers.head<3>()};
  }
  if (format && std::string_view(format) != "euler_rpy") {
    element.fail(fmt::format("rotation_format is \"{}\", but must be euler_rpy or quat_xyzw", shortened(format)));
  }
  const VecX numbers = bounded_numbers(element, 6);
  return {rotation_from_rpy((degrees ? std::numbers::pi / 180 : 1.0) * numbers.tail<3>()), numbers.head<3>()};
}

}  // namespace

SdfVersion sdf_version(const XmlElement& sdf) {
  const std::string text = sdf.required_attribute("version");
  SdfVersion version;
  const char* const end = text.data() + text.size();
  const auto [dot, major_error] = std::from_chars(text.data(), end, version.major);
  const bool has_minor = major_error == std::errc() && dot != end && *dot == '.';
  const auto [rest, minor_error] = std::from_chars(has_minor ? dot + 1 : end, end, version.minor);
  if (!has_minor || minor_error != std::errc() || rest != end) {
    sdf.fail(fmt::format("version=\"{}\" is no SDF version: it is written like \"1.9\"", shortened(text)));
  }
  if (version < kOldestSdf) {
    sdf.fail(fmt::format("SDF {} is too old to be read: versions from {}.{} on are; convert it with `gz sdf -p`",
                         shortened(text), kOldestSdf.major, kOldestSdf.minor));
  }
  if (version > kNewestSdf) {
    sdf.fail(fmt::format("SDF {} is not known: versions up to {}.{} are", shortened(text), kNewestSdf.major,
                         kNewestSdf.minor));
  }
  return version;
}

void check_contents(SdfContext& context, const XmlElement& element, const SdfKnown& known) {
  check_attributes(context, element, known);
  std::uint64_t seen = 0;  // of `once`, by position
  for (const XmlElement& child : element.children()) {
    // Every element that is looked at counts: a file that is included a hundred times is parsed once, but read a
    // hundred times.
    if (--context.elements_left < 0) {
      child.fail("includes multiply to more elements than LoadLimits::elements allows");
    }
    const std::string_view name = child.name();
    if (const int single = position(known.once, name); single >= 0) {
      if (seen >> single & 1) {
        context.warnings.add(child.place(), fmt::format("sdf.repeated.{}", name),
                             fmt::format("<{}> has a second <{}>; only the first is read", element.name(), name));
      }
      seen |= std::uint64_t{1} << single;
    } else if (position(known.left_out, name) >= 0) {
      context.warnings.add(child.place(), fmt::format("sdf.{}", name),
                           fmt::format("<{}> in <{}> has no counterpart here and is left out", name, element.name()));
    } else if (position(known.many, name) < 0) {
      context.warnings.add(child.place(), fmt::format("sdf.unknown.{}", name),
                           fmt::format("<{}> in <{}> is not known and was ignored", name, element.name()));
    }
  }
}

std::string_view sdf_name(const XmlElement& element) {
  const char* name = element.attribute("name");
  if (!name) element.fail(fmt::format("<{}> needs the attribute name", element.name()));
  const std::string_view text = name;
  if (text.empty()) element.fail(fmt::format("the name of this <{}> is empty", element.name()));
  // Names with two underscores at both ends are the format's own, such as __model__.
  const bool reserved = text.size() > 4 && text.starts_with("__") && text.ends_with("__");
  if (reserved || text == "world") {
    element.fail(
        fmt::format("\"{}\" is a reserved name; call this <{}> something else", shortened(text), element.name()));
  }
  return text;
}

double child_number(const XmlElement& parent, const char* name, double otherwise) {
  const XmlElement child = parent ? parent.child(name) : XmlElement();
  return child ? bounded(child, child.text_number()) : otherwise;
}

double child_not_negative(const XmlElement& parent, const char* name, double otherwise) {
  const double value = child_number(parent, name, otherwise);
  if (value < 0) parent.child(name).fail(fmt::format("<{}> is {}, but must not be negative", name, value));
  return value;
}

Vec3 child_vector(const XmlElement& parent, const char* name, const Vec3& otherwise) {
  const XmlElement child = parent ? parent.child(name) : XmlElement();
  return child ? Vec3(bounded_numbers(child, 3)) : otherwise;
}

bool child_flag(const XmlElement& parent, const char* name, bool otherwise) {
  const XmlElement child = parent ? parent.child(name) : XmlElement();
  return child ? child.text_flag() : otherwise;
}

SdfPose child_pose(SdfContext& context, const XmlElement& owner) {
  const XmlElement element = owner.child("pose");
  if (!element) return {};
  // Up to SDF 1.6 relative_to was called frame.
  check_contents(context, element, {.attributes = {"relative_to", "frame", "degrees", "rotation_format"}});
  const char* relative_to = element.attribute("relative_to");
  if (!relative_to) relative_to = element.attribute("frame");
  return {pose_of_text(context, element), relative_to ? relative_to : "", true};
}

}  // namespace lithe::internal
