#include "lithe/contact/constraint_forms.h"

#include <Eigen/Geometry>

#include <algorithm>
#include <cmath>

#include "lithe/collision/contact_derivatives.h"
#include "lithe/contact/constraint_rows.h"
#include "lithe/contact/tangent_basis.h"
#include "lithe/contact/target_rates.h"
#include "lithe/dynamics/body_motion.h"

namespace lithe {

namespace {

using Map36 = Eigen::Matrix<double, 3, 6>;
using Row6 = Eigen::Matrix<double, 1, 6>;

// A touched body as a constraint sees it from a point p.
struct Side {
  bool moves = false;
  double sign = 1;        // of its part in the rows: + for a, − for b
  Vec3 r = Vec3::Zero();  // p from the tree's origin
  Vec3 w = Vec3::Zero();  // its angular velocity and the velocity of its point at p, under u
  Vec3 v = Vec3::Zero();
  Vec3 w_before = Vec3::Zero();  // the same under the velocities at the step's start
  Vec3 v_before = Vec3::Zero();
};

// A linear form on S at p becomes one on S at the tree's origin.
Row6 moved_form(const Row6& at_p, const Vec3& r) {
  Row6 form = at_p;
  form.head<3>() += r.cross(Vec3(at_p.tail<3>())).transpose();
  return form;
}

// A map from motions (at their p, r_in from the origin) to wrenches (about r_out from theirs), taken to the origins.
Mat6 moved_map(const Mat6& at_p, const Vec3& r_out, const Vec3& r_in) {
  Mat6 map = at_p;
  // v at p = v − r × ω
  const Mat3 in = skew(r_in), out = skew(r_out);
  map.topLeftCorner<3, 3>() -= at_p.topRightCorner<3, 3>() * in;
  map.bottomLeftCorner<3, 3>() -= at_p.bottomRightCorner<3, 3>() * in;
  map.topRows<3>() += out * map.bottomRows<3>();
  return map;
}

// ∂(p, n, gap) by one side's motion at p.
struct GeometryMap {
  Map36 p, n;
  Row6 gap;
  bool turns = true;  // the normal moves
};

// A ball, pipe or rim over a face that nothing moves: n stays, and p = x − ½ gap n follows the closest point x, which slides by
// H (ω × n) as the body turns.
bool over_fixed_face(const Contact& contact, bool fixed_side, GeometryMap& map) {
  const auto* closest = std::get_if<ClosestFeatures>(&contact.feature);
  if (!closest) return false;
  const SupportJet& face = fixed_side ? closest->b : closest->a;
  const SupportJet& jet = fixed_side ? closest->a : closest->b;
  if (face.freedom != SupportJet::Freedom::face || jet.freedom == SupportJet::Freedom::face) return false;
  const Vec3 n = fixed_side ? contact.n : Vec3(-contact.n);  // towards the body that moves
  const Vec3 t = jet.freedom == SupportJet::Freedom::line ? Vec3(jet.direction.cross(n)) : jet.direction;
  const Mat3 turning = -skew(n);  // ω × n
  Mat3 slide = (jet.round + 0.5 * contact.gap) * turning;
  if (jet.bend != 0) slide += jet.bend * t * (t.transpose() * turning);
  map.p << slide, Mat3::Identity() - 0.5 * n * n.transpose();
  map.gap << 0, 0, 0, n.transpose();
  map.turns = false;
  return true;
}

class FormWriter {
 public:
  FormWriter(const Model& model, const FormInput& in, ConstraintForms& out)
      : model_(model), in_(in), problem_(in.problem), tree_(model.tree()), h_(in.options.time_step), out_(out) {}

  void start_island(const LcpReport& report) { report_ = &report; }

  void write_patch(int index, std::vector<Constraint>::const_iterator& constraint) {
    patch_ = &problem_.patches[index];
    push_ = &out_.pushes[index];
    push_->zero = true;
    pushes_ = !is_balanced(patch_->touch_a) || !is_balanced(patch_->touch_b);
    form_a_ = out_.rows.data() + patch_->start;
    size_a_ = problem_.touches.size_of(patch_->touch_a);
    size_b_ = problem_.touches.size_of(patch_->touch_b);
    form_b_ = form_a_ + size_a_ * patch_->stride;
    row_ = 0;
    for (; row_ < patch_->row_count; row_ += constraint->rows, ++constraint) write(*constraint);
    for (int k = 0; k < size_a_ + size_b_; ++k) {
      std::fill(form_a_ + k * patch_->stride + patch_->row_count, form_a_ + (k + 1) * patch_->stride, 0.0);
    }
  }

 private:
  bool is_balanced(int touch) const { return touch < 0 || (in_.balanced_by && in_.balanced_by->holds(touch)); }

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

  double rate_of_gap(const Constraint& constraint) const {
    return in_.targets ? gap_rate(problem_, constraint, in_.options, *report_) : 0.0;
  }
  double rate_of_error(const Constraint& constraint, int k) const {
    return in_.targets ? error_rate(problem_, constraint, constraint.first_row + k, in_.options, *report_) : 0.0;
  }
  double motor_rate(const Constraint& constraint) const {
    const Motor& motor = model_.motors()[constraint.index];
    if (!in_.targets || motor.target == Motor::Target::velocity) return 0;
    const Joint& joint = model_.joints()[motor.joint];
    const double wanted = in_.contact.motor_targets[constraint.index];
    return -motor_row_rates(motor, joint, in_.contact.q[joint.q_index], wanted, h_).target.d;
  }

  void dof(double a, double b = 0) {
    form_a_[row_] = a;
    if (size_b_ > 0) form_b_[row_] = b;
  }

  Side side(bool second, const Vec3& p) const {
    Side s;
    s.sign = second ? -1 : 1;
    const int index = second ? patch_->touch_b : patch_->touch_a;
    if (index < 0) return s;
    const Touch& touch = problem_.touches.touches[index];
    s.moves = true;
    s.r = p - in_.contact.kin.origin[tree_.chains[tree_.chain[touch.dof]].tree];
    const int start = problem_.touches.start_of(touch);
    const auto at_p = [&](const double* V, Vec3& w, Vec3& v) {
      w = Eigen::Map<const Vec3>(V + start);
      v = Eigen::Map<const Vec3>(V + start + 3) + w.cross(s.r);
    };
    at_p(in_.V, s.w, s.v);
    if (in_.V_before) at_p(in_.V_before, s.w_before, s.v_before);
    return s;
  }

  void put(bool second, int local_row, const Row6& form) const {
    double* to = (second ? form_b_ : form_a_) + local_row;
    for (int k = 0; k < 6; ++k) to[k * patch_->stride] = form[k];
  }

  // The motion of a contact's point and normal by each side, exactly as its features say.
  void geometry(const Contact& contact, GeometryMap& a, GeometryMap& b) const {
    if (const auto* feature = std::get_if<VertexOverFace>(&contact.feature)) {
      // By far the most frequent: the point rides on one body, the normal on the other.
      GeometryMap& vertex = feature->face_on_a ? b : a;
      GeometryMap& face = feature->face_on_a ? a : b;
      vertex.p << Mat3::Zero(), Mat3::Identity();
      vertex.n.setZero();
      face.p.setZero();
      face.n << -skew(contact.n), Mat3::Zero();
      a.gap << 0, 0, 0, contact.n.transpose();
      b.gap = -a.gap;
      return;
    }
    if (patch_->touch_b < 0 && over_fixed_face(contact, true, a)) return;
    if (patch_->touch_a < 0 && over_fixed_face(contact, false, b)) return;
    const ContactDerivatives d = contact_derivatives(contact);
    if (!d.regular) out_.irregular = true;
    const auto split = [](const ContactDerivatives::Map& map, GeometryMap& to) {
      to.p = map.topRows<3>();
      to.n = map.middleRows<3>(3);
      to.gap = map.row(6);
    };
    split(d.by_a, a);
    split(d.by_b, b);
  }

  // A vertex over a face that nothing moves, as feet have them: the point rides on the body and the directions stay.
  bool vertex_over_fixed_face(const Constraint& constraint, const Contact& contact) {
    const auto* feature = std::get_if<VertexOverFace>(&contact.feature);
    if (!feature || constraint.rule == TargetRule::restitution) return false;
    const bool second = feature->face_on_a;  // the vertex is b's
    if ((second ? patch_->touch_a : patch_->touch_b) >= 0) return false;
    const Side s = side(second, contact.p);
    const double* f = in_.f + constraint.first_row;
    const double rate = rate_of_gap(constraint);
    Vec3 F = Vec3::Zero();
    Vec3 directions[3] = {contact.n};
    if (constraint.rows == 3) {
      const TangentBasis basis = tangent_basis(contact.n);
      directions[1] = basis.t1;
      directions[2] = basis.t2;
    }
    double* to = second ? form_b_ : form_a_;
    for (int k = 0; k < constraint.rows; ++k) {
      F += (s.sign * f[k]) * directions[k];
      Vec3 turn = -s.sign * s.v.cross(directions[k]);
      Vec3 shift = Vec3::Zero();
      if (k == 0) {
        shift = rate * s.sign * contact.n;
        turn += s.r.cross(shift);
      }
      for (int i = 0; i < 3; ++i) {
        to[i * patch_->stride + row_ + k] = turn[i];
        to[(i + 3) * patch_->stride + row_ + k] = shift[i];
      }
    }
    if (!pushes_ || F.isZero(0)) return true;
    open_push();
    Mat6& map = block(second, second);
    map.bottomLeftCorner<3, 3>() += skew(F);
    // r × (F × ω) = F (r·ω) − ω (r·F)
    map.topLeftCorner<3, 3>() += F * s.r.transpose();
    map.topLeftCorner<3, 3>().diagonal().array() -= s.r.dot(F);
    return true;
  }

  void contact(const Constraint& constraint) {
    const Contact& contact = in_.contact.contacts.contacts[constraint.index];
    if (vertex_over_fixed_face(constraint, contact)) return;
    const bool rubs = constraint.rows == 3;
    const Vec3& n = contact.n;
    TangentBasis basis = {Vec3::Zero(), Vec3::Zero()};
    TangentBasisDerivatives turning = {Mat3::Zero(), Mat3::Zero()};
    if (rubs) {
      basis = tangent_basis(n);
      turning = tangent_basis_derivatives(n);
    }
    GeometryMap by[2];
    geometry(contact, by[0], by[1]);
    const Side sides[2] = {side(false, contact.p), side(true, contact.p)};
    const Vec3 directions[3] = {n, basis.t1, basis.t2};
    const bool bounces = constraint.rule == TargetRule::restitution && in_.targets &&
                         !target_is_held(problem_, constraint.first_row, *report_);
    const double restitution = bounces ? constraint.material.restitution : 0;
    if (bounces) out_.bouncing.push_back({patch_->first_row + row_, restitution});

    // ∂(d·u) = ∂d·u + ∂p·(d × ω), u and ω: how a moves relative to b.
    const Vec3 u = sides[0].v - sides[1].v, w = sides[0].w - sides[1].w;
    Mat3 by_n, by_p;  // a row per direction
    by_n.row(0) = u.transpose();
    if (rubs) by_n.row(1) = u.transpose() * turning.dt1;
    if (rubs) by_n.row(2) = u.transpose() * turning.dt2;
    for (int k = 0; k < constraint.rows; ++k) by_p.row(k) = directions[k].cross(w).transpose();
    const double rate = rate_of_gap(constraint);
    for (const bool second : {false, true}) {
      const Side& s = sides[second];
      if (!s.moves) continue;
      const GeometryMap& map = by[second];
      for (int k = 0; k < constraint.rows; ++k) {
        Row6 form = -by_p.row(k) * map.p;
        if (map.turns) form -= by_n.row(k) * map.n;
        form.head<3>() -= s.sign * s.v.cross(directions[k]).transpose();
        form.tail<3>() -= s.sign * s.w.cross(directions[k]).transpose();
        if (k == 0) form += rate * map.gap;
        if (k == 0 && bounces) {
          const Vec3 u_before = sides[0].v_before - sides[1].v_before;
          const Vec3 w_before = sides[0].w_before - sides[1].w_before;
          form -= restitution * n.cross(w_before).transpose() * map.p;
          if (map.turns) form -= restitution * u_before.transpose() * map.n;
          form.head<3>() -= restitution * s.sign * s.v_before.cross(n).transpose();
          form.tail<3>() -= restitution * s.sign * s.w_before.cross(n).transpose();
        }
        put(second, row_ + k, moved_form(form, s.r));
      }
    }
    if (pushes_) push_contact(constraint, directions, turning, by, sides);
  }

  // The force F = f_n n + f₁ t₁ + f₂ t₂ at p moves by ∂F = Φ ∂n, and its moment about the fixed place of p by ∂p × F. What
  // turns along with the body that it acts on, S ×* φ, is not part of T̂.
  void push_contact(const Constraint& constraint, const Vec3* directions, const TangentBasisDerivatives& turning,
                    const GeometryMap* by, const Side* sides) {
    const double* f = in_.f + constraint.first_row;
    Vec3 F = f[0] * directions[0];
    Mat3 by_n = f[0] * Mat3::Identity();
    if (constraint.rows == 3) {
      F += f[1] * directions[1] + f[2] * directions[2];
      by_n += f[1] * turning.dt1 + f[2] * turning.dt2;
    }
    if (F.isZero(0)) return;
    open_push();
    const Mat3 across = skew(F);
    for (const bool in : {false, true}) {
      if (!sides[in].moves) continue;
      Mat6 wrench;  // on a, by the motion of `in`
      wrench.topRows<3>() = -across * by[in].p;
      if (by[in].turns) {
        wrench.bottomRows<3>() = by_n * by[in].n;
      } else {
        wrench.bottomRows<3>().setZero();
      }
      for (const bool out : {false, true}) {
        if (!sides[out].moves) continue;
        Mat6 map = sides[out].sign * wrench;
        if (in == out) {
          map.topRightCorner<3, 3>() += sides[out].sign * across;
          map.bottomLeftCorner<3, 3>() += sides[out].sign * across;
        }
        block(out, in) += moved_map(map, sides[out].r, sides[in].r);
      }
    }
  }

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
      const Side s = side(second, frames[second].p);
      if (!s.moves) continue;
      for (int k = 0; k < constraint.rows; ++k) {
        const Vec3 axis = Vec3::Unit(k % 3);
        const double rate = rate_of_error(constraint, k);
        Row6 form = Row6::Zero();
        if (k < 3) {
          form.head<3>() = -s.sign * s.v.cross(axis).transpose();
          form.tail<3>() = rate * s.sign * axis.transpose();
          form = moved_form(form, s.r);
        } else {
          form.head<3>() = -s.sign * s.w.cross(axis).transpose() + rate * by_turn[second].row(k - 3);
        }
        put(second, row_ + k, form);
      }
      if (!pushes_ || (F.isZero(0) && N.isZero(0))) continue;
      open_push();
      Mat6 map = Mat6::Zero();
      map.topLeftCorner<3, 3>() = s.sign * skew(N);
      map.bottomLeftCorner<3, 3>() = s.sign * skew(F);
      block(second, second) += moved_map(map, s.r, s.r);
    }
  }

  void open_push() {
    if (!push_->zero) return;
    push_->zero = false;
    for (Mat6* map : {&push_->aa, &push_->ab, &push_->ba, &push_->bb}) map->setZero();
  }
  Mat6& block(bool out, bool in) const {
    if (out) return in ? push_->bb : push_->ba;
    return in ? push_->ab : push_->aa;
  }

  const Model& model_;
  const FormInput& in_;
  const ContactProblem& problem_;
  const DofTree& tree_;
  double h_;
  ConstraintForms& out_;
  const Patch* patch_ = nullptr;
  ConstraintForms::Push* push_ = nullptr;
  const LcpReport* report_ = nullptr;  // of the island
  double* form_a_ = nullptr;
  double* form_b_ = nullptr;
  int size_a_ = 0, size_b_ = 0;
  int row_ = 0;         // within the patch
  bool pushes_ = true;  // of this patch are wanted
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
  FormWriter writer(model, in, out);
  const LcpReport none;
  auto constraint = problem.constraints.begin();
  for (int i = 0; i < problem.island_count(); ++i) {
    writer.start_island(in.reports.empty() ? none : in.reports[i]);
    for (int p = problem.first_patch[i]; p < problem.first_patch[i + 1]; ++p) writer.write_patch(p, constraint);
  }
}

}  // namespace lithe
