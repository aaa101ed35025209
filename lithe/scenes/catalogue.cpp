#include "lithe/scenes/catalogue.h"

#include <algorithm>
#include <iterator>

#include "lithe/core/check.h"
#include "lithe/core/suggest.h"
#include "lithe/scenes/chain.h"
#include "lithe/scenes/free_bodies.h"
#include "lithe/scenes/humanoid.h"
#include "lithe/scenes/pendulum.h"

namespace lithe {

namespace {

struct Entry {
  std::string_view name;
  ModelBuilder (*make)();
};

constexpr Entry kScenes[] = {
    {"boxes", [] { return boxes(9); }},
    {"chain", [] { return chain(16); }},
    {"double_pendulum", double_pendulum},
    {"humanoid", humanoid},
    {"pendulum", pendulum},
    {"tumbling_body", tumbling_body},
};

}  // namespace

std::vector<std::string> scene_names() {
  std::vector<std::string> names;
  for (const Entry& entry : kScenes) names.emplace_back(entry.name);
  return names;
}

ModelBuilder scene(std::string_view name) {
  const auto found = std::ranges::find(kScenes, name, &Entry::name);
  if (found == std::end(kScenes)) {
    std::vector<std::string_view> known;
    for (const Entry& entry : kScenes) known.push_back(entry.name);
    LITHE_CHECK(false, "there is no scene named '{}'{}", name, did_you_mean(name, known));
  }
  return found->make();
}

}  // namespace lithe
