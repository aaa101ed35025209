#include <algorithm>
#include <set>

#include "lithe/io/mjcf/filters.h"
#include "lithe/io/mjcf/parts.h"
#include "lithe/io/mjcf/rules.h"

namespace lithe::internal::mjcf {

namespace {

using BodyPairs = std::set<std::pair<int, int>>;

// MuJoCo's rule: one way round is enough.
bool contypes_meet(const GeomPart& a, const GeomPart& b) {
  return ((a.contype & b.conaffinity) | (b.contype & a.conaffinity)) != 0;
}

// Whether one geom's body moves on the other's, with no third moving body between. MuJoCo lets such geoms pass through
// each other, unless the inner body is fixed in the world, and a Model does so, too.
bool are_related(const Scene& scene, const GeomPart& a, const GeomPart& b) {
  const auto above = [&](int mover) { return mover == 0 ? 0 : scene.bodies[scene.bodies[mover].parent].mover; };
  const int x = scene.bodies[a.body].mover, y = scene.bodies[b.body].mover;
  return (x != 0 && above(y) == x) || (y != 0 && above(x) == y);
}

// The number of a body's geoms that touch anything.
int touching_geoms(const Scene& scene, int body) {
  int count = 0;
  for (const int geom : scene.bodies[body].geoms) count += scene.geoms[geom].touches() ? 1 : 0;
  return count;
}

// Reads an <exclude>: two bodies that do not touch.
void read_exclude(Context& context, const XmlElement& element, BodyPairs& excluded) {
  check_attributes(element, {"name body1 body2"}, context.warnings);
  const Scene& scene = context.scene;
  const int a = scene.find_body(element, "body1"), b = scene.find_body(element, "body2");
  excluded.insert(std::minmax(a, b));
  context.loaded.builder.set_collision(scene.bodies[a].name, scene.bodies[b].name, false);
}

// Lets the bodies of a <pair> collide, where it is the bodies and not the contypes that keep the two geoms apart. A
// Model can only let bodies collide as a whole.
void let_bodies_collide(Context& context, const XmlElement& element, const GeomPart& a, const GeomPart& b) {
  const Scene& scene = context.scene;
  if (touching_geoms(scene, a.body) > 1 || touching_geoms(scene, b.body) > 1) {
    context.warnings.add(element.place(), "mjcf.pair",
                         fmt::format("<pair> is honoured for the whole bodies {} and {}: their other geoms collide too",
                                     scene.bodies[a.body].name, scene.bodies[b.body].name));
  }
  context.loaded.builder.set_collision(scene.bodies[a.body].name, scene.bodies[b.body].name, true);
}

// Notes that a <pair> lets the geom touch the other one. The list stays sorted and without repetitions.
void add_partner(GeomPart& geom, int other) {
  const auto place = std::ranges::lower_bound(geom.partners, other);
  if (place == geom.partners.end() || *place != other) geom.partners.insert(place, other);
}

// Reads all <pair> elements. Where contypes keep two geoms apart they become partners, for whom ContactFilters makes
// groups. Where the bodies are related or excluded, the whole bodies are allowed to collide.
void read_pairs(Context& context, const std::vector<XmlElement>& pairs, const BodyPairs& excluded) {
  Scene& scene = context.scene;
  struct Separate {
    XmlElement element;
    int a, b;
    bool by_bodies;
  };
  std::vector<Separate> separate;
  for (const XmlElement& element : pairs) {
    check_attributes(element, kPairRules, context.warnings);
    const int a = scene.find_geom(element, "geom1"), b = scene.find_geom(element, "geom2");
    GeomPart &x = scene.geoms[a], &y = scene.geoms[b];
    const bool by_bodies = are_related(scene, x, y) || excluded.contains(std::minmax(x.body, y.body));
    if (!by_bodies && contypes_meet(x, y)) continue;  // they touch anyway
    x.paired = y.paired = true;
    separate.push_back({element, a, b, by_bodies});
    if (by_bodies) continue;
    add_partner(x, b);
    add_partner(y, a);
  }
  // With too many partners for the filters, bodies collide as a whole.
  const bool exact = ContactFilters(scene.geoms).exact();
  if (!exact) {
    for (GeomPart& geom : scene.geoms) geom.partners.clear();
  }
  for (const Separate& pair : separate) {
    if (pair.by_bodies || !exact) let_bodies_collide(context, pair.element, scene.geoms[pair.a], scene.geoms[pair.b]);
  }
}

}  // namespace

void read_contacts(Context& context, const std::vector<XmlElement>& sections) {
  if (!context.physics.contacts) {
    // Nothing touches anything: geoms are only seen.
    for (GeomPart& geom : context.scene.geoms) geom.contype = geom.conaffinity = 0;
    return;
  }
  std::vector<XmlElement> pairs;
  BodyPairs excluded;
  for (const XmlElement& section : sections) {
    for (const XmlElement& element : context.includes.children(section)) {
      if (element.name() == "exclude") {
        read_exclude(context, element, excluded);
      } else if (element.name() == "pair") {
        pairs.push_back(element);
      } else {
        context.warn_of_unknown(element, section);
      }
    }
  }
  // A pair counts against an exclusion, so it comes last.
  if (!pairs.empty()) read_pairs(context, pairs, excluded);
}

}  // namespace lithe::internal::mjcf
