#pragma once

#include <string>

#include "lithe/io/loaded_model.h"
#include "lithe/io/mjcf/attributes.h"
#include "lithe/io/mjcf/includes.h"

namespace lithe::internal::mjcf {

// What <compiler> says: how the rest of the file is to be read. It holds for the whole file, wherever it stands. Of
// several such elements, later ones go over earlier ones.
struct Compiler {
  bool degrees = true;
  std::string euler_sequence = "xyz";  // lower case: about the axes as they turn; upper case: about fixed ones
  bool automatic_limits = true;
  Switch inertia_from_geoms = Switch::automatic;
  int lowest_inertia_group = 0, highest_inertia_group = 5;  // of geoms whose mass counts
  double least_mass = 0, least_inertia = 0;                 // of a body; kg, kg·m²
  bool balance_inertia = false;
  double total_mass = -1;   // kg, to which all masses are scaled; negative: they are not
  bool fit_bounds = false;  // primitives that stand for meshes: to their bounds, not to their moments
  bool discard_visuals = false;
  bool strip_paths = false;
  std::string mesh_folder;

  double angle(double written) const;  // an angle of the file in rad
};

// The parts of the physics that <flag> in <option> can switch off.
struct Physics {
  bool gravity = true;
  bool contacts = true, equality = true, dry_friction = true, limits = true;  // constraint="disable" is all four
  bool springs = true, damping = true;                                        // passive="disable" is both
  bool actuation = true;
  bool clamp_controls = true;
};

// Reads a <compiler> over what earlier ones have said.
void read_compiler(const XmlElement& element, Compiler& compiler, WarningList& warnings);

// Reads an <option>: time step, gravity and flags. The rest belongs to MuJoCo's own solver.
void read_option(const XmlElement& element, LoadedModel& loaded, Physics& physics, Includes& includes,
                 WarningList& warnings);

}  // namespace lithe::internal::mjcf
