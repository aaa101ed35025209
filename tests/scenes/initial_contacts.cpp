#include "tests/scenes/initial_contacts.h"

#include "lithe/collision/detect_contacts.h"
#include "lithe/dynamics/body_motion.h"
#include "lithe/dynamics/kinematics.h"

namespace lithe::test {

std::vector<Pose> initial_poses(const Scene& scene) {
  Kinematics kin;
  kinematics(scene.model, scene.q, scene.v, kin);
  std::vector<Pose> X_WB;
  body_poses(scene.model, kin, X_WB);
  return X_WB;
}

std::vector<Contact> initial_contacts(const Scene& scene) {
  DetectionWorkspace workspace;
  ContactSet set;
  detect_contacts(ColliderSet(scene.model), initial_poses(scene), workspace, set);
  return set.contacts;
}

}  // namespace lithe::test
