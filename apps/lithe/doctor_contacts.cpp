#include "apps/lithe/doctor_contacts.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "apps/lithe/json.h"
#include "lithe/collision/detect_contacts.h"
#include "lithe/dynamics/body_motion.h"
#include "lithe/dynamics/kinematics.h"

namespace lithe::cli {

std::vector<TouchingPair> touching_pairs(const LoadedModel& loaded) {
  const Model& model = loaded.model;
  const ColliderSet set(model);
  Kinematics kin;
  kinematics(model, loaded.q, kin);
  std::vector<Pose> poses;
  body_poses(model, kin, poses);
  DetectionWorkspace workspace;
  ContactSet contacts;
  detect_contacts(set, poses, workspace, contacts);
  std::map<std::pair<std::string, std::string>, double> deepest;
  for (const Contact& contact : contacts.contacts) {
    const auto body_of = [&](ShapeIndex shape) { return model.bodies()[model.shapes()[shape].body].name; };
    const std::string a = body_of(contact.a), b = body_of(contact.b);
    const auto [known, is_new] = deepest.try_emplace(std::minmax(a, b), -contact.gap);
    if (!is_new) known->second = std::max(known->second, -contact.gap);
  }
  std::vector<TouchingPair> pairs;
  for (const auto& [names, depth] : deepest) pairs.push_back({names.first, names.second, depth});
  return pairs;
}

std::string describe_excepted_pairs(const LoadedModel& loaded) {
  constexpr std::size_t kMostNamed = 3;
  using Reason = ExceptedPair::Reason;
  const auto& pairs = loaded.excepted_pairs;
  if (pairs.empty()) return "";
  std::string reasons;
  for (const Reason reason : {Reason::joined, Reason::often, Reason::start, Reason::srdf}) {
    const auto count = std::ranges::count(pairs, reason, &ExceptedPair::reason);
    if (count > 0) reasons += fmt::format("{}{} {}", reasons.empty() ? "" : ", ", count, to_string(reason));
  }
  std::vector<const ExceptedPair*> sampled;
  for (const ExceptedPair& pair : pairs) {
    if (pair.reason == Reason::often || pair.reason == Reason::start) sampled.push_back(&pair);
  }
  std::ranges::stable_sort(sampled, std::greater{}, &ExceptedPair::share);
  std::string named;
  for (std::size_t i = 0; i < std::min(sampled.size(), kMostNamed); ++i) {
    named += fmt::format("{}{} and {} ({})", i == 0 ? "; " : ", ", sampled[i]->a, sampled[i]->b,
                         describe_reason(*sampled[i]));
  }
  if (sampled.size() > kMostNamed) named += fmt::format(" and {} more", sampled.size() - kMostNamed);
  return fmt::format("{} of links {} not touch: {}{}",
                     pairs.size() == 1 ? "1 pair" : fmt::format("{} pairs", pairs.size()),
                     pairs.size() == 1 ? "does" : "do", reasons, named);
}

std::string touching_json(const std::vector<TouchingPair>& pairs) {
  std::string text;
  for (const TouchingPair& pair : pairs) {
    JsonObject object;
    object.add("a", pair.a).add("b", pair.b).add("depth", pair.depth);
    text += (text.empty() ? "" : ", ") + object.text();
  }
  return "[" + text + "]";
}

std::string excepted_json(const LoadedModel& loaded) {
  std::string text;
  for (const ExceptedPair& pair : loaded.excepted_pairs) {
    JsonObject object;
    object.add("a", pair.a).add("b", pair.b).add("reason", to_string(pair.reason)).add("poses", pair.poses);
    object.add("share", pair.share).add("depth", pair.depth);
    text += (text.empty() ? "" : ", ") + object.text();
  }
  return "[" + text + "]";
}

}  // namespace lithe::cli
