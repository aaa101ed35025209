#include "lithe/model/parameters.h"

#include <array>
#include <iterator>
#include <map>
#include <utility>
#include <variant>

#include "lithe/core/check.h"
#include "lithe/core/internal/suggest.h"

namespace lithe {

using namespace internal;

namespace {

// One line of the tables below: an attribute's name and where an item keeps it (nowhere: null).
template <class Item>
struct Attribute {
  std::string_view name;
  const double* (*number)(const Item&);
};

// The functions that the tables below name. Each says where an item keeps a number, so that one function serves for
// reading and for writing. translation() is a coordinate of the item's placement.
template <class Item, int k>
const double* translation(const Item& item) {
  return item.placement.p.data() + k;
}

template <int k>
const double* first_moment(const Body& body) {
  return body.inertia.first_moment.data() + k;
}

// Of the upper triangle; commit() mirrors it.
template <int row, int column>
const double* rotational(const Body& body) {
  return &body.inertia.rotational.coeffRef(row, column);
}

template <double Joint::* member>
const double* of_joint(const Joint& joint) {
  return &(joint.*member);
}

template <double Joint::* member>
const double* of_one_dof(const Joint& joint) {
  return joint.type == JointType::ball ? nullptr : &(joint.*member);
}

// Only some geometries have a radius; the others have no such parameter.
const double* radius(const Shape& shape) {
  const auto of = [](const auto& geometry) -> const double* {
    if constexpr (requires { geometry.radius; }) return &geometry.radius;
    return nullptr;
  };
  return std::visit(of, shape.geometry);
}

// The same for half a length.
const double* half_length(const Shape& shape) {
  const auto of = [](const auto& geometry) -> const double* {
    if constexpr (requires { geometry.half_length; }) return &geometry.half_length;
    return nullptr;
  };
  return std::visit(of, shape.geometry);
}

template <int k>
const double* half_size(const Shape& shape) {
  const Box* box = std::get_if<Box>(&shape.geometry);
  return box ? box->half_size.data() + k : nullptr;
}

template <Pose LoopClosure::* placement, int k>
const double* loop_place(const LoopClosure& loop) {
  return (loop.*placement).p.data() + k;
}

template <int k>
const double* component(const Vec3& vector) {
  return vector.data() + k;
}

constexpr Attribute<Body> kBodyAttributes[] = {
    {"mass", [](const Body& body) { return &body.inertia.mass; }},
    {"mx", first_moment<0>},
    {"my", first_moment<1>},
    {"mz", first_moment<2>},
    {"Ixx", rotational<0, 0>},
    {"Ixy", rotational<0, 1>},
    {"Ixz", rotational<0, 2>},
    {"Iyy", rotational<1, 1>},
    {"Iyz", rotational<1, 2>},
    {"Izz", rotational<2, 2>},
    {"x", translation<Body, 0>},
    {"y", translation<Body, 1>},
    {"z", translation<Body, 2>},
};

constexpr Attribute<Joint> kJointAttributes[] = {
    {"x", translation<Joint, 0>},
    {"y", translation<Joint, 1>},
    {"z", translation<Joint, 2>},
    {"pitch", [](const Joint& joint) { return joint.type == JointType::screw ? &joint.pitch : nullptr; }},
    {"stiffness", of_joint<&Joint::stiffness>},
    {"rest", of_one_dof<&Joint::rest>},
    {"damping", of_joint<&Joint::damping>},
    {"armature", of_joint<&Joint::armature>},
    {"dry_friction", of_joint<&Joint::dry_friction>},
    {"lower", of_one_dof<&Joint::lower>},
    {"upper", of_one_dof<&Joint::upper>},
    {"effort_limit", of_joint<&Joint::effort_limit>},
    {"velocity_limit", of_joint<&Joint::velocity_limit>},
};

constexpr Attribute<Shape> kShapeAttributes[] = {
    {"friction", [](const Shape& shape) { return &shape.material.friction; }},
    {"restitution", [](const Shape& shape) { return &shape.material.restitution; }},
    {"margin", [](const Shape& shape) { return &shape.margin; }},
    {"radius", radius},
    {"half_length", half_length},
    {"half_x", half_size<0>},
    {"half_y", half_size<1>},
    {"half_z", half_size<2>},
    {"x", translation<Shape, 0>},
    {"y", translation<Shape, 1>},
    {"z", translation<Shape, 2>},
};

constexpr Attribute<Frame> kFrameAttributes[] = {
    {"x", translation<Frame, 0>},
    {"y", translation<Frame, 1>},
    {"z", translation<Frame, 2>},
};

constexpr Attribute<Motor> kMotorAttributes[] = {
    {"stiffness",
     [](const Motor& motor) { return motor.target == Motor::Target::position ? &motor.stiffness : nullptr; }},
    {"damping", [](const Motor& motor) { return &motor.damping; }},
    {"max_effort", [](const Motor& motor) { return &motor.max_effort; }},
};

constexpr Attribute<LoopClosure> kLoopAttributes[] = {
    {"ax", loop_place<&LoopClosure::placement_a, 0>}, {"ay", loop_place<&LoopClosure::placement_a, 1>},
    {"az", loop_place<&LoopClosure::placement_a, 2>}, {"bx", loop_place<&LoopClosure::placement_b, 0>},
    {"by", loop_place<&LoopClosure::placement_b, 1>}, {"bz", loop_place<&LoopClosure::placement_b, 2>},
};

constexpr Attribute<Mimic> kMimicAttributes[] = {
    {"multiplier", [](const Mimic& mimic) { return &mimic.multiplier; }},
    {"offset", [](const Mimic& mimic) { return &mimic.offset; }},
};

constexpr Attribute<Vec3> kGravityAttributes[] = {
    {"x", component<0>},
    {"y", component<1>},
    {"z", component<2>},
};

// The enumerations in the header count these lines.
template <class Item, std::size_t N>
constexpr bool is_at(const Attribute<Item> (&attributes)[N], int place, std::string_view name) {
  return attributes[place].name == name;
}
static_assert(is_at(kBodyAttributes, body_parameter::Izz, "Izz") && is_at(kBodyAttributes, body_parameter::z, "z"));
static_assert(is_at(kJointAttributes, joint_parameter::pitch, "pitch") &&
              is_at(kJointAttributes, joint_parameter::velocity_limit, "velocity_limit"));
static_assert(is_at(kShapeAttributes, shape_parameter::half_z, "half_z") &&
              is_at(kShapeAttributes, shape_parameter::z, "z"));
static_assert(is_at(kMotorAttributes, motor_parameter::max_effort, "max_effort"));
static_assert(is_at(kLoopAttributes, loop_parameter::bz, "bz"));
static_assert(is_at(kMimicAttributes, mimic_parameter::offset, "offset"));

template <class Item>
bool is_world(const Item&) {
  return false;
}
bool is_world(const Body& body) { return !body.parent.valid(); }

template <class Item>
std::string_view name_of(const Item& item) {
  return item.name;
}
std::string_view name_of(const Vec3&) { return {}; }

// Calls visit(prefix, kind, items, attributes) for each kind of thing that has parameters.
template <class Visit>
void for_each_kind(const Model& model, Visit visit) {
  visit("body/", ParameterKind::body, model.bodies(), kBodyAttributes);
  visit("joint/", ParameterKind::joint, model.joints(), kJointAttributes);
  visit("shape/", ParameterKind::shape, model.shapes(), kShapeAttributes);
  visit("frame/", ParameterKind::frame, model.frames(), kFrameAttributes);
  visit("motor/", ParameterKind::motor, model.motors(), kMotorAttributes);
  visit("loop/", ParameterKind::loop, model.loops(), kLoopAttributes);
  visit("mimic/", ParameterKind::mimic, model.mimics(), kMimicAttributes);
  visit("gravity", ParameterKind::gravity, std::array{model.gravity()}, kGravityAttributes);
}

// Calls use(item, its place, where it keeps the number) for the parameter of this name; false: there is none.
template <class Use>
bool visit_parameter(const Model& model, std::string_view name, Use use) {
  const std::size_t slash = name.rfind('/');
  const std::string_view owner = name.substr(0, slash);
  const std::string_view wanted = slash == std::string_view::npos ? "" : name.substr(slash + 1);
  bool found = false;
  for_each_kind(model, [&](std::string_view prefix, ParameterKind kind, const auto& items, const auto& attributes) {
    if (!owner.starts_with(prefix)) return;
    for (std::size_t i = 0; i < items.size() && !found; ++i) {
      if (name_of(items[i]) != owner.substr(prefix.size()) || is_world(items[i])) continue;
      for (std::size_t k = 0; k < std::size(attributes); ++k) {
        if (attributes[k].name != wanted || !attributes[k].number(items[i])) continue;
        use(items[i], ParameterPlace{kind, static_cast<int>(i), static_cast<int>(k)}, attributes[k].number);
        found = true;
      }
    }
  });
  return found;
}

// The same, where a name that is not there is an Error.
template <class Use>
void with_parameter(const Model& model, std::string_view name, Use use) {
  if (visit_parameter(model, name, use)) return;
  const std::vector<std::string> names = parameter_names(model);
  LITHE_CHECK(false, "the model has no parameter '{}'{}", name,
              did_you_mean(name, std::vector<std::string_view>(names.begin(), names.end())));
}

// Copies of the items that are about to change, so that each is checked once, with all of its new numbers.
class Changes {
 public:
  void write(const Model& model, std::string_view name, double value) {
    with_parameter(model, name, [&](const auto& item, const ParameterPlace& place, auto number) {
      auto& copy = copies(item).try_emplace(place.index, item).first->second;
      *const_cast<double*>(number(copy)) = value;  // the copy is ours to write
    });
  }

  void commit(Model& model) {
    for (auto& [index, body] : bodies_) {
      body.inertia.rotational = Mat3(body.inertia.rotational.selfadjointView<Eigen::Upper>());
      model.set_body_placement(BodyIndex(index), body.placement);
      model.set_inertia(BodyIndex(index), body.inertia);
    }
    for (const auto& [index, joint] : joints_) model.set_joint(JointIndex(index), joint);
    for (const auto& [index, shape] : shapes_) model.set_shape(ShapeIndex(index), shape);
    for (const auto& [index, frame] : frames_) model.set_frame_placement(FrameIndex(index), frame.placement);
    for (const auto& [index, motor] : motors_) model.set_motor(MotorIndex(index), motor);
    for (const auto& [index, loop] : loops_) model.set_loop(LoopIndex(index), loop);
    for (const auto& [index, mimic] : mimics_) model.set_mimic(MimicIndex(index), mimic);
    for (const auto& [index, gravity] : gravity_) model.set_gravity(gravity);
  }

 private:
  std::map<int, Body>& copies(const Body&) { return bodies_; }
  std::map<int, Joint>& copies(const Joint&) { return joints_; }
  std::map<int, Shape>& copies(const Shape&) { return shapes_; }
  std::map<int, Frame>& copies(const Frame&) { return frames_; }
  std::map<int, Motor>& copies(const Motor&) { return motors_; }
  std::map<int, LoopClosure>& copies(const LoopClosure&) { return loops_; }
  std::map<int, Mimic>& copies(const Mimic&) { return mimics_; }
  std::map<int, Vec3>& copies(const Vec3&) { return gravity_; }

  std::map<int, Body> bodies_;
  std::map<int, Joint> joints_;
  std::map<int, Shape> shapes_;
  std::map<int, Frame> frames_;
  std::map<int, Motor> motors_;
  std::map<int, LoopClosure> loops_;
  std::map<int, Mimic> mimics_;
  std::map<int, Vec3> gravity_;
};

}  // namespace

std::optional<ParameterPlace> find_parameter(const Model& model, std::string_view name) {
  std::optional<ParameterPlace> found;
  visit_parameter(model, name, [&](const auto&, const ParameterPlace& place, auto) { found = place; });
  return found;
}

std::vector<std::string> parameter_names(const Model& model) {
  std::vector<std::string> names;
  for_each_kind(model, [&](std::string_view prefix, ParameterKind, const auto& items, const auto& attributes) {
    for (const auto& item : items) {
      for (const auto& attribute : attributes) {
        if (is_world(item) || !attribute.number(item)) continue;
        names.push_back(fmt::format("{}{}/{}", prefix, name_of(item), attribute.name));
      }
    }
  });
  return names;
}

double parameter(const Model& model, std::string_view name) {
  double value = 0;
  with_parameter(model, name, [&](const auto& item, const ParameterPlace&, auto number) { value = *number(item); });
  return value;
}

VecX parameters(const Model& model, const std::vector<std::string>& names) {
  VecX values(names.size());
  for (std::size_t i = 0; i < names.size(); ++i) values[i] = parameter(model, names[i]);
  return values;
}

void set_parameter(Model& model, std::string_view name, double value) {
  Changes changes;
  changes.write(model, name, value);
  changes.commit(model);
}

void set_parameters(Model& model, const std::vector<std::string>& names, const ConstVecRef& values) {
  LITHE_CHECK(values.size() == static_cast<Eigen::Index>(names.size()), "there are {} parameter names but {} values",
              names.size(), values.size());
  Changes changes;
  for (std::size_t i = 0; i < names.size(); ++i) changes.write(model, names[i], values[i]);
  Model changed = model;
  changes.commit(changed);
  model = std::move(changed);
}

}  // namespace lithe
