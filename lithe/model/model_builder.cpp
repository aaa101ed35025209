#include "lithe/model/model_builder.h"

#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "lithe/core/check.h"
#include "lithe/core/internal/suggest.h"
#include "lithe/model/internal/validation.h"

namespace lithe {

using namespace internal;

namespace {

constexpr std::string_view kWorld = "world";

// Refuses a name that another thing of the same kind has.
void check_unique(std::unordered_set<std::string_view>& seen, const std::string& name, const char* kind) {
  LITHE_CHECK(seen.insert(name).second, "there are two {} named '{}': names must be unique", kind, name);
}

// The items of one kind by name, for those that refer to them.
class Directory {
 public:
  template <class Item>
  Directory(const std::vector<Item>& items, const char* kind) : kind_(kind) {
    for (const Item& item : items) {
      index_.emplace(item.name, static_cast<int>(names_.size()));
      names_.push_back(item.name);
    }
  }

  int find(const std::string& name, const std::string& referrer) const {
    const auto found = index_.find(name);
    LITHE_CHECK(found != index_.end(), "{} names an unknown {} '{}'{}", referrer, kind_, name,
                did_you_mean(name, names_));
    return found->second;
  }

 private:
  const char* kind_;
  std::unordered_map<std::string_view, int> index_;
  std::vector<std::string_view> names_;
};

}  // namespace

ModelBuilder& ModelBuilder::set_gravity(const Vec3& gravity) {
  gravity_ = validated_gravity(gravity);
  return *this;
}

ModelBuilder& ModelBuilder::add_body(std::string parent, Body body, JointList joints) {
  body = validated(std::move(body));
  LITHE_CHECK(body.name != kWorld, "a body cannot be named 'world': that name is taken");
  for (Joint& joint : joints) joint = validated(std::move(joint));
  bodies_.push_back({std::move(parent), std::move(body), std::move(joints)});
  return *this;
}

ModelBuilder& ModelBuilder::add_shape(std::string body, Shape shape) {
  shapes_.push_back({std::move(body), validated(std::move(shape))});
  return *this;
}

ModelBuilder& ModelBuilder::change_shapes(const std::function<bool(Shape&)>& change) {
  for (PendingShape& pending : shapes_) {
    if (change(pending.shape)) pending.shape = validated(std::move(pending.shape));
  }
  return *this;
}

ModelBuilder& ModelBuilder::add_frame(std::string body, Frame frame) {
  frames_.push_back({std::move(body), validated(std::move(frame))});
  return *this;
}

ModelBuilder& ModelBuilder::add_motor(std::string joint, Motor motor) {
  motors_.push_back({std::move(joint), validated(std::move(motor))});
  return *this;
}

ModelBuilder& ModelBuilder::add_loop(std::string body_a, std::string body_b, LoopClosure loop) {
  loops_.push_back({std::move(body_a), std::move(body_b), validated(std::move(loop))});
  return *this;
}

ModelBuilder& ModelBuilder::add_mimic(std::string joint, std::string source, Mimic mimic) {
  mimics_.push_back({std::move(joint), std::move(source), validated(std::move(mimic))});
  return *this;
}

ModelBuilder& ModelBuilder::set_collision(std::string body_a, std::string body_b, bool collide) {
  pairs_.push_back({std::move(body_a), std::move(body_b), collide});
  return *this;
}

ModelBuilder& ModelBuilder::add(const ModelBuilder& other, const std::string& prefix, const std::string& parent,
                                const Pose& placement) {
  const ModelBuilder source = other;  // `other` may be this very builder
  const auto renamed = [&](const std::string& name) { return name == kWorld ? parent : prefix + name; };
  for (PendingBody pending : source.bodies_) {
    if (pending.parent == kWorld) {
      Pose& first = pending.joints.empty() ? pending.body.placement : pending.joints.front().placement;
      first = placement * first;
    }
    pending.parent = renamed(pending.parent);
    pending.body.name = prefix + pending.body.name;
    for (Joint& joint : pending.joints) joint.name = prefix + joint.name;
    add_body(pending.parent, pending.body, pending.joints);
  }
  // What is fixed to the world of `source` moves with it.
  const auto moved = [&](const std::string& body, const Pose& at) { return body == kWorld ? placement * at : at; };
  for (PendingShape pending : source.shapes_) {
    pending.shape.placement = moved(pending.body, pending.shape.placement);
    pending.shape.name = prefix + pending.shape.name;
    add_shape(renamed(pending.body), pending.shape);
  }
  for (PendingFrame pending : source.frames_) {
    pending.frame.placement = moved(pending.body, pending.frame.placement);
    pending.frame.name = prefix + pending.frame.name;
    add_frame(renamed(pending.body), pending.frame);
  }
  for (PendingMotor pending : source.motors_) {
    pending.motor.name = prefix + pending.motor.name;
    add_motor(prefix + pending.joint, pending.motor);
  }
  for (PendingLoop pending : source.loops_) {
    pending.loop.placement_a = moved(pending.a, pending.loop.placement_a);
    pending.loop.placement_b = moved(pending.b, pending.loop.placement_b);
    pending.loop.name = prefix + pending.loop.name;
    add_loop(renamed(pending.a), renamed(pending.b), pending.loop);
  }
  for (PendingMimic pending : source.mimics_) {
    pending.mimic.name = prefix + pending.mimic.name;
    add_mimic(prefix + pending.joint, prefix + pending.source, pending.mimic);
  }
  for (const PendingPair& pair : source.pairs_) set_collision(renamed(pair.a), renamed(pair.b), pair.collide);
  return *this;
}

// The bodies in the order of the model: parents before their children, and all that hangs on a body before its next
// sibling. Parents may have been added after their children.
std::vector<int> ModelBuilder::depth_first_order() const {
  std::unordered_map<std::string_view, int> index;
  std::vector<std::string_view> names = {kWorld};
  for (std::size_t b = 0; b < bodies_.size(); ++b) {
    const std::string& name = bodies_[b].body.name;
    LITHE_CHECK(index.emplace(name, static_cast<int>(b)).second,
                "there are two bodies named '{}': names must be unique", name);
    names.push_back(name);
  }
  std::vector<std::vector<int>> children(bodies_.size() + 1);  // the last list is the world's
  for (std::size_t b = 0; b < bodies_.size(); ++b) {
    const std::string& parent = bodies_[b].parent;
    const auto found = index.find(parent);
    LITHE_CHECK(parent == kWorld || found != index.end(), "body '{}' has an unknown parent '{}'{}",
                bodies_[b].body.name, parent, did_you_mean(parent, names));
    children[parent == kWorld ? bodies_.size() : static_cast<std::size_t>(found->second)].push_back(
        static_cast<int>(b));
  }
  std::vector<int> order;
  std::vector<char> reached(bodies_.size(), 0);
  std::vector<int> stack(children.back().rbegin(), children.back().rend());
  while (!stack.empty()) {
    const int b = stack.back();
    stack.pop_back();
    reached[b] = 1;
    order.push_back(b);
    stack.insert(stack.end(), children[b].rbegin(), children[b].rend());
  }
  for (std::size_t b = 0; b < bodies_.size(); ++b) {
    if (reached[b]) continue;
    // Its way up never meets the world, so it ends in a cycle: walk up often enough to stand in it, then once around.
    const auto parent_of = [&](std::size_t i) { return static_cast<std::size_t>(index.at(bodies_[i].parent)); };
    std::size_t at = b;
    for (std::size_t i = 0; i < bodies_.size(); ++i) at = parent_of(at);
    std::string cycle = bodies_[at].body.name;
    for (std::size_t i = parent_of(at); i != at; i = parent_of(i)) cycle += "' → '" + bodies_[i].body.name;
    LITHE_CHECK(false, "bodies form a cycle of parents: '{}' → '{}'", cycle, bodies_[at].body.name);
  }
  return order;
}

// Puts bodies and joints into the model, with their indices and places in q and v, and compiles the tree.
void ModelBuilder::number_bodies_and_joints(Model& model) const {
  model.bodies_.push_back({.name = std::string(kWorld)});
  std::unordered_map<std::string_view, BodyIndex> body_index = {{kWorld, Model::world()}};
  std::unordered_set<std::string_view> joint_names;
  int nq = 0;
  int nv = 0;
  for (const int b : depth_first_order()) {
    const PendingBody& pending = bodies_[b];
    const BodyIndex index(static_cast<int>(model.bodies_.size()));
    body_index.emplace(pending.body.name, index);
    Body body = pending.body;
    body.parent = body_index.at(pending.parent);
    body.joints.clear();
    for (Joint joint : pending.joints) {
      check_unique(joint_names, bodies_[b].joints[body.joints.size()].name, "joints");
      joint.body = index;
      joint.q_index = nq;
      joint.v_index = nv;
      nq += joint.nq();
      nv += joint.nv();
      body.joints.push_back(JointIndex(static_cast<int>(model.joints_.size())));
      model.joints_.push_back(std::move(joint));
    }
    model.bodies_.push_back(std::move(body));
  }
  check_joints_move_mass(model.bodies_, model.joints_);
  model.tree_ = compile_tree(model.bodies_, model.joints_);
}

// Puts what belongs to bodies into the model: shapes, frames, exceptions for pairs and loops.
void ModelBuilder::attach_to_bodies(Model& model) const {
  const Directory bodies(model.bodies_, "body");
  const auto body_named = [&](const std::string& name, const std::string& referrer) {
    return BodyIndex(bodies.find(name, referrer));
  };
  std::unordered_set<std::string_view> shape_names;
  for (const PendingShape& pending : shapes_) {
    check_unique(shape_names, pending.shape.name, "shapes");
    model.shapes_.push_back(pending.shape);
    model.shapes_.back().body = body_named(pending.body, "shape '" + pending.shape.name + "'");
  }
  std::unordered_set<std::string_view> frame_names;
  for (const PendingFrame& pending : frames_) {
    check_unique(frame_names, pending.frame.name, "frames");
    model.frames_.push_back(pending.frame);
    model.frames_.back().body = body_named(pending.body, "frame '" + pending.frame.name + "'");
  }
  for (const PendingPair& pair : pairs_) {
    const std::string referrer = "the collision exception for '" + pair.a + "' and '" + pair.b + "'";
    model.pair_exceptions_.push_back({body_named(pair.a, referrer), body_named(pair.b, referrer), pair.collide});
  }
  std::unordered_set<std::string_view> loop_names;
  for (const PendingLoop& pending : loops_) {
    check_unique(loop_names, pending.loop.name, "loops");
    const std::string referrer = "loop '" + pending.loop.name + "'";
    LoopClosure loop = pending.loop;
    loop.a = body_named(pending.a, referrer);
    loop.b = body_named(pending.b, referrer);
    check_loop(loop, model.bodies_, model.tree_);
    model.loops_.push_back(std::move(loop));
  }
}

// Puts what belongs to joints into the model: motors and mimics.
void ModelBuilder::attach_to_joints(Model& model) const {
  const Directory joints(model.joints_, "joint");
  const auto joint_named = [&](const std::string& name, const std::string& referrer) {
    return JointIndex(joints.find(name, referrer));
  };
  std::unordered_set<std::string_view> motor_names;
  for (const PendingMotor& pending : motors_) {
    check_unique(motor_names, pending.motor.name, "motors");
    Motor motor = pending.motor;
    motor.joint = joint_named(pending.joint, "motor '" + motor.name + "'");
    check_motor(motor, model.joints_);
    model.motors_.push_back(std::move(motor));
  }
  std::unordered_set<std::string_view> mimic_names;
  for (const PendingMimic& pending : mimics_) {
    check_unique(mimic_names, pending.mimic.name, "mimics");
    Mimic mimic = pending.mimic;
    mimic.joint = joint_named(pending.joint, "mimic '" + mimic.name + "'");
    mimic.source = joint_named(pending.source, "mimic '" + mimic.name + "'");
    model.mimics_.push_back(std::move(mimic));
  }
  check_mimics(model.mimics_, model.joints_);
}

Model ModelBuilder::build() const {
  Model model;
  model.gravity_ = gravity_;
  number_bodies_and_joints(model);
  attach_to_bodies(model);
  attach_to_joints(model);
  model.renew_collision_revision();
  return model;
}

}  // namespace lithe
