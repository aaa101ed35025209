#include "lithe/step/gradients/parameter_motion.h"

#include <Eigen/Geometry>

#include <algorithm>
#include <span>

#include "lithe/dynamics/internal/body_point.h"
#include "lithe/step/gradients/parameter_geometry.h"

namespace lithe::internal {

namespace {

// What a shift does to everything behind it, in world axes. Nothing turns.
struct Slide {
  Vec3 shift = Vec3::Zero();
  Vec3 velocity = Vec3::Zero();        // under v⁺, or z
  Vec3 velocity_start = Vec3::Zero();  // under v
  Vec3 acceleration = Vec3::Zero();    // under v and a
};

// The DoFs behind the place, and the last one before it (−1: the place is fixed in the world).
struct Behind {
  int carrier, begin, end;
};

// The angular part of a DoF's motion, zero in the world.
Vec3 angular_at(const DofTree& tree, const Lanes<6>& motions, int dof) {
  return dof < 0 ? Vec3(Vec3::Zero()) : to_eigen(vector_at(motions, tree.slot[dof]));
}

// A shift that is fixed in what carries it.
Slide fixed_slide(const ColumnWriter& writer, const ColumnPart& part, int carrier, const Vec3& shift) {
  const Vec3 w_end = angular_at(writer.tree, part.point.V, carrier);
  const Vec3 w = angular_at(writer.tree, writer.stages.kin.V, carrier);
  const Vec3 alpha = angular_at(writer.tree, writer.linearization.main.id.A, carrier);
  return {shift, w_end.cross(shift), w.cross(shift), alpha.cross(shift) + w.cross(w.cross(shift))};
}

Force<double> pure_moment(const Vec3& moment) { return {from_eigen(moment), {}}; }

// Inertia of mass m and first moment hc: the force that it takes to accelerate it by a, all of it alike.
Force<double> force_of(double m, const Vec3& hc, const Vec3& a) { return {from_eigen(hc.cross(a)), from_eigen(m * a)}; }

// ρ by the links: those behind the place get the force that accelerates them by a', those before it carry that force and feel what they
// carry at another place.
void add_link_forces(const ColumnWriter& writer, const Behind& behind, const Slide& slide) {
  const DofTree& tree = writer.tree;
  const double h = writer.h;
  const MassMatrix& M = mass_stages_of(writer.model, writer.record).M;
  const Vector3<double> a = from_eigen(h * slide.acceleration);
  // S_i·(I_i [0; a]) = (I_i S_i)·[0; a], with the composite inertia I_i of what is behind i.
  for (int i = behind.begin; i < behind.end; ++i) writer.column.rho[i] += dot(a, vector_at(M.IS, tree.slot[i], 3));
  if (behind.carrier < 0) return;
  for (int i = behind.begin; i < behind.end; i = tree.subtree_end[i]) {
    const int slot = tree.slot[i];
    const Force<double> own = force_of(M.I.at(0, slot), to_eigen(vector_at(M.I, slot, 1)), h * slide.acceleration);
    const Vec3 carried = h * slide.shift.cross(to_eigen(vector_at(writer.linearization.main.id.F, slot, 3)));
    writer.add_force(behind.carrier, own + pure_moment(carried));
  }
}

// Which sides of a patch are bodies behind the place.
struct MovedSides {
  bool a, b;
};
MovedSides moved_sides(const ContactProblem& problem, const Patch& patch, const Behind& behind) {
  const auto moved = [&](int index) {
    if (index < 0) return false;
    const Touch& touch = problem.touches.touches[index];
    return touch.size == 6 && behind.begin <= touch.dof && touch.dof < behind.end;
  };
  return {moved(patch.touch_a), moved(patch.touch_b)};
}

// out += factor · (columns of a side)·[0; x]
void add_linear(const double* side, int stride, int rows, const Vec3& x, double factor, double* out) {
  for (int k = 0; k < 3; ++k) {
    const double* column = side + (k + 3) * stride;
    for (int r = 0; r < rows; ++r) out[r] += factor * x[k] * column[r];
  }
}

// e and ∂gap of one side of a patch; `bounces`: those of its rows that do.
void add_row_changes(const ColumnWriter& writer, const ColumnPart& part, const Patch& patch, bool second,
                     std::span<const ConstraintForms::BouncingRow> bounces, const Slide& slide) {
  const double* T = writer.problem.side(patch, second);
  const double* E = part.point.forms.rows.data() + (T - writer.problem.coefficients.data());
  double* e = part.e + patch.first_row;
  add_linear(E, patch.stride, patch.row_count, slide.shift, 1, e);
  add_linear(T, patch.stride, patch.row_count, slide.velocity, -1, e);
  for (const ConstraintForms::BouncingRow& bounce : bounces) {
    const int r = bounce.row - patch.first_row;
    add_linear(T + r, patch.stride, 1, slide.velocity_start, -bounce.restitution, e + r);
    add_linear(T + r, patch.stride, 1, slide.shift, 1, writer.column.gap.data() + bounce.row);
  }
}

// How the wrenches of a patch change, besides turning along with the bodies.
void add_push_changes(const ColumnWriter& writer, const Patch& patch, const ConstraintForms::Push& push,
                      const MovedSides& moved, const Slide& slide) {
  for (const bool second : {false, true}) {
    const int touch = second ? patch.touch_b : patch.touch_a;
    if (touch < 0) continue;
    Vec6 change = Vec6::Zero();
    if (moved.a) change += (second ? push.ba : push.aa).rightCols<3>() * slide.shift;
    if (moved.b) change += (second ? push.bb : push.ab).rightCols<3>() * slide.shift;
    writer.add_force(writer.problem.touches.touches[touch].dof,
                     {from_eigen(-change.head<3>()), from_eigen(-change.tail<3>())});
  }
}

// e, ∂gap and the pushes' part of ρ, of all patches that touch bodies behind the place.
void add_constraint_changes(const ColumnWriter& writer, const ColumnPart& part, const Behind& behind,
                            const Slide& slide) {
  const ContactProblem& problem = writer.problem;
  const ConstraintForms& forms = part.point.forms;
  std::size_t bounce = 0;  // ascending by row, like the patches
  for (std::size_t p = 0; p < problem.patches.size(); ++p) {
    const Patch& patch = problem.patches[p];
    const std::size_t first_bounce = bounce;
    while (bounce < forms.bouncing.size() && forms.bouncing[bounce].row < patch.first_row + patch.row_count) ++bounce;
    const auto bounces = std::span(forms.bouncing).subspan(first_bounce, bounce - first_bounce);
    const MovedSides moved = moved_sides(problem, patch, behind);
    if (moved.a) add_row_changes(writer, part, patch, false, bounces, slide);
    if (moved.b) add_row_changes(writer, part, patch, true, bounces, slide);
    if ((moved.a || moved.b) && !forms.pushes[p].zero) {
      add_push_changes(writer, patch, forms.pushes[p], moved, slide);
    }
  }
}

// All that a shift of what is behind a place does.
void add_slide(const ColumnWriter& writer, const ColumnPart& part, const Behind& behind, const Slide& slide) {
  if (behind.begin == behind.end) return;
  if (part.is_step) add_link_forces(writer, behind, slide);
  add_constraint_changes(writer, part, behind, slide);
}

// The DoFs from a joint on, and the one that carries them.
Behind behind_joint(const DofTree& tree, JointIndex joint) {
  const int first = tree.joints[joint].dof;
  return {tree.parent[first], first, tree.subtree_end[first]};
}

// The axes of the frame that a joint's placement is given in.
Mat3 frame_before(const ColumnWriter& writer, JointIndex index) {
  const Body& body = writer.model.bodies()[writer.model.joints()[index].body];
  const auto place = std::find(body.joints.begin(), body.joints.end(), index);
  if (place == body.joints.begin()) return writer.stages.X_WB[body.parent].R;
  const JointIndex previous = *std::prev(place);
  return joint_rotation(writer.stages.kin, writer.tree.joints[previous].slot) *
         axis_alignment(writer.model.joints()[previous]).transpose();
}

// A motion about the tree's origin in world axes, seen from a body: at its origin p, in its axes.
Motion<double> in_body(const Motion<double>& m, const Vector3<double>& p, const Mat3& R_WB) {
  const Motion<double> at = moved_to(m, p);
  return {from_eigen(R_WB.transpose() * to_eigen(at.w)), from_eigen(R_WB.transpose() * to_eigen(at.v))};
}

// A body of which only one of the ten numbers is there, and is 1.
Inertia10<double> unit_inertia(int which) {
  Inertia10<double> I = {};
  double* const numbers[10] = {&I.m, &I.h.x, &I.h.y, &I.h.z, &I.xx, &I.xy, &I.xz, &I.yy, &I.yz, &I.zz};
  *numbers[which] = 1;
  return I;
}

// The bodies that ride on a body rigidly, itself included, and the DoFs of all bodies that it carries. Bodies and DoFs are
// numbered depth first, so both are ranges.
struct Cargo {
  RigidGroup group;
  Behind behind;
};
Cargo cargo_of(const ColumnWriter& writer, BodyIndex body) {
  const std::vector<Body>& bodies = writer.model.bodies();
  const DofTree& tree = writer.tree;
  int end_body = body + 1;
  int begin = tree.nv, end = 0;
  for (; end_body < static_cast<int>(bodies.size()) && bodies[end_body].parent >= body; ++end_body) {
    const std::vector<JointIndex>& joints = bodies[end_body].joints;
    if (joints.empty()) continue;
    begin = std::min(begin, tree.joints[joints.front()].dof);
    end = std::max(end, tree.joint_end[tree.joints[joints.back()].dof]);
  }
  const int carrier = tree.bodies[body].dof;
  return {{body, end_body, carrier}, {carrier, std::min(begin, end), end}};
}

// The inertia of one body that is shifted within its link, and the wrenches on it, which keep their components.
void shift_body_in_link(const ColumnWriter& writer, BodyIndex index, const Slide& slide) {
  const Kinematics& kin = writer.stages.kin;
  const BodyPoint origin = body_point(writer.model, kin, index);
  const SpatialInertia& inertia = writer.model.bodies()[index].inertia;
  const double h = writer.h;
  const Vec3 hc = inertia.mass * to_eigen(origin.p) + writer.stages.X_WB[index].R * inertia.first_moment;
  const Motion<double> V = motion_at(kin.V, origin.slot), A = motion_at(writer.linearization.main.id.A, origin.slot);
  const Vec3 w = to_eigen(V.w);
  Vec3 force =
      inertia.mass * to_eigen(A.v) - hc.cross(to_eigen(A.w)) + w.cross(inertia.mass * to_eigen(V.v) - hc.cross(w));
  for (const ExternalWrench& wrench : writer.record.control.wrenches) {
    if (wrench.body == index) force -= wrench.wrench.tail<3>();
  }
  writer.add_force(origin.dof,
                   force_of(inertia.mass, hc, h * slide.acceleration) + pure_moment(h * slide.shift.cross(force)));
}

}  // namespace

// ID is linear in the ten numbers: ρ = Δt (I A + V ×* I V) of a body that has this one number only.
void write_inertia(ColumnWriter& writer, BodyIndex body, int which) {
  const BodyPoint origin = body_point(writer.model, writer.stages.kin, body);
  if (origin.slot < 0) return;
  const Mat3& R = writer.stages.X_WB[body].R;
  const Inertia10<double> I = unit_inertia(which);
  const Motion<double> V = in_body(motion_at(writer.stages.kin.V, origin.slot), origin.p, R);
  const Motion<double> A = in_body(motion_at(writer.linearization.main.id.A, origin.slot), origin.p, R);
  const Force<double> F = writer.h * (I * A + cross(V, I * V));
  const Vector3<double> f = from_eigen(R * to_eigen(F.f));
  writer.add_force(origin.dof, {from_eigen(R * to_eigen(F.n)) + cross(origin.p, f), f});
}

void write_joint_placement(ColumnWriter& writer, JointIndex joint, int axis) {
  const Vec3 shift = frame_before(writer, joint).col(axis);
  const Behind behind = behind_joint(writer.tree, joint);
  writer.for_each_part([&](const ColumnPart& part) {
    add_slide(writer, part, behind, fixed_slide(writer, part, behind.carrier, shift));
  });
}

// A screw is a turn by q and a slide by pitch·q, so its pitch moves a virtual slide by q, with velocity v and acceleration a,
// and adds the slide's force, z·F, to the screw's own.
void write_pitch(ColumnWriter& writer, JointIndex joint) {
  const DofTree::TreeJoint& screw = writer.tree.joints[joint];
  const Behind behind = behind_joint(writer.tree, joint);
  const Vec3 z = joint_rotation(writer.stages.kin, screw.slot).col(2);
  const double q = writer.record.state.q[screw.q_index];
  const double v = writer.record.state.v[screw.dof];
  const Vec3 w = angular_at(writer.tree, writer.stages.kin.V, behind.carrier);
  const LinearPoint& step = writer.linearization.main;
  writer.for_each_part([&](const ColumnPart& part) {
    Slide slide = fixed_slide(writer, part, behind.carrier, q * z);
    slide.velocity += part.u[screw.dof] * z;
    slide.velocity_start += v * z;
    slide.acceleration += 2 * v * w.cross(z) + step.acceleration[screw.dof] * z;
    add_slide(writer, part, behind, slide);
  });
  writer.column.rho[screw.dof] += writer.h * z.dot(to_eigen(vector_at(step.id.F, screw.slot, 3)));
}

void write_gravity(ColumnWriter& writer, int axis) {
  // As if everything accelerated upwards.
  const Slide slide{.acceleration = -Vec3::Unit(axis)};
  add_link_forces(writer, {-1, 0, writer.tree.nv}, slide);
}

void write_body_placement(ColumnWriter& writer, BodyIndex body, int axis) {
  const Body& moved = writer.model.bodies()[body];
  const Vec3 shift = writer.stages.X_WB[body].R * moved.placement.R.transpose().col(axis);
  const Cargo cargo = cargo_of(writer, body);
  writer.for_each_part([&](const ColumnPart& part) {
    const Slide slide = fixed_slide(writer, part, cargo.behind.carrier, shift);
    add_slide(writer, part, cargo.behind, slide);
    if (!part.is_step || cargo.behind.carrier < 0) return;
    for (int b = cargo.group.first; b < cargo.group.end; ++b) {
      if (cargo.group.has(writer.tree, BodyIndex(b))) shift_body_in_link(writer, BodyIndex(b), slide);
    }
  });
  // The link's motion stays, so contacts and loops on these bodies see places move and nothing else.
  shift_surfaces(writer, cargo.group, shift);
}

}  // namespace lithe::internal
