#pragma once

#include <limits>
#include <string>
#include <vector>

#include "lithe/core/eigen.h"
#include "lithe/core/index.h"
#include "lithe/spatial/pose.h"
#include "lithe/spatial/rotation.h"

namespace lithe {

// The four primitive joints. Every other joint is a list of these on one body (no massless bodies between).
enum class JointType {
  revolute,   // turns about `axis`; q in rad
  prismatic,  // slides along `axis`; q in m
  screw,      // turns about `axis` and slides `pitch` metres per radian; q in rad
  ball,       // any rotation; q is a unit quaternion (x, y, z, w), v the angular velocity in the child's axes
};

const char* to_string(JointType type);

// One primitive joint: what it is, where it sits and how it resists motion. For a ball each scalar holds for
// all three DoFs, and `lower`, `upper` do not apply.
struct Joint {
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();

  std::string name;
  JointType type = JointType::revolute;
  Vec3 axis = Vec3::UnitZ();  // in the joint's own frame; normalised by the builder
  double pitch = 0;           // screw only, m/rad
  // The joint frame at q = 0, in the frame before it: the parent body's for a body's first joint, the previous
  // joint's (after its motion) for the others. Its translation is what people call a link length.
  Pose placement = {};

  double lower = -kInfinity;  // position limits
  double upper = kInfinity;
  double stiffness = 0;                           // spring torque −k·(q − rest), N·m/rad or N/m
  double rest = 0;                                // the spring's rest position
  Vec4 rest_orientation = quaternion_identity();  // the same for a ball
  double damping = 0;                             // torque −d·v
  double armature = 0;                            // reflected rotor inertia, added to the mass matrix's diagonal
  double dry_friction = 0;                        // largest Coulomb torque or force
  double effort_limit = kInfinity;                // largest actuation torque or force
  double velocity_limit = kInfinity;

  // Filled in by ModelBuilder::build().
  BodyIndex body = {};  // that it carries (the last of a body's joints carries the body itself)
  int q_index = -1;     // first entry in q
  int v_index = -1;     // first entry in v

  int nq() const { return type == JointType::ball ? 4 : 1; }
  int nv() const { return type == JointType::ball ? 3 : 1; }
};

// A body's joints, from its parent outwards. One joint is a list too.
class JointList : public std::vector<Joint> {
 public:
  using std::vector<Joint>::vector;
  JointList(Joint joint) { push_back(std::move(joint)); }  // NOLINT: implicit on purpose
};

// Primitive joints. The placement is that of the joint in its parent; further members can be set on the result.
Joint revolute(std::string name, const Vec3& axis, const Pose& placement = {});
Joint prismatic(std::string name, const Vec3& axis, const Pose& placement = {});
Joint screw(std::string name, const Vec3& axis, double pitch, const Pose& placement = {});
Joint ball(std::string name, const Pose& placement = {});

// Compositions; their parts are named after the whole: free_joint("root") has joints root.x, root.y, root.z and
// root.ball. A weld is an empty list (and the body's own placement says where).
JointList weld();
JointList free_joint(const std::string& name, const Pose& placement = {});
JointList planar(const std::string& name, const Pose& placement = {});         // x, y, then turn about z
JointList translational(const std::string& name, const Pose& placement = {});  // x, y, z
JointList universal(const std::string& name, const Vec3& first, const Vec3& second, const Pose& placement = {});
JointList euler(const std::string& name, const Vec3& first, const Vec3& second, const Vec3& third,
                const Pose& placement = {});
JointList cylindrical(const std::string& name, const Vec3& axis, const Pose& placement = {});

}  // namespace lithe
