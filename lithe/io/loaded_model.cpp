#include "lithe/io/loaded_model.h"

#include <fmt/format.h>

#include <algorithm>

#include "lithe/core/check.h"

namespace lithe {

const Keyframe& LoadedModel::keyframe(std::string_view wanted) const {
  const auto found = std::ranges::find(keyframes, wanted, &Keyframe::name);
  if (found != keyframes.end()) return *found;
  LITHE_CHECK(!keyframes.empty(), "there is no keyframe '{}': '{}' has none", wanted, name);
  // A file may have thousands of keyframes, which nobody wants to read in a message.
  constexpr std::size_t kMostNamed = 20;
  std::vector<std::string> known;
  for (const Keyframe& keyframe : keyframes) {
    if (known.size() < kMostNamed) known.push_back(fmt::format("'{}'", keyframe.name));
  }
  throw Error(fmt::format("there is no keyframe '{}'; '{}' has {}{}", wanted, name, fmt::join(known, ", "),
                          known.size() < keyframes.size() ? " …" : ""));
}

// These are the words by which docs/files.md calls the reasons.
const char* to_string(ExceptedPair::Reason reason) {
  switch (reason) {
    case ExceptedPair::Reason::joined: return "joined";
    case ExceptedPair::Reason::often: return "often";
    case ExceptedPair::Reason::start: return "start";
    case ExceptedPair::Reason::srdf: return "srdf";
  }
  return "unknown";
}

std::string describe_reason(const ExceptedPair& pair) {
  const std::string share = fmt::format("touch in {:.0f} % of poses", 100 * pair.share);
  switch (pair.reason) {
    case ExceptedPair::Reason::joined: return "they are joined, directly or through links without mass or shapes";
    case ExceptedPair::Reason::often: return "they " + share;
    case ExceptedPair::Reason::start:
      // A search that was cut short may have sampled no pose for the pair; then there is no share to tell.
      return fmt::format("they overlap by {:.2g} m where the model starts{}", pair.depth,
                         pair.poses > 0 ? ", and " + share : "");
    case ExceptedPair::Reason::srdf: return "an SRDF says so";
  }
  return "the reason is unknown";
}

}  // namespace lithe
