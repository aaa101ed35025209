#pragma once

#include <functional>
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
  // Lets somebody alter the shapes added so far; `change` returns whether it did.
  ModelBuilder& change_shapes(const std::function<bool(Shape&)>& change);
  ModelBuilder& add_frame(std::string body, Frame frame);
  ModelBuilder& add_motor(std::string joint, Motor motor);
  ModelBuilder& add_loop(std::string body_a, std::string body_b, LoopClosure loop);
  ModelBuilder& add_mimic(std::string joint, std::string source, Mimic mimic);

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
  struct PendingMotor {
    std::string joint;
    Motor motor;
  };
  struct PendingLoop {
    std::string a, b;
    LoopClosure loop;
  };
  struct PendingMimic {
    std::string joint, source;
    Mimic mimic;
  };
  struct PendingPair {
    std::string a, b;
    bool collide;
  };

  // The stages of build().
  std::vector<int> depth_first_order() const;
  void number_bodies_and_joints(Model& model) const;
  void attach_to_bodies(Model& model) const;
  void attach_to_joints(Model& model) const;

  std::vector<PendingBody> bodies_;
  std::vector<PendingShape> shapes_;
  std::vector<PendingFrame> frames_;
  std::vector<PendingMotor> motors_;
  std::vector<PendingLoop> loops_;
  std::vector<PendingMimic> mimics_;
  std::vector<PendingPair> pairs_;
  Vec3 gravity_ = Vec3(0, 0, -9.81);
};

}  // namespace lithe
