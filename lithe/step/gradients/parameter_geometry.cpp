#include "lithe/step/gradients/parameter_geometry.h"

#include <Eigen/Geometry>

#include <algorithm>
#include <cmath>

#include "lithe/collision/contact_derivatives.h"
#include "lithe/contact/tangent_basis.h"
#include "lithe/contact/target_rates.h"
#include "lithe/dynamics/body_motion.h"
#include "lithe/step/internal/step_tape.h"

namespace lithe::internal {

namespace {

using GeometryChange = Eigen::Matrix<double, 7, 1>;  // ∂p, ∂n, ∂gap

// A body's motion at a point, or zero for a fixed one.
struct PointMotion {
  Vec3 w = Vec3::Zero(), v = Vec3::Zero();
};
PointMotion operator-(const PointMotion& a, const PointMotion& b) { return {a.w - b.w, a.v - b.v}; }

// Where p is, from the origin of the tree that the DoF belongs to.
Vec3 place_from_origin(const ColumnWriter& writer, int dof, const Vec3& p) {
  return p - tree_origin(writer.model, writer.stages.kin, dof);
}

// The motion of the body behind `dof` at p.
PointMotion motion_of(const ColumnWriter& writer, const Lanes<6>& V, int dof, const Vec3& p) {
  if (dof < 0) return {};
  const Motion<double> at =
      moved_to(motion_at(V, writer.tree.slot[dof]), from_eigen(place_from_origin(writer, dof, p)));
  return {to_eigen(at.w), to_eigen(at.v)};
}

// A constraint pushes a with the force F and the moment N at p, and b the other way.
void add_push(const ColumnWriter& writer, const Constraint& constraint, const Vec3& p, const Vec3& N, const Vec3& F) {
  for (const bool second : {false, true}) {
    const int dof = second ? constraint.dof_b : constraint.dof_a;
    if (dof < 0) continue;
    const double sign = second ? 1 : -1;  // r contains −Jᵀf
    const Vec3 moment = N + place_from_origin(writer, dof, p).cross(F);
    writer.add_force(dof, {from_eigen(sign * moment), from_eigen(sign * F)});
  }
}

// The three directions of a contact (one where nothing rubs) and how they turn with n.
struct Directions {
  int count;
  Vec3 d[3];
  Mat3 by_n[3];

  Directions(const Vec3& n, int rows) : count(rows) {
    d[0] = n;
    by_n[0].setIdentity();
    if (rows == 1) return;
    const TangentBasis basis = tangent_basis(n);
    const TangentBasisDerivatives turning = tangent_basis_derivatives(n);
    d[1] = basis.t1;
    d[2] = basis.t2;
    by_n[1] = turning.dt1;
    by_n[2] = turning.dt2;
  }
};

// Whether the contact's target is −e J v, and has stayed so.
bool bounces(const ColumnWriter& writer, const Constraint& constraint, const LcpReport& report) {
  return constraint.rule == TargetRule::restitution && !target_is_held(writer.problem, constraint.first_row, report);
}

// ∂gap of a contact that bounces: it moves the moment of the impact, and nothing of the step.
void move_gap(const ColumnWriter& writer, const Constraint& constraint, const LcpReport& report, double change) {
  if (bounces(writer, constraint, report)) writer.column.gap[constraint.first_row] += change;
}

// e and ρ of a contact whose point, normal and gap move by `change`, while the bodies move as they did (see the header).
void move_contact(const ColumnWriter& writer, const Constraint& constraint, const LcpReport& report,
                  const GeometryChange& change) {
  const Contact& contact = writer.record.contacts.contacts[constraint.index];
  const Directions directions(contact.n, constraint.rows);
  const Vec3 dp = change.head<3>(), dn = change.segment<3>(3);
  writer.for_each_part([&](const ColumnPart& part) {
    const auto relative = [&](const Lanes<6>& V) {
      return motion_of(writer, V, constraint.dof_a, contact.p) - motion_of(writer, V, constraint.dof_b, contact.p);
    };
    double* e = part.e + constraint.first_row;
    const PointMotion u = relative(part.point.V);
    for (int k = 0; k < directions.count; ++k) {
      e[k] -= (directions.by_n[k] * dn).dot(u.v) + dp.dot(directions.d[k].cross(u.w));
    }
    if (!part.is_step) return;
    e[0] += gap_rate(writer.problem, constraint, constraint_options_of(writer.record.options), report) * change[6];
    if (bounces(writer, constraint, report)) {
      const PointMotion before = relative(writer.stages.kin.V);
      e[0] -= constraint.material.restitution * (dn.dot(before.v) + dp.dot(contact.n.cross(before.w)));
    }
  });
  const double* f = writer.record.f.data() + constraint.first_row;
  Vec3 F = Vec3::Zero(), dF = Vec3::Zero();
  for (int k = 0; k < directions.count; ++k) {
    F += f[k] * directions.d[k];
    dF += f[k] * directions.by_n[k] * dn;
  }
  add_push(writer, constraint, contact.p, dp.cross(F), dF);
}

// Calls visit(constraint, report, contact) for every contact.
template <class Visit>
void for_each_contact(const ColumnWriter& writer, Visit visit) {
  writer.for_each_constraint([&](const Constraint& constraint, const LcpReport& report) {
    if (constraint.kind != ConstraintKind::contact) return;
    visit(constraint, report, writer.record.contacts.contacts[constraint.index]);
  });
}

// Shapes for which moved(shape) holds are shifted.
template <class Moved>
void shift_contacts(const ColumnWriter& writer, Moved moved, const Vec3& shift) {
  for_each_contact(writer, [&](const Constraint& constraint, const LcpReport& report, const Contact& contact) {
    const bool a = moved(contact.a), b = moved(contact.b);
    if (!a && !b) return;
    const ContactDerivatives by = contact_derivatives(contact);
    GeometryChange change = GeometryChange::Zero();
    if (a) change += by.by_a.rightCols<3>() * shift;
    if (b) change += by.by_b.rightCols<3>() * shift;
    move_contact(writer, constraint, report, change);
    if (a != b) move_gap(writer, constraint, report, (a ? 1 : -1) * contact.n.dot(shift));
  });
}

// The frame of a loop on one of its bodies is shifted: its rows along the axes, first three, measure places.
void shift_loop(const ColumnWriter& writer, const Constraint& constraint, const LcpReport& report, bool second,
                const Vec3& shift) {
  const LoopClosure& loop = writer.model.loops()[constraint.index];
  const Pose& X_WB = writer.stages.X_WB[second ? loop.b : loop.a];
  const Vec3 p = X_WB * (second ? loop.placement_b : loop.placement_a).p;
  const int dof = second ? constraint.dof_b : constraint.dof_a;
  const double sign = second ? -1 : 1;
  writer.for_each_part([&](const ColumnPart& part) {
    const Vec3 drift = motion_of(writer, part.point.V, dof, p).w.cross(shift);
    for (int k = 0; k < 3; ++k) {
      const int row = constraint.first_row + k;
      part.e[row] -= sign * drift[k];
      if (!part.is_step) continue;
      part.e[row] += sign * shift[k] *
                     error_rate(writer.problem, constraint, row, constraint_options_of(writer.record.options), report);
    }
  });
  const Vec3 F(&writer.record.f[constraint.first_row]);
  writer.add_force(dof, {from_eigen(-sign * shift.cross(F)), {}});
}

template <class Visit>
void for_each_loop(const ColumnWriter& writer, Visit visit) {
  writer.for_each_constraint([&](const Constraint& constraint, const LcpReport& report) {
    if (constraint.kind == ConstraintKind::ball_loop || constraint.kind == ConstraintKind::weld_loop) {
      visit(constraint, report);
    }
  });
}

// ∂L/∂size of a collider's length scale L = clamp(10·width, R/100, R) (collider.cpp), R its bounding radius.
double length_scale_rate(const Collider& c, int size) {
  double width = 0, radius = 0, dwidth = 0, dradius = 0;
  switch (c.type) {
    case ShapeType::sphere: return size == 0 ? 1 : 0;
    case ShapeType::capsule:
      width = 2 * c.radius;
      radius = c.radius + c.half_length;
      dwidth = size == 0 ? 2 : 0;
      dradius = 1;
      break;
    case ShapeType::cylinder:
      width = 2 * std::min(c.radius, c.half_length);
      radius = std::hypot(c.radius, c.half_length);
      dwidth = (size == 0) == (c.radius <= c.half_length) ? 2 : 0;
      dradius = (size == 0 ? c.radius : c.half_length) / radius;
      break;
    case ShapeType::box: {
      const double thinnest = c.half_size.minCoeff();
      width = 2 * thinnest;
      radius = c.half_size.norm();
      if (c.half_size[size] == thinnest) dwidth = (c.half_size.array() == thinnest).count() == 1 ? 2 : 1;
      dradius = c.half_size[size] / radius;
      break;
    }
    case ShapeType::mesh:
    case ShapeType::plane: return 0;
  }
  if (10 * width > radius) return dradius;
  return 10 * width < radius / 100 ? dradius / 100 : 10 * dwidth;
}

// The tolerances of a pair scale with the smaller shape's length (Bands), and two of them show: the prism of a box's or mesh's
// face reaches bands.side beyond its sides, so points of another such shape that are clipped there move along; and the target of
// something still open has a knee. Of two equally small shapes, each counts half.
void move_bands(const ColumnWriter& writer, const Constraint& constraint, const LcpReport& report,
                const Contact& contact, const Collider& collider, int size, GeometryChange& change) {
  const std::vector<Collider>& colliders = writer.record.tape().colliders->colliders();
  const Collider& other = colliders[contact.a == collider.shape ? contact.b : contact.a];
  if (collider.length_scale > other.length_scale) return;
  const double share = collider.length_scale < other.length_scale ? 1 : 0.5;
  const double rate = share * length_scale_rate(collider, size);
  const auto* crossing = std::get_if<EdgeCrossing>(&contact.feature);
  if (crossing && collider.hull && other.hull) {
    const Bands bands = bands_of(collider, other);
    const double across = crossing->m.dot(crossing->e);
    const Vec3 slide = (bands.side / bands.length * rate / across) * crossing->e;
    change.head<3>() += slide;
    change[6] += (crossing->face_on_a ? -1 : 1) * contact.n.dot(slide);
  }
  const ConstraintOptions options = constraint_options_of(writer.record.options);
  if (constraint.rule != TargetRule::approach || target_is_held(writer.problem, constraint.first_row, report)) return;
  writer.main().e[constraint.first_row] += (1 - options.correction) * kContactKnee * rate / options.time_step;
}

// Where a shape is in the world.
Pose shape_pose(const ColumnWriter& writer, ShapeIndex shape) {
  const Collider& collider = writer.record.tape().colliders->colliders()[shape];
  return writer.stages.X_WB[collider.body] * collider.placement;
}

}  // namespace

void write_shape_placement(ColumnWriter& writer, ShapeIndex shape, int axis) {
  const Vec3 shift = writer.stages.X_WB[writer.model.shapes()[shape].body].R.col(axis);
  shift_contacts(writer, [&](ShapeIndex other) { return other == shape; }, shift);
}

void write_shape_size(ColumnWriter& writer, ShapeIndex shape, int size) {
  const std::vector<Collider>& colliders = writer.record.tape().colliders->colliders();
  for_each_contact(writer, [&](const Constraint& constraint, const LcpReport& report, const Contact& contact) {
    if (contact.a != shape && contact.b != shape) return;
    const ContactSizeDerivatives by =
        contact_size_derivatives(contact, colliders[contact.a], shape_pose(writer, contact.a), colliders[contact.b],
                                 shape_pose(writer, contact.b));
    GeometryChange change = (contact.a == shape ? by.by_a : by.by_b).col(size);
    move_bands(writer, constraint, report, contact, colliders[shape], size, change);
    move_contact(writer, constraint, report, change);
    move_gap(writer, constraint, report, change[6]);
  });
}

void write_loop_placement(ColumnWriter& writer, LoopIndex index, bool second, int axis) {
  const LoopClosure& loop = writer.model.loops()[index];
  const Vec3 shift = writer.stages.X_WB[second ? loop.b : loop.a].R.col(axis);
  for_each_loop(writer, [&](const Constraint& constraint, const LcpReport& report) {
    if (constraint.index == index) shift_loop(writer, constraint, report, second, shift);
  });
}

void shift_surfaces(ColumnWriter& writer, const RigidGroup& bodies, const Vec3& shift) {
  const auto on_them = [&](ShapeIndex shape) { return bodies.has(writer.tree, writer.model.shapes()[shape].body); };
  shift_contacts(writer, on_them, shift);
  for_each_loop(writer, [&](const Constraint& constraint, const LcpReport& report) {
    const LoopClosure& loop = writer.model.loops()[constraint.index];
    if (bodies.has(writer.tree, loop.a)) shift_loop(writer, constraint, report, false, shift);
    if (bodies.has(writer.tree, loop.b)) shift_loop(writer, constraint, report, true, shift);
  });
}

}  // namespace lithe::internal
