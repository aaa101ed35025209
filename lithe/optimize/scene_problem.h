#pragma once

#include "lithe/optimize/problem.h"
#include "lithe/scenes/scene.h"

namespace lithe {

struct SceneProblemOptions {
  // What it costs to push with full force all the time, per joint: weight · mean over the steps of Σ (u/limit)². Joints without a
  // limit count as if it were 10 N or N·m. 0: forces are free.
  double effort_weight = 1e-3;
  int steps = 0;  // T; 0: the task's
  int hold = 1;
  // Where the scene has nothing to drive, the velocity at the start is free instead, this far either way (m/s or rad/s), for each joint
  // that the task has a term of.
  double start_velocity = 20;
};

// A scene's task (scenes/task.h) as a problem: its terms and points are the costs at the end, and actuate_joints() says which joints are
// driven. A scene without a task is an Error that lists those with one.
Problem problem_of(const Scene& scene, const SceneProblemOptions& options = {});

// A plan to begin a search with: forces that hold the model against gravity where it starts, as far as they may and nothing else (a
// contact, a motor) carries it. An arm that nothing holds has folded long before the end, and from there solvers find no way back.
Plan holding_plan(const Problem& problem);

// What a task's term says of a state at the end.
struct TermValue {
  double x = 0;     // the joint's position or velocity
  double cost = 0;  // the term itself
};
TermValue term_value(const TaskTerm& term, const Model& model, const ConstVecRef& q, const ConstVecRef& v);

// And a task's point.
struct PointValue {
  Vec3 place = Vec3::Zero();  // in the world
  double cost = 0;
};
PointValue point_value(const TaskPoint& point, const Model& model, const ConstVecRef& q);

// Names of all scenes with a task.
std::vector<std::string> scenes_with_tasks();

}  // namespace lithe
