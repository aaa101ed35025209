#include "lithe/io/internal/start_state.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "lithe/collision/detect_contacts.h"
#include "lithe/dynamics/body_motion.h"

namespace lithe::internal {

namespace {

constexpr const char* kHome = "home";
constexpr double kDeep = 5e-3;            // m: by more than this a loop is open, or a shape inside another
constexpr std::size_t kMostShapes = 300;  // with more, overlaps are not looked for
constexpr double kArm = 0.1;              // m: an angle between welded frames counts as the way of a point so far out

// What is wrong with a state, in m: how wide the widest loop is open, and how deep the deepest overlap of two shapes
// is.
struct Trouble {
  double open_loop = 0, overlap = 0;
  double worst() const { return std::max(open_loop, overlap); }
};

// How wide a loop is open. A ball has to bring two points together. A weld has to turn two frames alike as well, and
// the angle between them counts as the way of a point at a distance of kArm.
double gap_of(const LoopClosure& loop, const std::vector<Pose>& X_WB) {
  const Pose apart = (X_WB[loop.a] * loop.placement_a).inverse() * (X_WB[loop.b] * loop.placement_b);
  const double distance = apart.p.norm();
  if (loop.kind == LoopClosure::Kind::ball) return distance;
  const double cosine = std::clamp(0.5 * (apart.R.trace() - 1), -1.0, 1.0);
  return std::max(distance, kArm * std::acos(cosine));
}

// Finds out what is wrong with states of one model.
class StateInspector {
 public:
  // Of very many shapes, which may all lie in one another, none are looked at: it would take long.
  explicit StateInspector(const Model& model) : model_(model) {
    if (model.shapes().size() <= kMostShapes) colliders_.emplace(model);
  }

  // What is wrong with the state q. Where a loop is open, overlaps are not looked for.
  Trouble inspect(const VecX& q) {
    kinematics(model_, q, kin_);
    body_poses(model_, kin_, poses_);
    Trouble trouble;
    for (const LoopClosure& loop : model_.loops()) {
      trouble.open_loop = std::max(trouble.open_loop, gap_of(loop, poses_));
    }
    // An open loop is bad enough, and cheaper to find than an overlap.
    if (trouble.open_loop > kDeep || !colliders_) return trouble;
    detect_contacts(*colliders_, poses_, workspace_, contacts_);
    for (const Contact& contact : contacts_.contacts) trouble.overlap = std::max(trouble.overlap, -contact.gap);
    return trouble;
  }

 private:
  const Model& model_;
  std::optional<ColliderSet> colliders_;
  Kinematics kin_;
  std::vector<Pose> poses_;
  DetectionWorkspace workspace_;
  ContactSet contacts_;
};

// Why the model should not start in the pose of the file. Empty where that pose is good, and where `instead` is no
// better.
std::string trouble_of_the_pose(const LoadedModel& loaded, const Keyframe& instead) {
  if (instead.q == loaded.q) return {};
  StateInspector inspector(loaded.model);
  const Trouble here = inspector.inspect(loaded.q);
  if (here.worst() <= kDeep || inspector.inspect(instead.q).worst() >= here.worst()) return {};
  return here.open_loop > kDeep
             ? fmt::format("in the pose of the file a loop is open by {:.3g} m", here.open_loop)
             : fmt::format("in the pose of the file shapes lie {:.3g} m deep in one another", here.overlap);
}

// Makes the keyframe the state in which the model starts, and says so.
void start_in(LoadedModel& loaded, const Keyframe& key, const std::string& why) {
  loaded.q = key.q;
  loaded.v = key.v;
  loaded.motor_targets = key.motor_targets;
  loaded.start = fmt::format("keyframe \"{}\"{}{}", key.name, why.empty() ? "" : ": ", why);
}

}  // namespace

void choose_start(LoadedModel& loaded, const std::string& wanted) {
  if (wanted == kPoseOfTheFile) return;
  if (!wanted.empty()) {
    start_in(loaded, loaded.keyframe(wanted), "");
    return;
  }
  if (loaded.keyframes.empty()) return;
  const auto home = std::ranges::find(loaded.keyframes, kHome, &Keyframe::name);
  if (home != loaded.keyframes.end()) {
    start_in(loaded, *home, "");
    return;
  }
  const std::string why = trouble_of_the_pose(loaded, loaded.keyframes.front());
  if (!why.empty()) start_in(loaded, loaded.keyframes.front(), why);
}

}  // namespace lithe::internal
