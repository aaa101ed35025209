#include "lithe/io/internal/self_collision.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "lithe/io/internal/joined_bodies.h"
#include "lithe/io/internal/overlap_search.h"
#include "lithe/io/internal/sampled_poses.h"

namespace lithe::internal {

namespace {

using Reason = ExceptedPair::Reason;

// Poses in which all pairs are looked at, and poses at most for pairs that these leave open.
constexpr int kFirstRound = 32, kMostPoses = 512;
constexpr int kPosesForShare = 256;  // of pairs that overlap at the start: a share that one can print
constexpr std::size_t kMostExceptedPairs = 200'000;
constexpr std::size_t kMostAllPairs = 1'000'000;
constexpr std::size_t kMostPairsNamed = 4;  // in a warning

// How often a pair of bodies was seen to touch.
struct Sightings {
  int poses = 0, touching = 0;
  int last = -1;  // the last pose in which it did

  // Whether the true share may still be on either side of one half: Wilson's interval with z = 4 holds ½ where
  // |touching/n − ½| ≤ z/(2√n).
  bool is_open() const {
    const int excess = 2 * touching - poses;
    return excess * excess <= 16 * poses;
  }
  bool is_often() const { return poses > 0 && 2 * touching >= poses; }
  double share() const { return poses > 0 ? static_cast<double>(touching) / poses : 0; }
};

// Decides for one robot which pairs of links do not touch. Pairs are numbers (pair_key). A pair is settled once it has
// an exception, be it by the file, an SRDF or one of the steps of run(); later steps pass over it.
class SelfCollision {
 public:
  SelfCollision(const SelfCollisionSearch& search, LoadedModel& loaded, WarningList& warnings)
      : search_(search), loaded_(loaded), warnings_(warnings), model_(loaded.model), overlaps_(loaded.model) {
    for (const Model::PairException& e : model_.pair_exceptions()) settled_.insert(pair_key(e.a, e.b));
  }

  // The order is that of the reasons in docs/files.md: a pair is listed with the first reason that holds.
  void run() {
    except_joined();
    find_start_overlaps();
    sample();
    except_often();
    except_start_overlaps();
    if (overlaps_.is_exhausted()) warn_of_cut();
    if (too_many_) warn_of_many();
  }

 private:
  bool is_settled(std::uint64_t pair) const { return settled_.contains(pair); }
  const std::string& name(BodyIndex body) const { return model_.bodies()[body].name; }

  // Excepts a pair in the builder, and lists it with the reason and with what is known about it by then.
  void except(std::uint64_t pair, Reason reason) {
    if (loaded_.excepted_pairs.size() >= kMostExceptedPairs) {
      too_many_ = true;
      return;
    }
    settled_.insert(pair);
    const BodyPair bodies = bodies_of(pair);
    const auto seen = sightings_.find(pair);
    const auto start = start_.find(pair);
    const Sightings sightings = seen == sightings_.end() ? Sightings{} : seen->second;
    loaded_.builder.set_collision(name(bodies.a), name(bodies.b), false);
    loaded_.excepted_pairs.push_back({.a = name(bodies.a),
                                      .b = name(bodies.b),
                                      .reason = reason,
                                      .poses = sightings.poses,
                                      .share = sightings.share(),
                                      .depth = start == start_.end() ? 0 : start->second});
  }

  // Excepts the pairs of the reason `joined`.
  void except_joined() {
    const RigidParts parts = rigid_parts(model_);
    for (const auto& [inner, outer] : joined_parts(parts)) {
      const RigidParts::Part& child = parts.parts[outer];
      // The model's own rule leaves out parent and child where the parent moves.
      if (child.parent == inner && moves(parts.parts[inner].solid.front())) continue;
      for (const BodyIndex a : parts.parts[inner].solid) {
        for (const BodyIndex b : child.solid) {
          const std::uint64_t pair = pair_key(a, b);
          if (!is_settled(pair)) except(pair, Reason::joined);
          if (too_many_) return;
        }
      }
    }
  }
  bool moves(BodyIndex body) const { return model_.tree().bodies[body].dof >= 0; }

  // Notes which pairs overlap at loaded.q, and how deep: of a pair with several shapes, the deepest overlap counts.
  void find_start_overlaps() {
    overlaps_.place(loaded_.q);
    overlaps_.for_near_shapes([&](int a, int b) {
      const std::uint64_t pair = pair_key(overlaps_.body_of(a), overlaps_.body_of(b));
      if (is_settled(pair)) return;
      const double depth = overlaps_.overlap_depth(a, b);
      if (depth <= 0) return;
      double& deepest = start_[pair];
      deepest = std::max(deepest, depth);
    });
  }

  // Counts in how many poses pairs touch. The first poses are for all pairs. Those pairs for which they do not decide
  // are then looked at in twice as many poses, and so on.
  void sample() {
    SampledPoses poses(model_, loaded_.q);
    for (int pose = 0; pose < kFirstRound; ++pose) {
      overlaps_.place(poses.pose(pose));
      overlaps_.for_near_shapes([&](int a, int b) {
        const std::uint64_t pair = pair_key(overlaps_.body_of(a), overlaps_.body_of(b));
        if (is_settled(pair)) return;
        const auto known = sightings_.find(pair);
        // Another two shapes of the pair were found to touch in this pose already.
        if (known != sightings_.end() && known->second.last == pose) return;
        if (!overlaps_.touch(a, b)) return;
        Sightings& seen = sightings_[pair];
        seen.last = pose;
        ++seen.touching;
      });
      // A pose that was not looked at in full does not count.
      if (overlaps_.is_exhausted()) return cut_at(pose);
      poses_ = pose + 1;
    }
    // Pairs that overlap at the start get a share as well, even if it is 0.
    for (const auto& [pair, depth] : start_) sightings_.try_emplace(pair);
    for (auto& [pair, seen] : sightings_) seen.poses = poses_;

    for (int round = 2 * kFirstRound; round <= kMostPoses; round *= 2) {
      std::vector<std::uint64_t> open;
      for (const auto& [pair, seen] : sightings_) {
        const bool share_wanted = round <= kPosesForShare && start_.contains(pair);
        if (seen.is_open() || share_wanted) open.push_back(pair);
      }
      if (open.empty()) return;
      // The order of a hash table is not the same everywhere, and the work may end in the middle.
      std::ranges::sort(open);
      if (!sample_pairs(open, poses, round)) return;
    }
  }

  // Looks at these pairs in further poses, up to number `until`. False if the work was used up; the pose in which it
  // was does not count.
  bool sample_pairs(const std::vector<std::uint64_t>& pairs, SampledPoses& poses, int until) {
    std::vector<char> touching(pairs.size());
    for (; poses_ < until; ++poses_) {
      overlaps_.place(poses.pose(poses_));
      for (std::size_t i = 0; i < pairs.size(); ++i) touching[i] = overlaps_.touch(bodies_of(pairs[i])) ? 1 : 0;
      if (overlaps_.is_exhausted()) return false;
      for (std::size_t i = 0; i < pairs.size(); ++i) {
        Sightings& seen = sightings_[pairs[i]];
        ++seen.poses;
        seen.touching += touching[i];
      }
    }
    return true;
  }

  // Takes back what was seen in a pose that was not looked at in full. All pairs have been looked at in those before
  // it.
  void cut_at(int pose) {
    for (auto& [pair, seen] : sightings_) {
      if (seen.last == pose) --seen.touching;
      seen.poses = pose;
    }
  }

  // Excepts the pairs of the reason `often`, unless an SRDF lists pairs: then somebody has found them before.
  void except_often() {
    if (!search_.often) return;
    std::vector<std::uint64_t> often;
    for (const auto& [pair, seen] : sightings_) {
      if (seen.is_often()) often.push_back(pair);
    }
    std::ranges::sort(often);
    for (const std::uint64_t pair : often) except(pair, Reason::often);
  }

  // Excepts the pairs of the reason `start`, or with automatic_strict only tells which they are.
  void except_start_overlaps() {
    std::vector<std::uint64_t> left;
    for (const auto& [pair, depth] : start_) {
      if (!is_settled(pair)) left.push_back(pair);
    }
    if (left.empty()) return;
    // The deepest first: that is what the warning names.
    std::ranges::sort(
        left, [&](std::uint64_t x, std::uint64_t y) { return std::pair(-start_[x], x) < std::pair(-start_[y], y); });
    std::string named;
    for (std::size_t i = 0; i < std::min(left.size(), kMostPairsNamed); ++i) {
      const BodyPair bodies = bodies_of(left[i]);
      const Sightings& seen = sightings_[left[i]];
      named += fmt::format("{}{} and {} (by {:.2g} m; they touch in {:.2g} % of poses)", i == 0 ? "" : ", ",
                           name(bodies.a), name(bodies.b), start_[left[i]], 100 * seen.share());
    }
    if (left.size() > kMostPairsNamed) named += fmt::format(" and {} more", left.size() - kMostPairsNamed);
    const char* pairs = left.size() == 1 ? "pair of links overlaps" : "pairs of links overlap";
    if (search_.policy == LoadOptions::SelfCollision::automatic) {
      warnings_.add(search_.place, "self_collision.start",
                    fmt::format("{} {} where the model starts and will never touch: {}; to keep {}, start in "
                                "another pose, or load with self_collision automatic_strict",
                                left.size(), pairs, named, left.size() == 1 ? "it" : "them"));
      for (const std::uint64_t pair : left) except(pair, Reason::start);
    } else {
      warnings_.add(search_.place, "self_collision.overlap",
                    fmt::format("{} {} where the model starts: {}; start in another pose, or load with "
                                "self_collision automatic",
                                left.size(), pairs, named));
    }
  }

  // Tells that the search stopped early, so that somebody can help it.
  void warn_of_cut() {
    warnings_.add(
        search_.place, "self_collision.cut",
        fmt::format("there are so many shapes that overlaps of links were looked for in {} poses only; an SRDF "
                    "can list the pairs that are not to collide",
                    poses_));
  }
  void warn_of_many() {
    warnings_.add(
        search_.place, "self_collision.many",
        fmt::format("more than {} pairs of links are not to collide: the rest do; load with self_collision none",
                    kMostExceptedPairs));
  }

  const SelfCollisionSearch& search_;
  LoadedModel& loaded_;
  WarningList& warnings_;
  const Model& model_;
  OverlapSearch overlaps_;
  int poses_ = 0;  // sampled so far
  bool too_many_ = false;
  std::unordered_set<std::uint64_t> settled_;               // pairs that are decided
  std::unordered_map<std::uint64_t, double> start_;         // depth of what overlaps at the start
  std::unordered_map<std::uint64_t, Sightings> sightings_;  // of what touched at least once
};

// An error of a class that knows no files, as one at a place in the robot's file.
LoadError at_place(const SourcePlace& place, const Error& error) { return LoadError(place, error.what()); }

}  // namespace

void except_self_collisions(const SelfCollisionSearch& search, LoadedModel& loaded, WarningList& warnings) {
  const std::size_t before = loaded.excepted_pairs.size();
  try {
    SelfCollision(search, loaded, warnings).run();
  } catch (const LoadError&) {
    throw;
  } catch (const Error& error) {
    throw at_place(search.place, error);
  }
  if (loaded.excepted_pairs.size() > before) loaded.model = loaded.builder.build();
}

void except_all_pairs(bool one_robot, const SourcePlace& place, LoadedModel& loaded) {
  const Model& model = loaded.model;
  // Per body: the number of its robot, and whether it has shapes. Parents come before their children.
  std::vector<int> robot(model.bodies().size(), 0);
  std::vector<char> solid(model.bodies().size(), 0);
  for (const Shape& shape : model.shapes()) solid[shape.body] = 1;
  std::unordered_map<int, std::vector<BodyIndex>> robots;
  for (std::size_t b = 1; b < robot.size(); ++b) {
    const BodyIndex parent = model.bodies()[b].parent;
    robot[b] = one_robot ? 1 : parent == Model::world() ? static_cast<int>(b) : robot[parent];
    if (solid[b]) robots[robot[b]].push_back(BodyIndex(static_cast<int>(b)));
  }
  // Their number grows with the square of the links, so it is looked at before any pair is excepted.
  std::size_t pairs = 0;
  for (const auto& [top, bodies] : robots) pairs += bodies.size() * (bodies.size() - 1) / 2;
  if (pairs > kMostAllPairs) {
    throw LoadError(place,
                    fmt::format("self_collision none would be {} pairs of links; at most {} are excepted, so give "
                                "fewer links shapes, or none of them groups that meet",
                                pairs, kMostAllPairs));
  }
  if (pairs == 0) return;
  // This goes by the robots' numbers and not by the table, whose order is not the same everywhere.
  for (std::size_t top = 1; top < robot.size(); ++top) {
    const auto found = robots.find(static_cast<int>(top));
    if (found == robots.end()) continue;
    const std::vector<BodyIndex>& bodies = found->second;
    for (std::size_t i = 0; i < bodies.size(); ++i) {
      for (std::size_t k = i + 1; k < bodies.size(); ++k) {
        loaded.builder.set_collision(model.bodies()[bodies[i]].name, model.bodies()[bodies[k]].name, false);
      }
    }
  }
  loaded.model = loaded.builder.build();
}

}  // namespace lithe::internal
