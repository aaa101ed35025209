#include "lithe/io/load_limits.h"

#include <limits>
#include <variant>

#include "lithe/core/check.h"

namespace lithe {

namespace {

// A limit by the name that users give it. Sizes in bytes are std::size_t, counts are int.
struct NamedLimit {
  std::string_view name;
  std::variant<std::size_t LoadLimits::*, int LoadLimits::*> member;
};

// Every member of LoadLimits stands here, so that each can be set on the command line (--limit NAME=VALUE).
constexpr NamedLimit kNamedLimits[] = {
    {"xml_bytes", &LoadLimits::xml_bytes},
    {"mesh_bytes", &LoadLimits::mesh_bytes},
    {"total_bytes", &LoadLimits::total_bytes},
    {"elements", &LoadLimits::elements},
    {"include_depth", &LoadLimits::include_depth},
    {"included_files", &LoadLimits::included_files},
    {"mesh_vertices", &LoadLimits::mesh_vertices},
    {"mesh_triangles", &LoadLimits::mesh_triangles},
    {"convex_points", &LoadLimits::convex_points},
    {"hull_points", &LoadLimits::hull_points},
    {"shapes", &LoadLimits::shapes},
    {"bodies", &LoadLimits::bodies},
};

}  // namespace

std::vector<std::string_view> load_limit_names() {
  std::vector<std::string_view> names;
  for (const NamedLimit& limit : kNamedLimits) names.push_back(limit.name);
  return names;
}

void set_load_limit(LoadLimits& limits, std::string_view name, std::uint64_t value) {
  for (const NamedLimit& limit : kNamedLimits) {
    if (limit.name != name) continue;
    std::visit(
        [&]<class Value>(Value LoadLimits::* member) {
          // Readers multiply limits by small numbers, such as three coordinates per vertex; that must not overflow.
          constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<Value>::max() / 4);
          LITHE_CHECK(value <= kMost, "the limit {} is {}, but can be {} at most", name, value, kMost);
          limits.*member = static_cast<Value>(value);
        },
        limit.member);
    return;
  }
  std::string all;
  for (const NamedLimit& limit : kNamedLimits) all += fmt::format("{}{}", all.empty() ? "" : ", ", limit.name);
  throw Error(fmt::format("there is no limit called '{}'; there are {}", name, all));
}

std::string raise_load_limit(std::string_view name) {
  return fmt::format("raise LoadLimits::{0} (on the command line: --limit {0}=…)", name);
}

std::string shown_bytes(std::uint64_t bytes) {
  constexpr double kMegabyte = 1 << 20;
  // A message that compares two small sizes needs them exactly.
  if (bytes < 100'000) return fmt::format("{} bytes", bytes);
  return fmt::format("{:.4g} MB", static_cast<double>(bytes) / kMegabyte);
}

}  // namespace lithe
