#include "lithe/step/class_vjp.h"

#include "lithe/core/finite.h"
#include "lithe/dynamics/tree_sums.h"
#include "lithe/lcp/padded_matrix.h"
#include "lithe/step/describe_gradient.h"

namespace lithe {

namespace {

// s = Q ŝ, for those who ask about single rows.
void find_row_multipliers(const ContactProblem& problem, StepVjp::Workspace& work) {
  grow(work.s, problem.rows.size() + kLanes);
  work.linearization.response.to_rows(problem, work.s_hat.data(), work.s.data());
}

// One point's share of the gradient by q and v, from the multipliers g of its momentum balance and s of its rows:
// −gᵀ ∂r + sᵀ e. Those of the step itself are s = Q ŝ, and stay in the coordinates of the class.
class PointVjp {
 public:
  PointVjp(const Model& model, const StepRecord& record, StepVjp::Workspace& work)
      : model_(model), tree_(model.tree()), record_(record), problem_(record.problem), work_(work) {}

  void add(const LinearPoint& point, const VecX& g) {
    const double h = record_.options.time_step();
    const Kinematics& kin = work_.linearization.kin(record_, point);
    const ExternalWrenches none;
    rnea_vjp(model_, kin, point.id, g, work_.id, point.at_rest ? none : record_.control.wrenches);
    for (int slot = 0; slot < tree_.slot_count; slot += kLanes) {
      work_.q.pack(0, slot) -= broadcast(h) * work_.id.q_slots.pack(0, slot);
    }
    if (!point.at_rest) add_velocity_part(kin, h);
    if (!problem_.rows.empty()) add_rows(point, kin);
  }

 private:
  // −gᵀ (Δt ∂ID/∂v − M).
  void add_velocity_part(const Kinematics& kin, double h) {
    for (int slot = 0; slot < tree_.slot_count; slot += kLanes) {
      const Force<Pack> P = {load_vector(work_.id.P_m, slot), load_vector(work_.id.P_m, slot, 3)};
      work_.v.pack(0, slot) += dot(load_motion(kin.S, slot), P) +
                               tree_.armature.pack(0, slot) * work_.id.g.pack(0, slot) -
                               broadcast(h) * work_.id.v_slots.pack(0, slot);
    }
  }

  // sᵀ (E S − T Ψ̇) + gᵀ J_Fᵀ T̂ S, as forces on the touches that S and Ψ̇ take to the DoFs.
  void add_rows(const LinearPoint& point, const Kinematics& kin) {
    const TouchSpace& space = problem_.touches;
    const ClassResponse& response = work_.linearization.response;
    grow(work_.touches, space.size);
    grow(work_.touches2, space.size);
    double* by_S = work_.touches.data();
    double* by_Psi = work_.touches2.data();
    if (point.at_rest) {
      touch_impulses(problem_, point.forms.rows.data(), work_.s_null.data(), by_S);
      touch_impulses(problem_, work_.s_null.data(), by_Psi);
      for (int k = 0; k < space.size; ++k) by_Psi[k] = -by_Psi[k];
    } else {
      response.push(problem_, point.compressed_forms.data(), work_.s_hat.data(), by_S);
      std::copy_n(work_.held_back.data(), space.size, by_Psi);
    }
    add_pushes(point, by_S);
    space.add_forces(tree_, kin.S, 1, by_S, work_.q);
    space.add_forces(tree_, point.Psi_dot, 0, by_Psi, work_.q);
    if (!point.forms.bouncing.empty()) add_bounces(point, kin);
  }

  void add_pushes(const LinearPoint& point, double* by_S) const {
    const TouchSpace& space = problem_.touches;
    const auto twist = [&](int touch) {
      Vec6 G;
      for (int k = 0; k < 6; ++k) G[k] = work_.id.G.at(k, tree_.slot[space.touches[touch].dof]);
      return G;
    };
    const auto at = [&](int touch) { return Eigen::Map<Vec6>(by_S + space.start_of(space.touches[touch])); };
    for (std::size_t p = 0; p < problem_.patches.size(); ++p) {
      const ConstraintForms::Push& push = point.forms.pushes[p];
      if (push.zero) continue;
      const auto [a, b] = std::pair(problem_.patches[p].touch_a, problem_.patches[p].touch_b);
      if (a >= 0) {
        const Vec6 G = twist(a);
        at(a) += push.aa.transpose() * G;
        if (b >= 0) at(b) += push.ab.transpose() * G;
      }
      if (b >= 0) {
        const Vec6 G = twist(b);
        at(b) += push.bb.transpose() * G;
        if (a >= 0) at(a) += push.ba.transpose() * G;
      }
    }
  }

  // The target −e·J v moves with v, and with q through Ψ̇ under v.
  void add_bounces(const LinearPoint& point, const Kinematics& kin) {
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
  const ContactProblem& problem_;
  StepVjp::Workspace& work_;
};

// ∂ℓ/∂v⁺ with q⁺'s share, and what q⁺ hands down to q and v directly.
void through_integrator(const Model& model, const StepRecord& record, const StepCotangent& by_next, StepVjp& out,
                        VecX& lambda) {
  const double h = record.options.time_step();
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
  const double h = record.options.time_step();
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

// g = M̂⁻¹(λ − J_Cᵀ s) and s; with them the multipliers of the second point.
void find_multipliers(const Model& model, const StepRecord& record, const StepCotangent& by_next,
                      StepVjp::Workspace& work) {
  const DofTree& tree = model.tree();
  const ContactProblem& problem = record.problem;
  const std::size_t rows = problem.rows.size();
  multiply_transposed(model, record.inverse, work.lambda, work.z);
  if (rows > 0) {
    ClassResponse& response = work.linearization.response;
    grow(work.s_hat, response.size() + kLanes);
    grow(work.s_null, rows + kLanes);
    grow(work.touches, problem.touches.size);
    problem.touches.product(tree, work.z, work.touches.data());
    const double* f_bar = by_next.f.size() > 0 ? by_next.f.data() : nullptr;
    double* sigma = work.linearization.has_null ? work.s_null.data() : nullptr;
    response.respond_transposed(problem, work.touches.data(), f_bar, work.s_hat.data(), sigma);
    grow(work.held_back, problem.touches.size);
    response.push(problem, response.R(), work.s_hat.data(), work.held_back.data());
    for (int k = 0; k < problem.touches.size; ++k) work.held_back[k] = -work.held_back[k];
    problem.touches.add_transposed_product(tree, work.held_back.data(), work.z);
  }
  work.g.resize(tree.nv);
  multiply(model, record.inverse, work.z, work.g);
  if (!work.linearization.has_null) return;
  // c = −e₂ − J_C M̂⁻¹ ρ₂: multipliers −σ of the rows and M̂⁻¹ J_Cᵀ σ of the balance.
  touch_impulses(problem, work.s_null.data(), work.touches.data());
  problem.touches.transposed_product(tree, work.touches.data(), work.z);
  work.g_null.resize(tree.nv);
  multiply(model, record.inverse, work.z, work.g_null);
  for (std::size_t i = 0; i < rows; ++i) work.s_null[i] = -work.s_null[i];
}

double dot_rows(const double* a, const double* b, std::size_t rows) {
  double sum = 0;
  for (std::size_t i = 0; i < rows; ++i) sum += a[i] * b[i];
  return sum;
}

void through_parameters(const Model& model, const StepRecord& record, const StepCotangent& by_next,
                        const StepParameters& parameters, StepVjp& out) {
  StepVjp::Workspace& work = out.workspace();
  const std::size_t rows = record.problem.rows.size();
  if (rows > 0) find_row_multipliers(record.problem, work);
  work.columns.start(model, record, work.linearization);
  for (int k = 0; k < parameters.size(); ++k) {
    const ParameterColumn& x = work.columns.column(model, record, work.linearization, parameters.entries()[k]);
    double sum = -work.g.dot(x.rho);
    if (rows > 0) sum += dot_rows(work.s.data(), x.e.data(), rows);
    if (work.linearization.has_null) {
      sum += dot_rows(work.s_null.data(), x.e2.data(), rows) - work.g_null.dot(x.rho2);
    }
    if (by_next.f.size() > 0) sum += dot_rows(by_next.f.data(), x.df.data(), rows);
    if (by_next.q.size() > 0 && x.dq.size() > 0) sum += by_next.q.dot(x.dq);
    out.parameters[k] = sum;
  }
}

void set_zero(const Model& model, const StepParameters* parameters, StepVjp& out) {
  out.q.setZero(model.nv());
  out.v.setZero(model.nv());
  out.tau.setZero(model.nv());
  out.parameters.setZero(parameters ? parameters->size() : 0);
}

// Numbers have overflowed.
bool give_up(const Model& model, const StepParameters* parameters, StepVjp& out) {
  set_zero(model, parameters, out);
  out.report.overflowed = true;
  return false;
}

}  // namespace

bool class_vjp(const Model& model, const StepRecord& record, std::span<const RowClass> classes,
               const StepCotangent& by_next, const StepParameters* parameters, StepVjp& out) {
  StepVjp::Workspace& work = out.workspace();
  const DofTree& tree = model.tree();
  set_zero(model, parameters, out);
  const bool linear = linearize(model, record, classes, {.impulses = by_next.f.size() > 0}, work.linearization);
  describe_gradient(record, linear ? &work.linearization : nullptr, out.report);
  if (!linear) {
    // The step stayed where it was.
    if (by_next.q.size() > 0) out.q = by_next.q;
    if (by_next.v.size() > 0) out.v = by_next.v;
    return true;
  }
  through_integrator(model, record, by_next, out, work.lambda);
  find_multipliers(model, record, by_next, work);
  const bool bounded = all_finite(work.g) && (!work.linearization.has_null || all_finite(work.g_null));
  if (!bounded) return give_up(model, parameters, out);
  work.q.resize_zero(tree.slot_count);
  work.v.resize_zero(tree.slot_count);
  PointVjp points(model, record, work);
  points.add(work.linearization.main, work.g);
  if (work.linearization.has_null) points.add(work.linearization.null, work.g_null);
  add_slots_to_dofs(tree, work.q, out.q.data());
  add_slots_to_dofs(tree, work.v, out.v.data());
  through_springs(model, record, work.g, out);
  out.tau = record.options.time_step() * work.g;
  if (parameters) through_parameters(model, record, by_next, *parameters, out);

  const bool finite = all_finite(out.q) && all_finite(out.v) && all_finite(out.tau) && all_finite(out.parameters);
  return finite || give_up(model, parameters, out);
}

}  // namespace lithe
