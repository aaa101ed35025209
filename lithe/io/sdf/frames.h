#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "lithe/io/xml/xml.h"
#include "lithe/spatial/pose.h"

namespace lithe::internal {

// The frames of an SDF file and how they depend on one another.
//
// Every link, joint, model and <frame> is a frame with a name, and each says its pose relative to another one, in any
// order. A name is looked up in the model in which it is written; "a::b" goes down into nested models. Frame 0 is the
// world.
//
// Two graphs lie over the frames: the poses (relative_to), which must lead to the model's own frame without a cycle,
// and what moves with what (attached_to), which must lead to a link or to the world.
class SdfFrames {
 public:
  enum class Kind { world, model, link, joint, frame };

  // A frame as it is written. Views point into the document. An empty name means what the format says for the kind of
  // frame.
  struct Frame {
    Kind kind = Kind::frame;
    XmlElement element = {};
    int scope = 0;  // the model (or the world) that it is written in
    Pose pose = {};
    std::string_view relative_to = {};
    std::string_view attached_to = {};      // a frame's attached_to, a joint's child, a model's canonical link
    std::string_view placement_frame = {};  // of a model: the frame inside it whose pose `pose` is
    bool fixed = false;                     // of a model: it is static and so moves with the world
    bool merged = false;                    // of a model: its contents have their names in the scope around it

    // Filled in by add() and resolve().
    std::string name = {};  // from the world down: "robot::arm::hand"
    int base = -1;          // whose pose `pose` is relative to
    int placement = -1;     // the frame that placement_frame names
    int attached = -1;      // what it moves with
    int depth = 0;          // of models around it
    Pose X_scope = {};      // its pose in the frame of its scope
  };

  // At most `most_frames` frames and 16 MB of names are accepted.
  explicit SdfFrames(int most_frames);

  // The full name, from the world down, of what is called `name` in the scope.
  std::string full_name(int scope, std::string_view name) const;
  // The frame that has this name in the scope already, or −1.
  int taken(int scope, std::string_view name) const;
  // Adds a frame. If its name is taken, it can be reached by its index only.
  int add(Frame frame, std::string_view name);

  const Frame& operator[](int frame) const { return frames_[static_cast<std::size_t>(frame)]; }
  int size() const { return static_cast<int>(frames_.size()); }

  // The frame that `name` means inside `scope`; an error at `by` where there is none, which calls the name `what`.
  // find() knows "world" in the world only, find_or_world() everywhere.
  int find(int scope, std::string_view name, const XmlElement& by, std::string_view what) const;
  int find_or_world(int scope, std::string_view name, const XmlElement& by, std::string_view what) const;

  // Must be called when all frames are added: looks up all names, follows both graphs and finds cycles.
  void resolve();

  // The pose of frame b in frame a, X_ab. It is composed inside the innermost model that holds both, and so has the
  // digits that distances in that model allow.
  Pose pose_in(int a, int b) const;
  // The link that the frame moves with, or 0 for the world.
  int link_of(int frame) const;

 private:
  std::vector<std::string_view> names_in(int scope) const;
  void look_up_names();
  void follow_attachments();
  void resolve_poses();
  void resolve_pose(int frame, std::vector<char>& state);
  std::vector<int> needed_for(int frame) const;
  void append_way(int from, int to, std::vector<int>& way) const;
  Pose pose_up_to(int frame, int scope) const;
  int common_scope(int a, int b) const;

  std::deque<Frame> frames_;
  std::unordered_map<std::string_view, int> index_;
  std::vector<std::string> prefix_;  // of the names inside, for each frame that is a scope
  std::vector<int> first_child_;     // link or nested model, for each scope
  std::vector<int> link_;            // per frame: link_of(), or −1 where there is no link
  std::size_t most_frames_;
  std::size_t name_bytes_ = 0;
};

}  // namespace lithe::internal
