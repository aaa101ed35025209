#include "lithe/io/sdf/links.h"

#include <cstdint>

#include "lithe/io/sdf/geometry.h"

namespace lithe::internal {

namespace {

// So many pairs of links may be kept apart one by one, over all models. A model that would go beyond lets its links
// collide, and a warning says so.
constexpr std::int64_t kMostPairs = 100'000;

// Warns of what a <link> says that has no counterpart. Flags are warned about only where they are not at their
// defaults.
void check_link(SdfContext& context, const XmlElement& link) {
  check_contents(context, link,
                 {.once = {"pose", "inertial", "gravity", "enable_wind", "self_collide", "kinematic",
                           "must_be_base_link", "velocity_decay"},
                  .many = {"collision", "visual"},
                  .left_out = {"sensor", "projector", "audio_sink", "audio_source", "battery", "light",
                               "particle_emitter", "plugin"},
                  .attributes = {"name"}});
  const auto warn_if = [&](bool said, const char* name, const char* text) {
    if (said) context.warnings.add(link.child(name).place(), fmt::format("sdf.link_{}", name), text);
  };
  warn_if(!child_flag(link, "gravity", true), "gravity",
          "a link without gravity is not possible here: gravity acts on all");
  warn_if(child_flag(link, "kinematic", false), "kinematic",
          "a kinematic link is not possible here: it moves by its forces");
  warn_if(child_flag(link, "enable_wind", false), "enable_wind", "there is no wind here: enable_wind is ignored");
  warn_if(child_flag(link, "must_be_base_link", false), "must_be_base_link", "must_be_base_link is ignored");
  const XmlElement decay = link.child("velocity_decay");
  if (!decay) return;
  check_contents(context, decay, {.once = {"linear", "angular"}});
  warn_if(child_number(decay, "linear", 0) != 0 || child_number(decay, "angular", 0) != 0, "velocity_decay",
          "damping of a link's velocity is not possible here; give its joint a damping");
}

// Reads <inertia>, kg·m², about the centre of mass. Moments that are absent are 1 and products 0, as the format says.
Mat3 read_inertia(SdfContext& context, const XmlElement& inertial) {
  const XmlElement inertia = inertial.child("inertia");
  if (!inertia) return Mat3::Identity();
  check_contents(context, inertia, {.once = {"ixx", "ixy", "ixz", "iyy", "iyz", "izz"}});
  Mat3 I;
  I(0, 0) = child_number(inertia, "ixx", 1);
  I(1, 1) = child_number(inertia, "iyy", 1);
  I(2, 2) = child_number(inertia, "izz", 1);
  I(0, 1) = I(1, 0) = child_number(inertia, "ixy", 0);
  I(0, 2) = I(2, 0) = child_number(inertia, "ixz", 0);
  I(1, 2) = I(2, 1) = child_number(inertia, "iyz", 0);
  return I;
}

// The <pose> of an element in the frame of its link. relative_to may name another frame.
Pose placement_on(SdfContext& context, const SdfContents& contents, const SdfContents::Link& link,
                  const XmlElement& element) {
  const SdfPose pose = child_pose(context, element);
  if (pose.relative_to.empty()) return pose.pose;
  const int scope = contents.frames[link.frame].scope;
  const int base = contents.frames.find(scope, pose.relative_to, element.child("pose"), "relative_to");
  return contents.frames.pose_in(link.frame, base) * pose.pose;
}

// Names of collisions and visuals need to be unique in their link only, so the link's name is put before them.
std::string scoped_name(const SdfContents& contents, const SdfContents::Link& link, const XmlElement& element) {
  return fmt::format("{}::{}", contents.name_of(link.frame), element.required_attribute("name"));
}

}  // namespace

Body read_sdf_body(SdfContext& context, const SdfContents& contents, const SdfContents::Link& link) {
  check_link(context, link.element);
  Body body{.name = contents.name_of(link.frame)};
  const XmlElement inertial = link.element.child("inertial");
  if (!inertial) {
    // The format's default is 1 kg and the identity; massless links are written with <mass>0</mass>.
    set_inertia(body, 1, Mat3::Identity(), {}, link.element.place(), context.warnings);
    return body;
  }
  check_contents(context, inertial,
                 {.once = {"mass", "pose", "inertia"},
                  .left_out = {"fluid_added_mass", "density", "auto_inertia_params"},
                  .attributes = {"auto"}});
  if (inertial.flag("auto").value_or(false)) {
    context.warnings.add(
        inertial.place(), "sdf.auto_inertia",
        "auto=\"true\": inertia is not computed from the collisions; mass and inertia are taken as written");
  }
  const XmlElement mass = inertial.child("mass");
  const SourcePlace place = mass ? mass.place() : inertial.place();
  set_inertia(body, child_number(inertial, "mass", 1), read_inertia(context, inertial),
              placement_on(context, contents, link, inertial), place, context.warnings);
  return body;
}

void add_sdf_surfaces(SdfContext& context, const SdfContents& contents, const SdfContents::Link& link,
                      LoadedModel& loaded, NameSet& shapes, NameSet& visuals) {
  const std::string body = contents.name_of(link.frame);
  for (const XmlElement& collision : link.element.children("collision")) {
    context.resources.count_shape(collision.place());
    check_contents(context, collision,
                   {.once = {"pose", "geometry", "surface", "laser_retro"},
                    .left_out = {"max_contacts", "density", "auto_inertia_params"},
                    .attributes = {"name"}});
    const Pose placement = placement_on(context, contents, link, collision);
    for (SdfShape& part : read_collision_geometry(context, collision)) {
      Shape shape{.name = shapes.unique(scoped_name(contents, link, collision)),
                  .geometry = std::move(part.geometry),
                  .placement = placement * part.placement};
      read_surface(context, collision, shape);
      loaded.builder.add_shape(body, std::move(shape));
    }
  }
  if (!context.resources.options().visuals) return;
  for (const XmlElement& element : link.element.children("visual")) {
    context.resources.count_shape(element.place());
    check_contents(context, element,
                   {.once = {"pose", "geometry", "material", "cast_shadows", "laser_retro", "transparency",
                             "visibility_flags", "meta"},
                    .left_out = {"plugin"},
                    .attributes = {"name"}});
    const Pose placement = placement_on(context, contents, link, element);
    std::optional<Visual> visual = read_visual_geometry(context, element);
    if (!visual) continue;
    visual->name = visuals.unique(scoped_name(contents, link, element));
    visual->body = body;
    visual->placement = placement * visual->placement;
    loaded.visuals.push_back(std::move(*visual));
  }
}

void forbid_self_collision(SdfContext& context, const SdfContents& contents, LoadedModel& loaded) {
  // For each outermost model, the links that have something to collide with and do not say self_collide. Links of
  // static models are part of the world.
  std::vector<std::vector<const SdfContents::Link*>> silent(contents.models.size());
  for (const SdfContents::Link& link : contents.links) {
    const SdfContents::Model& model = contents.models[static_cast<std::size_t>(link.model)];
    const bool collides = child_flag(link.element, "self_collide", model.self_collide);
    if (model.is_static || collides || !link.element.child("collision")) continue;
    silent[static_cast<std::size_t>(model.top)].push_back(&link);
  }
  std::int64_t pairs_left = kMostPairs;
  for (const auto& links : silent) {
    const auto count = static_cast<std::int64_t>(links.size());
    const std::int64_t pairs = count * (count - 1) / 2;
    if (pairs > pairs_left) {
      context.warnings.add(
          links.front()->element.place(), "sdf.self_collide",
          fmt::format("the links of a model with {} of them may collide with each other: there are too many "
                      "pairs to forbid; use bitmasks",
                      count));
      continue;
    }
    pairs_left -= pairs;
    for (std::size_t i = 0; i < links.size(); ++i) {
      for (std::size_t j = i + 1; j < links.size(); ++j) {
        loaded.builder.set_collision(contents.name_of(links[i]->frame), contents.name_of(links[j]->frame), false);
      }
    }
  }
}

}  // namespace lithe::internal
