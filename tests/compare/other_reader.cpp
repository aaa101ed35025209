#include "tests/compare/other_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <stdexcept>
#include <utility>

#include "lithe/dynamics/body_motion.h"
#include "lithe/io/load.h"

namespace lithe {

namespace {

constexpr double kTolerance = 1e-9;
constexpr std::size_t kMostShown = 10;

std::vector<std::string> parts_of(const OtherJoint& joint) {
  using Kind = OtherJoint::Kind;
  std::vector<const char*> endings;
  switch (joint.kind) {
    case Kind::fixed: return {};
    case Kind::two_axes: endings = {".1", ".2"}; break;
    case Kind::floating: endings = {".x", ".y", ".z", ".ball"}; break;
    case Kind::planar: endings = {".x", ".y", ".turn"}; break;
    default: return {joint.name};
  }
  std::vector<std::string> names;
  for (const char* ending : endings) names.push_back(joint.name + ending);
  return names;
}

JointType type_of_part(const OtherJoint& joint, std::size_t part) {
  using Kind = OtherJoint::Kind;
  switch (joint.kind) {
    case Kind::prismatic: return JointType::prismatic;
    case Kind::screw: return JointType::screw;
    case Kind::ball: return JointType::ball;
    case Kind::floating: return part < 3 ? JointType::prismatic : JointType::ball;
    case Kind::planar: return part < 2 ? JointType::prismatic : JointType::revolute;
    default: return JointType::revolute;
  }
}

class ModelComparison {
 public:
  ModelComparison(const LoadedModel& ours, const OtherModel& theirs, Comparison& result)
      : loaded_(ours), model_(ours.model), theirs_(theirs), result_(result) {
    kinematics(model_, loaded_.q, kin_);
    body_poses(model_, kin_, X_WB_);
    for (std::size_t b = 0; b < model_.bodies().size(); ++b) bodies_[model_.bodies()[b].name] = static_cast<int>(b);
    for (std::size_t j = 0; j < model_.joints().size(); ++j) joints_[model_.joints()[j].name] = static_cast<int>(j);
  }

  void run() {
    std::size_t links = 1;  // the world
    for (const OtherLink& link : theirs_.links) {
      compare_link(link);
      if (!link.is_world) ++links;
    }
    result_.close("count of links", static_cast<double>(model_.bodies().size()), static_cast<double>(links));
    for (const OtherJoint& joint : theirs_.joints) compare_joint(joint);
    compare_joint_count();
  }

 private:
  void compare_link(const OtherLink& link) {
    const auto found = bodies_.find(link.name);
    if (found == bodies_.end()) return result_.fail(fmt::format("there is no body '{}'", link.name));
    const Pose& X = X_WB_[found->second];
    result_.close("position of link " + link.name, X.p, link.X_WB.p);
    result_.close("orientation of link " + link.name, X.R, link.X_WB.R);
    if (link.is_world) return;
    const SpatialInertia& inertia = model_.bodies()[found->second].inertia;
    result_.close("mass of link " + link.name, inertia.mass, link.mass);
    if (link.mass > 0) result_.close("centre of mass of link " + link.name, inertia.centre(), link.centre);
    result_.close("inertia of link " + link.name, inertia.about_centre(), link.about_centre);
  }

  // The sign of our joint's motion, or 0 where it connects something else: a joint may have been turned round.
  double compare_ends(const OtherJoint& joint, const Body& body) {
    const std::string& parent = model_.bodies()[body.parent].name;
    if (parent == joint.child && body.name == joint.parent) {
      result_.note(fmt::format("joint {} is turned round", joint.name));
      return -1;
    }
    result_.equal("parent of joint " + joint.name, parent, joint.parent);
    result_.equal("child of joint " + joint.name, body.name, joint.child);
    return 1;
  }

  void compare_joint(const OtherJoint& joint) {
    const auto is_loop = [&](const LoopClosure& loop) { return loop.name == joint.name; };
    if (std::ranges::any_of(model_.loops(), is_loop)) {
      return result_.note(fmt::format("joint {} closes a loop", joint.name));
    }
    if (joint.kind == OtherJoint::Kind::fixed) return compare_weld(joint);
    const std::vector<std::string> names = parts_of(joint);
    double sign = 1;
    for (std::size_t i = 0; i < names.size(); ++i) {
      const auto found = joints_.find(names[i]);
      if (found == joints_.end()) return result_.fail(fmt::format("there is no joint '{}'", names[i]));
      const Joint& part = model_.joints()[found->second];
      if (i == 0) sign = compare_ends(joint, model_.bodies()[part.body]);
      result_.equal("type of joint " + part.name, to_string(part.type), to_string(type_of_part(joint, i)));
    }
    if (joint.kind == OtherJoint::Kind::planar) return compare_plane(joint);
    for (std::size_t i = 0; i < joint.axes.size(); ++i) {
      compare_axis(model_.joints()[joints_[names[i]]], joint.axes[i], sign);
    }
    if (joint.kind == OtherJoint::Kind::screw) {
      result_.close("pitch of joint " + joint.name, model_.joints()[joints_[joint.name]].pitch, joint.pitch);
    }
    if (theirs_.has_mimics) compare_mimic(joint);
  }

  void compare_weld(const OtherJoint& joint) {
    const auto child = bodies_.find(joint.child);
    if (child == bodies_.end()) return result_.fail(fmt::format("there is no body '{}'", joint.child));
    const auto parent = bodies_.find(joint.parent);
    const bool turned = parent != bodies_.end() && model_.bodies()[parent->second].parent == BodyIndex(child->second);
    const Body& body = model_.bodies()[turned ? parent->second : child->second];
    result_.close("joints of the welded link " + body.name, static_cast<double>(body.joints.size()), 0);
    compare_ends(joint, body);
  }

  Vec3 direction_of(const Joint& joint) const {
    const Vec6 S = dof_axis(model_, kin_, joint.v_index);
    return joint.type == JointType::prismatic ? S.tail<3>() : S.head<3>();
  }

  // Which x and y span the plane is ours to choose; that they do, and to the right of the normal, is not.
  void compare_plane(const OtherJoint& joint) {
    const auto direction = [&](const char* part) { return direction_of(model_.joints()[joints_[joint.name + part]]); };
    const Vec3 normal = skew(direction(".x")) * direction(".y");
    result_.close("plane of joint " + joint.name, normal, joint.axes[0].direction_W);
    result_.close("axis of joint " + joint.name, direction(".turn"), joint.axes[0].direction_W);
  }

  void compare_axis(const Joint& ours, const OtherAxis& axis, double sign) {
    const auto number = [&](const char* what, double a, double b) {
      result_.close(fmt::format("{} of joint {}", what, ours.name), a, b);
    };
    result_.close("axis of joint " + ours.name, sign * direction_of(ours), axis.direction_W);
    if (axis.limits_may_be_absent && ours.lower == -Joint::kInfinity && ours.upper == Joint::kInfinity) {
      result_.note(fmt::format("joint {} has a <limit> without lower and upper: ours is not limited, theirs {} … {}",
                               ours.name, axis.lower, axis.upper));
    } else {
      number("lower limit", ours.lower, axis.lower);
      number("upper limit", ours.upper, axis.upper);
    }
    number("effort limit", ours.effort_limit, axis.effort_limit);
    number("velocity limit", ours.velocity_limit, axis.velocity_limit);
    number("damping", ours.damping, axis.damping);
    number("friction", ours.dry_friction, axis.dry_friction);
    number("spring stiffness", ours.stiffness, axis.stiffness);
    number("spring rest", ours.rest, axis.rest);
  }

  void compare_mimic(const OtherJoint& joint) {
    const auto is_it = [&](const Mimic& mimic) { return model_.joints()[mimic.joint].name == joint.name; };
    const auto found = std::ranges::find_if(model_.mimics(), is_it);
    const bool ours = found != model_.mimics().end();
    result_.equal("mimic of joint " + joint.name, ours ? "yes" : "no", joint.follows ? "yes" : "no");
    if (!ours || !joint.follows) return;
    result_.equal("source of mimic " + joint.name, model_.joints()[found->source].name, joint.follows->source);
    result_.close("multiplier of mimic " + joint.name, found->multiplier, joint.follows->multiplier);
    result_.close("offset of mimic " + joint.name, found->offset, joint.follows->offset);
  }

  // All of ours are theirs, but those by which a root floats, which no file writes down.
  void compare_joint_count() {
    std::size_t count = 0, floating = 0;
    for (const OtherJoint& joint : theirs_.joints) {
      for (const std::string& name : parts_of(joint)) count += joints_.count(name);
    }
    for (const Body& body : model_.bodies()) {
      const auto is_child = [&](const OtherJoint& joint) {
        return joint.child == body.name || joint.parent == body.name;
      };
      const bool on_world = body.name != "world" && body.parent == Model::world() && body.joints.size() == 4;
      const bool by_name = on_world && model_.joints()[body.joints.back()].type == JointType::ball;
      const auto floats = [&](const OtherJoint& joint) {
        return is_child(joint) && joint.kind == OtherJoint::Kind::floating && joint.parent == "world";
      };
      if (by_name && std::ranges::none_of(theirs_.joints, floats)) floating += 4;
    }
    result_.close("count of joints", static_cast<double>(model_.joints().size() - floating),
                  static_cast<double>(count));
  }

  const LoadedModel& loaded_;
  const Model& model_;
  const OtherModel& theirs_;
  Comparison& result_;
  Kinematics kin_;
  std::vector<Pose> X_WB_;
  std::map<std::string, int> bodies_, joints_;
};

// What one side makes of a file: a model, or the reason why not.
template <class Read>
auto attempt(Read read, std::string& reason) {
  std::optional<decltype(read())> result;
  try {
    result = read();
  } catch (const std::exception& error) {
    reason = error.what();
  }
  return result;
}

}  // namespace

void Comparison::close(const std::string& what, const MatX& ours, const MatX& theirs) {
  ++count_;
  if (ours.rows() == 1 && ours.cols() == 1 && ours(0, 0) == theirs(0, 0)) return;  // infinities too
  const double error = (ours - theirs).cwiseAbs().maxCoeff() / std::max(1.0, theirs.cwiseAbs().maxCoeff());
  if (error <= kTolerance) {
    worst_ = std::max(worst_, error);
    return;
  }
  const auto text = [](const MatX& m) {
    std::string numbers;
    for (const double x : m.reshaped()) numbers += fmt::format(" {:.10g}", x);
    return numbers;
  };
  fail(fmt::format("{}: ours{}, theirs{}", what, text(ours), text(theirs)));
}

void Comparison::close(const std::string& what, double ours, double theirs) {
  close(what, MatX::Constant(1, 1, ours), MatX::Constant(1, 1, theirs));
}

void Comparison::equal(const std::string& what, const std::string& ours, const std::string& theirs) {
  ++count_;
  if (ours != theirs) fail(fmt::format("{}: ours {}, theirs {}", what, ours, theirs));
}

void Comparison::print() const {
  fmt::print("{} {}: {} comparisons, largest difference {:.2g}\n", passed() ? "ok    " : "FAILED", file_, count_,
             worst_);
  for (const std::string& note : notes_) fmt::print("       note: {}\n", note);
  for (std::size_t i = 0; i < std::min(failures_.size(), kMostShown); ++i) fmt::print("       {}\n", failures_[i]);
  if (failures_.size() > kMostShown) fmt::print("       and {} more\n", failures_.size() - kMostShown);
}

void compare(const LoadedModel& ours, const OtherModel& theirs, Comparison& comparison) {
  ModelComparison(ours, theirs, comparison).run();
}

int compare_files(int argc, char** argv, const char* other, OtherReader read) {
  std::vector<std::string> files(argv + 1, argv + argc);
  const bool strangers = !files.empty() && files[0] == "--strangers";
  if (strangers) files.erase(files.begin());
  if (files.empty()) {
    fmt::print(stderr, "usage: {} [--strangers] FILE …\n", argv[0]);
    return 2;
  }
  int compared = 0, refused = 0, failed = 0;
  for (const std::string& file : files) {
    std::string our_reason, their_reason;
    const auto ours = attempt([&] { return load(file); }, our_reason);
    const auto theirs = attempt([&] { return read(file); }, their_reason);
    if (ours && theirs) {
      Comparison comparison(file);
      compare(*ours, *theirs, comparison);
      comparison.print();
      ++compared;
      failed += comparison.passed() ? 0 : 1;
    } else {
      const char* state = !ours && !theirs ? "refused" : strangers ? "one   " : "FAILED";
      fmt::print("{} {}:\n       Lithe: {}\n       {}: {}\n", state, file, ours ? "read" : our_reason, other,
                 theirs ? "read" : their_reason);
      ++refused;
      failed += strangers ? 0 : 1;
    }
  }
  fmt::print("compared with {}: {} files, {} not read by both, {} failed\n", other, compared, refused, failed);
  return failed == 0 && compared > 0 ? 0 : 1;
}

}  // namespace lithe
