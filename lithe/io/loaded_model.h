#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "lithe/io/mesh.h"
#include "lithe/io/mujoco_layout.h"
#include "lithe/io/source_place.h"
#include "lithe/model/model_builder.h"

namespace lithe {

// Something to be seen, fixed to a body. It has no mass and does not collide.
struct Visual {
  // A surface that is shown as its file has it, triangle by triangle.
  struct Mesh {
    std::shared_ptr<const TriangleMesh> triangles;
    Vec3 scale = Vec3::Ones();
    std::string file = {};  // the path where it was found; may be empty
  };
  std::string name;
  std::string body;     // "world" for what does not move
  Pose placement = {};  // in the body frame
  std::variant<Sphere, Capsule, Box, Cylinder, Plane, Mesh> geometry = Sphere{};
  Vec4 color = Vec4(0.7, 0.7, 0.7, 1);  // red, green, blue, opacity
};

// How a file says that a joint is driven. An effort is a part of what Control::tau takes; a position or velocity servo
// became a motor of the model, under the same name.
struct Actuator {
  enum class Kind { effort, position, velocity };
  std::string name;
  std::string joint;
  Kind kind = Kind::effort;
  double gear = 1;  // effort: tau = gear·control + bias
  double bias = 0;
  double lower = -Joint::kInfinity, upper = Joint::kInfinity;  // of the control, or of a servo's target
};

// A state to which a file gives a name: a <key> of MJCF, a <group_state> of an SRDF.
struct Keyframe {
  std::string name;
  double time = 0;
  VecX q, v;           // nq, nv
  VecX motor_targets;  // one per motor
};

// Two bodies that do not touch because of LoadOptions::self_collision or an SRDF, and why. Pairs that the model's own rule leaves out
// anyway (parent and child) are not listed, nor those that a format forbids by itself (Model::pair_exceptions() has these, too).
struct ExceptedPair {
  enum class Reason {
    joined,  // through links without shapes or without mass, or to a base that is welded to the world
    often,   // they touch in most poses within the limits
    start,   // they overlap where the model starts, and not often elsewhere
    srdf,    // an SRDF says so
  };
  std::string a, b;
  Reason reason = Reason::joined;
  int poses = 0;     // how many were sampled for this pair; 0 where another reason was enough
  double share = 0;  // the share of these poses in which the two touch
  double depth = 0;  // m; how deep they overlap where the model starts
};
// The reason as a word: "joined", "often", "start" or "srdf".
const char* to_string(ExceptedPair::Reason reason);
// The reason as a sentence: "they touch in 92 % of poses".
std::string describe_reason(const ExceptedPair& pair);

// What became of a collision mesh: its convex hull, simplified within LoadOptions::hull_tolerance.
struct LoadedHull {
  std::string file = {};
  int points = 0;           // of the mesh
  int exact_vertices = 0;   // of its convex hull; above 10,000 an upper bound
  int kept_vertices = 0;    // of the hull that collides
  double tolerance = 0;     // how far that may lie inside the convex hull, m
  double error = 0;         // how far it does
  bool from_cache = false;  // which points to keep was known from an earlier run
};

// The value of LoadOptions::keyframe that means the pose of the file itself, whatever keyframes there are. It is
// MuJoCo's name for that pose.
inline constexpr const char* kPoseOfTheFile = "qpos0";

// What a file gives. The builder is complete as it is, and can also be added to others (ModelBuilder::add).
struct LoadedModel {
  std::string name = {};
  ModelBuilder builder = {};
  Model model = ModelBuilder().build();
  VecX q = {}, v = {};      // the state that the file starts in: nq, nv (LoadOptions::keyframe)
  VecX motor_targets = {};  // one per motor
  std::string start = {};   // which keyframe this is, and why; empty where it is the pose of the file
  double time_step = 1e-3;  // s; this value unless the file, or its format, has another
  std::vector<Visual> visuals = {};
  std::vector<Actuator> actuators = {};
  std::vector<Keyframe> keyframes = {};
  std::vector<ExceptedPair> excepted_pairs = {};
  std::vector<CollisionMesh> collision_meshes = {};  // one per file
  std::vector<LoadedHull> hulls = {};                // one per mesh and scale, mirror images not counted
  std::vector<LoadWarning> warnings = {};
  std::vector<std::string> files = {};  // all that were read
  MujocoLayout mujoco = {};             // MJCF only

  // The keyframe of that name; an unknown name is an Error that lists the names there are.
  const Keyframe& keyframe(std::string_view wanted) const;
};

}  // namespace lithe
