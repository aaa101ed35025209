#include "python/bindings/step/state.h"

// A model as a pickle holds it: every part with all of its numbers, in the model's own order. The way back is a
// ModelBuilder, which numbers the parts in the same order again and checks them like those of any other model.
namespace lithe::python {

namespace {

constexpr int kVersion = 1;

struct ModelParts {
  int version = kVersion;
  Vec3 gravity = Vec3::Zero();
  std::vector<Body> bodies = {};
  std::vector<Joint> joints = {};
  std::vector<Shape> shapes = {};
  std::vector<Frame> frames = {};
  std::vector<Motor> motors = {};
  std::vector<LoopClosure> loops = {};
  std::vector<Mimic> mimics = {};
  std::vector<Model::PairException> pairs = {};
};

ModelParts parts_of(const Model& model) {
  return {.gravity = model.gravity(),
          .bodies = model.bodies(),
          .joints = model.joints(),
          .shapes = model.shapes(),
          .frames = model.frames(),
          .motors = model.motors(),
          .loops = model.loops(),
          .mimics = model.mimics(),
          .pairs = model.pair_exceptions()};
}

ModelBuilder builder_of(const ModelParts& parts) {
  // Numbers of a pickle may be anything: out of range is an exception.
  const auto body_name = [&](BodyIndex b) { return parts.bodies.at(static_cast<std::size_t>(b)).name; };
  const auto joint_at = [&](JointIndex j) -> const Joint& { return parts.joints.at(static_cast<std::size_t>(j)); };
  ModelBuilder builder;
  builder.set_gravity(parts.gravity);
  for (std::size_t b = 1; b < parts.bodies.size(); ++b) {
    const Body& body = parts.bodies[b];
    JointList joints;
    for (const JointIndex j : body.joints) joints.push_back(joint_at(j));
    builder.add_body(body_name(body.parent), body, std::move(joints));
  }
  for (const Shape& shape : parts.shapes) builder.add_shape(body_name(shape.body), shape);
  for (const Frame& frame : parts.frames) builder.add_frame(body_name(frame.body), frame);
  for (const Motor& motor : parts.motors) builder.add_motor(joint_at(motor.joint).name, motor);
  for (const LoopClosure& loop : parts.loops) builder.add_loop(body_name(loop.a), body_name(loop.b), loop);
  for (const Mimic& mimic : parts.mimics) {
    builder.add_mimic(joint_at(mimic.joint).name, joint_at(mimic.source).name, mimic);
  }
  for (const auto& pair : parts.pairs) builder.set_collision(body_name(pair.a), body_name(pair.b), pair.collide);
  return builder;
}

template <class Parts>
auto members_of_parts(Parts& x) {
  return std::tie(x.version, x.gravity, x.bodies, x.joints, x.shapes, x.frames, x.motors, x.loops, x.mimics, x.pairs);
}

}  // namespace

ModelBuilder builder_of(const Model& model) { return builder_of(parts_of(model)); }

nb::object pack(const Model& model) {
  const ModelParts parts = parts_of(model);
  return std::apply([](const auto&... part) -> nb::object { return nb::make_tuple(pack(part)...); },
                    members_of_parts(parts));
}

Model unpack_model(nb::handle state) {
  const auto packed = nb::cast<nb::tuple>(state);
  ModelParts parts;
  const auto read = [&](auto&... part) {
    if (packed.size() != sizeof...(part) || nb::cast<int>(packed[0]) != kVersion) {
      throw nb::value_error("a pickle of a Model was made by another version of lithe");
    }
    std::size_t k = 0;
    (unpack(packed[k++], part), ...);
  };
  std::apply(read, members_of_parts(parts));
  return builder_of(parts).build();
}

nb::object pack(const std::vector<Vec3>& points) {
  double* data = nullptr;
  const Array array = make_array({points.size(), 3}, data);
  for (const Vec3& p : points) data = std::copy_n(p.data(), 3, data);
  return array.object;
}

void unpack(nb::handle state, std::vector<Vec3>& points) {
  const MatX rows = ArrayIn(state).matrix("points", -1, 3);
  points.clear();
  for (Eigen::Index k = 0; k < rows.rows(); ++k) points.push_back(rows.row(k).transpose());
}

// As bytes, little-endian like every machine that this runs on.
nb::object pack(const std::vector<std::array<std::int32_t, 3>>& triangles) {
  return nb::bytes(triangles.data(), triangles.size() * sizeof(triangles[0]));
}

void unpack(nb::handle state, std::vector<std::array<std::int32_t, 3>>& triangles) {
  const auto bytes = nb::cast<nb::bytes>(state);
  triangles.resize(bytes.size() / sizeof(triangles[0]));
  std::copy_n(static_cast<const char*>(bytes.data()), triangles.size() * sizeof(triangles[0]),
              reinterpret_cast<char*>(triangles.data()));
}

}  // namespace lithe::python
