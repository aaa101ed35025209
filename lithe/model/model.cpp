#include "lithe/model/model.h"

#include "lithe/core/check.h"
#include "lithe/core/suggest.h"
#include "lithe/model/validation.h"

namespace lithe {

namespace {

template <class Item>
int find_by_name(const std::vector<Item>& items, std::string_view name, const char* kind) {
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (items[i].name == name) return static_cast<int>(i);
  }
  std::vector<std::string_view> known;
  for (const Item& item : items) known.push_back(item.name);
  LITHE_CHECK(false, "the model has no {} named '{}'{}", kind, name, did_you_mean(name, known));
}

template <class Tag, class Item>
void check_index(Index<Tag> index, const std::vector<Item>& items, const char* kind) {
  LITHE_CHECK(index.valid() && static_cast<std::size_t>(index) < items.size(),
              "{} index {} is out of range: the model has {}", kind, static_cast<int>(index), items.size());
}

// Puts the new item in place, unless a joint would then move no mass.
template <class Item>
void set_checked(Item& item, Item changed, const std::vector<Body>& bodies, const std::vector<Joint>& joints) {
  std::swap(item, changed);
  try {
    check_joints_move_mass(bodies, joints);
  } catch (...) {
    std::swap(item, changed);
    throw;
  }
}

}  // namespace

BodyIndex Model::body(std::string_view name) const { return BodyIndex(find_by_name(bodies_, name, "body")); }
JointIndex Model::joint(std::string_view name) const { return JointIndex(find_by_name(joints_, name, "joint")); }
ShapeIndex Model::shape(std::string_view name) const { return ShapeIndex(find_by_name(shapes_, name, "shape")); }
FrameIndex Model::frame(std::string_view name) const { return FrameIndex(find_by_name(frames_, name, "frame")); }

double Model::total_mass() const {
  double mass = 0;
  for (std::size_t b = 0; b < bodies_.size(); ++b) {
    if (tree_.bodies[b].slot >= 0) mass += bodies_[b].inertia.mass;
  }
  return mass;
}

void Model::set_gravity(const Vec3& gravity) { gravity_ = validated_gravity(gravity); }

void Model::set_inertia(BodyIndex body, const SpatialInertia& inertia) {
  check_index(body, bodies_, "body");
  LITHE_CHECK(body != world(), "the world has no inertia to set");
  Body changed = bodies_[body];
  changed.inertia = inertia;
  set_checked(bodies_[body], validated(std::move(changed)), bodies_, joints_);
  refresh_constants(bodies_, joints_, tree_);
}

void Model::set_body_placement(BodyIndex body, const Pose& placement) {
  check_index(body, bodies_, "body");
  LITHE_CHECK(body != world(), "the world cannot be moved");
  Body changed = bodies_[body];
  changed.placement = placement;
  bodies_[body] = validated(std::move(changed));
  refresh_constants(bodies_, joints_, tree_);
}

void Model::set_joint(JointIndex joint, const Joint& properties) {
  check_index(joint, joints_, "joint");
  const Joint& old = joints_[joint];
  LITHE_CHECK(properties.type == old.type, "joint '{}' is {} and cannot become {}: that changes the model's structure",
              old.name, to_string(old.type), to_string(properties.type));
  Joint changed = properties;
  changed.name = old.name;
  changed.body = old.body;
  changed.q_index = old.q_index;
  changed.v_index = old.v_index;
  set_checked(joints_[joint], validated(std::move(changed)), bodies_, joints_);
  refresh_constants(bodies_, joints_, tree_);
}

void Model::set_shape(ShapeIndex shape, const Shape& properties) {
  check_index(shape, shapes_, "shape");
  Shape changed = properties;
  changed.name = shapes_[shape].name;
  changed.body = shapes_[shape].body;
  shapes_[shape] = validated(std::move(changed));
}

void Model::set_frame_placement(FrameIndex frame, const Pose& placement) {
  check_index(frame, frames_, "frame");
  Frame changed = frames_[frame];
  changed.placement = placement;
  frames_[frame] = validated(std::move(changed));
}

}  // namespace lithe
