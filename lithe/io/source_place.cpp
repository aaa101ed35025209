#include "lithe/io/source_place.h"

#include <algorithm>

namespace lithe {

namespace {

// Warnings by their rank. An entry is a kind, or what kinds begin with if it ends with '*'. A kind in neither list
// ranks as `motion`, so that a reader's new warning is not hidden because nobody thought of these lists.
constexpr std::string_view kContactKinds[] = {
    "file.*",
    "mesh.*",
    "hull.*",
    "srdf.*",
    "self_collision*",
    "collision.*",
    "urdf.gazebo.mu",
    "urdf.gazebo.friction",
    "urdf.contact.*",
    "urdf.concave",
    "urdf.second.geometry",
    "urdf.shape",
    "urdf.empty_mesh",
    "urdf.many_self_collide",
    "sdf.self_collide",
    "sdf.plane",
    "sdf.ellipsoid",
    "sdf.geometry",
    "sdf.collide_without_contact",
    "sdf.category_bitmask",
    "sdf.friction*",
    "sdf.restitution*",
    "mjcf.friction",
    "mjcf.geom.*",
    "mjcf.pair",
    "mjcf.condim",
    "mjcf.contact.*",
};
// These concern neither motion nor contact: looks, sensors, controllers, and words that no reader knows.
constexpr std::string_view kUnusedKinds[] = {
    "visual.*",
    "urdf.gazebo.contact",
    "urdf.unknown.*",
    "urdf.name",
    "urdf.material*",
    "urdf.second.material",
    "urdf.texture",
    "urdf.rgba",
    "urdf.visual",
    "urdf.safety_controller",
    "urdf.calibration",
    "urdf.transmission*",
    "urdf.ros2_control",
    "urdf.sensor",
    "urdf.mujoco",
    "urdf.gazebo.plugin",
    "urdf.gazebo.sensor",
    "urdf.gazebo.reference",
    "urdf.gazebo.empty",
    "urdf.gazebo.stop",
    "urdf.fixed.mimic",
    "urdf.world_inertia",
    "urdf.type",
    "sdf.unknown.*",
    "sdf.visual_*",
    "sdf.light",
    "sdf.name",
    "sdf.stock_model",
    "sdf.physics_profiles",
    "sdf.sensor",
    "sdf.plugin",
    "sdf.actor",
    "sdf.state",
    "sdf.audio*",
    "sdf.scene",
    "sdf.gui",
    "mjcf.unknown.*",
    "mjcf.sensor",
    "mjcf.texture",
    "mjcf.visual*",
    "mjcf.camera",
    "mjcf.light",
    "mjcf.skin",
    "sdf.projector",
    "sdf.battery",
    "sdf.particle_emitter",
};

// Whether a list of kinds has this one, itself or by an entry that ends with '*'.
template <class Kinds>
bool holds_kind(const Kinds& kinds, std::string_view kind) {
  return std::ranges::any_of(kinds, [&](std::string_view known) {
    return known.ends_with('*') ? kind.starts_with(known.substr(0, known.size() - 1)) : kind == known;
  });
}

}  // namespace

std::string_view to_string(WarningRank rank) {
  return rank == WarningRank::motion ? "motion" : rank == WarningRank::contact ? "contact" : "unused";
}

WarningRank rank_of_warning(std::string_view kind) {
  if (holds_kind(kUnusedKinds, kind)) return WarningRank::unused;
  return holds_kind(kContactKinds, kind) ? WarningRank::contact : WarningRank::motion;
}

std::string to_string(const SourcePlace& place) {
  return place.line > 0 ? fmt::format("{}:{}", place.file, place.line) : place.file;
}

// The length of "file:line: error: " is remembered because it cannot be searched for: a file's name may hold the same
// text.
LoadError::LoadError(const SourcePlace& place, std::string_view what)
    : Error(fmt::format("{}: error: {}", to_string(place), what)),
      place_(place),
      prefix_(to_string(place).size() + std::string_view(": error: ").size()) {}

std::string to_string(const LoadWarning& warning) {
  std::string text = fmt::format("{}: warning: {}", to_string(warning.place), warning.text);
  if (warning.count > 1) text += fmt::format(" (and {} more)", warning.count - 1);
  return text;
}

std::vector<std::string> folded(const std::vector<LoadWarning>& warnings, std::string_view how) {
  std::vector<std::string> lines;
  int unused = 0;
  for (const LoadWarning& warning : warnings) {
    // Things that are not used are summed up only for a caller who can say how to see them.
    if (warning.rank == WarningRank::unused && !how.empty()) {
      unused += warning.count;
    } else {
      lines.push_back(to_string(warning));
    }
  }
  if (unused > 0) {
    lines.push_back(
        fmt::format("{}: note: {} more thing{} in the file {} not used, and change{} neither motion nor contact: {}",
                    warnings.front().place.file, unused, unused == 1 ? "" : "s", unused == 1 ? "is" : "are",
                    unused == 1 ? "s" : "", how));
  }
  return lines;
}

void WarningList::add(const SourcePlace& place, std::string_view kind, std::string_view text,
                      std::optional<WarningRank> rank) {
  if (strict_) throw LoadError(place, text);
  note(place, kind, text, rank);
}

void WarningList::note(const SourcePlace& place, std::string_view kind, std::string_view text,
                       std::optional<WarningRank> rank) {
  // A list holds one warning per kind: the first place speaks for the others, which are counted.
  const auto known = index_.find(std::string(kind));
  if (known != index_.end()) {
    ++warnings_[known->second].count;
    return;
  }
  if (warnings_.size() == kMostKinds) {
    // Kinds hold names from the file, such as those of unknown elements, so a file could be made to fill the memory
    // with them. From here on the last warning stands for all others.
    warnings_.back() = {.place = place,
                        .kind = "more",
                        .text = "there are more kinds of warnings than are worth reading",
                        .count = warnings_.back().kind == "more" ? warnings_.back().count + 1 : 1,
                        .rank = WarningRank::unused};
    return;
  }
  index_.emplace(kind, warnings_.size());
  warnings_.push_back({.place = place,
                       .kind = std::string(kind),
                       .text = std::string(text),
                       .rank = rank ? *rank : rank_of_warning(kind)});
}

std::vector<LoadWarning> WarningList::ranked() const {
  std::vector<LoadWarning> sorted = warnings_;
  // Within a rank, warnings stay in the order in which the reader came upon them.
  std::ranges::stable_sort(sorted, {}, &LoadWarning::rank);
  return sorted;
}

}  // namespace lithe
