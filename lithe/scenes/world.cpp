#include "lithe/scenes/world.h"

#include <Eigen/Geometry>

#include "lithe/collision/broad/shared_colliders.h"
#include "lithe/core/check.h"
#include "lithe/dynamics/body_motion.h"
#include "lithe/dynamics/energy.h"
#include "lithe/model/configuration.h"
#include "lithe/step/internal/step_tape.h"

namespace lithe {

using namespace internal;

namespace {

Kinematics kinematics_of(const Model& model, const State& state) {
  Kinematics kin;
  kinematics(model, state.q, state.v, kin);
  return kin;
}

double spring_energy(const Model& model, const VecX& q) {
  const DofTree& tree = model.tree();
  double energy = 0;
  for (const int j : tree.sprung_joints) {
    const Joint& joint = model.joints()[j];
    Vec3 stretch = Vec3::Zero();
    if (joint.type == JointType::ball) {
      const Vec4 rest = quaternion_conjugate(joint.rest_orientation);
      stretch = quaternion_log(quaternion_product(rest, q.segment<4>(joint.q_index)));
    } else {
      stretch.x() = q[joint.q_index] - joint.rest;
    }
    energy += joint.stiffness * stretch.squaredNorm() / 2;
  }
  return energy;
}

}  // namespace

World::World(Model model, const StepOptions& step_options) : options(step_options), model_(std::move(model)) {
  state_.q = neutral_configuration(model_);
  state_.v.setZero(model_.nv());
  share_colliders();
}

World::World(const Scene& scene) : World(scene.model, {.time_step = scene.time_step}) {
  set_state(scene.q, scene.v);
  motor_targets = scene.motor_targets;
}

void World::share_colliders() {
  record_.tape().colliders = shared_colliders(model_);
  record_.tape().collider_revision = model_.collision_revision();
}

void World::set_model(Model model) {
  const bool same = model.tree().structure == model_.tree().structure;
  model_ = std::move(model);
  share_colliders();
  if (same) return;
  set_state(neutral_configuration(model_), VecX::Zero(model_.nv()));
  time_ = 0;
}

void World::set_state(const ConstVecRef& q, const ConstVecRef& v) {
  check_configuration(model_, q);
  check_tangent(model_, v, "v");
  state_.q = normalized(model_, q);
  state_.v = v;
  record_.warm_start.clear();
}

void World::add_force(BodyIndex body, const Vec3& force, const Vec3& point) {
  const Vec3 origin = body_pose(model_, kinematics_of(model_, state_), body).p;
  Vec6 wrench;
  wrench << (point - origin).cross(force), force;
  add_wrench(body, wrench);
}

void World::add_wrench(BodyIndex body, const Vec6& wrench) { added_.push_back({body, wrench}); }

const StepStatus& World::step() {
  usual_.tau.resize(0);
  usual_.motor_targets = motor_targets;
  return step(usual_);
}

const StepStatus& World::step(const ConstVecRef& tau) {
  check_tangent(model_, tau, "tau");
  usual_.tau = tau;
  usual_.motor_targets = motor_targets;
  return step(usual_);
}

const StepStatus& World::step(const Control& control) {
  control_ = control;
  control_.wrenches.insert(control_.wrenches.end(), added_.begin(), added_.end());
  added_.clear();
  lithe::step(model_, state_, control_, options, record_, &record_.warm_start);
  state_ = record_.next;
  if (!record_.status.diverged) time_ += options.time_step;
  return record_.status;
}

std::vector<World::ContactImpulse> World::contacts() const {
  std::vector<ContactImpulse> all;
  for (std::size_t k = 0; k < record_.contacts.contacts.size(); ++k) {
    const Contact& contact = record_.contacts.contacts[k];
    all.push_back(
        {contact.a, contact.b, contact.p, contact.n, contact.gap, contact_impulse(record_, static_cast<int>(k))});
  }
  return all;
}

double World::kinetic_energy() const { return lithe::kinetic_energy(model_, kinematics_of(model_, state_)); }

double World::potential_energy() const {
  return lithe::potential_energy(model_, kinematics_of(model_, state_)) + spring_energy(model_, state_.q);
}

}  // namespace lithe
