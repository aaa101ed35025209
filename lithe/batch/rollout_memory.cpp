#include "lithe/batch/rollout_memory.h"

#include <algorithm>

namespace lithe {

namespace {

// Bytes on the heap.
struct HeapSize {
  template <class T, class Allocator>
  std::size_t operator()(const std::vector<T, Allocator>& x) const {
    return x.capacity() * sizeof(T);
  }
  std::size_t operator()(const VecX& x) const { return static_cast<std::size_t>(x.size()) * sizeof(double); }
  template <int Rows>
  std::size_t operator()(const Lanes<Rows>& x) const {
    return static_cast<std::size_t>(x.slots()) * Rows * sizeof(double);
  }
  template <class... Parts>
  std::size_t all(const Parts&... parts) const {
    return ((*this)(parts) + ...);
  }

  std::size_t operator()(const State& x) const { return all(x.q, x.v); }
  std::size_t operator()(const Control& x) const { return all(x.tau, x.motor_targets, x.wrenches); }
  std::size_t operator()(const Kinematics& x) const {
    return all(x.frames, x.origin, x.R_p, x.S, x.V, x.V_parent, x.Psi_dot, x.I, x.v, x.sine, x.cosine);
  }
  std::size_t operator()(const InverseDynamics& x) const {
    return all(x.tau, x.A, x.A_parent, x.momentum, x.F, x.a, x.tau_slots);
  }
  std::size_t operator()(const MassMatrix& x) const { return all(x.rows, x.I, x.IS, x.singular); }
  std::size_t operator()(const MassFactor& x) const { return all(x.L, x.inverse_diagonal); }
  std::size_t operator()(const InverseFactor& x) const { return all(x.rows, x.z); }
  std::size_t operator()(const TouchSpace& x) const { return all(x.touches, x.blocks, x.W, x.Lambda); }
  std::size_t operator()(const ContactProblem& x) const {
    return all(x.constraints, x.constraint_of_contact, x.islands.islands(), x.touches, x.patches, x.first_patch,
               x.coefficients, x.rows, x.target, x.target_dropped, x.b, x.compliance, x.A, x.A_start, x.velocity,
               x.touch_vector, x.responses, x.diagonals, x.sweep_patch, x.sweep_impulse);
  }
};
constexpr HeapSize heap;

// A warm start keeps the name, the classes and the impulses of each constraint.
constexpr std::size_t kWarmStartEntry = sizeof(ConstraintKey) + 8 * sizeof(RowClass) + 6 * sizeof(float);
std::size_t warm_start_heap(const StepRecord& record) { return record.problem.constraints.size() * kWarmStartEntry; }

}  // namespace

std::size_t memory_of(const StepRecord& r) {
  // Empty workspaces, and what the allocator adds to some fifty blocks: as measured with glibc.
  constexpr std::size_t kBesides = 9500;
  return kBesides + sizeof(StepRecord) + warm_start_heap(r) +
         heap.all(r.state, r.control, r.kin, r.X_WB, r.bias, r.M, r.factor, r.inverse, r.spring_stretch,
                  r.added_diagonal, r.smooth_impulse, r.v_free, r.v_free_slots, r.contacts.contacts, r.problem,
                  r.island_masses, r.guess.classes, r.guess.impulses, r.guess.steady, r.steady, r.classes, r.f, r.w,
                  r.reports, r.next, r.delta, r.z);
}

RolloutMemory estimate_memory(const Model& model, const State& start, const Controls& controls,
                              const RolloutOptions& options) {
  // One step shows what a record of this model is like.
  Controls first = controls;
  first.steps = std::min(controls.steps, 1);
  if (first.tau.size() > 0) first.tau = controls.tau.leftCols(first.steps).eval();
  if (first.motor_targets.size() > 0) first.motor_targets = controls.motor_targets.leftCols(first.steps).eval();
  if (!first.wrenches.empty()) first.wrenches.resize(first.steps);
  Rollout one;
  rollout(model, start, first, options, one);
  const StepRecord& record = one.records[0];

  const auto steps = static_cast<std::size_t>(controls.steps);
  const std::size_t stretch = checkpoint_distance(options, controls.steps);
  RolloutMemory memory;
  memory.trajectory = (steps + 1) * heap(start) + steps * (heap(record.control) + sizeof(StepStatus));
  memory.records = memory_of(record) * (options.tape == Tape::records ? std::max<std::size_t>(1, steps) : 1);
  if (options.tape == Tape::checkpoints) {
    memory.records += memory_of(record) * std::min(stretch, steps);
    memory.checkpoints = (steps + stretch - 1) / stretch * (sizeof(WarmStart) + warm_start_heap(record));
  }
  return memory;
}

}  // namespace lithe
