#include "lithe/io/mjcf_parts.h"
#include "lithe/io/mjcf_rules.h"

namespace lithe::mjcf {

namespace {

// Whether the two would touch anyway: their contypes meet, and they are not a moving body and its moving child.
bool touch_anyway(const Scene& scene, const GeomPart& a, const GeomPart& b) {
  if (((a.contype & b.conaffinity) | (b.contype & a.conaffinity)) == 0) return false;
  const auto above = [&](int mover) { return mover == 0 ? 0 : scene.bodies[scene.bodies[mover].parent].mover; };
  const int x = scene.bodies[a.body].mover, y = scene.bodies[b.body].mover;
  const bool related = (x != 0 && above(y) == x) || (y != 0 && above(x) == y);
  return !related;
}

int touching_geoms(const Scene& scene, int body) {
  int count = 0;
  for (const int geom : scene.bodies[body].geoms) count += scene.geoms[geom].touches() ? 1 : 0;
  return count;
}

void read_exclude(Context& context, const XmlElement& element) {
  check_attributes(element, {"name body1 body2"}, context.warnings);
  const Scene& scene = context.scene;
  const int a = scene.find_body(element, "body1"), b = scene.find_body(element, "body2");
  context.loaded.builder.set_collision(scene.bodies[a].name, scene.bodies[b].name, false);
}

void read_pair(Context& context, const XmlElement& element) {
  check_attributes(element, kPairRules, context.warnings);
  Scene& scene = context.scene;
  GeomPart& a = scene.geoms[scene.find_geom(element, "geom1")];
  GeomPart& b = scene.geoms[scene.find_geom(element, "geom2")];
  if (a.touches() && b.touches() && touch_anyway(scene, a, b)) return;
  a.paired = b.paired = true;
  if (touching_geoms(scene, a.body) > 1 || touching_geoms(scene, b.body) > 1) {
    context.warnings.add(element.place(), "mjcf.pair",
                         fmt::format("<pair> is honoured for the whole bodies {} and {}: their other geoms collide too",
                                     scene.bodies[a.body].name, scene.bodies[b.body].name));
  }
  context.loaded.builder.set_collision(scene.bodies[a.body].name, scene.bodies[b.body].name, true);
}

}  // namespace

void read_contacts(Context& context, const std::vector<XmlElement>& sections) {
  if (!context.physics.contacts) {
    // Nothing touches anything: geoms are only seen.
    for (GeomPart& geom : context.scene.geoms) geom.contype = geom.conaffinity = 0;
    return;
  }
  std::vector<XmlElement> pairs;
  for (const XmlElement& section : sections) {
    for (const XmlElement& element : context.includes.children(section)) {
      if (element.name() == "exclude") {
        read_exclude(context, element);
      } else if (element.name() == "pair") {
        pairs.push_back(element);
      } else {
        context.warn_of_unknown(element, section);
      }
    }
  }
  // A pair counts against an exclusion, so it comes last.
  for (const XmlElement& element : pairs) read_pair(context, element);
}

}  // namespace lithe::mjcf
