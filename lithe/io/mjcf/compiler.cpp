#include "lithe/io/mjcf/compiler.h"

#include <numbers>
#include <vector>

namespace lithe::internal::mjcf {

namespace {

constexpr std::string_view kOwnSolver = "contacts and integration are Lithe's own (docs/step.md)";
constexpr std::string_view kNoFluid = "there is no air or water around the bodies";

constexpr NotHonoured kCompilerNotHonoured[] = {
    {"alignfree", "free bodies keep the frame that the file gives them"},
};
// From texturedir on these are harmless: they change how MuJoCo stores, saves or draws the model. (Bodies that are
// welded to each other move as one here anyway, and keep their names, so that fusestatic changes nothing.)
constexpr AttributeRules kCompilerRules = {
    "angle eulerseq autolimits inertiafromgeom inertiagrouprange boundmass boundinertia balanceinertia settotalmass "
    "coordinate meshdir assetdir discardvisual strippath fitaabb "
    "texturedir usethread convexhull saveinertial savecanonical savecompiled exactmeshinertia passthrough conflict "
    "fusestatic",
    kCompilerNotHonoured};

constexpr NotHonoured kOptionNotHonoured[] = {
    {"solver impratio collision o_margin o_solref o_solimp o_friction", kOwnSolver},
    {"actuatorgroupdisable", "all actuators are read"},
};
// From iterations on these are harmless: they say how exactly MuJoCo's solver iterates, or matter to sensors only.
constexpr AttributeRules kOptionRules = {
    "timestep gravity integrator cone wind density viscosity "
    "iterations tolerance ls_iterations ls_tolerance noslip_iterations noslip_tolerance ccd_iterations ccd_tolerance "
    "mpr_iterations mpr_tolerance sdf_iterations sdf_initpoints jacobian apirate magnetic sleep_tolerance",
    kOptionNotHonoured};

// The flags after `override` concern MuJoCo's own solver, its sensors and its bookkeeping.
constexpr AttributeRules kFlagRules = {
    "gravity constraint equality frictionloss limit contact passive spring damper actuation filterparent clampctrl "
    "override warmstart refsafe sensor midphase eulerdamp autoreset nativeccd island energy fwdinv diagexact multiccd "
    "invdiscrete ipc sleep speculative sensornoise"};

// A flag, and the parts of the physics that it switches off.
struct Flag {
  const char* name;
  std::vector<bool Physics::*> parts;
};
// MuJoCo's `constraint` and `passive` switch off several parts at once.
const std::vector<Flag>& flags() {
  using P = Physics;
  static const std::vector<Flag> kFlags = {
      {"gravity", {&P::gravity}},
      {"constraint", {&P::contacts, &P::equality, &P::dry_friction, &P::limits}},
      {"contact", {&P::contacts}},
      {"equality", {&P::equality}},
      {"frictionloss", {&P::dry_friction}},
      {"limit", {&P::limits}},
      {"passive", {&P::springs, &P::damping}},
      {"spring", {&P::springs}},
      {"damper", {&P::damping}},
      {"actuation", {&P::actuation}},
      {"clampctrl", {&P::clamp_controls}},
  };
  return kFlags;
}

// Reads <flag>. Only "disable" matters, since all parts are on by default; `override` is the other way round.
void read_flags(const XmlElement& element, Physics& physics, WarningList& warnings) {
  check_attributes(element, kFlagRules, warnings);
  const Attributes attributes(element);
  const auto enabled = [&](const char* name) { return attributes.choice(name, {"enable", "disable"}) == "enable"; };
  for (const Flag& flag : flags()) {
    if (!attributes.has(flag.name) || enabled(flag.name)) continue;
    for (bool Physics::* part : flag.parts) physics.*part = false;
  }
  for (const char* name : {"filterparent", "override"}) {
    if (!attributes.has(name)) continue;
    const bool usual = std::string_view(name) == "override" ? !enabled(name) : enabled(name);
    if (usual) continue;
    warnings.add(element.place(), fmt::format("mjcf.flag.{}", name),
                 fmt::format("{}=\"{}\" of <flag> is not honoured: the model keeps this part of the physics as it is",
                             name, attributes.text(name)));
  }
}

// Warns that an option is not honoured, unless its value is the usual one.
void warn_unless(bool usual, const Attributes& attributes, const char* name, std::string_view reason,
                 WarningList& warnings) {
  if (usual) return;
  warnings.add(attributes.place(), fmt::format("mjcf.option.{}", name),
               fmt::format("{}=\"{}\" of <option> is not honoured: {}", name, attributes.text(name), reason));
}

}  // namespace

double Compiler::angle(double written) const { return degrees ? written * (std::numbers::pi / 180) : written; }

void read_compiler(const XmlElement& element, Compiler& compiler, WarningList& warnings) {
  check_attributes(element, kCompilerRules, warnings);
  for (const XmlElement& child : element.children()) {
    if (child.name() == "lengthrange") continue;  // of muscles, which have their own warning
    warnings.add(child.place(), "mjcf.unknown.compiler",
                 fmt::format("<{}> in <compiler> is not known and was ignored", child.name()));
  }
  const Attributes attributes(element);
  if (attributes.has("angle")) compiler.degrees = attributes.choice("angle", {"degree", "radian"}) == "degree";
  // Lower and upper case may be mixed; each letter says for itself whether its axis turns along.
  if (const char* sequence = attributes.text("eulerseq")) {
    compiler.euler_sequence = sequence;
    if (compiler.euler_sequence.size() != 3 || compiler.euler_sequence.find_first_not_of("xyzXYZ") != std::string::npos)
      attributes.fail("eulerseq", "it must be three letters of x, y, z, X, Y, Z");
  }
  if (attributes.has("coordinate") && attributes.choice("coordinate", {"local", "global"}) == "global") {
    attributes.fail("coordinate", "global coordinates are no longer part of MJCF; save the model with MuJoCo 2.3.3");
  }
  compiler.automatic_limits = attributes.flag_or("autolimits", compiler.automatic_limits);
  compiler.inertia_from_geoms = attributes.switch_or("inertiafromgeom", compiler.inertia_from_geoms);
  if (const auto groups = attributes.numbers("inertiagrouprange", 2, 2)) {
    const bool in_order = (*groups)[0] <= (*groups)[1];
    if (!in_order || groups->cwiseAbs().maxCoeff() > 1000) {
      attributes.fail("inertiagrouprange", "it must be two groups, the lower one first");
    }
    compiler.lowest_inertia_group = static_cast<int>((*groups)[0]);
    compiler.highest_inertia_group = static_cast<int>((*groups)[1]);
  }
  // The bounds are lower ones, for masses in kg and moments in kg·m².
  const auto bound = [&](const char* name, double& value) {
    value = attributes.number_or(name, value);
    if (value < 0) attributes.fail(name, "it must not be negative");
  };
  bound("boundmass", compiler.least_mass);
  bound("boundinertia", compiler.least_inertia);
  compiler.balance_inertia = attributes.flag_or("balanceinertia", compiler.balance_inertia);
  compiler.total_mass = attributes.number_or("settotalmass", compiler.total_mass);
  compiler.fit_bounds = attributes.flag_or("fitaabb", compiler.fit_bounds);
  compiler.discard_visuals = attributes.flag_or("discardvisual", compiler.discard_visuals);
  compiler.strip_paths = attributes.flag_or("strippath", compiler.strip_paths);
  // assetdir is meshdir and texturedir in one; meshdir goes before.
  if (const char* folder = attributes.text("assetdir")) compiler.mesh_folder = folder;
  if (const char* folder = attributes.text("meshdir")) compiler.mesh_folder = folder;
}

void read_option(const XmlElement& element, LoadedModel& loaded, Physics& physics, Includes& includes,
                 WarningList& warnings) {
  check_attributes(element, kOptionRules, warnings);
  const Attributes attributes(element);
  loaded.time_step = attributes.number_or("timestep", loaded.time_step);
  if (!(loaded.time_step > 0)) attributes.fail("timestep", "it must be positive");
  if (const std::optional<Vec3> gravity = attributes.vector3("gravity")) loaded.builder.set_gravity(*gravity);

  if (attributes.has("integrator")) {
    const std::string_view integrator = attributes.choice("integrator", {"Euler", "RK4", "implicit", "implicitfast"});
    warn_unless(integrator == "Euler", attributes, "integrator", kOwnSolver, warnings);
  }
  if (attributes.has("cone")) {
    const bool pyramid = attributes.choice("cone", {"pyramidal", "elliptic"}) == "pyramidal";
    warn_unless(pyramid, attributes, "cone", "friction is a pyramid (docs/step.md)", warnings);
  }
  warn_unless(attributes.vector3("wind").value_or(Vec3::Zero()).isZero(0), attributes, "wind", kNoFluid, warnings);
  warn_unless(attributes.number_or("density", 0) == 0, attributes, "density", kNoFluid, warnings);
  warn_unless(attributes.number_or("viscosity", 0) == 0, attributes, "viscosity", kNoFluid, warnings);

  for (const XmlElement& child : includes.children(element)) {
    if (child.name() == "flag") {
      read_flags(child, physics, warnings);
    } else {
      warnings.add(child.place(), "mjcf.unknown.option",
                   fmt::format("<{}> in <option> is not known and was ignored", child.name()));
    }
  }
}

}  // namespace lithe::internal::mjcf
