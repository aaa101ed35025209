#include "lithe/model/internal/validation.h"

#include <Eigen/Eigenvalues>

#include <cmath>
#include <string>

#include "lithe/core/check.h"

namespace lithe::internal {

namespace {

// How far a given rotation may be from orthonormal (robot files round to six digits or so).
constexpr double kRotationTolerance = 1e-5;
// What is this close to clean stays as it is, so that validating twice changes no bit.
constexpr double kRounding = 4e-15;
// Slack of the triangle inequality, relative to the largest principal moment.
constexpr double kInertiaTolerance = 1e-6;

void check_name(const std::string& kind, const std::string& name) {
  LITHE_CHECK(!name.empty(), "a {} has an empty name: give each one a name", kind);
}

// A pose whose rotation is orthonormal to rounding. One that is further from a rotation than files round is an Error.
Pose validated(Pose pose, const std::string& owner) {
  LITHE_CHECK(pose.p.allFinite(), "{}: placement has a non-finite translation ({}, {}, {})", owner, pose.p.x(),
              pose.p.y(), pose.p.z());
  LITHE_CHECK(pose.R.allFinite(), "{}: placement has a non-finite rotation", owner);
  const double error = (pose.R.transpose() * pose.R - Mat3::Identity()).cwiseAbs().maxCoeff();
  LITHE_CHECK(error < kRotationTolerance && pose.R.determinant() > 0,
              "{}: placement's rotation matrix is not a rotation (RᵀR differs from 1 by {:.3g}, determinant {:.3g})",
              owner, error, pose.R.determinant());
  if (error < kRounding) return pose;
  // The nearest rotation by the Newton–Schulz iteration for the polar factor (Higham 2008, chapter 8). It is quadratic,
  // so two steps reach rounding.
  for (int i = 0; i < 2; ++i) pose.R = (pose.R * (3 * Mat3::Identity() - pose.R.transpose() * pose.R) / 2).eval();
  return pose;
}

// Each principal moment about the centre of mass is a sum of m x² over the other two axes, so none is negative, and
// none exceeds the sum of the other two.
void check_inertia(const Body& body) {
  const SpatialInertia& inertia = body.inertia;
  LITHE_CHECK(std::isfinite(inertia.mass) && inertia.mass >= 0,
              "body '{}': mass is {}; it must be finite and not negative", body.name, inertia.mass);
  LITHE_CHECK(inertia.first_moment.allFinite(), "body '{}': centre of mass is not finite", body.name);
  LITHE_CHECK(inertia.rotational.allFinite(), "body '{}': rotational inertia is not finite", body.name);
  LITHE_CHECK(inertia.rotational.isApprox(inertia.rotational.transpose(), 1e-9) || inertia.rotational.isZero(0),
              "body '{}': rotational inertia is not symmetric", body.name);
  LITHE_CHECK(inertia.mass > 0 || inertia.first_moment.isZero(0),
              "body '{}': mass is 0 but mass times centre is not; a massless body has no centre of mass", body.name);
  if (body.allow_unphysical_inertia) return;
  const Vec3 moments =
      Eigen::SelfAdjointEigenSolver<Mat3>(inertia.about_centre(), Eigen::EigenvaluesOnly).eigenvalues();
  // The moments about the centre come as a difference of numbers as large as the moments about the origin.
  const double slack = kInertiaTolerance * moments[2] + 1e-14 * inertia.rotational.cwiseAbs().maxCoeff();
  LITHE_CHECK(moments[0] >= -slack && moments[0] + moments[1] >= moments[2] - slack,
              "body '{}': no real body has principal moments of inertia ({:.6g}, {:.6g}, {:.6g}) about its centre of "
              "mass; none may be negative or exceed the sum of the other two (set allow_unphysical_inertia to accept)",
              body.name, moments[0], moments[1], moments[2]);
}

// For resistances and limits of a joint; an infinite limit means that there is none.
void check_not_negative(const Joint& joint, const char* what, double value, bool may_be_infinite) {
  LITHE_CHECK(value >= 0 && (may_be_infinite || std::isfinite(value)),
              "joint '{}': {} is {}; it must be {}not negative", joint.name, what, value,
              may_be_infinite ? "" : "finite and ");
}

// For gains of a motor; with an infinite one it reaches its target within a step (motor.h).
void check_gain(const Motor& motor, const char* what, double value, bool may_be_infinite) {
  LITHE_CHECK(value >= 0 && (may_be_infinite || std::isfinite(value)),
              "motor '{}': {} is {}; it must be {}not negative", motor.name, what, value,
              may_be_infinite ? "" : "finite and ");
}

// Motors and mimics work on a single number, so balls are refused.
void check_one_dof(const Joint& joint, const std::string& owner) {
  LITHE_CHECK(joint.nv() == 1, "{}: joint '{}' is a {} joint; only a joint with one degree of freedom will do", owner,
              joint.name, to_string(joint.type));
}

void check_positive(const Shape& shape, const char* what, double value) {
  LITHE_CHECK(std::isfinite(value) && value > 0, "shape '{}': {} is {}; it must be finite and positive", shape.name,
              what, value);
}

// Zero thickness is allowed: a sheet or a disc is a fine thing to collide with.
void check_not_negative(const Shape& shape, const char* what, double value) {
  LITHE_CHECK(std::isfinite(value) && value >= 0, "shape '{}': {} is {}; it must be finite and not negative",
              shape.name, what, value);
}

// Refuses sizes that make no shape, one rule per kind of geometry.
struct GeometryCheck {
  const Shape& shape;
  void operator()(const Sphere& g) const { check_positive(shape, "radius", g.radius); }
  void operator()(const Capsule& g) const {
    check_positive(shape, "radius", g.radius);
    check_not_negative(shape, "half_length", g.half_length);
  }
  void operator()(const Box& g) const {
    for (int k = 0; k < 3; ++k) check_not_negative(shape, "half_size", g.half_size[k]);
  }
  void operator()(const Cylinder& g) const {
    check_positive(shape, "radius", g.radius);
    check_not_negative(shape, "half_length", g.half_length);
  }
  void operator()(const Plane&) const {}
  void operator()(const ConvexMesh& g) const {
    LITHE_CHECK(g.points.size() >= 4, "shape '{}': a convex mesh needs at least 4 points, this has {}", shape.name,
                g.points.size());
    for (std::size_t i = 0; i < g.points.size(); ++i) {
      LITHE_CHECK(g.points[i].allFinite(), "shape '{}': point {} of its convex mesh is not finite", shape.name, i);
    }
  }
};

}  // namespace

Body validated(Body body) {
  check_name("body", body.name);
  check_inertia(body);
  body.inertia.rotational = (0.5 * (body.inertia.rotational + body.inertia.rotational.transpose())).eval();
  body.placement = validated(body.placement, "body '" + body.name + "'");
  return body;
}

Joint validated(Joint joint) {
  check_name("joint", joint.name);
  joint.placement = validated(joint.placement, "joint '" + joint.name + "'");
  if (joint.type != JointType::ball) {
    const double norm = joint.axis.norm();
    LITHE_CHECK(std::isfinite(norm) && norm > 0, "joint '{}': axis is ({}, {}, {}); it must be finite and not zero",
                joint.name, joint.axis.x(), joint.axis.y(), joint.axis.z());
    if (std::abs(norm - 1) > kRounding) joint.axis /= norm;
  }
  LITHE_CHECK(std::isfinite(joint.pitch), "joint '{}': pitch is {}; it must be finite", joint.name, joint.pitch);
  LITHE_CHECK(!std::isnan(joint.lower) && !std::isnan(joint.upper),
              "joint '{}': limits are [{}, {}]; they must be numbers", joint.name, joint.lower, joint.upper);
  LITHE_CHECK(joint.lower <= joint.upper, "joint '{}': limits are inverted: lower {} is above upper {}", joint.name,
              joint.lower, joint.upper);
  LITHE_CHECK(joint.lower < Joint::kInfinity && joint.upper > -Joint::kInfinity,
              "joint '{}': limits [{}, {}] leave no position", joint.name, joint.lower, joint.upper);
  LITHE_CHECK(std::isfinite(joint.rest), "joint '{}': rest position is {}; it must be finite", joint.name, joint.rest);
  const double rest_norm = joint.rest_orientation.norm();
  LITHE_CHECK(std::isfinite(rest_norm) && rest_norm > 0,
              "joint '{}': rest orientation is a zero or non-finite quaternion", joint.name);
  if (std::abs(rest_norm - 1) > kRounding) joint.rest_orientation /= rest_norm;
  check_not_negative(joint, "stiffness", joint.stiffness, false);
  check_not_negative(joint, "damping", joint.damping, false);
  check_not_negative(joint, "armature", joint.armature, false);
  check_not_negative(joint, "dry_friction", joint.dry_friction, false);
  check_not_negative(joint, "effort_limit", joint.effort_limit, true);
  check_not_negative(joint, "velocity_limit", joint.velocity_limit, true);
  return joint;
}

Shape validated(Shape shape) {
  check_name("shape", shape.name);
  shape.placement = validated(shape.placement, "shape '" + shape.name + "'");
  std::visit(GeometryCheck{shape}, shape.geometry);
  check_not_negative(shape, "friction", shape.material.friction);
  LITHE_CHECK(shape.material.restitution >= 0 && shape.material.restitution <= 1,
              "shape '{}': restitution is {}; it must lie between 0 and 1", shape.name, shape.material.restitution);
  check_not_negative(shape, "margin", shape.margin);
  return shape;
}

Frame validated(Frame frame) {
  check_name("frame", frame.name);
  frame.placement = validated(frame.placement, "frame '" + frame.name + "'");
  return frame;
}

Motor validated(Motor motor) {
  check_name("motor", motor.name);
  const bool position = motor.target == Motor::Target::position;
  check_gain(motor, "stiffness", motor.stiffness, position);
  check_gain(motor, "damping", motor.damping, !position);
  check_gain(motor, "max_effort", motor.max_effort, true);
  if (position) {
    LITHE_CHECK(motor.stiffness > 0 || motor.damping > 0,
                "motor '{}': a position servo needs a stiffness or a damping above 0", motor.name);
  } else {
    LITHE_CHECK(motor.stiffness == 0, "motor '{}': stiffness is {}, but a velocity motor has none", motor.name,
                motor.stiffness);
    LITHE_CHECK(motor.damping > 0, "motor '{}': damping is 0; a velocity motor needs one above 0", motor.name);
  }
  return motor;
}

LoopClosure validated(LoopClosure loop) {
  check_name("loop", loop.name);
  loop.placement_a = validated(loop.placement_a, "loop '" + loop.name + "' on its first body");
  loop.placement_b = validated(loop.placement_b, "loop '" + loop.name + "' on its second body");
  return loop;
}

Mimic validated(Mimic mimic) {
  check_name("mimic", mimic.name);
  LITHE_CHECK(std::isfinite(mimic.multiplier), "mimic '{}': multiplier is {}; it must be finite", mimic.name,
              mimic.multiplier);
  LITHE_CHECK(std::isfinite(mimic.offset), "mimic '{}': offset is {}; it must be finite", mimic.name, mimic.offset);
  return mimic;
}

void check_joints_move_mass(const std::vector<Body>& bodies, const std::vector<Joint>& joints) {
  std::vector<char> heavy(bodies.size(), 0);
  for (std::size_t b = bodies.size(); b-- > 1;) {
    const SpatialInertia& inertia = bodies[b].inertia;
    if (inertia.mass > 0 || !inertia.rotational.isZero(0)) heavy[b] = 1;
    if (heavy[b]) heavy[bodies[b].parent] = 1;
    for (const JointIndex j : bodies[b].joints) {
      LITHE_CHECK(heavy[b] || joints[j].armature > 0,
                  "joint '{}' moves no mass: body '{}' and everything below it are massless; give one of them an "
                  "inertia, or the joint an armature",
                  joints[j].name, bodies[b].name);
    }
  }
}

void check_motor(const Motor& motor, const std::vector<Joint>& joints) {
  check_one_dof(joints[motor.joint], "motor '" + motor.name + "'");
}

void check_loop(const LoopClosure& loop, const std::vector<Body>& bodies, const DofTree& tree) {
  LITHE_CHECK(loop.a != loop.b, "loop '{}': both ends are on body '{}'", loop.name, bodies[loop.a].name);
  LITHE_CHECK(tree.bodies[loop.a].dof != tree.bodies[loop.b].dof,
              "loop '{}': no joint lies between bodies '{}' and '{}', so there is nothing to close", loop.name,
              bodies[loop.a].name, bodies[loop.b].name);
}

void check_mimics(const std::vector<Mimic>& mimics, const std::vector<Joint>& joints) {
  std::vector<const Mimic*> mimic_of(joints.size(), nullptr);
  for (const Mimic& mimic : mimics) {
    const std::string owner = "mimic '" + mimic.name + "'";
    check_one_dof(joints[mimic.joint], owner);
    check_one_dof(joints[mimic.source], owner);
    LITHE_CHECK(!mimic_of[mimic.joint], "mimics '{}' and '{}' both move joint '{}': it can follow only one",
                mimic_of[mimic.joint]->name, mimic.name, joints[mimic.joint].name);
    mimic_of[mimic.joint] = &mimic;
  }
  for (const Mimic& mimic : mimics) {
    std::string way = joints[mimic.joint].name;
    const Mimic* at = &mimic;
    for (std::size_t i = 0; at && i < mimics.size(); ++i) {
      way += "' → '" + joints[at->source].name;
      LITHE_CHECK(at->source != mimic.joint, "mimic '{}': joint '{}' would follow itself: '{}'", mimic.name,
                  joints[mimic.joint].name, way);
      at = mimic_of[at->source];
    }
  }
}

Vec3 validated_gravity(const Vec3& gravity) {
  LITHE_CHECK(gravity.allFinite(), "gravity ({}, {}, {}) is not finite", gravity.x(), gravity.y(), gravity.z());
  return gravity;
}

}  // namespace lithe::internal
