#pragma once

#include <string>
#include <vector>

#include "lithe/model/model.h"

namespace lithe {

// One term of what a motion's end is judged by: of the position or velocity x of a 1-DoF joint,
//
//   square          weight·(x − target)²
//   signed_square   weight·(x − target)·|x − target|: its sign counts, so that it can reward going one way
struct TaskTerm {
  enum class Of { position, velocity };
  enum class Form { square, signed_square };
  std::string joint;
  Of of = Of::position;
  double target = 0;
  double weight = 1;
  Form form = Form::square;
};

// Another: weight·|p − target|² of a point that rides on a body.
struct TaskPoint {
  std::string body;
  Vec3 point = Vec3::Zero();   // in the body's frame
  Vec3 target = Vec3::Zero();  // in the world
  double weight = 1;
};

// What a scene asks of whoever drives it: make the sum of the terms and points small after `steps` steps.
struct Task {
  std::string description = {};
  int steps = 0;
  int shot = 0;  // steps per shot of multiple shooting, as the paper cuts the motion
  std::vector<TaskTerm> terms = {};
  std::vector<TaskPoint> points = {};
};

struct TaskLoss {
  double value = 0;
  VecX by_q, by_v;  // nv each
};

// Of a state at the end. A term on an unknown joint or a ball is an Error, and so is a point on an unknown body.
TaskLoss task_loss(const Task& task, const Model& model, const ConstVecRef& q, const ConstVecRef& v);

}  // namespace lithe
