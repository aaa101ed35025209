#pragma once

#include <nanobind/nanobind.h>

// The parts of the module; each is one file of a folder here. A part may use the types of those before it.
namespace lithe::python {

void bind_spatial(nanobind::module_& m);
void bind_model(nanobind::module_& m);
void bind_shapes(nanobind::module_& m);  // called by bind_model(), as the next two
void bind_joints(nanobind::module_& m);
void bind_model_parts(nanobind::module_& m);
void bind_builder(nanobind::module_& m);
void bind_configuration(nanobind::module_& m);
void bind_io(nanobind::module_& m);
void bind_loaded(nanobind::module_& m);  // called by bind_io()
void bind_write(nanobind::module_& m);   // the same
void bind_scenes(nanobind::module_& m);
void bind_tasks(nanobind::module_& m);  // called by bind_scenes()
void bind_dynamics(nanobind::module_& m);
void bind_kinematics(nanobind::module_& m);  // these three of bind_dynamics()
void bind_dynamics_derivatives(nanobind::module_& m);
void bind_contacts(nanobind::module_& m);
void bind_step(nanobind::module_& m);
void bind_gradients(nanobind::module_& m);
void bind_gradient_reports(nanobind::module_& m);  // of bind_gradients()
void bind_batch(nanobind::module_& m);
void bind_rollouts(nanobind::module_& m);       // of bind_batch()
void bind_rollout_batch(nanobind::module_& m);  // of bind_batch()
void bind_optimize(nanobind::module_& m);
void bind_residuals(nanobind::module_& m);  // these of bind_optimize()
void bind_residual_point(nanobind::module_& m);
void bind_problem_terms(nanobind::module_& m);
void bind_problem(nanobind::module_& m);
void bind_plan(nanobind::module_& m);
void bind_solution(nanobind::module_& m);
void bind_solvers(nanobind::module_& m);
void bind_receding_horizon(nanobind::module_& m);
void bind_identification(nanobind::module_& m);
void bind_recording(nanobind::module_& m);
void bind_view(nanobind::module_& m);

}  // namespace lithe::python
