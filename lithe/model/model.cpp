#include "lithe/model/model.h"

#include <atomic>

#include "lithe/core/check.h"
#include "lithe/core/internal/suggest.h"
#include "lithe/model/internal/validation.h"

namespace lithe {

using namespace internal;

namespace {

// Where a name stands in a list. Names are looked up when models are set up, not in every step, so the list is searched.
template <class Item>
int find_by_name(const std::vector<Item>& items, std::string_view name, const char* kind) {
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (items[i].name == name) return static_cast<int>(i);
  }
  std::vector<std::string_view> known;
  for (const Item& item : items) known.push_back(item.name);
  LITHE_CHECK(false, "the model has no {} named '{}'{}", kind, name, did_you_mean(name, known));
}

// Refuses an index that names nothing.
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

bool same(const Pose& a, const Pose& b) { return a.R == b.R && a.p == b.p; }

// All of a shape but its material.
bool collides_the_same(const Shape& a, const Shape& b) {
  return a.geometry == b.geometry && same(a.placement, b.placement) && a.margin == b.margin && a.filter == b.filter;
}

const char* to_string(LoopClosure::Kind kind) { return kind == LoopClosure::Kind::ball ? "ball" : "weld"; }

}  // namespace

BodyIndex Model::body(std::string_view name) const { return BodyIndex(find_by_name(bodies_, name, "body")); }
JointIndex Model::joint(std::string_view name) const { return JointIndex(find_by_name(joints_, name, "joint")); }
ShapeIndex Model::shape(std::string_view name) const { return ShapeIndex(find_by_name(shapes_, name, "shape")); }
FrameIndex Model::frame(std::string_view name) const { return FrameIndex(find_by_name(frames_, name, "frame")); }

MotorIndex Model::motor(std::string_view name) const { return MotorIndex(find_by_name(motors_, name, "motor")); }
LoopIndex Model::loop(std::string_view name) const { return LoopIndex(find_by_name(loops_, name, "loop")); }
MimicIndex Model::mimic(std::string_view name) const { return MimicIndex(find_by_name(mimics_, name, "mimic")); }

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
  changed = validated(std::move(changed));
  if (!same(changed.placement, bodies_[body].placement)) renew_collision_revision();
  bodies_[body] = std::move(changed);
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
  const Pose placement = old.placement;
  set_checked(joints_[joint], validated(std::move(changed)), bodies_, joints_);
  if (!same(joints_[joint].placement, placement)) renew_collision_revision();
  refresh_constants(bodies_, joints_, tree_);
}

void Model::set_shape(ShapeIndex shape, const Shape& properties) {
  check_index(shape, shapes_, "shape");
  Shape changed = properties;
  changed.name = shapes_[shape].name;
  changed.body = shapes_[shape].body;
  changed = validated(std::move(changed));
  // A hull belongs to the points that it came with.
  auto* mesh = std::get_if<ConvexMesh>(&changed.geometry);
  const auto* old_mesh = std::get_if<ConvexMesh>(&shapes_[shape].geometry);
  if (mesh && old_mesh && mesh->hull == old_mesh->hull && mesh->points != old_mesh->points) mesh->hull.reset();
  if (!collides_the_same(changed, shapes_[shape])) renew_collision_revision();
  shapes_[shape] = std::move(changed);
}

void Model::set_frame_placement(FrameIndex frame, const Pose& placement) {
  check_index(frame, frames_, "frame");
  Frame changed = frames_[frame];
  changed.placement = placement;
  frames_[frame] = validated(std::move(changed));
}

void Model::set_motor(MotorIndex motor, const Motor& properties) {
  check_index(motor, motors_, "motor");
  Motor changed = properties;
  changed.name = motors_[motor].name;
  changed.joint = motors_[motor].joint;
  motors_[motor] = validated(std::move(changed));
}

void Model::set_loop(LoopIndex loop, const LoopClosure& properties) {
  check_index(loop, loops_, "loop");
  const LoopClosure& old = loops_[loop];
  LITHE_CHECK(properties.kind == old.kind,
              "loop '{}' is a {} and cannot become a {}: that changes the model's structure", old.name,
              to_string(old.kind), to_string(properties.kind));
  LoopClosure changed = properties;
  changed.name = old.name;
  changed.a = old.a;
  changed.b = old.b;
  loops_[loop] = validated(std::move(changed));
}

void Model::set_mimic(MimicIndex mimic, const Mimic& properties) {
  check_index(mimic, mimics_, "mimic");
  Mimic changed = properties;
  changed.name = mimics_[mimic].name;
  changed.joint = mimics_[mimic].joint;
  changed.source = mimics_[mimic].source;
  mimics_[mimic] = validated(std::move(changed));
}

void Model::renew_collision_revision() {
  static std::atomic<std::uint64_t> last{0};
  collision_revision_ = ++last;
}

}  // namespace lithe
