#include "lithe/scenes/task.h"

#include <cmath>

#include "lithe/core/check.h"

namespace lithe {

TaskLoss task_loss(const Task& task, const Model& model, const ConstVecRef& q, const ConstVecRef& v) {
  LITHE_CHECK(q.size() == model.nq() && v.size() == model.nv(),
              "task_loss: the state has {} and {} numbers, but the model has nq = {} and nv = {}", q.size(), v.size(),
              model.nq(), model.nv());
  TaskLoss loss = {.by_q = VecX::Zero(model.nv()), .by_v = VecX::Zero(model.nv())};
  for (const TaskTerm& term : task.terms) {
    const Joint& joint = model.joints()[model.joint(term.joint)];
    LITHE_CHECK(joint.nv() == 1, "task_loss: joint '{}' is a {} joint: its state is more than one number", term.joint,
                to_string(joint.type));
    const bool of_position = term.of == TaskTerm::Of::position;
    const double miss = (of_position ? q[joint.q_index] : v[joint.v_index]) - term.target;
    const double factor = term.form == TaskTerm::Form::square ? miss : std::abs(miss);
    loss.value += term.weight * miss * factor;
    (of_position ? loss.by_q : loss.by_v)[joint.v_index] += 2 * term.weight * factor;
  }
  return loss;
}

}  // namespace lithe
