#include "lithe/scenes/ground.h"

#include <Eigen/Geometry>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <vector>

#include "lithe/core/check.h"
#include "lithe/core/internal/overloaded.h"
#include "lithe/dynamics/body_motion.h"
#include "lithe/dynamics/kinematics.h"

namespace lithe {

using namespace internal;

namespace {

constexpr double kInfinitelyHigh = std::numeric_limits<double>::infinity();
// The sine of the slope below which an axis counts as level, and a plane as a wall.
constexpr double kLevel = 1e-6;

// The height of the lowest point of a shape whose frame is X_WG. A plane has none.
double lowest_height(const Geometry& geometry, const Pose& X_WG, const Vec3& up) {
  const Vec3 up_G = X_WG.R.transpose() * up;
  const double centre = up.dot(X_WG.p), along = std::abs(up_G.z());
  const double across = std::sqrt(std::max(0.0, 1 - up_G.z() * up_G.z()));
  const auto of_points = [&](const std::vector<Vec3>& points) {
    double lowest = kInfinitelyHigh;
    for (const Vec3& point : points) lowest = std::min(lowest, centre + up_G.dot(point));
    return lowest;
  };
  return std::visit(Overloaded{
                        [&](const Sphere& g) { return centre - g.radius; },
                        [&](const Capsule& g) { return centre - g.half_length * along - g.radius; },
                        [&](const Box& g) { return centre - g.half_size.dot(up_G.cwiseAbs()); },
                        [&](const Cylinder& g) { return centre - g.half_length * along - g.radius * across; },
                        [&](const Plane&) { return kInfinitelyHigh; },
                        [&](const ConvexMesh& g) { return of_points(g.points); },
                    },
                    geometry);
}

// What the shapes of a model say about where a ground could be.
struct Underside {
  double moving = kInfinitelyHigh;  // the lowest point of what moves, and of what is fixed in the world
  double fixed = kInfinitelyHigh;
  bool has_ground = false;  // a plane that is fixed in the world and faces upwards
};

Underside underside_of(const Model& model, const Kinematics& kin, const Vec3& up) {
  std::vector<Pose> poses;
  body_poses(model, kin, poses);
  Underside found;
  for (const Shape& shape : model.shapes()) {
    if (shape.filter.groups == 0 || shape.filter.mask == 0) continue;  // it never collides
    const Pose X_WG = poses[shape.body] * shape.placement;
    const bool fixed = model.tree().bodies[shape.body].dof < 0;
    const double height = lowest_height(shape.geometry, X_WG, up);
    double& lowest = fixed ? found.fixed : found.moving;
    lowest = std::min(lowest, height);
    if (fixed && std::holds_alternative<Plane>(shape.geometry) && X_WG.R.col(2).dot(up) > kLevel)
      found.has_ground = true;
  }
  return found;
}

std::optional<JointIndex> first_that_falls(const Model& model, const Kinematics& kin, const Vec3& up) {
  if (model.gravity().isZero(0)) return std::nullopt;
  for (std::size_t j = 0; j < model.joints().size(); ++j) {
    const Joint& joint = model.joints()[j];
    if (joint.type != JointType::prismatic || joint.stiffness > 0) continue;
    const double rise = dof_axis(model, kin, joint.v_index).tail<3>().dot(up);
    if (std::abs(rise) < kLevel) continue;
    if (!std::isfinite(rise > 0 ? joint.lower : joint.upper)) return JointIndex(static_cast<int>(j));
  }
  return std::nullopt;
}

std::string free_shape_name(const Model& model) {
  std::string name = "ground";
  for (int i = 2; std::ranges::find(model.shapes(), name, &Shape::name) != model.shapes().end(); ++i) {
    name = fmt::format("ground_{}", i);
  }
  return name;
}

Shape ground_at(const Model& model, double height, const Vec3& up) {
  const Mat3 turned = Eigen::Quaterniond::FromTwoVectors(Vec3::UnitZ(), up).toRotationMatrix();
  return {.name = free_shape_name(model),
          .geometry = Plane{},
          .placement = {turned, height * up},
          .filter = {.groups = ~std::uint32_t{0}}};
}

}  // namespace

Ground ground_from(std::string_view text) {
  if (text == "auto") return {};
  if (text == "yes") return {.when = Ground::When::yes};
  if (text == "no") return {.when = Ground::When::no};
  double height = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), height);
  LITHE_CHECK(error == std::errc() && end == text.data() + text.size() && std::isfinite(height),
              "ground: '{}' is none of auto, yes, no or a height in metres", text);
  return {.when = Ground::When::at_height, .height = height};
}

Vec3 up_direction(const Model& model) {
  const double strength = model.gravity().norm();
  return strength > 0 ? Vec3(-model.gravity() / strength) : Vec3(Vec3::UnitZ());
}

std::optional<JointIndex> falling_joint(const Model& model, const ConstVecRef& q) {
  Kinematics kin;
  kinematics(model, q, kin);
  return first_that_falls(model, kin, up_direction(model));
}

std::optional<Shape> ground_under(const Model& model, const ConstVecRef& q, const Ground& ground) {
  const Vec3 up = up_direction(model);
  if (ground.when == Ground::When::no) return std::nullopt;
  if (ground.when == Ground::When::at_height) {
    LITHE_CHECK(std::isfinite(ground.height), "ground: its height is {}; it must be finite", ground.height);
    return ground_at(model, ground.height, up);
  }
  Kinematics kin;
  kinematics(model, q, kin);
  const Underside underside = underside_of(model, kin, up);
  const double lowest = std::min(underside.moving, underside.fixed);
  if (underside.has_ground || lowest == kInfinitelyHigh) return std::nullopt;
  if (ground.when == Ground::When::automatic) {
    if (underside.fixed < underside.moving || !first_that_falls(model, kin, up)) return std::nullopt;
  }
  return ground_at(model, lowest, up);
}

}  // namespace lithe
