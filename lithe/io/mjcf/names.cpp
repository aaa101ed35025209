#include "lithe/io/internal/reader_parts.h"
#include "lithe/io/mjcf/parts.h"

namespace lithe::internal::mjcf {

namespace {

// The word for a type of geom in the names that geoms are given.
const char* word_for(GeomPart::Type type) {
  switch (type) {
    case GeomPart::Type::plane: return "plane";
    case GeomPart::Type::sphere: return "sphere";
    case GeomPart::Type::capsule: return "capsule";
    case GeomPart::Type::ellipsoid: return "ellipsoid";
    case GeomPart::Type::cylinder: return "cylinder";
    case GeomPart::Type::box: return "box";
    case GeomPart::Type::mesh: return "mesh";
  }
  return "geom";
}

// Gives each part without a name the one that `suggest` has for it. The names that the file gives are taken first, so
// that none of them is changed.
template <class Parts, class Suggest>
void complete(NameSet& names, Parts& parts, Suggest suggest) {
  for (const auto& part : parts) {
    if (!part.name.empty()) names.unique(part.name);
  }
  for (auto& part : parts) {
    if (part.name.empty()) part.name = names.unique(suggest(part));
  }
}

}  // namespace

void name_parts(Scene& scene) {
  NameSet body_names, geom_names, site_names, joint_names;
  complete(body_names, scene.bodies,
           [&](const BodyPart& body) { return fmt::format("body_{}", &body - scene.bodies.data()); });
  complete(geom_names, scene.geoms, [&](const GeomPart& geom) {
    return fmt::format("{}_{}", scene.bodies[geom.body].name, word_for(geom.type));
  });
  complete(site_names, scene.sites, [&](const SitePart& site) { return scene.bodies[site.body].name + "_site"; });
  // Joints stand in their bodies, not in a list, so they are named one by one.
  for (const auto& [name, place] : scene.joint_index) joint_names.unique(name);
  for (BodyPart& body : scene.bodies) {
    for (JointPart& joint : body.joints) {
      const bool is_free = joint.type == JointPart::Type::free;
      if (joint.name.empty()) joint.name = joint_names.unique(body.name + (is_free ? "_free" : "_joint"));
    }
  }
}

}  // namespace lithe::internal::mjcf
