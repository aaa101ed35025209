#include "tests/dynamics/moving_model.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

namespace lithe::test {

namespace {

Model with_frames(const Model& model, std::mt19937_64& random) {
  ModelBuilder builder = builder_of(model);
  for (const Body& body : model.bodies())
    builder.add_frame(body.name, {.name = body.name, .placement = random_pose(random)});
  return builder.build();
}

}  // namespace

Model moved(const Model& model, const Vec3& by) {
  return ModelBuilder().set_gravity(model.gravity()).add(builder_of(model), "", "world", Pose::translation(by)).build();
}

MovingModel::MovingModel(Model the_model, RandomState the_state, ExternalWrenches the_wrenches)
    : model(std::move(the_model)), state(std::move(the_state)), wrenches(std::move(the_wrenches)) {
  kinematics(model, state.q, state.v, kin);
  rnea(model, kin, state.a, id, wrenches);
}

MovingModel::MovingModel(std::mt19937_64& random, const RandomModelOptions& options)
    : model(with_frames(random_model(random, options), random)), state(random_state(model, random)) {
  wrenches = random_wrenches(model, random);
  kinematics(model, state.q, state.v, kin);
  rnea(model, kin, state.a, id, wrenches);
}

Kinematics MovingModel::kinematics_at(const VecX& q, const VecX& v) const {
  Kinematics at;
  kinematics(model, q, v, at);
  return at;
}

BodyIndex MovingModel::random_body(std::mt19937_64& random) const {
  return BodyIndex(uniform_int(random, 1, static_cast<int>(model.bodies().size()) - 1));
}
FrameIndex MovingModel::random_frame(std::mt19937_64& random) const {
  return FrameIndex(uniform_int(random, 1, static_cast<int>(model.frames().size()) - 1));
}
JointIndex MovingModel::random_joint(std::mt19937_64& random) const {
  return JointIndex(uniform_int(random, 0, static_cast<int>(model.joints().size()) - 1));
}

void ErrorSummary::add(double error) {
  EXPECT_LE(error, 1e-6) << name_;
  errors_.push_back(error);
}

ErrorSummary::~ErrorSummary() {
  if (errors_.empty()) {
    ADD_FAILURE() << name_ << ": nothing was compared";
    return;
  }
  std::sort(errors_.begin(), errors_.end());
  const double median = errors_[errors_.size() / 2];
  EXPECT_LE(median, 1e-9) << name_;
  const std::string summary = fmt::format("max {:.1e}, median {:.1e}", errors_.back(), median);
  testing::Test::RecordProperty(name_, summary);
  fmt::print("[ ACCURACY ] {}: {} of {} cases\n", name_, summary, errors_.size());
}

}  // namespace lithe::test
