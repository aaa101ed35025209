#include "lithe/io/mjcf/poses.h"

#include <Eigen/Geometry>

#include <cctype>
#include <cmath>

#include "lithe/io/internal/reader_parts.h"
#include "lithe/io/mjcf/rules.h"
#include "lithe/spatial/internal/robust_norm.h"
#include "lithe/spatial/rotation.h"

namespace lithe::internal::mjcf {

namespace {

// The vector with length 1. One without a direction is an error about that attribute.
Vec3 unit(const Vec3& v, const Attributes& attributes, const char* name) {
  const double length = robust_norm(v);
  if (!(length > 1e-14) || !std::isfinite(length)) attributes.fail(name, "an axis must not have length 0");
  return v / length;
}

// The rotation by three angles about the axes of the compiler's eulerseq. A lower-case letter is an axis that turns
// along, so its rotation is multiplied from the right; an upper-case one is fixed.
Mat3 from_euler(const Vec3& angles, const Compiler& compiler) {
  Mat3 R = Mat3::Identity();
  for (int i = 0; i < 3; ++i) {
    const char letter = compiler.euler_sequence[i];
    const bool turns_along = std::islower(static_cast<unsigned char>(letter)) != 0;
    const int axis = std::tolower(static_cast<unsigned char>(letter)) - 'x';
    const Mat3 turn = rotation_about(Vec3::Unit(axis), compiler.angle(angles[i]));
    R = turns_along ? Mat3(R * turn) : Mat3(turn * R);
  }
  return R;
}

// The rotation by its x and y axes. As in MuJoCo, y is made orthogonal to x, and z follows from both.
Mat3 from_axes(const VecX& xy, const Attributes& attributes) {
  Mat3 R;
  R.col(0) = unit(xy.head<3>(), attributes, "xyaxes");
  const Vec3 y = unit(xy.tail<3>(), attributes, "xyaxes");
  R.col(1) = unit(y - y.dot(R.col(0)) * R.col(0), attributes, "xyaxes");
  R.col(2) = R.col(0).cross(R.col(1));
  return R;
}

// The attribute by which the orientation is given, of the five that there are: the element's own, else the class's;
// null where there is none. An element that has two is an error.
const char* orientation_of(const Attributes& attributes) {
  const char* own = nullptr;
  for (const char* name : kOrientations) {
    if (!attributes.has_itself(name)) continue;
    if (own) attributes.fail(name, fmt::format("the orientation is given by {} already", own));
    own = name;
  }
  if (own) return own;
  for (const char* name : kOrientations) {
    if (attributes.has(name)) return name;
  }
  return nullptr;
}

// Reads the orientation, by whichever attribute it is given; without one it is the identity.
Mat3 read_orientation(const Attributes& attributes, const Compiler& compiler, WarningList& warnings) {
  const char* name = orientation_of(attributes);
  if (!name) return Mat3::Identity();
  const std::string_view way = name;
  if (way == "quat") return rotation_from_wxyz(*attributes.numbers("quat", 4, 4), attributes.place(), warnings);
  if (way == "euler") return from_euler(*attributes.vector3("euler"), compiler);
  if (way == "zaxis") return shortest_turn_from_z(unit(*attributes.vector3("zaxis"), attributes, "zaxis"));
  if (way == "xyaxes") return from_axes(*attributes.numbers("xyaxes", 6, 6), attributes);
  const VecX turn = *attributes.numbers("axisangle", 4, 4);
  return rotation_about(unit(turn.head<3>(), attributes, "axisangle"), compiler.angle(turn[3]));
}

}  // namespace

Mat3 shortest_turn_from_z(const Vec3& direction) {
  const Vec3 axis = Vec3::UnitZ().cross(direction);
  const double sine = axis.norm();
  const double angle = std::atan2(sine, direction.z());
  // Where the two directions are opposite any axis across would do; MuJoCo takes x.
  return rotation_about(sine < 1e-10 ? Vec3(Vec3::UnitX()) : Vec3(axis / sine), angle);
}

Pose read_pose(const Attributes& attributes, const Compiler& compiler, WarningList& warnings) {
  return {read_orientation(attributes, compiler, warnings), attributes.vector3("pos").value_or(Vec3::Zero())};
}

std::optional<Segment> read_from_to(const Attributes& attributes) {
  const std::optional<VecX> ends = attributes.numbers("fromto", 6, 6);
  if (!ends) return std::nullopt;
  const Vec3 from = ends->head<3>(), to = ends->tail<3>();
  const double length = robust_norm(to - from);
  if (!(length > 1e-14) || !std::isfinite(length)) attributes.fail("fromto", "the two points must be apart");
  // The z axis looks from the second point to the first, as in MuJoCo.
  return Segment{{shortest_turn_from_z((from - to) / length), 0.5 * from + 0.5 * to}, 0.5 * length};
}

}  // namespace lithe::internal::mjcf
