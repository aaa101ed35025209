#include "lithe/scenes/scene.h"

#include <utility>

#include "lithe/core/check.h"
#include "lithe/model/configuration.h"

namespace lithe {

Scene at_rest(const ModelBuilder& builder) {
  Model model = builder.build();
  VecX q = neutral_configuration(model);
  VecX v = VecX::Zero(model.nv());
  VecX motor_targets = VecX::Zero(static_cast<Eigen::Index>(model.motors().size()));
  return {.model = std::move(model), .q = std::move(q), .v = std::move(v), .motor_targets = std::move(motor_targets)};
}

void set_initial(Scene& scene, std::string_view name, double q, double v) {
  const Joint& joint = scene.model.joints()[scene.model.joint(name)];
  LITHE_CHECK(joint.nv() == 1, "joint '{}' is a {} joint: its state is more than one number", name,
              to_string(joint.type));
  scene.q[joint.q_index] = q;
  scene.v[joint.v_index] = v;
}

void set_target(Scene& scene, std::string_view motor, double target) {
  scene.motor_targets[scene.model.motor(motor)] = target;
}

}  // namespace lithe
