#include "lithe/step/gradients/bounce.h"

#include <algorithm>
#include <cmath>

#include "lithe/contact/target_rates.h"
#include "lithe/dynamics/internal/tree_sums.h"
#include "lithe/simd/internal/finite.h"
#include "lithe/step/gradients/describe_gradient.h"
#include "lithe/step/gradients/mode_jvp.h"
#include "lithe/step/gradients/mode_vjp.h"
#include "lithe/step/internal/recorded_stages.h"

namespace lithe::internal {

namespace {

// Two normals whose squared cosine is this close to 1 are the same one for the paper's rule.
constexpr double kSameNormal = 1e-12;

using Column = Eigen::Map<VecX>;
using ConstColumn = Eigen::Map<const VecX>;
Column column(PaddedMatrix& matrix, int j) { return {matrix.column(j), matrix.rows}; }
ConstColumn column(const PaddedMatrix& matrix, int j) { return {matrix.column(j), matrix.rows}; }

// Entries below this are moderate: products of two of them do not overflow.
constexpr double kLargest = 1e150;
bool is_moderate(const PaddedMatrix& matrix) {
  for (int j = 0; j < matrix.columns; ++j) {
    for (int i = 0; i < matrix.rows; ++i) {
      if (!(std::abs(matrix.at(i, j)) < kLargest)) return false;
    }
  }
  return true;
}

// Whether a contact bounced. Its rule says what it was asked for; it has not done so if its normal does not clamp or its target was
// dropped.
bool bounces(const StepRecord& record, const Constraint& constraint) {
  return constraint.rule == TargetRule::restitution && record.modes[constraint.first_row] == RowMode::clamping &&
         !record.tape().problem.is_dropped(constraint.first_row);
}

// Calls visit(index of the constraint, its island) for every contact that bounces.
template <class Visit>
void for_each_bounce(const StepRecord& record, Visit visit) {
  for (int i = 0; i < record.tape().problem.island_count(); ++i) {
    const Island& island = record.tape().problem.islands[i];
    for (int c = island.first_constraint; c < island.first_constraint + island.constraint_count; ++c) {
      if (bounces(record, record.tape().problem.constraints[c])) visit(c, i);
    }
  }
}

// Finds the terms of a linearized step. `probe` holds the linearization.
class TermFinder {
 public:
  TermFinder(const Model& model, const StepRecord& record, Bounce mode, StepJvp& probe, BounceTerms& terms)
      : mode_(mode),
        model_(model),
        tree_(model.tree()),
        record_(record),
        stages_(force_stages_of(model, record)),
        problem_(stages_.problem),
        nv_(model.nv()),
        h_(record.options.time_step),
        probe_(probe),
        response_(probe.workspace().linearization.response),
        terms_(terms) {
    grow(terms_.rows, problem_.rows.size() + kLanes);
    grow(terms_.df, problem_.rows.size() + kLanes);
    grow(terms_.touches, problem_.touches.size);
  }

  // False where numbers are too large: then nothing is there to read, and the derivative stays the step's.
  bool find() {
    find_impacts();
    find_rows();
    const auto count = static_cast<int>(terms_.impacts.size());
    for (PaddedMatrix* matrix : {&terms_.sooner, &terms_.position, &terms_.velocity}) matrix->resize(nv_, count);
    for (int k = 0; k < count; ++k) {
      column(terms_.sooner, k) = column(terms_.J, terms_.impacts[k].first) / terms_.impacts[k].approach;
    }
    if (mode_ == Bounce::paper) {
      by_nearest_matrix();
    } else if (!by_motion_through_impacts()) {
      return false;
    }
    find_velocity_terms();
    return is_moderate(terms_.sooner) && is_moderate(terms_.position) && is_moderate(terms_.velocity) &&
           is_moderate(terms_.left) && is_moderate(terms_.right);
  }

 private:
  // Which contacts bounce, how fast they approach, and after which time c = −g/(n̂ᵀv) of the step they hit.
  void find_impacts() {
    terms_.impacts.clear();
    int columns = 0;
    for_each_bounce(record_, [&](int c, int island) {
      const Constraint& constraint = problem_.constraints[c];
      const int row = constraint.first_row;
      BounceTerms::Impact impact = {.constraint = c, .island = island, .row = row, .first = columns};
      for (int r = row; r < row + constraint.rows; ++r) impact.clamping += clamps(r) ? 1 : 0;
      impact.approach = problem_.velocity[row];
      const double gap = record_.contacts.contacts[constraint.index].gap;
      // A contact whose shapes overlap already is hit at once.
      impact.time = std::clamp(-gap / impact.approach, 0.0, h_);
      columns += impact.clamping;
      terms_.impacts.push_back(impact);
    });
    terms_.J.resize(nv_, columns);
    terms_.K.resize(nv_, columns);
  }

  // J and K of the impacts' clamping rows, one unit demand after the other.
  void find_rows() {
    for_each_row([&](const BounceTerms::Impact&, int row, int at) {
      std::fill(terms_.rows.begin(), terms_.rows.end(), 0.0);
      terms_.rows[row] = 1;
      touch_impulses(problem_, terms_.rows.data(), terms_.touches.data());
      terms_.slots.resize_zero(tree_.slot_count);
      problem_.touches.add_forces(tree_, stages_.kin.S, 1, terms_.touches.data(), terms_.slots);
      slots_to_dofs(tree_, terms_.slots, terms_.J.column(at));
      answer(terms_.rows.data(), column(terms_.K, at));
    });
  }

  bool clamps(int row) const { return response_.row_mode(row) == RowMode::clamping; }

  // Calls visit(impact, row, its column in J and K), an impact's normal first.
  template <class Visit>
  void for_each_row(Visit visit) const {
    for (const BounceTerms::Impact& impact : terms_.impacts) {
      int at = impact.first;
      for (int row = impact.row; row < impact.row + problem_.constraints[impact.constraint].rows; ++row) {
        if (clamps(row)) visit(impact, row, at++);
      }
    }
  }

  // x = K ε = M̂⁻¹ Jᵀ ∂f: how v⁺ answers if the clamping rows are asked for ε more.
  void answer(const double* epsilon, VecRef x) {
    std::fill(terms_.touches.begin(), terms_.touches.end(), 0.0);
    response_.respond(problem_, terms_.touches.data(), epsilon, terms_.df.data());
    touch_impulses(problem_, terms_.df.data(), terms_.touches.data());
    problem_.touches.transposed_product(tree_, terms_.touches.data(), terms_.slots);
    multiply(model_, record_.tape().inverse, terms_.slots, x);
  }

  // The terms of the motion in continuous time: u and the jump of the velocities are shared among the impacts, and both move q⁺.
  bool by_motion_through_impacts() {
    find_accelerations();
    if (!all_finite(terms_.a_before)) return false;
    VecX& u = terms_.change;
    find_change(u);
    share(u, terms_.velocity);
    for (int k = 0; k < terms_.velocity.columns; ++k) u -= column(terms_.velocity, k);
    share_within_islands(u, terms_.velocity);

    terms_.vector = record_.next.v - record_.state.v;
    share(terms_.vector, terms_.position);
    for (int k = 0; k < terms_.position.columns; ++k) {
      Column position = column(terms_.position, k);
      position += (h_ - terms_.impacts[k].time) * column(terms_.velocity, k);
      turn_balls(position);
    }
    return true;
  }

  // What each impact's impulses have to do with a change x of the velocities: Σ_r K_r (J_r x) over its rows.
  void share(const VecX& x, PaddedMatrix& out) const {
    for (int k = 0; k < out.columns; ++k) {
      const BounceTerms::Impact& impact = terms_.impacts[k];
      Column to = column(out, k);
      to.setZero();
      for (int r = impact.first; r < impact.first + impact.clamping; ++r) {
        to += column(terms_.J, r).dot(x) * column(terms_.K, r);
      }
    }
  }

  // What no impact's impulses have to do with is shared equally among the impacts of the island whose trees it moves.
  void share_within_islands(const VecX& x, PaddedMatrix& out) const {
    for (int k = 0; k < out.columns; ++k) {
      const int island = terms_.impacts[k].island;
      const auto mates = std::count_if(terms_.impacts.begin(), terms_.impacts.end(),
                                       [&](const BounceTerms::Impact& other) { return other.island == island; });
      for (std::size_t t = 0; t < tree_.trees.size(); ++t) {
        if (problem_.islands.island_of(static_cast<int>(t)) != island) continue;
        const DofTree::Tree& part = tree_.trees[t];
        column(out, k).segment(part.first_dof, part.dof_count) +=
            x.segment(part.first_dof, part.dof_count) / static_cast<double>(mates);
      }
    }
  }

  // a⁻ and a⁺: under what acts at v and at v⁺, with all constraints but the bouncing contacts holding.
  void find_accelerations() {
    terms_.rest_modes = record_.modes;
    for (const BounceTerms::Impact& impact : terms_.impacts) terms_.rest_modes[impact.row] = RowMode::separating;
    terms_.rest.compute(tree_, problem_, terms_.rest_modes, record_.reports);
    accelerate(stages_.smooth_impulse, terms_.a_before);

    kinematics(model_, record_.state.q, record_.next.v, terms_.kin_after);
    bias_forces(model_, terms_.kin_after, terms_.bias_after, record_.control.wrenches);
    VecX& impulse = terms_.vector;
    impulse = stages_.smooth_impulse - h_ * (terms_.bias_after.tau - stages_.bias.tau);
    for (int i = 0; i < nv_; ++i) {
      impulse[i] -= h_ * tree_.resistance[i].damping * (record_.next.v[i] - record_.state.v[i]);
    }
    accelerate(impulse, terms_.a_after);
  }

  // a = M̂⁻¹ (impulse + Jᵀ f)/Δt, with the f by which the rows that still clamp hold.
  void accelerate(const VecX& impulse, VecX& a) {
    multiply_transposed(model_, record_.tape().inverse, impulse, terms_.slots);
    double* touches = terms_.touches.data();
    problem_.touches.product(tree_, terms_.slots, touches);
    for (int k = 0; k < problem_.touches.size; ++k) touches[k] = -touches[k];
    std::fill(terms_.rows.begin(), terms_.rows.end(), 0.0);
    terms_.rest.respond(problem_, touches, terms_.rows.data(), terms_.df.data());
    touch_impulses(problem_, terms_.df.data(), touches);
    problem_.touches.add_transposed_product(tree_, touches, terms_.slots);
    a.resize(nv_);
    multiply(model_, record_.tape().inverse, terms_.slots, a);
    a /= h_;
  }

  // u = a⁺ − D v − B a⁻ with the impact's own D and B: other rows' targets follow q within a step, by −gap/Δt and the like, and
  // what they add to (∂v⁺/∂q) v is no part of the impact.
  void find_change(VecX& u) {
    StepTangent& motion = probe_.workspace().tangent;
    motion.q = record_.state.v;
    motion.v = terms_.a_before;
    mode_jvp(model_, record_, motion, nullptr, true, probe_);
    find_moving_targets(terms_.rows.data());
    u.resize(nv_);
    answer(terms_.rows.data(), u);
    u += terms_.a_after - probe_.v;
  }

  // (∂d/∂q) v of the rows that do not bounce.
  void find_moving_targets(double* out) const {
    const StepLinearization& linearization = probe_.workspace().linearization;
    const ConstraintOptions options = constraint_options_of(record_.options);
    // For rows inside joints the forms are ∂d/∂q.
    row_velocities(problem_, linearization.main.forms.rows.data(), linearization.touch_velocity_before.data(), out);
    for (int i = 0; i < problem_.island_count(); ++i) {
      const Island& island = problem_.islands.islands()[i];
      for (int c = island.first_constraint; c < island.first_constraint + island.constraint_count; ++c) {
        const Constraint& constraint = problem_.constraints[c];
        if (!acts_on_bodies(constraint.kind)) continue;
        const LcpReport& report = record_.reports[i];
        const bool contact = constraint.kind == ConstraintKind::contact;
        for (int row = constraint.first_row; row < constraint.first_row + constraint.rows; ++row) {
          out[row] = problem_.velocity[row];
          if (!contact) out[row] *= error_rate(problem_, constraint, row, options, report);
          if (contact) out[row] *= row > constraint.first_row ? 0.0 : gap_rate(problem_, constraint, options, report);
        }
      }
    }
  }

  // ∂q⁺/∂v. Row r of an impact takes K_r G_r off ∂v⁺/∂v, with G_r = J_r − ∂d_r/∂v. Until the impact it has not done so yet, and
  // in the step as computed it always has, or (explicit_position) never.
  void find_velocity_terms() {
    const bool paper = mode_ == Bounce::paper;
    const bool always = record_.options.integrator == Integrator::semi_implicit;
    const auto count = static_cast<int>(terms_.impacts.size());
    terms_.left.resize(nv_, terms_.K.columns + (paper ? count : 0));
    terms_.right.resize(nv_, terms_.left.columns);
    terms_.vector = record_.next.v - record_.state.v;
    for_each_row([&](const BounceTerms::Impact& impact, int row, int at) {
      Column left = column(terms_.left, at), right = column(terms_.right, at);
      left = column(terms_.K, at);
      turn_balls(left);
      const double jump = column(terms_.J, at).dot(terms_.vector) / impact.approach;  // −(1 + e) of the normal
      const double G = row == impact.row ? -jump : 1.0;
      const double too_much = paper ? h_ : impact.time;
      right = (too_much - (always ? 0 : h_)) * G * column(terms_.J, at);
      if (!paper) right += impact.time * jump * column(terms_.J, impact.first);
    });
    for (int k = 0; paper && k < count; ++k) {
      column(terms_.left, terms_.K.columns + k) = column(terms_.position, k);
      column(terms_.right, terms_.K.columns + k) = h_ * column(terms_.sooner, k);
    }
  }

  // X − I of the paper, as position·soonerᵀ.
  void by_nearest_matrix() {
    const auto count = static_cast<int>(terms_.impacts.size());
    PaddedMatrix& G = terms_.gram;
    G.resize(count, count);
    std::fill(G.data.begin(), G.data.end(), 0.0);
    const auto normal = [&](int k) { return column(terms_.J, terms_.impacts[k].first); };
    for (int j = 0; j < count; ++j) {
      for (int i = 0; i < count; ++i) {
        const double dot = normal(i).dot(normal(j));
        G.at(i, j) = dot * dot / (normal(i).squaredNorm() * normal(j).squaredNorm());
      }
    }
    grow(terms_.rows, count);
    double* alpha = terms_.rows.data();
    for (int k = 0; k < count; ++k) {
      alpha[k] = 1 + problem_.constraints[terms_.impacts[k].constraint].material.restitution;
    }
    solve_least_squares(count, alpha);
    for (int k = 0; k < count; ++k) {
      const double approach = terms_.impacts[k].approach;
      Column position = column(terms_.position, k);
      position = (-alpha[k] * approach / normal(k).squaredNorm()) * normal(k);
      turn_balls(position);
      column(terms_.velocity, k).setZero();
    }
  }

  // x ← G⁺ x = U (UᵀU)⁻² Uᵀ x for G = U Uᵀ.
  void solve_least_squares(int count, double* x) {
    terms_.all.resize(count);
    for (int k = 0; k < count; ++k) terms_.all[k] = k;
    RankFactor& factor = terms_.factor;
    factor.compute_symmetric(terms_.gram.column(0), terms_.gram.stride, count, terms_.all, kSameNormal);
    const int rank = factor.rank;
    terms_.core.matrix.resize(rank, rank);
    std::fill(terms_.core.matrix.data.begin(), terms_.core.matrix.data.end(), 0.0);
    for (int j = 0; j < rank; ++j) {
      for (int i = 0; i < rank; ++i) {
        terms_.core.matrix.at(i, j) = column(factor.U, i).head(count).dot(column(factor.U, j).head(count));
      }
    }
    grow(terms_.df, rank + kLanes);
    double* y = terms_.df.data();
    for (int i = 0; i < rank; ++i) y[i] = column(factor.U, i).head(count).dot(ConstColumn(x, count));
    terms_.core.factorize();
    terms_.core.solve(y);
    terms_.core.solve(y);
    Column(x, count).setZero();
    for (int i = 0; i < rank; ++i) Column(x, count) += y[i] * column(factor.U, i).head(count);
  }

  // A shift of q in the tangent there, as the step takes it along to the tangent of q⁺.
  void turn_balls(Column& x) const {
    for (const int dof : tree_.balls) {
      const Vec3 turned = ball_motion(record_, dof).by_q * x.segment<3>(dof);
      x.segment<3>(dof) = turned;
    }
  }

  const Bounce mode_;
  const Model& model_;
  const DofTree& tree_;
  const StepRecord& record_;
  const StepStages& stages_;
  const ContactProblem& problem_;
  const int nv_;
  const double h_;
  StepJvp& probe_;
  ModeResponse& response_;
  BounceTerms& terms_;
};

// The linearization at the step's own modes, and the terms from it.
bool linearize_and_find(const Model& model, const StepRecord& record, Bounce mode, BounceWorkspace& work) {
  // As bounce_jvp() does, so that all three agree to the last digits.
  StepLinearization& linearization = work.probe.workspace().linearization;
  if (!linearize(model, record, record.modes, {.impulses = true}, linearization)) return false;
  return find_bounce(model, record, mode, work);
}

// Calls visit(its number, its column) for every parameter that may bring an impact forward. `work` holds the linearization.
template <class Visit>
void for_each_moving_surfaces(const Model& model, const StepRecord& record, const StepParameters& parameters,
                              StepJvpWorkspace& work, Visit visit) {
  work.columns.start(model, record, work.linearization);
  for (int k = 0; k < parameters.size(); ++k) {
    const StepParameters::Entry& entry = parameters.entries()[k];
    if (moves_surfaces(entry)) visit(k, work.columns.column(model, record, work.linearization, entry));
  }
}

}  // namespace

GradientMode mode_of(Bounce mode) {
  return mode == Bounce::paper ? GradientMode::bounce_paper : GradientMode::bounce_mass_metric;
}

bool bounces(const StepRecord& record) {
  bool any = false;
  for_each_bounce(record, [&](int, int) { any = true; });
  return any;
}

bool find_bounce(const Model& model, const StepRecord& record, Bounce mode, BounceWorkspace& work) {
  return TermFinder(model, record, mode, work.probe, work.terms).find();
}

void add_bounce(const Model& model, const StepRecord& record, const StepCotangent& by_next, Bounce mode, StepVjp& out,
                const StepParameters* parameters) {
  if (out.report.diverged || out.report.overflowed) return;
  BounceWorkspace& work = out.workspace().bounce;
  if (!linearize_and_find(model, record, mode, work)) return;
  BounceTerms& terms = work.terms;
  const int count = terms.sooner.columns;
  VecX& by_impact = terms.by_impact;  // ∂ℓ, if it comes so much sooner
  by_impact.setZero(count);
  for (int k = 0; k < count; ++k) {
    if (by_next.q.size() > 0) by_impact[k] += column(terms.position, k).dot(by_next.q);
    if (by_next.v.size() > 0) by_impact[k] += column(terms.velocity, k).dot(by_next.v);
    out.q += by_impact[k] * column(terms.sooner, k);
  }
  // A parameter brings an impact forward by ∂gap/∂θ over the approach.
  if (parameters) {
    for_each_moving_surfaces(model, record, *parameters, work.probe.workspace(), [&](int p, const ParameterColumn& x) {
      for (int k = 0; k < count; ++k) {
        out.parameters[p] += by_impact[k] * BounceTerms::sooner_by(x, terms.impacts[k]);
      }
    });
  }
  for (int k = 0; by_next.q.size() > 0 && k < terms.left.columns; ++k) {
    out.v += column(terms.left, k).dot(by_next.q) * column(terms.right, k);
  }
  if (out.report.mode == GradientMode::exact) out.report.mode = mode_of(mode);
}

void add_bounce(const Model& model, const StepRecord& record, Bounce mode, StepBlocks blocks, BounceWorkspace& work,
                StepJacobians& out) {
  if (out.report.diverged || out.report.overflowed || !linearize_and_find(model, record, mode, work)) return;
  const BounceTerms& terms = work.terms;
  const auto add = [](MatX& block, const PaddedMatrix& left, const PaddedMatrix& right) {
    for (int k = 0; k < left.columns; ++k) block.noalias() += column(left, k) * column(right, k).transpose();
  };
  if (has(blocks, StepBlocks::qnext_q)) add(out.dqnext_dq, terms.position, terms.sooner);
  if (has(blocks, StepBlocks::vnext_q)) add(out.dvnext_dq, terms.velocity, terms.sooner);
  if (has(blocks, StepBlocks::qnext_v)) add(out.dqnext_dv, terms.left, terms.right);
  out.report.mode = mode_of(mode);
}

void add_bounce(const BounceTerms& terms, const ParameterColumn& x, VecRef dq, VecRef dv) {
  for (int k = 0; k < terms.sooner.columns; ++k) {
    const double sooner = BounceTerms::sooner_by(x, terms.impacts[k]);
    dq += sooner * column(terms.position, k);
    dv += sooner * column(terms.velocity, k);
  }
}

void bounce_vjp(const Model& model, const StepRecord& record, const StepCotangent& by_next, Bounce mode,
                const StepParameters* parameters, StepVjp& out) {
  mode_vjp(model, record, record.modes, by_next, parameters, out);
  add_bounce(model, record, by_next, mode, out, parameters);
}

void bounce_jvp(const Model& model, const StepRecord& record, const StepTangent& direction,
                const GradientOptions& options, const StepParameters* parameters, StepJvp& out) {
  StepJvpWorkspace& work = out.workspace();
  BounceTerms& terms = work.bounce;
  const LinearizationNeeds needs = {.impulses = options.impulses};
  const bool linearized = linearize(model, record, record.modes, needs, work.linearization);
  const bool found = linearized && TermFinder(model, record, options.bounce, out, terms).find();
  describe_gradient(model, record, linearized ? &work.linearization : nullptr, out.report);
  mode_jvp(model, record, direction, parameters, linearized, out);
  if (!found || out.report.overflowed) return;
  const int count = terms.sooner.columns;
  // By how much the direction brings each impact forward.
  VecX& sooner = terms.by_impact;
  sooner.setZero(count);
  for (int k = 0; direction.q.size() > 0 && k < count; ++k) sooner[k] = column(terms.sooner, k).dot(direction.q);
  if (parameters && direction.parameters.size() > 0) {
    for_each_moving_surfaces(model, record, *parameters, work, [&](int p, const ParameterColumn& x) {
      for (int k = 0; k < count; ++k) {
        sooner[k] += direction.parameters[p] * BounceTerms::sooner_by(x, terms.impacts[k]);
      }
    });
  }
  for (int k = 0; k < count; ++k) {
    out.q += sooner[k] * column(terms.position, k);
    out.v += sooner[k] * column(terms.velocity, k);
  }
  for (int k = 0; direction.v.size() > 0 && k < terms.left.columns; ++k) {
    out.q += column(terms.right, k).dot(direction.v) * column(terms.left, k);
  }
  out.report.mode = mode_of(options.bounce);
}

}  // namespace lithe::internal
