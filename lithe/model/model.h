#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lithe/core/eigen.h"
#include "lithe/core/index.h"
#include "lithe/model/body.h"
#include "lithe/model/constraint.h"
#include "lithe/model/dof_tree.h"
#include "lithe/model/joint.h"
#include "lithe/model/motor.h"
#include "lithe/model/shape.h"

namespace lithe {

// Everything that does not change during a step: bodies, joints, shapes, frames, motors, constraints, gravity.
//
// A Model is a plain value: copy it, perturb the copy, share it const between threads. Its *structure* comes
// from a ModelBuilder and is fixed; its *numbers* can be read and written, by index here and by name in
// lithe/model/parameters.h. Whatever is written is checked like a new model, and refused with the reason.
//
// Body 0 is the world. Bodies, joints and DoFs are numbered depth first, children in the order in which they
// were added; for a model added depth first that is the order of adding.
class Model {
 public:
  int nq() const { return tree_.nq; }  // size of q: one per 1-DoF joint, four per ball
  int nv() const { return tree_.nv; }  // size of v and of every derivative's columns

  const std::vector<Body>& bodies() const { return bodies_; }
  const std::vector<Joint>& joints() const { return joints_; }
  const std::vector<Shape>& shapes() const { return shapes_; }
  const std::vector<Frame>& frames() const { return frames_; }
  const std::vector<Motor>& motors() const { return motors_; }
  const std::vector<LoopClosure>& loops() const { return loops_; }
  const std::vector<Mimic>& mimics() const { return mimics_; }
  const Vec3& gravity() const { return gravity_; }

  // Pairs of bodies whose shapes do (true) or do not (false) collide, against the default rule.
  struct PairException {
    BodyIndex a, b;
    bool collide;
  };
  const std::vector<PairException>& pair_exceptions() const { return pair_exceptions_; }

  // By name; an unknown name is an Error that lists the closest ones.
  BodyIndex body(std::string_view name) const;
  JointIndex joint(std::string_view name) const;
  ShapeIndex shape(std::string_view name) const;
  FrameIndex frame(std::string_view name) const;
  MotorIndex motor(std::string_view name) const;
  LoopIndex loop(std::string_view name) const;
  MimicIndex mimic(std::string_view name) const;

  static constexpr BodyIndex world() { return BodyIndex(0); }

  double total_mass() const;  // of the bodies that can move

  void set_gravity(const Vec3& gravity);
  void set_inertia(BodyIndex body, const SpatialInertia& inertia);
  void set_body_placement(BodyIndex body, const Pose& placement);
  // Any property of a joint but its name, type and indices.
  void set_joint(JointIndex joint, const Joint& properties);
  // Any property of a shape but its name and body.
  void set_shape(ShapeIndex shape, const Shape& properties);
  void set_frame_placement(FrameIndex frame, const Pose& placement);
  // Any property but names, joints and bodies; a loop's kind stays too.
  void set_motor(MotorIndex motor, const Motor& properties);
  void set_loop(LoopIndex loop, const LoopClosure& properties);
  void set_mimic(MimicIndex mimic, const Mimic& properties);

  // Changes whenever a ColliderSet of this model would: with a shape's geometry, place, margin or filter and with any
  // placement of joints and bodies, but not with a material. Copies of a model share it until one of them changes.
  std::uint64_t collision_revision() const { return collision_revision_; }

  // The degrees of freedom as the dynamics kernels see them.
  const DofTree& tree() const { return tree_; }

 private:
  friend class ModelBuilder;
  Model() = default;

  void renew_collision_revision();

  std::vector<Body> bodies_;
  std::vector<Joint> joints_;
  std::vector<Shape> shapes_;
  std::vector<Frame> frames_;
  std::vector<Motor> motors_;
  std::vector<LoopClosure> loops_;
  std::vector<Mimic> mimics_;
  std::vector<PairException> pair_exceptions_;
  std::uint64_t collision_revision_ = 0;
  Vec3 gravity_ = Vec3(0, 0, -9.81);
  DofTree tree_;
};

}  // namespace lithe
