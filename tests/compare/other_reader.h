#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lithe/io/loaded_model.h"

namespace lithe {

// What another program's library reads from a robot file, in terms that both sides share, and the comparison with what Lithe reads.
// The programs only translate: compare_urdfdom.cpp and compare_sdformat.cpp.

struct OtherLink {
  std::string name;
  Pose X_WB = {};  // where the file puts it
  double mass = 0;
  Vec3 centre = Vec3::Zero();        // in the link's frame
  Mat3 about_centre = Mat3::Zero();  // in the link's axes
  bool is_world = false;             // the world itself, whose inertia means nothing
};

struct OtherAxis {
  Vec3 direction_W = Vec3::UnitZ();
  double lower = -Joint::kInfinity, upper = Joint::kInfinity;
  bool limits_may_be_absent = false;  // lower and upper may stand for nothing that is written
  double effort_limit = Joint::kInfinity, velocity_limit = Joint::kInfinity;
  double damping = 0, dry_friction = 0, stiffness = 0, rest = 0;
};

struct OtherJoint {
  struct Follows {
    std::string source;
    double multiplier = 1, offset = 0;
  };
  enum class Kind { fixed, revolute, prismatic, screw, ball, two_axes, floating, planar };

  std::string name;
  Kind kind = Kind::fixed;
  std::string parent, child;
  std::vector<OtherAxis> axes = {};  // none: fixed, ball, floating; planar: the normal
  double pitch = 0;                  // screw, m/rad
  std::optional<Follows> follows = {};
};

struct OtherModel {
  std::vector<OtherLink> links = {};
  std::vector<OtherJoint> joints = {};
  bool has_mimics = true;  // false: the other side does not read them
};

// Collects what differs by more than 1e-9 of its size, and what is known to differ.
class Comparison {
 public:
  explicit Comparison(std::string file) : file_(std::move(file)) {}

  void close(const std::string& what, const MatX& ours, const MatX& theirs);
  void close(const std::string& what, double ours, double theirs);
  void equal(const std::string& what, const std::string& ours, const std::string& theirs);
  void fail(std::string what) { failures_.push_back(std::move(what)); }
  void note(std::string what) { notes_.push_back(std::move(what)); }  // no failure, but to be seen

  bool passed() const { return failures_.empty() && count_ > 0; }
  void print() const;

 private:
  std::string file_;
  std::vector<std::string> failures_, notes_;
  int count_ = 0;  // of numbers and names
  double worst_ = 0;
};

void compare(const LoadedModel& ours, const OtherModel& theirs, Comparison& comparison);

// main() of both programs: NAME [--strangers] FILE … . Files that only one side reads are failures, unless they come from strangers: then
// both reasons are printed. `read` gives the other model, or throws std::runtime_error with the reason. 0: no difference.
using OtherReader = OtherModel (*)(const std::string& file);
int compare_files(int argc, char** argv, const char* other, OtherReader read);

}  // namespace lithe
