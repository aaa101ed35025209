#include "lithe/io/loaded_model.h"

#include <algorithm>

namespace lithe {

const Keyframe& LoadedModel::keyframe(std::string_view wanted) const {
  const auto found = std::ranges::find(keyframes, wanted, &Keyframe::name);
  if (found != keyframes.end()) return *found;
  std::string names;
  for (const Keyframe& key : keyframes) names += fmt::format("{}\"{}\"", names.empty() ? "" : ", ", key.name);
  throw Error(fmt::format("{} has no keyframe \"{}\"; {}", name, wanted,
                          names.empty() ? "it has none at all" : "it has " + names));
}

}  // namespace lithe
