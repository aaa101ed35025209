#include "lithe/io/loaded_model.h"

#include <fmt/format.h>

#include <algorithm>

#include "lithe/core/check.h"

namespace lithe {

const Keyframe& LoadedModel::keyframe(std::string_view wanted) const {
  const auto found = std::ranges::find(keyframes, wanted, &Keyframe::name);
  if (found != keyframes.end()) return *found;
  LITHE_CHECK(!keyframes.empty(), "there is no keyframe '{}': '{}' has none", wanted, name);
  constexpr std::size_t kMostNamed = 20;
  std::vector<std::string> known;
  for (const Keyframe& keyframe : keyframes) {
    if (known.size() < kMostNamed) known.push_back(fmt::format("'{}'", keyframe.name));
  }
  throw Error(fmt::format("there is no keyframe '{}'; '{}' has {}{}", wanted, name, fmt::join(known, ", "),
                          known.size() < keyframes.size() ? " …" : ""));
}

}  // namespace lithe
