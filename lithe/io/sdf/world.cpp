#include "lithe/io/sdf/world.h"

namespace lithe::internal {

namespace {

const Vec3 kStandardGravity(0, 0, -9.8);  // of the format, if a world does not say

// The <physics> that counts. Of several it is the one that says default="true", else the first.
XmlElement chosen_physics(SdfContext& context, const XmlElement& world) {
  const std::vector<XmlElement> all = world.children("physics");
  if (all.empty()) return {};
  if (all.size() > 1) {
    context.warnings.add(all[1].place(), "sdf.physics_profiles",
                         "there are several <physics>; the default one is read, or the first");
  }
  for (const XmlElement& physics : all) {
    if (physics.flag("default").value_or(false)) return physics;
  }
  return all.front();
}

// Reads the time step from <physics>. What the engines are told about their solvers is warned about.
void read_physics(SdfContext& context, const XmlElement& physics, LoadedModel& loaded) {
  // How fast a simulator should run is no property of what it simulates, nor is which one it is.
  check_contents(context, physics,
                 {.once = {"max_step_size", "gravity", "real_time_factor", "real_time_update_rate"},
                  .left_out = {"max_contacts", "ode", "bullet", "dart", "simbody", "magnetic_field"},
                  .attributes = {"name", "default", "type"}});
  loaded.time_step = child_number(physics, "max_step_size", loaded.time_step);
  if (!(loaded.time_step > 0)) {
    physics.child("max_step_size").fail(fmt::format("<max_step_size> is {} s, but must be positive", loaded.time_step));
  }
}

}  // namespace

void read_sdf_world(SdfContext& context, const XmlElement& world, LoadedModel& loaded) {
  const XmlElement physics = chosen_physics(context, world);
  if (physics) read_physics(context, physics, loaded);
  // Up to SDF 1.5 gravity belonged to <physics>.
  const Vec3 otherwise = child_vector(physics, "gravity", kStandardGravity);
  const Vec3 gravity = child_vector(world, "gravity", otherwise);
  if (physics && physics.child("gravity") && gravity != otherwise) {
    context.warnings.add(physics.child("gravity").place(), "sdf.gravity",
                         "<world> and <physics> disagree about gravity; that of <world> is taken");
  }
  loaded.builder.set_gravity(gravity);
}

}  // namespace lithe::internal
