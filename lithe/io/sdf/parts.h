#pragma once

#include <compare>
#include <initializer_list>
#include <string>
#include <string_view>
#include <unordered_set>

#include "lithe/io/internal/resources.h"
#include "lithe/spatial/pose.h"

namespace lithe::internal {

// Declarations that the parts of the SDF reader share.

// A version of the format, "1.6" as two numbers. Every file has its own, also an included one.
struct SdfVersion {
  int major = 1;
  int minor = 0;
  auto operator<=>(const SdfVersion&) const = default;
};
inline constexpr SdfVersion kOldestSdf = {1, 4};
inline constexpr SdfVersion kNewestSdf = {1, 12};

// The version that <sdf version="…"> states; an error outside kOldestSdf … kNewestSdf.
SdfVersion sdf_version(const XmlElement& sdf);

// What every part of the reader needs.
struct SdfContext {
  Resources& resources;
  WarningList& warnings;
  int elements_left;                                // to be looked at; the same file included twice counts twice
  std::unordered_set<std::string> unreadable = {};  // visual meshes, so that each is looked for once
};

// What an element may hold. Children in `once` and `many` are read, or are harmless: documentation, looks, the pace of
// a simulator. Those in `left_out` are known and have no counterpart in a Model, which is worth a warning "sdf.<name>".
struct SdfKnown {
  std::initializer_list<std::string_view> once = {};
  std::initializer_list<std::string_view> many = {};
  std::initializer_list<std::string_view> left_out = {};
  std::initializer_list<std::string_view> attributes = {};
};
// Warns about everything in the element that is not listed, about a second child where only one is meant, and about
// what is left out.
void check_contents(SdfContext& context, const XmlElement& element, const SdfKnown& known);

// The name of a link, joint, frame or model: present, not empty, not reserved.
std::string_view sdf_name(const XmlElement& element);

// The text of a child element as a number, vector or truth value; `otherwise` where there is no such child. The parent
// may be absent as well. Numbers are bounded by 1e15, so that no product of a few of them overflows.
double child_number(const XmlElement& parent, const char* name, double otherwise);
double child_not_negative(const XmlElement& parent, const char* name, double otherwise);
Vec3 child_vector(const XmlElement& parent, const char* name, const Vec3& otherwise);
bool child_flag(const XmlElement& parent, const char* name, bool otherwise);

// The <pose> of an element; the identity if there is none. The views point into the document.
struct SdfPose {
  Pose pose = {};
  std::string_view relative_to = {};  // empty: what the element's kind says
  bool given = false;
};
SdfPose child_pose(SdfContext& context, const XmlElement& owner);

}  // namespace lithe::internal
