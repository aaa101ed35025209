#include <algorithm>
#include <cmath>

#include "lithe/io/urdf/robot.h"
#include "lithe/spatial/rotation.h"

namespace lithe::internal {

namespace {

// The joint that the <mimic> of this one names; null where there is no <mimic> or no joint of that name.
const UrdfJoint* named_source(const UrdfJoint& joint, const UrdfRobot& parts) {
  const XmlElement mimic = joint.element.child("mimic");
  if (!mimic) return nullptr;
  const auto found = parts.joint_index.find(mimic.required_attribute("joint"));
  return found == parts.joint_index.end() ? nullptr : &parts.joints[found->second];
}

// Whether the joint follows one that does not move, directly or through others that follow.
bool follows_a_standing_one(const UrdfJoint& joint, const UrdfRobot& parts) {
  const UrdfJoint* at = named_source(joint, parts);
  for (int steps = 0; at && steps < kLongestMimicChain; ++steps) {
    if (at->parts.empty()) return true;
    if (!at->has_one_dof()) return false;
    at = named_source(*at, parts);
  }
  return false;
}

// The position of the joint when every joint that follows nothing is at 0. A locked one is where it was locked.
double start_of(const UrdfJoint& joint, const UrdfRobot& parts, int steps = 0) {
  if (joint.locked) return joint.locked_at;
  if (!joint.has_one_dof()) return 0;
  const UrdfJoint* source = named_source(joint, parts);
  if (!source || steps == kLongestMimicChain) return 0;
  const XmlElement mimic = joint.element.child("mimic");
  return urdf_number(mimic, "multiplier", 1) * start_of(*source, parts, steps + 1) + urdf_number(mimic, "offset", 0);
}

// Makes the joint a fixed one that stands at `position`, which must lie within its limits. Its origin takes in the
// motion, so that the child is where the joint would have put it.
void lock_at(UrdfJoint& joint, double position) {
  if (joint.has_one_dof()) {
    const Joint& part = joint.parts.front();
    Pose motion;
    if (part.type == JointType::prismatic) {
      motion.p = position * part.axis;
    } else {
      motion.R = rotation_about(part.axis, position);
    }
    joint.origin = joint.origin * motion;
  }
  joint.parts = {};
  joint.locked = true;
  joint.locked_at = position;
}

// The position next to this one that the joint's limits allow; 0 for a joint with several degrees of freedom.
double within_limits(const UrdfJoint& joint, double position) {
  if (!joint.has_one_dof()) return 0;
  if (!(std::abs(position) <= kLargestUrdfNumber)) position = 0;  // by multipliers of multipliers
  return std::clamp(position, joint.parts.front().lower, joint.parts.front().upper);
}

// For each link, whether it or anything that hangs on it has an inertia. Links are visited from the leaves inwards.
std::vector<char> carries_inertia(const UrdfRobot& parts, const std::vector<int>& order) {
  std::vector<char> heavy(parts.links.size(), 0);
  for (auto l = order.rbegin(); l != order.rend(); ++l) {
    const UrdfLink& link = parts.links[*l];
    if (has_inertia(link)) heavy[*l] = 1;
    if (heavy[*l] && link.parent_joint >= 0) heavy[parts.joints[link.parent_joint].parent] = 1;
  }
  return heavy;
}

}  // namespace

bool has_inertia(const UrdfLink& link) { return link.body.inertia.mass > 0 || !link.body.inertia.rotational.isZero(0); }

const UrdfJoint* mimic_source(const UrdfJoint& joint, const UrdfRobot& parts) {
  // The whole chain is followed, only to find out that it ends.
  const UrdfJoint* first = named_source(joint, parts);
  const UrdfJoint* at = first;
  for (int steps = 0; at && at->has_one_dof(); ++steps) {
    if (at == &joint) joint.element.fail(fmt::format("joint '{}' would follow itself by its <mimic>", joint.name));
    if (steps == kLongestMimicChain) {
      joint.element.fail(
          fmt::format("joint '{}' follows others through more than {} <mimic>, or in a circle; let it "
                      "follow the first joint itself",
                      joint.name, kLongestMimicChain));
    }
    at = named_source(*at, parts);
  }
  return first && first->has_one_dof() ? first : nullptr;
}

void lock_joints(UrdfRobot& parts, int root, UrdfReading& reading) {
  const std::vector<char> heavy = carries_inertia(parts, depth_first(parts, root));
  // A joint that moves no mass would be accelerated without bound by any force.
  for (UrdfJoint& joint : parts.joints) {
    if (joint.parts.empty() || heavy[joint.child]) continue;
    const double position = within_limits(joint, start_of(joint, parts));
    lock_at(joint, position);
    reading.warn(
        joint.element, "massless",
        fmt::format("joint '{}' moves no mass and is locked at {:g}: link '{}' and all that hangs on it have no "
                    "<inertial> (or one of zero); give one of them a mass to let it move",
                    joint.name, position, parts.links[joint.child].name));
  }
  // Joints that follow a joint that stands still cannot move either. This comes second, since the first loop makes more
  // of them.
  for (UrdfJoint& joint : parts.joints) {
    if (!joint.has_one_dof() || !follows_a_standing_one(joint, parts)) continue;
    const double position = within_limits(joint, start_of(joint, parts));
    lock_at(joint, position);
    reading.warn(joint.element, "locked_mimic",
                 fmt::format("joint '{}' follows '{}', which does not move: it is locked at {:g}", joint.name,
                             named_source(joint, parts)->name, position));
  }
}

}  // namespace lithe::internal
