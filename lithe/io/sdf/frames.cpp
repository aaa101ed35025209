#include "lithe/io/sdf/frames.h"

#include <algorithm>

#include "lithe/core/internal/suggest.h"

namespace lithe::internal {

namespace {

constexpr std::size_t kMostNameBytes = std::size_t{16} << 20;
constexpr std::size_t kMostSuggested = 10'000;
constexpr std::string_view kModelFrame = "__model__";

// What is known about a node while a graph is walked: nothing, that it lies on the way, or everything.
enum State : char { fresh, open, done };

}  // namespace

SdfFrames::SdfFrames(int most_frames) : most_frames_(static_cast<std::size_t>(most_frames)) {
  // Frame 0, the world, stands on itself.
  frames_.push_back({.kind = Kind::world, .name = "world", .base = 0, .attached = 0});
  prefix_.push_back("");
  first_child_.push_back(-1);
}

std::string SdfFrames::full_name(int scope, std::string_view name) const {
  return prefix_[static_cast<std::size_t>(scope)] + std::string(name);
}

int SdfFrames::taken(int scope, std::string_view name) const {
  const auto found = index_.find(full_name(scope, name));
  return found == index_.end() ? -1 : found->second;
}

int SdfFrames::add(Frame frame, std::string_view name) {
  const int index = size();
  frame.name = full_name(frame.scope, name);
  name_bytes_ += frame.name.size();
  if (frames_.size() >= most_frames_ || name_bytes_ > kMostNameBytes) {
    frame.element.fail("there are too many links, joints and frames, or their names are too long (LoadLimits::bodies)");
  }
  frame.depth = frames_[static_cast<std::size_t>(frame.scope)].depth + 1;
  int& first = first_child_[static_cast<std::size_t>(frame.scope)];
  // A link comes before nested models, wherever it stands.
  const bool first_link = frame.kind == Kind::link && (first < 0 || (*this)[first].kind != Kind::link);
  if (first_link || (frame.kind == Kind::model && first < 0)) first = index;
  // Only models have names inside them. Those of a merged model are names of the model around it.
  const bool scope = frame.kind == Kind::model;
  prefix_.push_back(!scope ? "" : frame.merged ? prefix_[static_cast<std::size_t>(frame.scope)] : frame.name + "::");
  name_bytes_ += prefix_.back().size();
  first_child_.push_back(-1);
  frames_.push_back(std::move(frame));
  index_.emplace(frames_.back().name, index);
  return index;
}

// The names that could have been meant in this scope, for a suggestion.
std::vector<std::string_view> SdfFrames::names_in(int scope) const {
  const std::string& prefix = prefix_[static_cast<std::size_t>(scope)];
  std::vector<std::string_view> names;
  for (const Frame& frame : frames_) {
    const bool inside = frame.kind != Kind::world && std::string_view(frame.name).starts_with(prefix);
    if (inside && names.size() < kMostSuggested) names.push_back(std::string_view(frame.name).substr(prefix.size()));
  }
  return names;
}

int SdfFrames::find(int scope, std::string_view name, const XmlElement& by, std::string_view what) const {
  const Frame& around = (*this)[scope];
  if (name == kModelFrame && around.kind == Kind::model) return scope;
  if (name == "world" && around.kind == Kind::world) return 0;
  std::string_view wanted = name;
  // "arm::__model__" is another way to name the frame of the model arm.
  if (wanted.ends_with("::__model__")) wanted.remove_suffix(kModelFrame.size() + 2);
  const auto found = index_.find(full_name(scope, wanted));
  if (found != index_.end()) return found->second;
  // In SDF a joint may say from anywhere that it connects to the world; a pose or a frame may not.
  if (name == "world")
    by.fail(fmt::format("{} is \"world\", but inside a model only a joint may name the world", what));
  by.fail(fmt::format("{} is \"{}\", but there is no link, joint, frame or model of that name in {}{}", what,
                      shortened(name), around.kind == Kind::world ? "the world" : "model " + around.name,
                      did_you_mean(name, names_in(scope))));
}

int SdfFrames::find_or_world(int scope, std::string_view name, const XmlElement& by, std::string_view what) const {
  return name == "world" ? 0 : find(scope, name, by, what);
}

void SdfFrames::resolve() {
  look_up_names();
  follow_attachments();
  resolve_poses();
}

// Finds what the names in each frame mean: what it moves with, and what its pose is relative to. Empty names mean the
// defaults of the frame's kind: a model moves with its first link (or nested model), a frame with the model around it.
void SdfFrames::look_up_names() {
  for (int i = 1; i < size(); ++i) {
    Frame& frame = frames_[static_cast<std::size_t>(i)];
    switch (frame.kind) {
      case Kind::world: break;
      // A link moves with itself, which ends every way of attachments.
      case Kind::link: frame.attached = i; break;
      case Kind::joint: frame.attached = find_or_world(frame.scope, frame.attached_to, frame.element, "<child>"); break;
      case Kind::frame:
        frame.attached = frame.attached_to.empty() ? frame.scope
                                                   : find(frame.scope, frame.attached_to, frame.element, "attached_to");
        break;
      case Kind::model:
        frame.attached = frame.fixed                 ? 0
                         : frame.attached_to.empty() ? first_child_[static_cast<std::size_t>(i)]
                                                     : find(i, frame.attached_to, frame.element, "canonical_link");
        if (!frame.placement_frame.empty()) {
          frame.placement = find(i, frame.placement_frame, frame.element, "placement_frame");
        }
        break;
    }
    // The pose of a joint or frame is relative to what it is on, that of a link or model to the scope.
    const bool beside = frame.kind == Kind::joint || frame.kind == Kind::frame;
    frame.base = !frame.relative_to.empty() ? find(frame.scope, frame.relative_to, frame.element, "relative_to")
                 : beside                   ? frame.attached
                                            : frame.scope;
  }
}

// Finds the link with which each frame moves, by following the attachments. Each way is walked once: all that was met
// on it has the same answer.
void SdfFrames::follow_attachments() {
  link_.assign(frames_.size(), -1);
  link_[0] = 0;
  std::vector<char> state(frames_.size(), fresh);
  for (int start = 1; start < size(); ++start) {
    std::vector<int> way;
    int at = start;
    while (link_[static_cast<std::size_t>(at)] < 0 && (*this)[at].kind != Kind::link) {
      if (state[static_cast<std::size_t>(at)] == open) {
        (*this)[at].element.fail(
            fmt::format("{} is attached to itself, by way of {}", (*this)[at].name, (*this)[way.back()].name));
      }
      state[static_cast<std::size_t>(at)] = open;
      way.push_back(at);
      const int next = (*this)[at].attached;
      if (next < 0) break;  // a model without links: an error only if something needs its link
      at = next;
    }
    const bool is_link = (*this)[at].kind == Kind::link;
    const int link = is_link ? at : link_[static_cast<std::size_t>(at)];
    if (is_link) link_[static_cast<std::size_t>(at)] = at;
    for (const int met : way) {
      link_[static_cast<std::size_t>(met)] = link;
      state[static_cast<std::size_t>(met)] = done;
    }
  }
}

int SdfFrames::link_of(int frame) const {
  const int link = link_[static_cast<std::size_t>(frame)];
  if (link < 0) (*this)[frame].element.fail(fmt::format("{} leads to a model without links", (*this)[frame].name));
  return link;
}

// The innermost scope in which both frames lie. Poses are composed up to there only, so that a model far from the
// world's origin loses no digits.
int SdfFrames::common_scope(int a, int b) const {
  // A model counts as its own scope, because the frames of what is inside may be given in it.
  const auto scope_of = [&](int i) {
    return (*this)[i].kind == Kind::model || (*this)[i].kind == Kind::world ? i : (*this)[i].scope;
  };
  a = scope_of(a);
  b = scope_of(b);
  while (a != b) {
    int& deeper = (*this)[a].depth >= (*this)[b].depth ? a : b;
    deeper = (*this)[deeper].scope;
  }
  return a;
}

// Appends the frames from `from` up to, but without, the scope `to`.
void SdfFrames::append_way(int from, int to, std::vector<int>& way) const {
  for (int at = from; at != to; at = (*this)[at].scope) way.push_back(at);
}

// The pose of a frame in one of the scopes around it.
Pose SdfFrames::pose_up_to(int frame, int scope) const {
  Pose X;
  for (int at = frame; at != scope; at = (*this)[at].scope) X = (*this)[at].X_scope * X;
  return X;
}

Pose SdfFrames::pose_in(int a, int b) const {
  const int scope = common_scope(a, b);
  return pose_up_to(a, scope).inverse() * pose_up_to(b, scope);
}

// The frames whose poses must be known before this one's: those between its scope and what its pose is relative to, and
// those between a model and its placement frame.
std::vector<int> SdfFrames::needed_for(int frame) const {
  const Frame& f = (*this)[frame];
  std::vector<int> needed;
  const int scope = common_scope(f.scope, f.base);
  append_way(f.scope, scope, needed);
  append_way(f.base, scope, needed);
  if (f.placement >= 0) append_way(f.placement, frame, needed);
  return needed;
}

// Finds the pose of a frame, and before that the poses that it needs. The stack takes the place of recursion, since
// chains may be as long as the file. A frame that is met again while it lies open depends on itself.
void SdfFrames::resolve_pose(int start, std::vector<char>& state) {
  std::vector<int> stack = {start};
  while (!stack.empty()) {
    const int at = stack.back();
    if (state[static_cast<std::size_t>(at)] == done) {
      stack.pop_back();
      continue;
    }
    state[static_cast<std::size_t>(at)] = open;
    bool ready = true;
    for (const int needed : needed_for(at)) {
      char& s = state[static_cast<std::size_t>(needed)];
      if (s == open) {
        (*this)[at].element.fail(fmt::format("the pose of {} depends on itself, by way of {}: follow relative_to",
                                             (*this)[needed].name, (*this)[at].name));
      }
      if (s == done) continue;
      stack.push_back(needed);
      ready = false;
    }
    if (!ready) continue;
    // With a placement frame the written pose is the pose of that frame, so the way from the model to it is taken off.
    Frame& f = frames_[static_cast<std::size_t>(at)];
    f.X_scope = pose_in(f.scope, f.base) * f.pose;
    if (f.placement >= 0) f.X_scope = f.X_scope * pose_up_to(f.placement, at).inverse();
    state[static_cast<std::size_t>(at)] = done;
    stack.pop_back();
  }
}

void SdfFrames::resolve_poses() {
  std::vector<char> state(frames_.size(), fresh);
  state[0] = done;
  for (int i = 1; i < size(); ++i) resolve_pose(i, state);
}

}  // namespace lithe::internal
