#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "lithe/core/check.h"

namespace lithe {

// A place in a file that is being read: "robot.urdf:12". Line 0 means the file as a whole (and is not printed).
struct SourcePlace {
  std::string file = {};
  int line = 0;
};
std::string to_string(const SourcePlace& place);

// Says what is wrong with a file, where, and what to do about it: "robot.urdf:12: error: …".
class LoadError : public Error {
 public:
  LoadError(const SourcePlace& place, std::string_view what);
  const SourcePlace& place() const { return place_; }
  std::string text() const { return what() + prefix_; }  // without the place

 private:
  SourcePlace place_;
  std::size_t prefix_;  // the length of "file:line: error: " in what()
};

// A LoadError whose only reason is that a file is not there. Readers that can do without the file catch it.
class MissingFile : public LoadError {
  using LoadError::LoadError;
};

// How much a warning matters, what matters most first.
enum class WarningRank {
  motion,   // the model moves otherwise than the file may mean
  contact,  // it moves as meant, but touches otherwise
  unused    // nothing that moves or touches is concerned: looks, sensors, controllers, and what no reader knows
};
std::string_view to_string(WarningRank rank);  // "motion", "contact", "unused"
// The rank of a kind of warning. An unknown kind ranks as `motion`.
WarningRank rank_of_warning(std::string_view kind);

// Something that a file says and the model cannot hold, that looks like a mistake, or that the file leaves open. A kind
// has one warning: `count` places had it, and `place` and `text` are those of the first.
struct LoadWarning {
  SourcePlace place;
  std::string kind;  // short and constant, e.g. "urdf.transmission"
  std::string text;
  int count = 1;
  WarningRank rank = WarningRank::motion;
};
std::string to_string(const LoadWarning& warning);  // "robot.urdf:12: warning: … (and 4 more)"

// The warnings as lines for people. Those of rank `unused` become one line that counts them and names `how` to see them
// all ("lithe doctor robot.urdf"). With an empty `how` every warning has a line of its own.
std::vector<std::string> folded(const std::vector<LoadWarning>& warnings, std::string_view how);

// The warnings of one load. A strict list throws the first of them as a LoadError instead.
class WarningList {
 public:
  explicit WarningList(bool strict = false) : strict_(strict) {}
  // Adds a warning. `rank` is given where the kind alone does not tell it (rank_of_warning).
  void add(const SourcePlace& place, std::string_view kind, std::string_view text,
           std::optional<WarningRank> rank = std::nullopt);
  // Tells something that the file leaves open, which is no fault of the file: a strict list does not throw it either.
  void note(const SourcePlace& place, std::string_view kind, std::string_view text,
            std::optional<WarningRank> rank = std::nullopt);
  const std::vector<LoadWarning>& warnings() const { return warnings_; }
  std::vector<LoadWarning> ranked() const;  // those that matter most first, otherwise in their order

 private:
  static constexpr std::size_t kMostKinds = 1000;

  bool strict_;
  std::vector<LoadWarning> warnings_;
  std::unordered_map<std::string, std::size_t> index_;  // by kind
};

}  // namespace lithe
