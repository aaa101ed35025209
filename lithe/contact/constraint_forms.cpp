#include "lithe/contact/constraint_forms.h"

#include <Eigen/Geometry>

#include "lithe/contact/constraint_directions.h"
#include "lithe/contact/constraint_point_motion.h"
#include "lithe/contact/constraint_pushes.h"
#include "lithe/contact/target_rates.h"
#include "lithe/dynamics/body_motion.h"
#include "lithe/dynamics/internal/slot_vectors.h"

namespace lithe::internal {

namespace {

// A touched body. Of one that nothing moves all is zero, and the origin is the other's.
struct Side {
  bool moves;
  Vector3<double> origin;  // of its tree
  struct Twist {
    Vector3<double> w, v;  // angular velocity, and velocity at the origin
    Vector3<double> at(const Vector3<double>& r) const { return v + cross(w, r); }
  };
  Twist now, before;  // under u; under the velocities at the step's start
};

// Velocities of a body at a contact, for each row of the contact.
struct RowVelocities {
  PackVec3 w = {}, v = {};

  RowVelocities() = default;
  LITHE_INLINE RowVelocities(const Side::Twist& twist, const Vector3<double>& r)
      : w(for_all_rows(twist.w)), v(for_all_rows(twist.at(r))) {}
  LITHE_INLINE void add_to_first(double factor, const Side::Twist& twist, const Vector3<double>& r) {
    const Pack share = {factor, 0, 0, 0};
    w = w + share * for_all_rows(twist.w);
    v = v + share * for_all_rows(twist.at(r));
  }
};

// Linear forms on a body's motion at a contact.
struct RowForms {
  PackVec3 turn, shift;

  // Takes off what p's and n's own motion does to the rows.
  LITHE_INLINE void subtract(const PointMotion& motion, const ContactDirections& directions, const PackVec3& D,
                             const RowVelocities& v_i, const RowVelocities& v_r) {
    const PackVec3 by_p = cross(D, v_i.w - v_r.w);
    const double roll = motion.reference_is_a ? -motion.roll : motion.roll;
    turn = turn - broadcast(roll) * cross(for_all_rows(directions.n), by_p);
    for (int k = 0; k < motion.slide_count; ++k) subtract(by_p, motion.slides[k]);
    if (motion.turn_count == 0) return;
    const PackVec3 by_n = directions.by_normal(D, v_i.v - v_r.v);
    for (int k = 0; k < motion.turn_count; ++k) subtract(by_n, motion.turns[k]);
  }
  LITHE_INLINE void subtract(const PackVec3& by, const PointMotion::Term& term) {
    const Pack factor = dot(by, for_all_rows(term.along));
    turn = turn - factor * for_all_rows(term.by_turn);
    shift = shift - factor * for_all_rows(term.by_shift);
  }
};

class FormWriter {
 public:
  FormWriter(const Model& model, const FormInput& in, ConstraintForms& out)
      : model_(model), in_(in), problem_(in.problem), tree_(model.tree()), h_(in.options.time_step), out_(out) {
    directions_.n.setZero();
  }

  void start_island(const LcpReport& report) {
    report_ = &report;
    rate_rule_ = TargetRule::none;
    rate_ = 0;
  }

  // E of one patch, constraint by constraint, and the sum of their T̂.
  void write_patch(int index, std::vector<Constraint>::const_iterator& constraint) {
    patch_ = &problem_.patches[index];
    form_a_ = out_.rows.data() + patch_->start;
    size_a_ = problem_.touches.size_of(patch_->touch_a);
    size_b_ = problem_.touches.size_of(patch_->touch_b);
    form_b_ = form_a_ + size_a_ * patch_->stride;
    pushes_ = in_.pushes && (!is_balanced(patch_->touch_a) || !is_balanced(patch_->touch_b));
    sums_.start();
    if (acts_on_bodies(constraint->kind)) find_sides();
    // Padding; what is not is overwritten.
    for (int k = 1; k <= size_a_ + size_b_; ++k) as_pack(form_a_ + k * patch_->stride - kLanes) = Pack{};
    row_ = 0;
    for (; row_ < patch_->row_count; row_ += constraint->rows, ++constraint) write(*constraint);
    ConstraintForms::Push& push = out_.pushes[index];
    push.zero = sums_.empty();
    if (!push.zero) sums_.write(sides_[0].moves, sides_[1].moves, to_eigen(sides_[1].origin - sides_[0].origin), push);
  }

 private:
  // Whether a push on this side moves nobody: nothing moves it, or the mode holds its body.
  bool is_balanced(int touch) const { return touch < 0 || (in_.balanced_by && in_.balanced_by->holds(touch)); }

  // Origins and twists of the two bodies that the patch acts on.
  void find_sides() {
    const int touches[2] = {patch_->touch_a, patch_->touch_b};
    for (const bool second : {false, true}) {
      Side& side = sides_[second];
      side.moves = touches[second] >= 0;
      const Touch& touch = problem_.touches.touches[touches[side.moves ? second : !second]];
      side.origin = from_eigen(in_.contact.kin.origin[tree_.chains[tree_.chain[touch.dof]].tree]);
      side.now = side.before = {};
      if (!side.moves) continue;
      const int start = problem_.touches.start_of(touch);
      const auto twist = [&](const double* V) { return Side::Twist{{V[0], V[1], V[2]}, {V[3], V[4], V[5]}}; };
      side.now = twist(in_.V + start);
      if (in_.V_before) side.before = twist(in_.V_before + start);
    }
  }

  void write(const Constraint& constraint) {
    switch (constraint.kind) {
      case ConstraintKind::contact: contact(constraint); break;
      case ConstraintKind::lower_limit: dof(rate_of_gap(constraint)); break;
      case ConstraintKind::upper_limit: dof(-rate_of_gap(constraint)); break;
      case ConstraintKind::motor: dof(motor_rate(constraint)); break;
      case ConstraintKind::dry_friction: dof(0); break;
      case ConstraintKind::mimic: {
        const double rate = rate_of_error(constraint, 0);
        dof(rate, -rate * model_.mimics()[constraint.index].multiplier);
        break;
      }
      case ConstraintKind::ball_loop:
      case ConstraintKind::weld_loop: loop(constraint); break;
    }
  }

  // ∂d/∂gap of a contact or a limit.
  double rate_of_gap(const Constraint& constraint) {
    if (!in_.targets) return 0;
    // Where no target was dropped the rule alone decides, and most constraints follow the same.
    if (constraint.rule != rate_rule_ || has(report_->flags, LcpFlag::targets_dropped)) {
      rate_ = gap_rate(problem_, constraint, in_.options, *report_);
      rate_rule_ = constraint.rule;
    }
    return rate_;
  }
  double rate_of_error(const Constraint& constraint, int k) const {
    return in_.targets ? error_rate(problem_, constraint, constraint.first_row + k, in_.options, *report_) : 0.0;
  }
  // ∂d/∂q of a motor's row: d depends on target − q alone.
  double motor_rate(const Constraint& constraint) const {
    const Motor& motor = model_.motors()[constraint.index];
    if (!in_.targets || motor.target == Motor::Target::velocity) return 0;
    const Joint& joint = model_.joints()[motor.joint];
    const double wanted = in_.contact.motor_targets[constraint.index];
    return -motor_row_rates(motor, joint, in_.contact.q[joint.q_index], wanted, h_).target.d;
  }

  // E of a row on one or two DoFs: ∂d/∂q.
  void dof(double a, double b = 0) {
    form_a_[row_] = a;
    if (size_b_ > 0) form_b_[row_] = b;
  }

  // Forms on S at p, r from the tree's origin, written as forms on S at that origin: those of this constraint's rows at once.
  LITHE_INLINE void put(bool second, int rows, const Vector3<double>& r, const PackVec3& turn,
                        const PackVec3& shift) const {
    const PackVec3 moved = turn + cross(for_all_rows(r), shift);
    const Pack form[6] = {moved.x, moved.y, moved.z, shift.x, shift.y, shift.z};
    double* to = (second ? form_b_ : form_a_) + row_;
    const bool fits = row_ + kLanes <= patch_->stride;  // then what is too much gives way to the rows that follow
    for (int k = 0; k < 6; ++k, to += patch_->stride) {
      if (fits) {
        store_anywhere(to, form[k]);
      } else {
        for (int row = 0; row < rows; ++row) to[row] = form[k][row];
      }
    }
  }

  // One row of a constraint, about the tree's origin.
  void put(bool second, int row, const Vec3& turn, const Vec3& shift) const {
    double* to = (second ? form_b_ : form_a_) + row_ + row;
    for (int k = 0; k < 3; ++k) {
      to[k * patch_->stride] = turn[k];
      to[(k + 3) * patch_->stride] = shift[k];
    }
  }

  // Neighbouring contacts often share their normal.
  const ContactDirections& directions_of(const Vec3& n) {
    if (n != directions_.n) directions_.set(n);
    return directions_;
  }

  // Whether the row's target is −e J v, and has stayed so.
  bool bounces(const Constraint& constraint) const {
    return constraint.rule == TargetRule::restitution && in_.targets &&
           !target_is_held(problem_, constraint.first_row, *report_);
  }

  // The rows say how the incident body i moves relative to the reference r (PointMotion), D·(v_i − v_r) at p with
  // D = ±(n, t₁, t₂). As i moves by S,
  //
  //   −∂(D·(v_i − v_r)) = −∂p·(D × (ω_i − ω_r)) − ∂D·(v_i − v_r) + S·[D × v_i; D × ω_i],
  //
  // where p riding on i turns the last ω_i into ω_r. As both move together nothing changes but for the spin of the tangents:
  // E_i + E_r = [τ; 0], τ = (0, −σ (D₂·u), σ (D₁·u)), u = v_i − v_r. Of a row that bounces the same is wanted under the
  // velocities before, times the restitution, so these are added to its velocities.
  void contact(const Constraint& constraint) {
    const Contact& contact = in_.contact.contacts.contacts[constraint.index];
    PointMotion motion;
    point_motion(contact, motion);
    if (!motion.regular) out_.irregular = true;
    const Pack rate = {rate_of_gap(constraint), 0, 0, 0};
    const bool i = motion.reference_is_a;  // the incident body's side
    const Side &side_i = sides_[i], &side_r = sides_[!i];
    const Vector3<double> arm_i = from_eigen(contact.p) - side_i.origin;
    const Vector3<double> arm_r = from_eigen(contact.p) - side_r.origin;
    const ContactDirections& directions = directions_of(contact.n);
    const PackVec3 D = select_below(constraint.rows, broadcast(i ? -1 : 1), Pack{}) * directions.rows;

    RowVelocities v_i(side_i.now, arm_i), v_r = {};
    if (side_r.moves) v_r = RowVelocities(side_r.now, arm_r);
    if (bounces(constraint)) {
      const double restitution = constraint.material.restitution;
      out_.bouncing.push_back({patch_->first_row + row_, restitution});
      v_i.add_to_first(restitution, side_i.before, arm_i);
      v_r.add_to_first(restitution, side_r.before, arm_r);
    }
    RowForms form = {cross(D, v_i.v) + rate * for_all_rows(motion.gap_by_turn),
                     rate * for_all_rows(motion.gap_by_shift)};
    if (motion.rides_on_reference) {
      form.shift = form.shift + cross(D, v_i.w);
    } else if (side_r.moves) {
      form.shift = form.shift + cross(D, v_r.w);
    }
    if (motion.moves_otherwise()) form.subtract(motion, directions, D, v_i, v_r);
    if (side_i.moves) put(i, constraint.rows, arm_i, form.turn, form.shift);
    if (side_r.moves) {
      const PackVec3 tau = ContactDirections::turned(dot(D, v_i.v - v_r.v)) * for_all_rows(directions.sigma);
      put(!i, constraint.rows, arm_r, tau - form.turn, PackVec3{} - form.shift);
    }
    if (pushes_) push_contact(constraint, directions, motion, arm_i);
  }

  // `arm`: p from the incident body's origin.
  void push_contact(const Constraint& constraint, const ContactDirections& directions, const PointMotion& motion,
                    const Vector3<double>& arm) {
    const bool i = motion.reference_is_a;
    const double sign = i ? -1 : 1;
    const double* f = in_.f + constraint.first_row;
    const bool rubs = constraint.rows == 3;
    if (f[0] == 0 && !(rubs && (f[1] != 0 || f[2] != 0))) return;
    Vec3 tangential = Vec3::Zero();
    if (rubs) tangential = f[1] * directions.t1 + f[2] * directions.t2;
    const Vec3 F = f[0] * directions.n + tangential;  // on a
    PushSums::ContactPush push = sums_.add_contact(i, Pack{arm.x, arm.y, arm.z, 0}, lanes_of(sign * F));
    if (motion.rides_on_reference) push.hang();
    if (motion.roll != 0) push.roll(motion.roll, lanes_of(sign * directions.n));
    for (int k = 0; k < motion.slide_count; ++k) {
      const auto& [along, by_turn, by_shift] = motion.slides[k];
      push.slide(lanes_of(along), lanes_of(by_turn), lanes_of(by_shift));
    }
    for (int k = 0; k < motion.turn_count; ++k) {
      const auto& [along, by_turn, by_shift] = motion.turns[k];
      const Vec3 change = sign * (f[0] * along + directions.moved(tangential, along));
      push.turn(lanes_of(change), lanes_of(by_turn), lanes_of(by_shift));
    }
    if (rubs && sides_[!i].moves)
      push.spin(lanes_of(sign * directions.n.cross(tangential)), lanes_of(directions.sigma));
  }

  // The rows of a loop closure along the world's axes: three of the points of its two frames and, of a weld, three of their turn φ. Targets
  // move with the errors (rate_of_error()).
  void loop(const Constraint& constraint) {
    const LoopClosure& closure = model_.loops()[constraint.index];
    const Pose frames[2] = {in_.contact.X_WB[closure.a] * closure.placement_a,
                            in_.contact.X_WB[closure.b] * closure.placement_b};
    const bool weld = constraint.kind == ConstraintKind::weld_loop;
    Mat3 by_turn[2] = {Mat3::Zero(), Mat3::Zero()};  // ∂φ by the angular velocities, R_a = exp(φ) R_b
    if (weld) {
      const Mat3 turn = frames[0].R * frames[1].R.transpose();
      by_turn[0] = right_jacobian_inverse(-quaternion_log(quaternion_from_rotation(turn)));
      by_turn[1] = -by_turn[0] * turn;
    }
    Vec3 F = Vec3::Zero(), N = Vec3::Zero();
    for (int k = 0; k < constraint.rows; ++k) (k < 3 ? F[k] : N[k - 3]) = in_.f[constraint.first_row + k];
    for (const bool second : {false, true}) {
      const Side& side = sides_[second];
      if (!side.moves) continue;
      const double sign = second ? -1 : 1;
      const Vector3<double> at = from_eigen(frames[second].p) - side.origin;
      const Vec3 r = to_eigen(at), w = to_eigen(side.now.w), v = to_eigen(side.now.at(at));
      for (int k = 0; k < constraint.rows; ++k) {
        const Vec3 axis = Vec3::Unit(k % 3);
        const double rate = rate_of_error(constraint, k);
        if (k < 3) {
          const Vec3 shift = rate * sign * axis;
          put(second, k, sign * axis.cross(v) + r.cross(shift), shift);
        } else {
          put(second, k, sign * axis.cross(w) + rate * by_turn[second].row(k - 3).transpose(), Vec3::Zero());
        }
      }
      if (!pushes_ || (F.isZero(0) && N.isZero(0))) continue;
      sums_.add_loop(second, lanes_of(r), lanes_of(sign * F), lanes_of(sign * N));
    }
  }

  const Model& model_;
  const FormInput& in_;
  const ContactProblem& problem_;
  const DofTree& tree_;
  double h_;
  ConstraintForms& out_;
  // Of the island:
  const LcpReport* report_ = nullptr;
  TargetRule rate_rule_ = TargetRule::none;  // for which gap_rate() gave
  double rate_ = 0;
  ContactDirections directions_;  // the last that was asked for
  // Of the patch:
  const Patch* patch_ = nullptr;
  Side sides_[2];
  double* form_a_ = nullptr;
  double* form_b_ = nullptr;
  int size_a_ = 0, size_b_ = 0;
  int row_ = 0;         // within the patch
  bool pushes_ = true;  // are wanted
  PushSums sums_;
};

}  // namespace

void constraint_forms(const Model& model, const FormInput& in, ConstraintForms& out) {
  const ContactProblem& problem = in.problem;
  std::size_t size = 0;
  if (!problem.patches.empty()) {
    const Patch& last = problem.patches.back();
    size = last.start + last.stride * (problem.touches.size_of(last.touch_a) + problem.touches.size_of(last.touch_b));
  }
  if (out.rows.size() < size) out.rows.resize(size);
  out.pushes.resize(problem.patches.size());
  out.bouncing.clear();
  out.irregular = false;
  // Islands, patches and constraints are in the same order, that of the rows.
  FormWriter writer(model, in, out);
  const LcpReport none;
  auto constraint = problem.constraints.begin();
  for (int i = 0; i < problem.island_count(); ++i) {
    writer.start_island(in.reports.empty() ? none : in.reports[i]);
    for (int p = problem.first_patch[i]; p < problem.first_patch[i + 1]; ++p) writer.write_patch(p, constraint);
  }
}

}  // namespace lithe::internal
