#include "tests/viz/shown_model.h"

#include "lithe/model/configuration.h"
#include "lithe/model/model_builder.h"

namespace lithe::test {

Model shown_model() {
  const SpatialInertia inertia = SpatialInertia::box(2, Vec3(0.1, 0.2, 0.3));
  ModelBuilder builder;
  builder.add_shape("world", {.name = "ground", .geometry = Plane{}});
  builder.add_body("world", {.name = "box", .inertia = inertia}, free_joint("root"));
  builder.add_shape("box", {.name = "box", .geometry = Box{Vec3(0.1, 0.2, 0.3)}});
  builder.add_body("world", {.name = "upper", .inertia = inertia, .placement = Pose::translation(0, 0, -0.5)},
                   revolute("hinge", Vec3::UnitY(), Pose::translation(1, 0, 2)));
  builder.add_shape("upper", {.name = "upper", .geometry = Capsule{.radius = 0.05, .half_length = 0.4}});
  builder.add_body("upper", {.name = "lower", .inertia = inertia}, ball("socket", Pose::translation(0, 0, -0.5)));
  builder.add_shape("lower", {.name = "lower",
                              .geometry = Cylinder{.radius = 0.04, .half_length = 0.3},
                              .placement = {rotation_exp(Vec3(0.3, 0.2, 0.1)), Vec3(0, 0, -0.3)}});
  builder.add_shape("lower", {.name = "bob", .geometry = Sphere{0.1}, .placement = Pose::translation(0, 0, -0.6)});
  builder.add_body("world", {.name = "rock", .placement = Pose::translation(-1, 0, 0)});
  builder.add_shape(
      "rock", {.name = "rock", .geometry = ConvexMesh{{Vec3(0, 0, 0), Vec3(1, 0, 0), Vec3(0, 1, 0), Vec3(0, 0, 1)}}});
  return builder.build();
}

std::vector<Visual> shown_visuals() {
  TriangleMesh triangle;
  triangle.vertices = {Vec3(0, 0, 0), Vec3(1, 0, 0), Vec3(0, 1, 0)};
  triangle.triangles = {{0, 1, 2}};
  return {{.name = "wing",
           .body = "upper",
           .geometry = Visual::Mesh{std::make_shared<const TriangleMesh>(triangle), Vec3(2, -1, 1)}},
          {.name = "shell", .body = "upper", .geometry = Box{Vec3(0.1, 0.1, 0.5)}, .color = Vec4(1, 0, 0, 0.5)}};
}

std::vector<RecordedFrame> shown_frames(const Model& model, int count, double h) {
  std::mt19937_64 random(7);
  std::normal_distribution<double> normal;
  std::vector<RecordedFrame> frames;
  for (int t = 0; t < count; ++t) {
    RecordedFrame frame = {.time = t * h, .q = random_configuration(model, random), .v = VecX(model.nv())};
    for (double& v : frame.v) v = normal(random);
    for (int i = 0; i < t % 3; ++i) {
      frame.contacts.push_back({.a = 1,
                                .b = static_cast<std::uint32_t>(2 * i),
                                .point = Vec3(t, i, 0.5),
                                .normal = Vec3::UnitZ(),
                                .impulse = Vec3(0.03, 0, 0.04 * (1 + i))});
    }
    frames.push_back(frame);
  }
  return frames;
}

}  // namespace lithe::test
