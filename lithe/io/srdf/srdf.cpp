#include "lithe/io/srdf/srdf.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <unordered_map>
#include <unordered_set>

#include "lithe/core/internal/suggest.h"
#include "lithe/io/internal/sampled_poses.h"

namespace lithe::internal {

namespace fs = std::filesystem;

namespace {

constexpr int kMostStateNumbers = 7;               // x y z and a quaternion
constexpr std::size_t kMostSilentPairs = 200'000;  // a few <disable_default_collisions> can mean very many

// Reads <disable_collisions> or <enable_collisions>. The attribute `reason` is for people and not read.
Srdf::Pair read_pair(const XmlElement& element) {
  return {.a = element.required_attribute("link1"), .b = element.required_attribute("link2"), .place = element.place()};
}

// Reads a <group_state>. MoveIt keeps states for each group, so that one state of the robot often stands in several
// elements of that name; `index` finds the state of a name again.
void read_state(const XmlElement& element, Srdf& srdf, std::unordered_map<std::string, std::size_t>& index) {
  const std::string name = element.required_attribute("name");
  const auto [known, is_new] = index.try_emplace(name, srdf.states.size());
  if (is_new) srdf.states.push_back({.name = name});
  Srdf::State& state = srdf.states[known->second];
  for (const XmlElement& joint : element.children("joint")) {
    state.positions.push_back({.joint = joint.required_attribute("name"),
                               .values = joint.numbers("value", 1, kMostStateNumbers),
                               .place = joint.place()});
  }
}

// Warns of elements such as <disable_collision>, which no program knows, though their author meant something by them.
void warn_of_misspelt(const XmlElement& element, WarningList& warnings) {
  const std::string_view name = element.name();
  if (!name.starts_with("disable") && !name.starts_with("enable")) return;
  warnings.add(element.place(), fmt::format("srdf.unknown.{}", name),
               fmt::format("<{}> in an SRDF is not known and was ignored; it is <disable_collisions>, "
                           "<disable_default_collisions> or <enable_collisions>",
                           name));
}

// Puts what an SRDF says into a model that is built already, by the names of links and joints.
class SrdfInto {
 public:
  // Names are looked up very often, so the model's are put into tables first.
  SrdfInto(const Srdf& srdf, LoadedModel& loaded, WarningList& warnings)
      : srdf_(srdf), loaded_(loaded), model_(loaded.model), warnings_(warnings), solid_(model_.bodies().size(), 0) {
    for (std::size_t b = 0; b < model_.bodies().size(); ++b) {
      bodies_.emplace(model_.bodies()[b].name, static_cast<int>(b));
    }
    for (std::size_t j = 0; j < model_.joints().size(); ++j) {
      joints_.emplace(model_.joints()[j].name, static_cast<int>(j));
    }
    for (const Shape& shape : model_.shapes()) solid_[shape.body] = 1;
    // What the URDF itself separates (Gazebo's selfCollide) is separate already.
    for (const Model::PairException& e : model_.pair_exceptions()) settled_.insert(key(e.a, e.b));
  }

  // Sets the pairs of links that do or do not collide. Returns whether the file lists any that are here.
  bool add_pairs() {
    bool listed = false;
    // Who is to collide does, whoever else says otherwise.
    for (const Srdf::Pair& pair : srdf_.enabled) {
      const int a = find_link(pair.a, pair.place), b = find_link(pair.b, pair.place);
      if (a < 0 || b < 0 || a == b) continue;
      settled_.insert(key(a, b));
      loaded_.builder.set_collision(pair.a, pair.b, true);
      listed = true;
    }
    for (const Srdf::Silent& silent : srdf_.silent) {
      const int link = find_link(silent.link, silent.place);
      if (link < 0) continue;
      listed = true;
      for (std::size_t other = 1; other < model_.bodies().size(); ++other) {
        except(link, static_cast<int>(other), silent.place);
      }
    }
    for (const Srdf::Pair& pair : srdf_.disabled) {
      const int a = find_link(pair.a, pair.place), b = find_link(pair.b, pair.place);
      if (a < 0 || b < 0) continue;
      listed = true;
      except(a, b, pair.place);
    }
    return listed;
  }

  // Makes a keyframe of each state that places at least one joint of the model. Velocities and motor targets are 0.
  void add_states() {
    for (const Srdf::State& state : srdf_.states) {
      VecX q = loaded_.q;
      bool covers = false;
      for (const Srdf::Position& position : state.positions) covers = set_position(state, position, q) || covers;
      if (!covers) continue;
      follow_mimics(model_, q);
      loaded_.keyframes.push_back({.name = state.name,
                                   .q = std::move(q),
                                   .v = VecX::Zero(model_.nv()),
                                   .motor_targets = VecX::Zero(static_cast<Eigen::Index>(model_.motors().size()))});
    }
  }

 private:
  static std::uint64_t key(int a, int b) {
    return static_cast<std::uint64_t>(std::min(a, b)) << 32 | static_cast<std::uint64_t>(std::max(a, b));
  }

  // The body of that name; −1, with a warning, if there is none.
  int find_link(const std::string& name, const SourcePlace& place) {
    const auto found = bodies_.find(name);
    if (found != bodies_.end()) return found->second;
    warnings_.add(place, "srdf.link",
                  fmt::format("the SRDF speaks of a link '{}' that the model does not have", shortened(name)));
    return -1;
  }

  // Excepts a pair of links that is not settled yet. Links without shapes touch nothing, so they need no exception.
  void except(int a, int b, const SourcePlace& place) {
    if (a == b || !solid_[a] || !solid_[b] || !settled_.insert(key(a, b)).second) return;
    if (loaded_.excepted_pairs.size() >= kMostSilentPairs) {
      throw LoadError(place, fmt::format("the SRDF disables more than {} pairs of links", kMostSilentPairs));
    }
    const std::string &first = model_.bodies()[a].name, &second = model_.bodies()[b].name;
    loaded_.builder.set_collision(first, second, false);
    loaded_.excepted_pairs.push_back({.a = first, .b = second, .reason = ExceptedPair::Reason::srdf});
  }

  // The joint of that name, or null. Fixed joints are not among the model's joints.
  const Joint* find_joint(const std::string& name) const {
    const auto found = joints_.find(name);
    return found == joints_.end() ? nullptr : &model_.joints()[found->second];
  }

  // The first of the joints x, y, z, ball by which the root floats.
  const Joint* root_joint() const {
    for (const Body& body : model_.bodies()) {
      if (body.joints.size() != 4 || body.parent != Model::world()) continue;
      return &model_.joints()[body.joints.front()];
    }
    return nullptr;
  }

  // Whether a state speaks of the base by this name: a <virtual_joint> of the file, or Pinocchio's name for it.
  bool is_root(const std::string& name) const {
    return name == "root_joint" || std::ranges::find(srdf_.root_joints, name) != srdf_.root_joints.end();
  }

  // Puts a joint where a state has it, as Pinocchio and MoveIt write it: by a number; by cosine and sine for a joint
  // that turns without end; by x y z and a quaternion (x y z w) for one that floats; and in a plane by x y and an
  // angle, or its cosine and sine. Returns whether the joint is here.
  bool set_position(const Srdf::State& state, const Srdf::Position& position, VecX& q) {
    const VecX& values = position.values;
    const Joint* joint = find_joint(position.joint);
    if (joint && joint->type == JointType::ball) return set_quaternion(position, values, joint->q_index, q);
    if (joint) {
      const bool turns = joint->type == JointType::revolute;
      if (values.size() == 1) {
        q[joint->q_index] = values[0];
      } else if (values.size() == 2 && turns && values.norm() > 0) {
        q[joint->q_index] = std::atan2(values[1], values[0]);
      } else {
        return refuse(position);
      }
      return true;
    }
    // A floating or planar joint has become several joints, whose names begin with its name.
    joint = find_joint(position.joint + ".x");
    if (!joint && is_root(position.joint)) {
      joint = root_joint();
      if (!joint) return false;  // the base is held, and the state leaves it there
    }
    if (!joint) {
      warnings_.add(position.place, "srdf.joint",
                    fmt::format("the state '{}' of the SRDF speaks of joint '{}', which is not there or does not move",
                                shortened(state.name), shortened(position.joint)));
      return false;
    }
    const bool planar = find_joint(position.joint + ".turn") != nullptr;
    if (planar && (values.size() == 3 || values.size() == 4)) {
      q.segment<2>(joint->q_index) = values.head<2>();
      q[joint->q_index + 2] = values.size() == 3 ? values[2] : std::atan2(values[3], values[2]);
      return true;
    }
    if (planar || values.size() != 7) return refuse(position);
    if (!set_quaternion(position, values.tail<4>(), joint->q_index + 3, q)) return false;
    q.segment<3>(joint->q_index) = values.head<3>();
    return true;
  }

  // Four numbers that are no rotation are refused; others are normalised.
  bool set_quaternion(const Srdf::Position& position, const VecX& values, int at, VecX& q) {
    if (values.size() != 4 || !(values.norm() > 1e-9)) return refuse(position);
    q.segment<4>(at) = values.normalized();
    return true;
  }

  // Warns that the numbers of a state do not fit the joint.
  bool refuse(const Srdf::Position& position) {
    warnings_.add(position.place, "srdf.value",
                  fmt::format("joint '{}' cannot be where the SRDF says, by {} numbers: it stays where it was",
                              shortened(position.joint), position.values.size()));
    return false;
  }

  const Srdf& srdf_;
  LoadedModel& loaded_;
  const Model& model_;
  WarningList& warnings_;
  std::unordered_map<std::string, int> bodies_, joints_;
  std::vector<char> solid_;  // bodies with shapes
  std::unordered_set<std::uint64_t> settled_;
};

}  // namespace

Srdf read_srdf(const XmlElement& robot, WarningList& warnings) {
  if (robot.name() != "robot") {
    robot.fail(fmt::format("<{}> is no SRDF: its root element is <robot>", robot.name()));
  }
  Srdf srdf;
  std::unordered_map<std::string, std::size_t> states;
  for (const XmlElement& element : robot.children()) {
    const std::string_view name = element.name();
    if (name == "link" || name == "joint") {
      element.fail(fmt::format("<{}> in an SRDF: this is a URDF, not the SRDF that goes with one", name));
    } else if (name == "disable_collisions") {
      srdf.disabled.push_back(read_pair(element));
    } else if (name == "enable_collisions") {
      srdf.enabled.push_back(read_pair(element));
    } else if (name == "disable_default_collisions") {
      srdf.silent.push_back({element.required_attribute("link"), element.place()});
    } else if (name == "group_state") {
      read_state(element, srdf, states);
    } else if (name == "virtual_joint") {
      srdf.root_joints.push_back(element.required_attribute("name"));
    } else {
      warn_of_misspelt(element, warnings);
    }
  }
  return srdf;
}

std::string find_srdf(const std::string& urdf, const LoadOptions& options, WarningList& warnings) {
  std::error_code error;
  const fs::path folder = fs::weakly_canonical(fs::absolute(urdf).parent_path(), error);
  if (error) return {};
  const fs::path above = folder.parent_path();
  const std::string name = fs::path(urdf).stem().string() + ".srdf";
  for (const fs::path& candidate : {folder / name, above / "srdf" / name}) {
    if (!fs::is_regular_file(candidate, error)) continue;
    const fs::path real = fs::weakly_canonical(candidate, error);
    if (error) continue;
    const bool inside = std::mismatch(above.begin(), above.end(), real.begin(), real.end()).first == above.end();
    if (inside || options.anywhere) return real.string();
    warnings.add(
        {candidate.string()}, "srdf.outside",
        fmt::format("this SRDF leads to {}, outside the folders that the model may read, and is not read; give "
                    "its name (LoadOptions::srdf, on the command line --srdf)",
                    real.string()));
  }
  return {};
}

bool apply_srdf(const Srdf& srdf, LoadedModel& loaded, WarningList& warnings) {
  const std::size_t before = loaded.excepted_pairs.size();
  SrdfInto into(srdf, loaded, warnings);
  const bool listed = into.add_pairs();
  into.add_states();
  if (listed || loaded.excepted_pairs.size() > before) loaded.model = loaded.builder.build();
  return listed;
}

}  // namespace lithe::internal
