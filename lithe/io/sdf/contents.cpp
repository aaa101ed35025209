#include "lithe/io/sdf/contents.h"

#include <algorithm>

#include "lithe/core/internal/suggest.h"

namespace lithe::internal {

namespace {

constexpr int kDeepestModel = 100;  // models within models
constexpr int kFramesPerBody = 4;   // links, joints and frames are bounded together
constexpr int kMostBodies = 100'000'000;

// Walks through worlds, models and includes, and notes every link, joint and frame in SdfContents, with its frame.
class Collector {
 public:
  Collector(SdfContext& context, SdfContents& contents) : context_(context), contents_(contents), includer_(context) {}

  void read_root(const XmlElement& sdf);

 private:
  // Where things are read into: a model, or the world if the index is −1. `frame` is that of the model or the world,
  // and `version` that of the file in which its contents stand.
  struct Scope {
    int model = -1;
    int frame = 0;
    SdfVersion version = {};
  };

  void read_world(const XmlElement& world, SdfVersion version);
  void read_include(const XmlElement& include, const Scope& scope);
  void read_model(const XmlElement& model, const XmlElement& include, const Scope& around, SdfVersion version);
  SdfFrames::Frame model_frame(const XmlElement& model, const XmlElement& include, const Scope& around);
  void read_contents(const XmlElement& model, const Scope& scope);
  void read_links(const XmlElement& model, const Scope& scope);
  void read_joints(const XmlElement& element, const Scope& scope);
  void read_frames(const XmlElement& element, const Scope& scope);
  int add(SdfFrames::Frame frame, std::string_view name);

  SdfContext& context_;
  SdfContents& contents_;
  SdfIncluder includer_;
  int depth_ = 0;
};

// Adds a frame. Since SDF 1.7 links, joints, frames and models of a scope share their names, but in older files a joint
// often has a link's name: two things of one kind are an error, and of different kinds a warning.
int Collector::add(SdfFrames::Frame frame, std::string_view name) {
  const int other = contents_.frames.taken(frame.scope, name);
  if (other >= 0) {
    const XmlElement& element = frame.element;
    if (contents_.frames[other].kind == frame.kind) {
      element.fail(fmt::format("there is a second <{}> called \"{}\"; the first is in line {}", element.name(),
                               shortened(name), contents_.frames[other].element.line()));
    }
    context_.warnings.add(element.place(), "sdf.name",
                          fmt::format("<{}> and <{}> are both called \"{}\"; as a frame the name means the <{}>",
                                      contents_.frames[other].element.name(), element.name(), shortened(name),
                                      contents_.frames[other].element.name()));
  }
  return contents_.frames.add(std::move(frame), name);
}

// Reads an <sdf>. It should have one <world> or one <model>; files with a model beside the world, or several models,
// occur.
void Collector::read_root(const XmlElement& sdf) {
  check_contents(
      context_, sdf,
      {.once = {"world"}, .many = {"model", "include"}, .left_out = {"actor", "light"}, .attributes = {"version"}});
  const SdfVersion version = sdf_version(sdf);
  const Scope scope = {.version = version};
  if (const XmlElement world = sdf.child("world")) read_world(world, version);
  const std::vector<XmlElement> models = sdf.children("model");
  if (contents_.world && !models.empty()) {
    context_.warnings.add(models.front().place(), "sdf.model_beside_world",
                          "a <model> beside the <world> is read as if it were in it");
  }
  for (const XmlElement& model : models) read_model(model, {}, scope, version);
  for (const XmlElement& include : sdf.children("include")) read_include(include, scope);
  if (!contents_.world && contents_.models.empty()) sdf.fail("<sdf> holds neither a <world> nor a <model>");
  // The name of what is loaded is the world's; a file without a world is called after its first model.
  const bool has_world_name = contents_.world && contents_.world.attribute("name");
  if (has_world_name) contents_.name = contents_.world.attribute("name");
  if (!has_world_name && !contents_.models.empty()) contents_.name = contents_.frames[contents_.models[0].frame].name;
}

// Reads a <world>. Models come first, since joints and frames of the world may name what is inside them.
void Collector::read_world(const XmlElement& world, SdfVersion version) {
  contents_.world = world;
  check_contents(context_, world,
                 {.once = {"gravity"},
                  .many = {"physics", "model", "include", "frame", "joint"},
                  .left_out = {"light", "scene", "gui", "plugin", "audio", "wind", "atmosphere", "magnetic_field",
                               "actor", "road", "spherical_coordinates", "state", "population", "particle_emitter"},
                  .attributes = {"name"}});
  const Scope scope = {.version = version};
  for (const XmlElement& child : world.children()) {
    if (child.name() == "model") read_model(child, {}, scope, version);
    if (child.name() == "include") read_include(child, scope);
  }
  read_joints(world, scope);
  read_frames(world, scope);
}

// Reads the model that an <include> names, as if it stood here. The includer knows which files are open around it, so
// that cycles are found.
void Collector::read_include(const XmlElement& include, const Scope& scope) {
  check_contents(context_, include,
                 {.once = {"uri", "name", "pose", "static", "placement_frame"},
                  .left_out = {"plugin", "experimental:params"},
                  .attributes = {"merge"}});
  const SdfIncluded included = includer_.open(include);
  if (!included.model) return;
  includer_.enter(include, included.file);
  read_model(included.model, include, scope, included.version);
  includer_.leave();
}

// The frame of a model. What an <include> says about its name, pose, static and placement_frame counts before what the
// model says itself. Inside a static model all models are static.
SdfFrames::Frame Collector::model_frame(const XmlElement& model, const XmlElement& include, const Scope& around) {
  SdfFrames::Frame frame = {
      .kind = SdfFrames::Kind::model, .element = include ? include : model, .scope = around.frame};
  SdfPose pose = child_pose(context_, model);
  if (const char* placement = model.attribute("placement_frame")) frame.placement_frame = placement;
  // The canonical link is the one that the model's frame moves with; without this attribute it is the model's first
  // link.
  if (const char* canonical = model.attribute("canonical_link")) frame.attached_to = canonical;
  if (include) {
    const SdfPose override = child_pose(context_, include);
    if (override.given) pose = override;
    if (const XmlElement placement = include.child("placement_frame")) {
      if (!override.given) placement.fail("a <placement_frame> needs a <pose> beside it: the pose of that frame");
      frame.placement_frame = placement.text();
    }
    // The contents of a merged model stand in the model around it, under their own names.
    frame.merged = include.flag("merge").value_or(false);
    if (frame.merged && around.model < 0) include.fail("merge=\"true\" is for includes inside a <model>");
  }
  frame.pose = pose.pose;
  frame.relative_to = pose.relative_to;
  frame.fixed = child_flag(include, "static", child_flag(model, "static", false)) ||
                (around.model >= 0 && contents_.models[static_cast<std::size_t>(around.model)].is_static);
  return frame;
}

// Reads a <model> that stands in `around`; `include` is the <include> that named it, if one did.
void Collector::read_model(const XmlElement& model, const XmlElement& include, const Scope& around,
                           SdfVersion version) {
  check_contents(context_, model,
                 {.once = {"static", "self_collide", "allow_auto_disable", "enable_wind", "pose"},
                  .many = {"link", "joint", "frame", "model", "include"},
                  .left_out = {"plugin", "gripper", "light", "sensor"},
                  .attributes = {"name", "canonical_link", "placement_frame"}});
  if (++depth_ > kDeepestModel) model.fail(fmt::format("models are nested more than {} deep", kDeepestModel));
  if (child_flag(model, "enable_wind", false)) {
    context_.warnings.add(model.place(), "sdf.enable_wind", "there is no wind here: enable_wind is ignored");
  }
  SdfFrames::Frame frame = model_frame(model, include, around);
  const bool fixed = frame.fixed;
  const XmlElement renamed = include ? include.child("name") : XmlElement();
  std::string name(renamed ? renamed.text() : sdf_name(model));
  if (name.empty() || name == "world") renamed.fail("a model needs a name, and not \"world\"");
  // A merged model still has a frame, to which its contents are relative; this is libsdformat's name for it.
  if (frame.merged) name = fmt::format("_merged__{}__model__", name);
  const int index = static_cast<int>(contents_.models.size());
  // Self-collision is a matter of the outermost model: all links inside it count as one robot.
  const int top = around.model >= 0 ? contents_.models[static_cast<std::size_t>(around.model)].top : index;
  if (around.model < 0) ++contents_.top_models;
  contents_.models.push_back({.top = top,
                              .element = model,
                              .version = version,
                              .is_static = fixed,
                              .self_collide = child_flag(model, "self_collide", false)});
  const int frame_index = add(std::move(frame), name);
  contents_.models[static_cast<std::size_t>(index)].frame = frame_index;
  read_contents(model, {.model = index, .frame = frame_index, .version = version});
  --depth_;
}

// Links come first, so that a name that several things have means the link. Joints come after nested models, whose
// links they may name.
void Collector::read_contents(const XmlElement& model, const Scope& scope) {
  read_links(model, scope);
  for (const XmlElement& child : model.children()) {
    if (child.name() == "model") read_model(child, {}, scope, scope.version);
    if (child.name() == "include") read_include(child, scope);
  }
  read_joints(model, scope);
  read_frames(model, scope);
}

// Notes the links of a model. Numbers inside a <link> are read later, when all frames are known.
void Collector::read_links(const XmlElement& model, const Scope& scope) {
  for (const XmlElement& link : model.children("link")) {
    if (static_cast<int>(contents_.links.size()) >= context_.resources.options().limits.bodies) {
      link.fail(fmt::format("there are more than {} links (LoadLimits::bodies)", contents_.links.size()));
    }
    const SdfPose pose = child_pose(context_, link);
    const int frame = add({.kind = SdfFrames::Kind::link,
                           .element = link,
                           .scope = scope.frame,
                           .pose = pose.pose,
                           .relative_to = pose.relative_to},
                          sdf_name(link));
    contents_.links.push_back({.frame = frame, .model = scope.model, .element = link});
  }
}

// Notes the joints of a model or of the world. A joint's frame is attached to its child link, and its pose is relative
// to that unless it says otherwise.
void Collector::read_joints(const XmlElement& element, const Scope& scope) {
  for (const XmlElement& joint : element.children("joint")) {
    const SdfPose pose = child_pose(context_, joint);
    const std::string_view child = joint.required("child").text();
    if (child.empty()) joint.required("child").fail("<child> is empty: it names the link that the joint moves");
    const int frame = add({.kind = SdfFrames::Kind::joint,
                           .element = joint,
                           .scope = scope.frame,
                           .pose = pose.pose,
                           .relative_to = pose.relative_to,
                           .attached_to = child},
                          sdf_name(joint));
    const bool is_static = scope.model >= 0 && contents_.models[static_cast<std::size_t>(scope.model)].is_static;
    const int index = static_cast<int>(contents_.joints.size());
    if (!contents_.joint_index.emplace(contents_.frames[frame].name, index).second) {
      joint.fail(fmt::format("there is a second <joint> called \"{}\"", shortened(sdf_name(joint))));
    }
    contents_.joints.push_back(
        {.frame = frame, .scope = scope.frame, .element = joint, .version = scope.version, .is_static = is_static});
  }
}

// Notes the <frame> elements, which are attached to the model itself unless they say otherwise.
void Collector::read_frames(const XmlElement& element, const Scope& scope) {
  for (const XmlElement& plain : element.children("frame")) {
    check_contents(context_, plain, {.once = {"pose"}, .attributes = {"name", "attached_to"}});
    const SdfPose pose = child_pose(context_, plain);
    const char* attached_to = plain.attribute("attached_to");
    contents_.plain_frames.push_back(add({.element = plain,
                                          .scope = scope.frame,
                                          .pose = pose.pose,
                                          .relative_to = pose.relative_to,
                                          .attached_to = attached_to ? attached_to : ""},
                                         sdf_name(plain)));
  }
}

}  // namespace

std::string SdfContents::name_of(int frame) const {
  // In a file with one model, "robot::arm" is called "arm"; the two more characters are the colons.
  const SdfFrames::Frame& f = frames[frame];
  if (top_models != 1 || f.scope == 0) return f.name;
  return f.name.substr(frames[models[0].frame].name.size() + 2);
}

int SdfContents::find_joint(int scope, std::string_view joint, const XmlElement& by) const {
  const auto found = joint_index.find(frames.full_name(scope, joint));
  if (found != joint_index.end()) return found->second;
  std::vector<std::string_view> names;
  for (const Joint& other : joints) {
    if (other.scope == scope) names.push_back(sdf_name(other.element));
  }
  by.fail(fmt::format("there is no joint called \"{}\" here{}", shortened(joint), did_you_mean(joint, names)));
}

SdfContents collect_sdf(SdfContext& context, const XmlElement& sdf) {
  const int bodies = std::clamp(context.resources.options().limits.bodies, 1, kMostBodies);
  // The bound is cut so that the product fits into an int.
  SdfContents contents(kFramesPerBody * bodies);
  Collector(context, contents).read_root(sdf);
  contents.frames.resolve();
  return contents;
}

}  // namespace lithe::internal
