#pragma once

#include <string>
#include <vector>

#include "lithe/model/model.h"

namespace lithe {

// Describes a model by names, in any order, and builds it.
//
//   Model pendulum = ModelBuilder()
//       .add_body("world", {.name = "rod", .inertia = SpatialInertia::point(1.0, {0, 0, -1})},
//                 revolute("hinge", Vec3::UnitY()))
//       .build();
//
// Each part is checked when it is added, the whole by build(): unknown parents, cycles, duplicate names and
// joints that move no mass are refused with their names. Several robots and free bodies share one model.
class ModelBuilder {
 public:
  ModelBuilder& set_gravity(const Vec3& gravity);

  // `parent` is a body's name or "world"; the joints lead from the parent to the body, none welds it there.
  ModelBuilder& add_body(std::string parent, Body body, JointList joints = {});
  ModelBuilder& add_shape(std::string body, Shape shape);
  ModelBuilder& add_frame(std::string body, Frame frame);

  // Overrides the default rule (shapes collide if their filters agree, unless parent and child).
  ModelBuilder& set_collision(std::string body_a, std::string body_b, bool collide);

  // Adds all of `other` (not its gravity) with `prefix` before every name, its "world" being this parent's
  // frame moved by `placement`.
  ModelBuilder& add(const ModelBuilder& other, const std::string& prefix, const std::string& parent = "world",
                    const Pose& placement = {});

  Model build() const;

 private:
  struct PendingBody {
    std::string parent;
    Body body;
    JointList joints;
  };
  struct PendingShape {
    std::string body;
    Shape shape;
  };
  struct PendingFrame {
    std::string body;
    Frame frame;
  };
  struct PendingPair {
    std::string a, b;
    bool collide;
  };

  std::vector<int> depth_first_order() const;

  std::vector<PendingBody> bodies_;
  std::vector<PendingShape> shapes_;
  std::vector<PendingFrame> frames_;
  std::vector<PendingPair> pairs_;
  Vec3 gravity_ = Vec3(0, 0, -9.81);
};

}  // namespace lithe
