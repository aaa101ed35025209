#include "lithe/step/gradients/mode_vjp.h"

#include "lithe/dynamics/internal/tree_sums.h"
#include "lithe/linalg/padded_matrix.h"
#include "lithe/simd/internal/finite.h"
#include "lithe/step/gradients/describe_gradient.h"
#include "lithe/step/internal/record_prefetch.h"
#include "lithe/step/internal/recorded_stages.h"

namespace lithe::internal {

namespace {

// s = Q ŝ, for those who ask about single rows.
void find_row_multipliers(const ContactProblem& problem, StepVjpWorkspace& work) {
  grow(work.s, problem.rows.size() + kLanes);
  work.linearization.response.to_rows(problem, work.s_hat.data(), work.s.data());
}

// A twist, ready to be multiplied by the columns of 6×6 matrices.
class TwistLanes {
 public:
  LITHE_INLINE TwistLanes(const Lanes<6>& twists, int slot)
      : first_{twists.at(0, slot), twists.at(1, slot), twists.at(2, slot), twists.at(3, slot)},
        last_{0, 0, twists.at(4, slot), twists.at(5, slot)} {}

  // to += matrixᵀ·twist
  LITHE_INLINE void add_product(const Mat6& matrix, double* to) const {
    Pack sum[8] = {};
    for (int c = 0; c < 6; ++c) {
      const double* column = matrix.data() + 6 * c;
      sum[c] = first_ * load_anywhere(column) + last_ * load_anywhere(column + 2);
    }
    transpose(sum[0], sum[1], sum[2], sum[3]);
    transpose(sum[4], sum[5], sum[6], sum[7]);
    store_anywhere(to, load_anywhere(to) + ((sum[0] + sum[2]) + (sum[1] + sum[3])));
    const Pack rest = (sum[4] + sum[6]) + (sum[5] + sum[7]);
    to[4] += rest[0];
    to[5] += rest[1];
  }

 private:
  Pack first_, last_;  // rows 0–3, and 4 and 5 after two zeros
};

// One point's share of the gradient by q and v, from the multipliers g of its momentum balance and s of its rows:
// −gᵀ ∂r + sᵀ e. Those of the step itself are s = Q ŝ, and stay in the coordinates of the mode.
class PointVjp {
 public:
  PointVjp(const Model& model, const StepRecord& record, StepVjpWorkspace& work)
      : model_(model),
        tree_(model.tree()),
        record_(record),
        stages_(stages_of(record)),
        problem_(stages_.problem),
        work_(work) {}

  // The step itself, to begin with.
  void start(const LinearPoint& point, const VecX& g) {
    const double h = record_.options.time_step;
    rnea_vjp(model_, stages_.kin, point.id, g, work_.id, record_.control.wrenches);
    work_.q.resize(tree_.slot_count);
    work_.v.resize(tree_.slot_count);
    for (int slot = 0; slot < tree_.slot_count; slot += kLanes) {
      // −gᵀ Δt ∂ID/∂q and −gᵀ (Δt ∂ID/∂v − M).
      const Force<Pack> P = {load_vector(work_.id.P_m, slot), load_vector(work_.id.P_m, slot, 3)};
      work_.q.pack(0, slot) = -broadcast(h) * work_.id.q_slots.pack(0, slot);
      work_.v.pack(0, slot) = dot(load_motion(stages_.kin.S, slot), P) +
                              tree_.armature.pack(0, slot) * work_.id.g.pack(0, slot) -
                              broadcast(h) * work_.id.v_slots.pack(0, slot);
    }
    if (problem_.rows.empty()) return;
    grow(work_.touches, problem_.touches.size);
    double* by_S = work_.touches.data();
    work_.linearization.response.push(problem_, point.compressed_forms.data(), work_.s_hat.data(), by_S);
    add_pushes(point, by_S);
    add_touch_forces(point, by_S, work_.held_back.data());
    if (!point.forms.bouncing.empty()) add_bounces(point);
  }

  // The second point, which has rows only.
  void add_null(const RowPoint& point) {
    grow(work_.touches, problem_.touches.size);
    grow(work_.touches2, problem_.touches.size);
    double* by_Psi = work_.touches2.data();
    touch_impulses(problem_, point.forms.rows.data(), work_.s_null.data(), work_.touches.data());
    touch_impulses(problem_, work_.s_null.data(), by_Psi);
    for (int k = 0; k < problem_.touches.size; ++k) by_Psi[k] = -by_Psi[k];
    add_touch_forces(point, work_.touches.data(), by_Psi);
  }

 private:
  // sᵀ (E S − T Ψ̇) + gᵀ J_Fᵀ T̂ S, as forces on the touches that S and Ψ̇ take to the DoFs.
  void add_touch_forces(const RowPoint& point, const double* by_S, const double* by_Psi) {
    problem_.touches.add_forces(tree_, stages_.kin.S, 1, by_S, work_.q);
    problem_.touches.add_forces(tree_, point.Psi_dot, 0, by_Psi, work_.q);
  }

  // T̂ᵀ times the twists of the touches under g, patch by patch.
  void add_pushes(const LinearPoint& point, double* by_S) const {
    const TouchSpace& space = problem_.touches;
    const auto twist = [&](int touch) { return TwistLanes(work_.id.G, tree_.slot[space.touches[touch].dof]); };
    const auto at = [&](int touch) { return by_S + space.start_of(space.touches[touch]); };
    for (std::size_t p = 0; p < problem_.patches.size(); ++p) {
      const ConstraintForms::Push& push = point.forms.pushes[p];
      if (push.zero) continue;
      const auto [a, b] = std::pair(problem_.patches[p].touch_a, problem_.patches[p].touch_b);
      if (a >= 0) {
        const TwistLanes G = twist(a);
        G.add_product(push.aa, at(a));
        if (b >= 0) G.add_product(push.ab, at(b));
      }
      if (b >= 0) {
        const TwistLanes G = twist(b);
        G.add_product(push.bb, at(b));
        if (a >= 0) G.add_product(push.ba, at(a));
      }
    }
  }

  // The target −e·J v moves with v, and with q through Ψ̇ under v.
  void add_bounces(const LinearPoint& point) {
    const Kinematics& kin = stages_.kin;
    grow(work_.bouncing, problem_.rows.size());
    std::fill(work_.bouncing.begin(), work_.bouncing.end(), 0.0);
    find_row_multipliers(problem_, work_);
    for (const auto& [row, restitution] : point.forms.bouncing) work_.bouncing[row] = -restitution * work_.s[row];
    touch_impulses(problem_, work_.bouncing.data(), work_.touches.data());
    problem_.touches.add_forces(tree_, kin.Psi_dot, 0, work_.touches.data(), work_.q);
    problem_.touches.add_forces(tree_, kin.S, 1, work_.touches.data(), work_.v);
  }

  const Model& model_;
  const DofTree& tree_;
  const StepRecord& record_;
  const StepStages& stages_;
  const ContactProblem& problem_;
  StepVjpWorkspace& work_;
};

// ∂ℓ/∂v⁺ with q⁺'s share, and what q⁺ hands down to q and v directly.
void through_integrator(const Model& model, const StepRecord& record, const StepCotangent& by_next, StepVjp& out,
                        VecX& lambda) {
  const double h = record.options.time_step;
  const bool explicit_position = record.options.integrator == Integrator::explicit_position;
  const int nv = model.nv();
  if (by_next.v.size() > 0) {
    lambda = by_next.v;
  } else {
    lambda.setZero(nv);
  }
  if (by_next.q.size() == 0) return;
  VecX& velocity = explicit_position ? out.v : lambda;
  out.q += by_next.q;
  velocity += h * by_next.q;
  for (const int dof : model.tree().balls) {
    const BallMotion motion = ball_motion(record, dof);
    const Vec3 x = by_next.q.segment<3>(dof);
    out.q.segment<3>(dof) += motion.by_q.transpose() * x - x;
    velocity.segment<3>(dof) += motion.by_v.transpose() * x - h * x;
  }
}

// −gᵀ ∂r of the springs.
void through_springs(const Model& model, const StepRecord& record, const VecX& g, StepVjp& out) {
  const DofTree& tree = model.tree();
  const double h = record.options.time_step;
  for (const int j : tree.sprung_joints) {
    const DofTree::TreeJoint& joint = tree.joints[j];
    if (joint.type != JointType::ball) {
      out.q[joint.dof] -= h * tree.resistance[joint.dof].stiffness * g[joint.dof];
      continue;
    }
    const BallSpring spring = ball_spring(model, record, j);
    out.q.segment<3>(joint.dof) -= spring.by_q.transpose() * g.segment<3>(joint.dof);
    out.v.segment<3>(joint.dof) -= spring.by_v.transpose() * g.segment<3>(joint.dof);
  }
}

// Where bodies are held stiffly, little is left of λ in λ − J_Cᵀ s. What g does to the rows tells how far off s is.
void correct_multipliers(const DofTree& tree, const ContactProblem& problem, const double* f_bar,
                         StepVjpWorkspace& work) {
  ModeResponse& response = work.linearization.response;
  grow(work.correction, response.size() + kLanes);
  problem.touches.product(tree, work.z, work.touches.data());
  response.correct_transposed(problem, work.touches.data(), f_bar, work.s_hat.data(), work.correction.data());
  response.push(problem, response.R(), work.correction.data(), work.touches.data());
  for (int k = 0; k < problem.touches.size; ++k) work.touches[k] = -work.touches[k];
  for (int k = 0; k < problem.touches.size; ++k) work.held_back[k] += work.touches[k];
  problem.touches.add_transposed_product(tree, work.touches.data(), work.z);
}

// g = M̂⁻¹(λ − J_Cᵀ s) and s; with them the multipliers of the second point's rows.
void find_multipliers(const Model& model, const StepRecord& record, const StepCotangent& by_next,
                      StepVjpWorkspace& work) {
  const DofTree& tree = model.tree();
  const ContactProblem& problem = problem_of(record);
  const std::size_t rows = problem.rows.size();
  multiply_transposed(model, record.tape().inverse, work.lambda, work.z);
  if (rows > 0) {
    ModeResponse& response = work.linearization.response;
    grow(work.s_hat, response.size() + kLanes);
    if (work.linearization.has_null) grow(work.s_null, rows + kLanes);
    grow(work.touches, problem.touches.size);
    problem.touches.product(tree, work.z, work.touches.data());
    const double* f_bar = by_next.f.size() > 0 ? by_next.f.data() : nullptr;
    response.respond_transposed(problem, work.touches.data(), f_bar, work.s_hat.data());
    if (work.linearization.has_null) {
      response.choose_transposed(problem, work.touches.data(), f_bar, work.s_null.data());
      for (std::size_t i = 0; i < rows; ++i) work.s_null[i] = -work.s_null[i];  // c = −e₂
    }
    grow(work.held_back, problem.touches.size);
    response.push(problem, response.R(), work.s_hat.data(), work.held_back.data());
    for (int k = 0; k < problem.touches.size; ++k) work.held_back[k] = -work.held_back[k];
    problem.touches.add_transposed_product(tree, work.held_back.data(), work.z);
    if (response.ill_conditioned()) correct_multipliers(tree, problem, f_bar, work);
  }
  work.g.resize(tree.nv);
  multiply(model, record.tape().inverse, work.z, work.g);
}

// a·b over the first `rows` numbers.
double dot_rows(const double* a, const double* b, std::size_t rows) {
  double sum = 0;
  for (std::size_t i = 0; i < rows; ++i) sum += a[i] * b[i];
  return sum;
}

// −gᵀρ + sᵀe of each parameter, with the second point's part, and what moves f and q⁺ directly.
void through_parameters(const Model& model, const StepRecord& record, const StepCotangent& by_next,
                        const StepParameters& parameters, StepVjp& out) {
  StepVjpWorkspace& work = out.workspace();
  const std::size_t rows = record.f.size();
  if (rows > 0) find_row_multipliers(problem_of(record), work);
  work.columns.start(model, record, work.linearization);
  for (int k = 0; k < parameters.size(); ++k) {
    const ParameterColumn& x = work.columns.column(model, record, work.linearization, parameters.entries()[k]);
    double sum = -work.g.dot(x.rho);
    if (rows > 0) sum += dot_rows(work.s.data(), x.e.data(), rows);
    if (work.linearization.has_null) {
      sum += dot_rows(work.s_null.data(), x.e2.data(), rows);
    }
    if (by_next.f.size() > 0) sum += dot_rows(by_next.f.data(), x.df.data(), rows);
    if (by_next.q.size() > 0 && x.dq.size() > 0) sum += by_next.q.dot(x.dq);
    out.parameters[k] = sum;
  }
}

// A gradient of zeros.
void set_zero(const Model& model, const StepParameters* parameters, StepVjp& out) {
  out.q.setZero(model.nv());
  out.v.setZero(model.nv());
  out.tau.setZero(model.nv());
  out.parameters.setZero(parameters ? parameters->size() : 0);
}

// Numbers have overflowed: zeros stand for the gradient.
bool give_up(const Model& model, const StepParameters* parameters, StepVjp& out) {
  set_zero(model, parameters, out);
  out.report.overflowed = true;
  return false;
}

}  // namespace

// The motors' targets come behind the chosen parameters.
void ParametersWithTargets::choose(const Model& model, const StepParameters& chosen) {
  std::vector<std::string> names = chosen.names();
  const StepParameters targets = StepParameters::motor_targets(model);
  names.insert(names.end(), targets.names().begin(), targets.names().end());
  all = StepParameters(model, std::move(names));
  parameters = chosen.names();
  structure = model.tree().structure;
}

bool mode_vjp(const Model& model, const StepRecord& record, std::span<const RowMode> modes,
              const StepCotangent& by_next, const StepParameters* parameters, StepVjp& out) {
  StepVjpWorkspace& work = out.workspace();
  const DofTree& tree = model.tree();
  const bool linear = linearize(model, record, modes, {.impulses = by_next.f.size() > 0}, work.linearization);
  describe_gradient(model, record, linear ? &work.linearization : nullptr, out.report);
  if (!linear) {
    // The step stayed where it was.
    set_zero(model, parameters, out);
    if (by_next.q.size() > 0) out.q = by_next.q;
    if (by_next.v.size() > 0) out.v = by_next.v;
    return true;
  }
  out.q.setZero(tree.nv);
  out.v.setZero(tree.nv);
  out.parameters.resize(parameters ? parameters->size() : 0);
  prefetch_more();
  through_integrator(model, record, by_next, out, work.lambda);
  find_multipliers(model, record, by_next, work);
  if (!all_finite(work.g)) return give_up(model, parameters, out);
  PointVjp points(model, record, work);
  points.start(work.linearization.main, work.g);
  if (work.linearization.has_null) points.add_null(work.linearization.null);
  add_slots_to_dofs(tree, work.q, out.q.data());
  add_slots_to_dofs(tree, work.v, out.v.data());
  through_springs(model, record, work.g, out);
  out.tau = record.options.time_step * work.g;
  if (parameters) through_parameters(model, record, by_next, *parameters, out);

  const bool finite = all_finite(out.q) && all_finite(out.v) && all_finite(out.tau) && all_finite(out.parameters);
  return finite || give_up(model, parameters, out);
}

}  // namespace lithe::internal
