#pragma once

// All of Lithe, for those who would rather not choose. Parts that a build went without (CMake's LITHE_WITH_FILES and LITHE_WITH_VIEW) are
// left out.

// Errors, indices, threads.
#include "lithe/core/build_info.h"
#include "lithe/core/check.h"
#include "lithe/core/eigen.h"
#include "lithe/core/index.h"
#include "lithe/core/infinity.h"
#include "lithe/core/thread_pool.h"
#include "lithe/core/version.h"

// Packs of four numbers, and arrays of them.
#include "lithe/simd/lanes.h"
#include "lithe/simd/pack.h"

// Rotations, poses, inertias.
#include "lithe/spatial/inertia.h"
#include "lithe/spatial/pose.h"
#include "lithe/spatial/rotation.h"

// The boxed linear complementarity problem.
#include "lithe/lcp/boxed_lcp.h"
#include "lithe/lcp/factored_lcp.h"
#include "lithe/lcp/solve_lcp.h"

// Robots: bodies, joints, shapes, motors, parameters by name.
#include "lithe/model/body.h"
#include "lithe/model/configuration.h"
#include "lithe/model/constraint.h"
#include "lithe/model/dof_tree.h"
#include "lithe/model/joint.h"
#include "lithe/model/model.h"
#include "lithe/model/model_builder.h"
#include "lithe/model/motor.h"
#include "lithe/model/parameters.h"
#include "lithe/model/shape.h"

// Kinematics and dynamics.
#include "lithe/dynamics/body_motion.h"
#include "lithe/dynamics/body_motion_derivatives.h"
#include "lithe/dynamics/centroidal.h"
#include "lithe/dynamics/energy.h"
#include "lithe/dynamics/external_wrenches.h"
#include "lithe/dynamics/forward_dynamics.h"
#include "lithe/dynamics/forward_dynamics_derivatives.h"
#include "lithe/dynamics/inverse_dynamics.h"
#include "lithe/dynamics/inverse_dynamics_derivatives.h"
#include "lithe/dynamics/inverse_mass_matrix.h"
#include "lithe/dynamics/jacobians.h"
#include "lithe/dynamics/kinematics.h"
#include "lithe/dynamics/mass_matrix.h"
#include "lithe/dynamics/placement_derivatives.h"
#include "lithe/dynamics/regressor.h"

// Contacts between shapes.
#include "lithe/collision/collide.h"
#include "lithe/collision/collider.h"
#include "lithe/collision/collider_set.h"
#include "lithe/collision/contact.h"
#include "lithe/collision/contact_derivatives.h"
#include "lithe/collision/detect_contacts.h"
#include "lithe/collision/hull_tolerance.h"
#include "lithe/collision/pair_scratch.h"

// A step and its derivatives.
#include "lithe/step/contact_columns.h"
#include "lithe/step/finite_differences.h"
#include "lithe/step/gradcheck.h"
#include "lithe/step/gradient_options.h"
#include "lithe/step/gradient_report.h"
#include "lithe/step/mode_switch.h"
#include "lithe/step/step.h"
#include "lithe/step/step_jacobians.h"
#include "lithe/step/step_jvp.h"
#include "lithe/step/step_options.h"
#include "lithe/step/step_parameters.h"
#include "lithe/step/step_record.h"
#include "lithe/step/step_vectors.h"
#include "lithe/step/step_vjp.h"
#include "lithe/step/warm_start.h"

// Motions, their gradients, batches.
#include "lithe/rollout/controls.h"
#include "lithe/rollout/rollout.h"
#include "lithe/rollout/rollout_batch.h"
#include "lithe/rollout/rollout_gradient.h"
#include "lithe/rollout/rollout_loss.h"
#include "lithe/rollout/rollout_memory.h"
#include "lithe/rollout/rollout_report.h"
#include "lithe/rollout/step_batch.h"

// Scenes and tasks.
#include "lithe/scenes/any_task.h"
#include "lithe/scenes/catalogue.h"
#include "lithe/scenes/ground.h"
#include "lithe/scenes/paper/cartpole.h"
#include "lithe/scenes/paper/catapult.h"
#include "lithe/scenes/paper/jump_worm.h"
#include "lithe/scenes/paper/paper_parts.h"
#include "lithe/scenes/robots/chain.h"
#include "lithe/scenes/robots/drone.h"
#include "lithe/scenes/robots/four_bar.h"
#include "lithe/scenes/robots/gripper.h"
#include "lithe/scenes/robots/half_cheetah.h"
#include "lithe/scenes/robots/humanoid.h"
#include "lithe/scenes/robots/identification_subjects.h"
#include "lithe/scenes/robots/pendulum.h"
#include "lithe/scenes/scene.h"
#include "lithe/scenes/solids/balls.h"
#include "lithe/scenes/solids/free_bodies.h"
#include "lithe/scenes/solids/incline.h"
#include "lithe/scenes/solids/pile.h"
#include "lithe/scenes/solids/solids.h"
#include "lithe/scenes/solids/towers.h"
#include "lithe/scenes/task.h"
#include "lithe/scenes/world.h"
#if __has_include("lithe/scenes/from_file.h")
#include "lithe/scenes/from_file.h"
#endif

// Trajectory optimisation and identification.
#include "lithe/optimize/ddp.h"
#include "lithe/optimize/hybrid.h"
#include "lithe/optimize/identification.h"
#include "lithe/optimize/methods.h"
#include "lithe/optimize/multiple_shooting.h"
#include "lithe/optimize/problem.h"
#include "lithe/optimize/receding_horizon.h"
#include "lithe/optimize/residual.h"
#include "lithe/optimize/residuals.h"
#include "lithe/optimize/scene_problem.h"
#include "lithe/optimize/single_shooting.h"
#include "lithe/optimize/solve.h"
#include "lithe/optimize/stochastic_search.h"

// Figures.
#include "lithe/plot/axis_ticks.h"
#include "lithe/plot/solution_figure.h"
#include "lithe/plot/svg_plot.h"

// Robot files.
#if __has_include("lithe/io/load.h")
#include "lithe/io/load.h"
#include "lithe/io/load_limits.h"
#include "lithe/io/load_options.h"
#include "lithe/io/loaded_model.h"
#include "lithe/io/mesh.h"
#include "lithe/io/mujoco_bridge.h"
#include "lithe/io/mujoco_layout.h"
#include "lithe/io/source_place.h"
#include "lithe/io/write_mjcf.h"
#include "lithe/io/write_srdf.h"
#include "lithe/io/write_urdf.h"
#endif

// Recordings.
#if __has_include("lithe/recording/recording.h")
#include "lithe/recording/recorded_contacts.h"
#include "lithe/recording/recording.h"
#include "lithe/recording/recording_reader.h"
#include "lithe/recording/recording_writer.h"
#endif

// What viewers show.
#if __has_include("lithe/viz/document/show_document.h")
#include "lithe/viz/document/show_document.h"
#include "lithe/viz/document/show_glb.h"
#include "lithe/viz/document/show_json.h"
#include "lithe/viz/document/show_motion.h"
#endif

// The live viewer.
#if __has_include("lithe/viz/live/live_view.h")
#include "lithe/viz/live/live_subject.h"
#include "lithe/viz/live/live_view.h"
#endif
