#include "bench/mjcf.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <tinyxml2.h>

#include "lithe/core/check.h"
#include "lithe/core/overloaded.h"
#include "lithe/spatial/rotation.h"

namespace lithe::bench {

namespace {

using tinyxml2::XMLElement;

constexpr double kNoLimit = 1e6;  // stands for infinity where only the other limit is finite

XMLElement* add(XMLElement* parent, const char* name) { return parent->InsertNewChildElement(name); }

void set(XMLElement* element, const char* name, const std::string& text) { element->SetAttribute(name, text.c_str()); }
void set(XMLElement* element, const char* name, double value) { set(element, name, fmt::format("{:.17g}", value)); }
void set(XMLElement* element, const char* name, const Vec3& v) {
  set(element, name, fmt::format("{:.17g} {:.17g} {:.17g}", v.x(), v.y(), v.z()));
}
void set_place(XMLElement* element, const Pose& X) {
  const Vec4 q = quaternion_from_rotation(X.R);
  set(element, "pos", X.p);
  set(element, "quat", fmt::format("{:.17g} {:.17g} {:.17g} {:.17g}", q[3], q[0], q[1], q[2]));
}

bool is_translation(const Pose& X) { return X.R.isIdentity(0); }
bool is_identity(const Pose& X) { return is_translation(X) && X.p.isZero(0); }

bool resists(const Joint& joint) {
  return joint.stiffness != 0 || joint.damping != 0 || joint.armature != 0 || joint.dry_friction != 0;
}

// Whether a body's joints are what free_joint() makes, which MuJoCo has as one joint.
bool is_free(const Model& model, const Body& body) {
  if (body.parent != Model::world() || body.joints.size() != 4 || !is_identity(body.placement)) return false;
  for (int i = 0; i < 4; ++i) {
    const Joint& joint = model.joints()[body.joints[i]];
    const bool right_type =
        i < 3 ? joint.type == JointType::prismatic && joint.axis == Vec3(Vec3::Unit(i)) : joint.type == JointType::ball;
    const bool right_place = i == 0 ? is_translation(joint.placement) : is_identity(joint.placement);
    const bool limited = std::isfinite(joint.lower) || std::isfinite(joint.upper);
    if (!right_type || !right_place || limited || resists(joint)) return false;
  }
  return true;
}

class Writer {
 public:
  Writer(const Model& model, double time_step, int max_contacts) : model_(model), bodies_(model.bodies().size()) {
    LITHE_CHECK(model.motors().empty() && model.loops().empty() && model.mimics().empty(),
                "motors, loops and mimic joints are not written to MJCF");
    root_ = document_.NewElement("mujoco");
    document_.InsertEndChild(root_);
    add_settings(time_step, max_contacts);
    assets_ = add(root_, "asset");
    bodies_[0] = add(root_, "worldbody");
    for (std::size_t b = 1; b < bodies_.size(); ++b) add_body(BodyIndex(static_cast<int>(b)));
    check_filters();
    for (const Shape& shape : model.shapes()) add_geom(shape);
    add_exclusions();
  }

  std::string text() const {
    tinyxml2::XMLPrinter printer;
    document_.Print(&printer);
    return printer.CStr();
  }

 private:
  void add_settings(double time_step, int max_contacts) {
    XMLElement* compiler = add(root_, "compiler");
    set(compiler, "angle", "radian");
    set(compiler, "inertiafromgeom", "false");
    XMLElement* option = add(root_, "option");
    set(option, "timestep", time_step);
    set(option, "gravity", model_.gravity());
    // Four rows per contact, and one per joint limit.
    XMLElement* size = add(root_, "size");
    set(size, "nconmax", std::to_string(max_contacts));
    set(size, "njmax", std::to_string(4 * max_contacts + static_cast<int>(model_.joints().size())));
  }

  void add_body(BodyIndex index) {
    const Body& body = model_.bodies()[index];
    XMLElement* element = bodies_[index] = add(bodies_[body.parent], "body");
    set(element, "name", body.name);

    // In MuJoCo joints move the body's own frame, so each is placed in that, as it is in the neutral configuration.
    std::vector<Pose> X_PJ;
    Pose X_PB = {};
    for (const JointIndex j : body.joints) X_PJ.push_back(X_PB = X_PB * model_.joints()[j].placement);
    X_PB = X_PB * body.placement;
    set_place(element, X_PB);
    if (is_free(model_, body)) {
      add(element, "freejoint");
    } else {
      for (std::size_t i = 0; i < X_PJ.size(); ++i) {
        add_joint(element, model_.joints()[body.joints[i]], X_PB.inverse() * X_PJ[i]);
      }
    }
    if (body.inertia.mass > 0) add_inertia(element, body.inertia);
  }

  void add_joint(XMLElement* body, const Joint& joint, const Pose& X_BJ) {
    LITHE_CHECK(joint.type != JointType::screw, "joint '{}': MuJoCo has no screws", joint.name);
    XMLElement* element = add(body, "joint");
    set(element, "name", joint.name);
    set(element, "pos", X_BJ.p);
    if (joint.type == JointType::ball) {
      LITHE_CHECK(is_translation(X_BJ), "ball '{}' is turned in its body; MuJoCo's is not", joint.name);
      LITHE_CHECK(joint.stiffness == 0, "the spring of ball '{}' is not written to MJCF", joint.name);
      set(element, "type", "ball");
    } else {
      set(element, "type", joint.type == JointType::prismatic ? "slide" : "hinge");
      set(element, "axis", Vec3(X_BJ.R * joint.axis));
    }
    const bool limited = std::isfinite(joint.lower) || std::isfinite(joint.upper);
    set(element, "limited", limited ? "true" : "false");
    if (limited) {
      const double lower = std::isfinite(joint.lower) ? joint.lower : -kNoLimit;
      const double upper = std::isfinite(joint.upper) ? joint.upper : kNoLimit;
      set(element, "range", fmt::format("{:.17g} {:.17g}", lower, upper));
    }
    set(element, "stiffness", joint.stiffness);
    if (joint.stiffness != 0) set(element, "springref", joint.rest);
    set(element, "damping", joint.damping);
    set(element, "armature", joint.armature);
    set(element, "frictionloss", joint.dry_friction);
  }

  void add_inertia(XMLElement* body, const SpatialInertia& inertia) {
    const Mat3 I = inertia.about_centre();
    XMLElement* element = add(body, "inertial");
    set(element, "mass", inertia.mass);
    set(element, "pos", inertia.centre());
    if (I.isZero(0)) {
      set(element, "diaginertia", "1e-9 1e-9 1e-9");  // it refuses point masses, even ones that only slide
      return;
    }
    set(element, "fullinertia",
        fmt::format("{:.17g} {:.17g} {:.17g} {:.17g} {:.17g} {:.17g}", I(0, 0), I(1, 1), I(2, 2), I(0, 1), I(0, 2),
                    I(1, 2)));
  }

  void add_geom(const Shape& shape) {
    XMLElement* element = add(bodies_[shape.body], "geom");
    set(element, "name", shape.name);
    set_place(element, shape.placement);
    set(element, "friction", shape.material.friction);
    set(element, "contype", std::to_string(static_cast<std::int32_t>(shape.filter.groups)));
    set(element, "conaffinity", std::to_string(static_cast<std::int32_t>(shape.filter.mask)));
    if (shape.margin != 0) set(element, "margin", shape.margin);
    const auto round = [&](const char* type, double radius, double half_length) {
      set(element, "type", type);
      set(element, "size", fmt::format("{:.17g} {:.17g}", radius, half_length));
    };
    std::visit(Overloaded{
                   [&](const Sphere& g) {
                     set(element, "type", "sphere");
                     set(element, "size", g.radius);
                   },
                   [&](const Capsule& g) { round("capsule", g.radius, g.half_length); },
                   [&](const Cylinder& g) { round("cylinder", g.radius, g.half_length); },
                   [&](const Box& g) {
                     set(element, "type", "box");
                     set(element, "size", g.half_size);
                   },
                   [&](const Plane&) {
                     set(element, "type", "plane");
                     set(element, "size", "0 0 1");  // endless
                   },
                   [&](const ConvexMesh& g) {
                     set(element, "type", "mesh");
                     set(element, "mesh", shape.name);
                     add_mesh(shape.name, g);
                   },
               },
               shape.geometry);
  }

  void add_mesh(const std::string& name, const ConvexMesh& mesh) {
    XMLElement* element = add(assets_, "mesh");
    set(element, "name", name);
    std::string points;
    for (const Vec3& p : mesh.points) points += fmt::format("{:.17g} {:.17g} {:.17g} ", p.x(), p.y(), p.z());
    set(element, "vertex", points);
  }

  // Ours: a's groups meet b's mask *and* the other way round; MuJoCo's: *or*.
  void check_filters() const {
    for (const Shape& a : model_.shapes()) {
      for (const Shape& b : model_.shapes()) {
        const bool one = (a.filter.groups & b.filter.mask) != 0;
        const bool other = (b.filter.groups & a.filter.mask) != 0;
        LITHE_CHECK(one == other, "MuJoCo reads the collision filters of '{}' and '{}' differently", a.name, b.name);
      }
    }
  }

  void add_exclusions() {
    XMLElement* contact = add(root_, "contact");
    for (const Model::PairException& pair : model_.pair_exceptions()) {
      const auto name = [&](BodyIndex b) { return model_.bodies()[b].name; };
      LITHE_CHECK(!pair.collide, "that '{}' and '{}' collide is not written to MJCF", name(pair.a), name(pair.b));
      XMLElement* element = add(contact, "exclude");
      set(element, "body1", name(pair.a));
      set(element, "body2", name(pair.b));
    }
  }

  const Model& model_;
  tinyxml2::XMLDocument document_;
  XMLElement* root_ = nullptr;
  XMLElement* assets_ = nullptr;
  std::vector<XMLElement*> bodies_;
};

}  // namespace

std::string to_mjcf(const Model& model, double time_step, int max_contacts) {
  return Writer(model, time_step, max_contacts).text();
}

std::vector<double> mujoco_positions(const Model& model, const VecX& q) {
  std::vector<double> positions;
  for (const Body& body : model.bodies()) {
    const Vec3 start =
        !body.joints.empty() && is_free(model, body) ? model.joints()[body.joints[0]].placement.p : Vec3(Vec3::Zero());
    for (std::size_t i = 0; i < body.joints.size(); ++i) {
      const Joint& joint = model.joints()[body.joints[i]];
      if (joint.type == JointType::ball) {
        for (const int k : {3, 0, 1, 2}) positions.push_back(q[joint.q_index + k]);
      } else {
        positions.push_back(q[joint.q_index] + (i < 3 ? start[static_cast<int>(i)] : 0.0));
      }
    }
  }
  return positions;
}

}  // namespace lithe::bench
