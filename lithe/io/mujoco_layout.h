#pragma once

#include <string>
#include <vector>

#include "lithe/model/joint.h"

namespace lithe {

// How MuJoCo numbers the parts of a model that came from MJCF, and what its controls mean. A MujocoBridge goes by this
// (lithe/io/mujoco_bridge.h). It is empty for other formats.
struct MujocoLayout {
  // qpos lists the same joints as q, in the same order and with as many numbers; so do qvel and v.
  struct JointEntry {
    enum class Type { hinge, slide, ball, free };
    std::string name;  // as the joint is called here; a free joint "root" is root.x, root.y, root.z and root.ball
    Type type = Type::hinge;
    int qpos = 0, dof = 0;                                                   // where its numbers begin in qpos and qvel
    double ref = 0;                                                          // qpos = q + ref
    double lower_force = -Joint::kInfinity, upper_force = Joint::kInfinity;  // of all actuators together
  };

  // An actuator. Its control u is first brought into its range; then
  //   effort               tau = gear·force, with force = scale·u + offset brought into the force's range
  //   position, velocity   the motor's target = scale·u + offset
  struct Control {
    // What a control drives: nothing, a generalised force, or the target of a motor.
    enum class Kind { left_out, effort, position, velocity };
    std::string name;  // as LoadedModel::actuators has it; of what is left out, as the file has it
    Kind kind = Kind::left_out;
    int dof = -1;                                                // of an effort
    int motor = -1;                                              // of a target
    double lower = -Joint::kInfinity, upper = Joint::kInfinity;  // of u
    double scale = 1, offset = 0;
    double gear = 1;
    double lower_force = -Joint::kInfinity, upper_force = Joint::kInfinity;
  };

  // A geom, and the shapes that it became: one, several (convex pieces), or none where it does not collide.
  struct Geom {
    std::string name;
    std::vector<std::string> shapes;
  };

  bool from_mjcf = false;
  // False where something was left out that MuJoCo counts (<composite>, <attach> …), so that the numbers differ.
  bool complete = true;
  std::vector<JointEntry> joints = {};
  std::vector<Control> controls = {};
  std::vector<Geom> geoms = {};
};

}  // namespace lithe
