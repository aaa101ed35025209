#include <Eigen/Eigenvalues>

#include <cmath>
#include <numbers>

#include "lithe/io/internal/reader_parts.h"
#include "lithe/io/mjcf/parts.h"
#include "lithe/io/mjcf/poses.h"

namespace lithe::internal::mjcf {

namespace {

constexpr AttributeRules kInertialRules = {"pos mass diaginertia fullinertia quat axisangle xyaxes zaxis euler"};

// The mass properties of a geom as a solid of density 1, in its own frame. A plane has none.
SpatialInertia unit_inertia(const GeomPart& geom, Assets& assets) {
  const double x = geom.size.x(), y = geom.size.y(), z = geom.size.z();
  constexpr double kPi = std::numbers::pi;
  switch (geom.type) {
    case GeomPart::Type::plane: return {};
    case GeomPart::Type::sphere: return SpatialInertia::sphere(4.0 / 3 * kPi * x * x * x, x);
    case GeomPart::Type::capsule: return SpatialInertia::capsule(kPi * x * x * (2 * y + 4.0 / 3 * x), x, 2 * y);
    case GeomPart::Type::cylinder: return SpatialInertia::cylinder(kPi * x * x * 2 * y, x, 2 * y);
    case GeomPart::Type::box: return SpatialInertia::box(8 * x * y * z, 2 * geom.size);
    case GeomPart::Type::ellipsoid: {
      const double mass = 4.0 / 3 * kPi * x * y * z;
      const Vec3 moments(y * y + z * z, x * x + z * z, x * x + y * y);
      return {mass, Vec3::Zero(), (mass / 5 * moments).asDiagonal()};
    }
    case GeomPart::Type::mesh: return assets.inertia(geom.mesh, geom.shell);
  }
  return {};
}

// The same body with a density that is `factor` times as large.
SpatialInertia scaled(const SpatialInertia& inertia, double factor) {
  return {factor * inertia.mass, factor * inertia.first_moment, factor * inertia.rotational};
}

// The inertia of a body by its geoms, in the body frame. Geoms outside inertiagrouprange do not count, nor those
// without a mass.
SpatialInertia from_geoms(Context& context, const BodyPart& body) {
  const Compiler& compiler = context.compiler;
  SpatialInertia sum;
  for (const int index : body.geoms) {
    const GeomPart& geom = context.scene.geoms[index];
    if (geom.group < compiler.lowest_inertia_group || geom.group > compiler.highest_inertia_group) continue;
    if (geom.mass ? *geom.mass == 0 : geom.density == 0) continue;
    const SpatialInertia unit = unit_inertia(geom, context.assets);
    if (unit.mass == 0) continue;
    sum += scaled(unit, geom.mass ? *geom.mass / unit.mass : geom.density).in(geom.X_BG);
  }
  return sum;
}

// An inertia as files state it: the mass, kg; the inertia about the centre of mass, kg·m²; and X_BC, the pose of the
// inertial frame C in the body frame. The origin of C is the centre of mass.
struct Stated {
  double mass = 0;
  Mat3 about_centre = Mat3::Zero();
  Pose X_BC = {};
};

// Reads <inertial>. diaginertia has the moments in the axes of its frame; fullinertia has the matrix as ixx iyy izz ixy
// ixz iyz in the axes of the body, and so excludes an orientation.
Stated read_inertial(Context& context, const XmlElement& element) {
  check_attributes(element, kInertialRules, context.warnings);
  const Attributes attributes(element);
  Stated stated;
  element.required_attribute("pos");
  stated.mass = element.required_number("mass");
  if (stated.mass < 0) attributes.fail("mass", "it must not be negative");
  stated.X_BC = read_pose(attributes, context.compiler, context.warnings);
  if (const auto full = attributes.numbers("fullinertia", 6, 6)) {
    if (attributes.has("diaginertia")) attributes.fail("fullinertia", "there is a diaginertia already");
    if (stated.X_BC.R != Mat3::Identity()) attributes.fail("fullinertia", "it leaves no room for an orientation");
    const VecX& I = *full;
    stated.about_centre << I[0], I[3], I[4], I[3], I[1], I[5], I[4], I[5], I[2];
  } else if (const std::optional<Vec3> moments = attributes.vector3("diaginertia")) {
    stated.about_centre = moments->asDiagonal();
  }
  return stated;
}

// Applies the compiler's lower bounds (boundmass, boundinertia), and balanceinertia: moments that no real body has are
// replaced by their mean.
void bound(const Compiler& compiler, Stated& stated) {
  stated.mass = std::max(stated.mass, compiler.least_mass);
  if (compiler.least_inertia == 0 && !compiler.balance_inertia) return;
  if (!stated.about_centre.allFinite()) return;
  const Eigen::SelfAdjointEigenSolver<Mat3> solver(stated.about_centre);
  Vec3 moments = solver.eigenvalues().cwiseMax(compiler.least_inertia);
  if (compiler.balance_inertia && moments[0] + moments[1] < moments[2]) moments.setConstant(moments.mean());
  if (moments == solver.eigenvalues()) return;
  stated.about_centre = solver.eigenvectors() * moments.asDiagonal() * solver.eigenvectors().transpose();
}

// The inertia of a body by the rule of inertiafromgeom: with "auto" an <inertial> counts, and the geoms where there is
// none.
Stated stated_inertia(Context& context, const BodyPart& body) {
  const Switch mode = context.compiler.inertia_from_geoms;
  const bool use_geoms = mode == Switch::yes || (mode == Switch::automatic && !body.inertial);
  if (!use_geoms) return body.inertial ? read_inertial(context, body.inertial) : Stated{};
  const SpatialInertia sum = from_geoms(context, body);
  return {sum.mass, sum.about_centre(), Pose::translation(sum.centre())};
}

}  // namespace

void compute_inertias(Context& context) {
  double total = 0;
  for (std::size_t b = 1; b < context.scene.bodies.size(); ++b) {
    BodyPart& part = context.scene.bodies[b];
    Stated stated = stated_inertia(context, part);
    bound(context.compiler, stated);
    Body body{.name = part.name};
    const XmlElement& from = part.inertial ? part.inertial : part.from;
    set_inertia(body, stated.mass, stated.about_centre, stated.X_BC, from.place(), context.warnings);
    part.inertia = body.inertia;
    part.unphysical = body.allow_unphysical_inertia;
    total += stated.mass;
  }
  // settotalmass scales all bodies alike, inertias and all.
  if (context.compiler.total_mass <= 0 || total <= 0) return;
  const double factor = context.compiler.total_mass / total;
  for (BodyPart& part : context.scene.bodies) part.inertia = scaled(part.inertia, factor);
}

}  // namespace lithe::internal::mjcf
