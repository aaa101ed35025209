#include "lithe/io/write_srdf.h"

#include <filesystem>
#include <fstream>
#include <unordered_map>

#include "lithe/collision/collider_set.h"
#include "lithe/io/internal/overlap_search.h"
#include "lithe/io/urdf/elements.h"

namespace lithe {

using namespace internal;

namespace {

// The name of the virtual joint of a floating base, as Pinocchio calls it. The reader of SRDFs knows it, too.
constexpr const char* kRootJoint = "root_joint";

// The attribute `reason` of <disable_collisions>, in the words that MoveIt's Setup Assistant uses.
const char* moveit_word(ExceptedPair::Reason reason) {
  switch (reason) {
    case ExceptedPair::Reason::joined: return "Adjacent";
    case ExceptedPair::Reason::often: return "Always";
    case ExceptedPair::Reason::start: return "Default";
    case ExceptedPair::Reason::srdf: return "User";
  }
  return "User";
}

// Writes the document from front to back: states first, because pairs may be many.
class SrdfWriter {
 public:
  explicit SrdfWriter(const LoadedModel& loaded) : loaded_(loaded), model_(loaded.model) {}

  std::string write() {
    xml_ = fmt::format("<?xml version=\"1.0\"?>\n<robot name=\"{}\">\n", escaped(loaded_.name));
    if (!loaded_.keyframes.empty()) write_states();
    write_pairs();
    return xml_ + "</robot>\n";
  }

 private:
  // The body that floats, or null. It hangs on the world by the four joints of free_joint(), of which the last is a
  // ball.
  const Body* root() const {
    for (const Body& body : model_.bodies()) {
      if (body.parent != Model::world() || body.joints.size() != 4) continue;
      if (model_.joints()[body.joints.back()].type == JointType::ball) return &body;
    }
    return nullptr;
  }

  // Writes the keyframes as states of one group that has all joints. The base's seven numbers, a position and a
  // quaternion (x, y, z, w), stand under the virtual joint, since its four joints are none of the URDF's.
  void write_states() {
    const Body* floating = root();
    if (floating) {
      xml_ += fmt::format("  <virtual_joint name=\"{}\" type=\"floating\" parent_frame=\"world\" child_link=\"{}\"/>\n",
                          kRootJoint, escaped(floating->name));
    }
    std::vector<char> is_root(model_.joints().size(), 0);
    if (floating) {
      for (const JointIndex j : floating->joints) is_root[j] = 1;
    }
    const auto values = [](const VecX& q, int at, int count) {
      std::string text;
      for (int k = 0; k < count; ++k) text += (k == 0 ? "" : " ") + number_text(q[at + k]);
      return text;
    };
    xml_ += "  <group name=\"all\">\n";
    for (std::size_t j = 0; j < model_.joints().size(); ++j) {
      if (!is_root[j]) xml_ += fmt::format("    <joint name=\"{}\"/>\n", escaped(model_.joints()[j].name));
    }
    xml_ += "  </group>\n";
    for (const Keyframe& keyframe : loaded_.keyframes) {
      xml_ += fmt::format("  <group_state name=\"{}\" group=\"all\">\n", escaped(keyframe.name));
      const auto add = [&](const std::string& joint, int at, int count) {
        xml_ += fmt::format("    <joint name=\"{}\" value=\"{}\"/>\n", escaped(joint), values(keyframe.q, at, count));
      };
      if (floating) add(kRootJoint, model_.joints()[floating->joints.front()].q_index, 7);
      for (std::size_t j = 0; j < model_.joints().size(); ++j) {
        const Joint& joint = model_.joints()[j];
        if (!is_root[j]) add(joint.name, joint.q_index, joint.nq());
      }
      xml_ += "  </group_state>\n";
    }
  }

  // Whether any shape of one body may touch any shape of the other.
  bool may_touch(const ColliderSet& set, int a, int b) const {
    for (const int x : shapes_[a]) {
      for (const int y : shapes_[b]) {
        if (set.may_touch(ShapeIndex(x), ShapeIndex(y))) return true;
      }
    }
    return false;
  }

  // Lists every pair of links with shapes that the model keeps apart, whatever the reason, so that who reads the SRDF
  // need not search again. Where no reason was recorded, the model's own rule separates them, as it does a parent and
  // its child.
  void write_pairs() {
    const ColliderSet set(model_);
    shapes_.resize(model_.bodies().size());
    for (const Collider& c : set.colliders()) shapes_[c.body].push_back(c.shape);
    std::unordered_map<std::uint64_t, const char*> reasons;
    for (const Model::PairException& e : model_.pair_exceptions()) reasons[pair_key(e.a, e.b)] = "User";
    for (const ExceptedPair& pair : loaded_.excepted_pairs) {
      reasons[pair_key(model_.body(pair.a), model_.body(pair.b))] = moveit_word(pair.reason);
    }
    for (std::size_t a = 1; a < shapes_.size(); ++a) {
      for (std::size_t b = a + 1; b < shapes_.size(); ++b) {
        const int x = static_cast<int>(a), y = static_cast<int>(b);
        if (shapes_[a].empty() || shapes_[b].empty() || may_touch(set, x, y)) continue;
        const auto known = reasons.find(pair_key(x, y));
        xml_ += fmt::format("  <disable_collisions link1=\"{}\" link2=\"{}\" reason=\"{}\"/>\n",
                            escaped(model_.bodies()[a].name), escaped(model_.bodies()[b].name),
                            known == reasons.end() ? "Adjacent" : known->second);
      }
    }
  }

  const LoadedModel& loaded_;
  const Model& model_;
  std::string xml_;
  std::vector<std::vector<int>> shapes_;  // per body
};

}  // namespace

std::string write_srdf(const LoadedModel& loaded) { return SrdfWriter(loaded).write(); }

void save_srdf(const LoadedModel& loaded, const std::string& path) {
  std::ofstream stream(path, std::ios::binary);
  stream << write_srdf(loaded);
  stream.close();
  LITHE_CHECK(stream.good(), "{} cannot be written", path);
}

}  // namespace lithe
