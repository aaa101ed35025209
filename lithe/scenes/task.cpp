#include "lithe/scenes/task.h"

#include <cmath>

#include "lithe/core/check.h"
#include "lithe/dynamics/body_motion.h"
#include "lithe/dynamics/jacobians.h"

namespace lithe {

namespace {

void add_points(const Task& task, const Model& model, const ConstVecRef& q, TaskLoss& loss) {
  if (task.points.empty()) return;
  Kinematics kin;
  kinematics(model, q, kin);
  Mat3X J;
  for (const TaskPoint& point : task.points) {
    const BodyIndex body = model.body(point.body);
    const Vec3 miss = point_position(model, kin, body, point.point) - point.target;
    point_jacobian(model, kin, body, point.point, J);
    loss.value += point.weight * miss.squaredNorm();
    loss.by_q += 2 * point.weight * J.transpose() * miss;
  }
}

}  // namespace

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
  add_points(task, model, q, loss);
  return loss;
}

}  // namespace lithe
