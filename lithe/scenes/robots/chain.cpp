#include "lithe/scenes/robots/chain.h"

#include <fmt/format.h>

#include <string>

#include "lithe/core/check.h"

namespace lithe {

namespace {

constexpr double kLinkLength = 0.1;  // from joint to joint
constexpr double kRadius = 0.02;
constexpr double kMass = 0.2;

}  // namespace

ModelBuilder chain(int links) {
  LITHE_CHECK(links >= 1, "a chain needs at least one link, not {}", links);
  // The capsule's caps end where the joints are.
  const double straight = kLinkLength - 2 * kRadius;
  const Pose middle = Pose::translation(0, 0, -kLinkLength / 2);
  const SpatialInertia inertia = SpatialInertia::capsule(kMass, kRadius, straight).in(middle);

  ModelBuilder builder;
  std::string parent = "world";
  for (int i = 0; i < links; ++i) {
    const std::string link = fmt::format("link_{}", i);
    const Vec3 axis = i % 2 == 0 ? Vec3::UnitX() : Vec3::UnitY();
    const Pose above = Pose::translation(0, 0, i == 0 ? 0 : -kLinkLength);
    builder.add_body(parent, {.name = link, .inertia = inertia}, revolute(fmt::format("joint_{}", i), axis, above));
    builder.add_shape(link, {.name = link, .geometry = Capsule{kRadius, straight / 2}, .placement = middle});
    parent = link;
  }
  builder.add_frame(parent, {.name = "tip", .placement = Pose::translation(0, 0, -kLinkLength)});
  return builder;
}

}  // namespace lithe
