#include "lithe/io/write_urdf.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <span>

#include "lithe/io/urdf/elements.h"

namespace lithe {

using namespace internal;

namespace {

// Whether the pose is the identity to the last bit; then it need not be written.
bool is_identity(const Pose& pose) { return pose.p.isZero(0) && (pose.R.array() == Mat3::Identity().array()).all(); }

// Whether there is nothing to say about the joint but where it is, so that it can be a part of a floating or planar
// joint. (Armature is lost in any case.)
bool is_plain(const Joint& joint) {
  return std::isinf(joint.lower) && std::isinf(joint.upper) && std::isinf(joint.effort_limit) &&
         std::isinf(joint.velocity_limit) && joint.stiffness == 0 && joint.damping == 0 && joint.dry_friction == 0;
}

// Writes a model link by link and joint by joint, and collects what the format cannot hold. Mimics, shapes and visuals
// are sorted by their joints and bodies first.
class UrdfWriter {
 public:
  UrdfWriter(const Model& model, const UrdfWriteOptions& options)
      : model_(model), options_(options), surfaces_(options.mesh_folder, file_, lost_) {
    for (const Body& body : model.bodies()) link_names_.unique(body.name);
    for (const Joint& joint : model.joints()) joint_names_.unique(joint.name);
    mimic_of_.resize(model.joints().size(), nullptr);
    followed_.resize(model.joints().size(), false);
    for (const Mimic& mimic : model.mimics()) {
      mimic_of_[mimic.joint] = &mimic;
      followed_[mimic.source] = true;
    }
    shapes_.resize(model.bodies().size());
    for (const Shape& shape : model.shapes()) shapes_[shape.body].push_back(&shape);
    visuals_.resize(model.bodies().size());
    std::unordered_map<std::string_view, std::size_t> body_index;
    for (std::size_t b = 0; b < model.bodies().size(); ++b) body_index.emplace(model.bodies()[b].name, b);
    for (const Visual& visual : options.visuals) {
      const auto body = body_index.find(visual.body);
      LITHE_CHECK(body != body_index.end(), "visual '{}' is on an unknown body '{}'", visual.name, visual.body);
      visuals_[body->second].push_back(&visual);
    }
  }

  // Writes links in the model's order, each after the joint by which it hangs; frames come last.
  UrdfFile write() {
    file_.xml = fmt::format("<?xml version=\"1.0\"?>\n<robot name=\"{}\">\n", escaped(options_.name));
    const bool implied = world_is_implied();
    if (!implied) write_link(0);
    for (std::size_t b = 1; b < model_.bodies().size(); ++b) {
      if (!implied || model_.bodies()[b].parent != Model::world()) connect(model_.bodies()[b]);
      write_link(b);
    }
    for (const Frame& frame : model_.frames()) write_frame(frame);
    file_.xml += "</robot>\n";
    tell_what_is_lost();
    for (const LoadWarning& warning : lost_.warnings()) {
      file_.warnings.push_back(warning.count == 1 ? warning.text
                                                  : fmt::format("{} (and {} more)", warning.text, warning.count - 1));
    }
    return std::move(file_);
  }

 private:
  void lose(std::string_view kind, const std::string& text) { lost_.add({}, kind, text); }

  // Whether load() would hold the only root as the model does, without being told.
  bool world_is_implied() const {
    const Body* root = nullptr;
    for (const Body& body : model_.bodies()) {
      if (body.parent != Model::world() || &body == &model_.bodies().front()) continue;
      if (root) return false;
      root = &body;
    }
    const auto on_world = [](const Frame& frame) { return frame.body == Model::world(); };
    if (!root || !is_identity(root->placement) || !shapes_.front().empty() || !visuals_.front().empty() ||
        std::ranges::any_of(model_.frames(), on_world)) {
      return false;
    }
    if (root->joints.empty()) return mass_fixed_to_world() == 0;
    return root->inertia.mass > 0 && free_joint_name(*root) == "root" &&
           is_identity(model_.joints()[root->joints.front()].placement);
  }

  // The mass of all that is welded to the world. Of a root that carries none, load() says that it is fixed.
  double mass_fixed_to_world() const {
    double mass = 0;
    std::vector<char> held(model_.bodies().size(), 0);
    held.front() = 1;
    for (std::size_t i = 1; i < held.size(); ++i) {  // parents come first
      const Body& body = model_.bodies()[i];
      if (!body.joints.empty() || !held[body.parent]) continue;
      held[i] = 1;
      mass += body.inertia.mass;
    }
    return mass;
  }

  // Writes the <link> of a body, and after it what <gazebo> says about it.
  void write_link(std::size_t index) {
    const Body& body = model_.bodies()[index];
    std::string inside = inertial_text(body.inertia) + contact_text(body, shapes_[index]);
    for (const Shape* shape : shapes_[index]) inside += surfaces_.collision_text(*shape);
    for (const Visual* visual : visuals_[index]) inside += surfaces_.visual_text(*visual);
    write_element("link", body.name, inside);
    file_.xml += gazebo_;
    gazebo_.clear();
  }

  // Writes an element with a name; one with nothing inside is closed at once.
  void write_element(const char* kind, const std::string& name, const std::string& inside) {
    file_.xml += fmt::format("  <{} name=\"{}\"", kind, escaped(name));
    file_.xml += inside.empty() ? "/>\n" : fmt::format(">\n{}  </{}>\n", inside, kind);
  }

  // The friction and restitution of a link, which are one for all its shapes: as <contact>, which PyBullet reads, and
  // by `gazebo_` for Gazebo. The default material is not written.
  std::string contact_text(const Body& body, const std::vector<const Shape*>& shapes) {
    if (shapes.empty()) return "";
    const Material& material = shapes.front()->material;
    const auto differs = [&](const Shape* shape) {
      return shape->material.friction != material.friction || shape->material.restitution != material.restitution;
    };
    if (std::ranges::any_of(shapes, differs)) {
      lose("material", fmt::format("the shapes of '{}' have different friction or restitution: all get that of '{}'",
                                   body.name, shapes.front()->name));
    }
    if (material.friction == 1 && material.restitution == 0) return "";
    if (material.friction != 1) {
      gazebo_ = fmt::format("  <gazebo reference=\"{}\"><mu1>{}</mu1><mu2>{}</mu2></gazebo>\n", escaped(body.name),
                            number_text(material.friction), number_text(material.friction));
    }
    return fmt::format("    <contact><lateral_friction value=\"{}\"/><restitution value=\"{}\"/></contact>\n",
                       number_text(material.friction), number_text(material.restitution));
  }

  // Writes the joints from the parent to the body, with a massless link between two that follow each other. A last
  // fixed joint leads to the body's own frame, if that is not the last joint's.
  void connect(const Body& body) {
    std::string from = model_.bodies()[body.parent].name;
    const auto joint = [&](std::size_t i) -> const Joint& { return model_.joints()[body.joints[i]]; };
    const bool ends_here = is_identity(body.placement);
    const auto next_link = [&](const std::string& joint_name, bool last) {
      return last && ends_here ? body.name : massless_link(joint_name + "_link");
    };
    if (const std::string name = free_joint_name(body); !name.empty()) {
      const std::string to = next_link(name, true);
      write_joint(joint_names_.unique(name), "floating", from, to, joint(0).placement, "");
      from = to;
    } else if (const std::string plane = planar_joint_name(body); !plane.empty()) {
      const std::string to = next_link(plane, true);
      write_joint(joint_names_.unique(plane), "planar", from, to, joint(0).placement, axis_text(joint(2)));
      from = to;
    } else {
      for (std::size_t i = 0; i < body.joints.size(); ++i) {
        const std::string to = next_link(joint(i).name, i + 1 == body.joints.size());
        write_single_joint(body.joints[i], from, to);
        from = to;
      }
    }
    if (from == body.name) return;
    write_joint(joint_names_.unique(body.name + "_fixed"), "fixed", from, body.name, body.placement, "");
  }

  // Writes a <link> without anything inside and returns its name, which is `wanted` if that is free.
  std::string massless_link(const std::string& wanted) {
    std::string name = link_names_.unique(wanted);
    write_element("link", name, "");
    return name;
  }

  // Writes a <joint>. `more` holds the lines after the <origin>.
  void write_joint(const std::string& name, const char* type, const std::string& parent, const std::string& child,
                   const Pose& origin, const std::string& more) {
    const std::string origin_line = is_identity(origin) ? "" : fmt::format("    {}\n", origin_text(origin));
    file_.xml += fmt::format(
        "  <joint name=\"{}\" type=\"{}\">\n    <parent link=\"{}\"/>\n    <child link=\"{}\"/>\n{}{}  </joint>\n",
        escaped(name), type, escaped(parent), escaped(child), origin_line, more);
  }

  static std::string axis_text(const Joint& joint) {
    return fmt::format("    <axis xyz=\"{}\"/>\n", vector_text(joint.axis));
  }

  // Writes a joint that URDF has a type for. Its spring is Gazebo's, which comes after it.
  void write_single_joint(JointIndex index, const std::string& parent, const std::string& child) {
    const Joint& joint = model_.joints()[index];
    LITHE_CHECK(joint.type != JointType::screw,
                "joint '{}' is a screw joint, which URDF cannot hold: write another format, or replace the joint",
                joint.name);
    const bool limited = std::isfinite(joint.lower) || std::isfinite(joint.upper);
    const bool is_ball = joint.type == JointType::ball;
    const char* type = is_ball                              ? "spherical"
                       : joint.type == JointType::prismatic ? "prismatic"
                       : limited                            ? "revolute"
                                                            : "continuous";
    std::string more = is_ball ? "" : axis_text(joint);
    more += limit_text(joint) + dynamics_text(joint);
    if (const Mimic* mimic = mimic_of_[index]) {
      more += fmt::format("    <mimic joint=\"{}\" multiplier=\"{}\" offset=\"{}\"/>\n",
                          escaped(model_.joints()[mimic->source].name), number_text(mimic->multiplier),
                          number_text(mimic->offset));
    }
    write_joint(joint.name, type, parent, child, joint.placement, more);
    if (is_ball) {
      lose("ball", fmt::format("joint '{}' is a ball: it is written as type \"spherical\", which not every reader of "
                               "URDF knows",
                               joint.name));
    }
    if (joint.stiffness == 0) return;
    if (is_ball) {
      lose("ball_spring", fmt::format("the spring of ball '{}' is lost", joint.name));
    } else {
      file_.xml += fmt::format(
          "  <gazebo reference=\"{}\"><springStiffness>{}</springStiffness><springReference>{}</springReference>"
          "</gazebo>\n",
          escaped(joint.name), number_text(joint.stiffness), number_text(joint.rest));
    }
  }

  // The name N if the body's joints are called N.x, N.y … and can be written as one joint N; else "". They must have
  // nothing else to say, follow each other directly, be no part of a mimic, and N must be free.
  std::string composed_name(const Body& body, std::span<const char* const> endings) const {
    if (body.joints.size() != endings.size()) return "";
    const std::string& first = model_.joints()[body.joints.front()].name;
    if (!first.ends_with(endings.front()) || first.size() == std::string_view(endings.front()).size()) return "";
    const std::string name = first.substr(0, first.size() - std::string_view(endings.front()).size());
    if (joint_names_.contains(name)) return "";
    for (std::size_t i = 0; i < endings.size(); ++i) {
      const JointIndex index = body.joints[i];
      const Joint& joint = model_.joints()[index];
      const bool follows_directly = i == 0 || is_identity(joint.placement);
      if (joint.name != name + endings[i] || !is_plain(joint) || !follows_directly || mimic_of_[index] ||
          followed_[index]) {
        return "";
      }
    }
    return name;
  }

  // Whether joint i of the body is of that type and has that axis.
  bool has_joint(const Body& body, int i, JointType type, const Vec3& axis) const {
    const Joint& joint = model_.joints()[body.joints[i]];
    return joint.type == type && (type == JointType::ball || (joint.axis - axis).cwiseAbs().maxCoeff() < 1e-14);
  }

  // The name of the free joint by which the body hangs, if it hangs by one (free_joint()); else "".
  std::string free_joint_name(const Body& body) const {
    static constexpr const char* kEndings[] = {".x", ".y", ".z", ".ball"};
    const std::string name = composed_name(body, kEndings);
    if (name.empty() || !has_joint(body, 3, JointType::ball, {})) return "";
    for (int k = 0; k < 3; ++k) {
      if (!has_joint(body, k, JointType::prismatic, Vec3::Unit(k))) return "";
    }
    return name;
  }

  // The same for a planar joint.
  std::string planar_joint_name(const Body& body) const {
    static constexpr const char* kEndings[] = {".x", ".y", ".turn"};
    const std::string name = composed_name(body, kEndings);
    if (name.empty()) return "";
    const Vec3& axis = model_.joints()[body.joints[2]].axis;
    const Mat3 R = rotation_from_z(axis);  // as the reader lays the plane's axes
    const bool planar = has_joint(body, 2, JointType::revolute, axis) &&
                        has_joint(body, 0, JointType::prismatic, R.col(0)) &&
                        has_joint(body, 1, JointType::prismatic, R.col(1));
    return planar ? name : "";
  }

  // Writes a frame as a massless link on a fixed joint, which is what such links mean to other programs.
  void write_frame(const Frame& frame) {
    const std::string name = link_names_.unique(frame.name);
    if (name != frame.name) {
      lose("frame_name", fmt::format("frame '{}' is written as link '{}': its name is taken", frame.name, name));
    }
    write_element("link", name, "");
    write_joint(joint_names_.unique(name + "_fixed"), "fixed", model_.bodies()[frame.body].name, name, frame.placement,
                "");
  }

  // Warns of everything in the model that has no place in a URDF.
  void tell_what_is_lost() {
    if (model_.gravity() != Vec3(0, 0, -9.81)) lose("gravity", "gravity is lost: URDF has none");
    for (const Joint& joint : model_.joints()) {
      if (joint.armature != 0) lose("armature", fmt::format("the armature of joint '{}' is lost", joint.name));
    }
    for (const Motor& motor : model_.motors()) lose("motor", fmt::format("motor '{}' is lost", motor.name));
    for (const LoopClosure& loop : model_.loops())
      lose("loop", fmt::format("loop '{}' is lost: URDF is a tree", loop.name));
    if (!model_.pair_exceptions().empty()) lose("pairs", "collision exceptions are lost");
    for (const Shape& shape : model_.shapes()) {
      if (shape.margin != 0) lose("margin", fmt::format("the margin of shape '{}' is lost", shape.name));
      if (shape.filter != CollisionFilter{}) {
        lose("filter", fmt::format("the collision filter of shape '{}' is lost", shape.name));
      }
    }
  }

  const Model& model_;
  const UrdfWriteOptions& options_;
  UrdfFile file_;
  WarningList lost_;
  UrdfSurfaces surfaces_;
  std::string gazebo_;  // to follow the link being written
  NameSet link_names_, joint_names_;
  std::vector<const Mimic*> mimic_of_;               // per joint
  std::vector<bool> followed_;                       // per joint: it is some mimic's source
  std::vector<std::vector<const Shape*>> shapes_;    // per body
  std::vector<std::vector<const Visual*>> visuals_;  // per body
};

// Writes a text to the disk; an Error where that fails.
void write_file(const std::filesystem::path& path, const std::string& text) {
  std::ofstream stream(path, std::ios::binary);
  stream << text;
  stream.close();
  LITHE_CHECK(stream.good(), "{} cannot be written", path.string());
}

}  // namespace

UrdfFile write_urdf(const Model& model, const UrdfWriteOptions& options) { return UrdfWriter(model, options).write(); }

std::vector<std::string> save_urdf(const Model& model, const std::string& path, const UrdfWriteOptions& options) {
  UrdfFile file = write_urdf(model, options);
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  for (const UrdfFile::Mesh& mesh : file.meshes) {
    std::error_code ignored;  // the write below tells
    std::filesystem::create_directories((folder / mesh.file).parent_path(), ignored);
    write_file(folder / mesh.file, mesh.obj);
  }
  write_file(path, file.xml);
  return file.warnings;
}

}  // namespace lithe
