#include "lithe/dynamics/kinematics.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include "lithe/dynamics/body_motion.h"
#include "lithe/dynamics/body_motion_derivatives.h"
#include "lithe/dynamics/jacobians.h"
#include "python/bindings/dynamics/dynamics_arguments.h"
#include "python/bindings/parts.h"

namespace lithe::python {

namespace {

// A function that fills one matrix of nv columns, as an array. `fill(out)`.
template <int Rows, class Fill>
Array matrix(Fill fill) {
  Eigen::Matrix<double, Rows, Eigen::Dynamic> out;
  fill(out);
  return to_numpy(MatX(out));
}

// And one that fills two of them.
template <int Rows, class Fill>
std::pair<Array, Array> two_matrices(Fill fill) {
  Eigen::Matrix<double, Rows, Eigen::Dynamic> by_q, by_v;
  fill(by_q, by_v);
  return {to_numpy(MatX(by_q)), to_numpy(MatX(by_v))};
}

void bind_places(nb::module_& m) {
  m.def(
      "body_poses",
      [](const Model& model, const ArrayIn& q) {
        std::vector<Pose> X_WB;
        body_poses(model, kinematics_at(model, q), X_WB);
        return X_WB;
      },
      nb::arg("model"), nb::arg("q"),
      "The pose X_WB of every body at q (nq,), by number; the world, the identity, is the first.");
  m.def(
      "body_pose",
      [](const Model& model, const ArrayIn& q, const NameOrNumber& body) {
        return body_pose(model, kinematics_at(model, q), body_of(model, body));
      },
      nb::arg("model"), nb::arg("q"), nb::arg("body"), "The pose X_WB of a body, by name or number, at q (nq,).");
  m.def(
      "frame_pose",
      [](const Model& model, const ArrayIn& q, const NameOrNumber& frame) {
        return frame_pose(model, kinematics_at(model, q), frame_of(model, frame));
      },
      nb::arg("model"), nb::arg("q"), nb::arg("frame"), "The pose X_WF of a frame, by name or number, at q (nq,).");
  m.def(
      "point_position",
      [](const Model& model, const ArrayIn& q, const NameOrNumber& body, const ArrayIn& p_B) {
        return to_numpy(
            VecX(point_position(model, kinematics_at(model, q), body_of(model, body), finite_point(p_B, "p_B"))));
      },
      nb::arg("model"), nb::arg("q"), nb::arg("body"), nb::arg("p_B"),
      "Where a point p_B (3,) of a body, given in the body's frame, is in the world (3,), m.");
}

void bind_velocities(nb::module_& m) {
  m.def(
      "body_velocity",
      [](const Model& model, const ArrayIn& q, const ArrayIn& v, const NameOrNumber& body) {
        return to_numpy(VecX(body_velocity(model, kinematics_at(model, q, v), body_of(model, body))));
      },
      nb::arg("model"), nb::arg("q"), nb::arg("v"), nb::arg("body"),
      "[ω; ṗ] (6,) of a body: angular velocity, and velocity of the body's origin, in world axes.");
  m.def(
      "frame_velocity",
      [](const Model& model, const ArrayIn& q, const ArrayIn& v, const NameOrNumber& frame) {
        return to_numpy(VecX(frame_velocity(model, kinematics_at(model, q, v), frame_of(model, frame))));
      },
      nb::arg("model"), nb::arg("q"), nb::arg("v"), nb::arg("frame"),
      "[ω; ṗ] (6,) of a frame: angular velocity, and velocity of the frame's origin, in world axes.");
  m.def(
      "point_velocity",
      [](const Model& model, const ArrayIn& q, const ArrayIn& v, const NameOrNumber& body, const ArrayIn& p_B) {
        return to_numpy(
            VecX(point_velocity(model, kinematics_at(model, q, v), body_of(model, body), finite_point(p_B, "p_B"))));
      },
      nb::arg("model"), nb::arg("q"), nb::arg("v"), nb::arg("body"), nb::arg("p_B"),
      "The velocity (3,) in the world of a point p_B (3,) of a body, m/s.");
}

void bind_accelerations(nb::module_& m) {
  m.def(
      "body_acceleration",
      [](const Model& model, const ArrayIn& q, const ArrayIn& v, const ArrayIn& a, const NameOrNumber& body) {
        const InverseDynamics& id = inverse_dynamics_at(model, q, v, a);
        return to_numpy(VecX(body_acceleration(model, state_workspace().kin, id, body_of(model, body))));
      },
      nb::arg("model"), nb::arg("q"), nb::arg("v"), nb::arg("a"), nb::arg("body"),
      "[ω̇; p̈] (6,) of a body and its origin when the DoFs accelerate with a (nv,), in world axes. Gravity is not in "
      "it: an "
      "accelerometer shows p̈ − gravity.");
  m.def(
      "frame_acceleration",
      [](const Model& model, const ArrayIn& q, const ArrayIn& v, const ArrayIn& a, const NameOrNumber& frame) {
        const InverseDynamics& id = inverse_dynamics_at(model, q, v, a);
        return to_numpy(VecX(frame_acceleration(model, state_workspace().kin, id, frame_of(model, frame))));
      },
      nb::arg("model"), nb::arg("q"), nb::arg("v"), nb::arg("a"), nb::arg("frame"),
      "[ω̇; p̈] (6,) of a frame and its origin, as body_acceleration().");
  m.def(
      "point_acceleration",
      [](const Model& model, const ArrayIn& q, const ArrayIn& v, const ArrayIn& a, const NameOrNumber& body,
         const ArrayIn& p_B) {
        const InverseDynamics& id = inverse_dynamics_at(model, q, v, a);
        return to_numpy(
            VecX(point_acceleration(model, state_workspace().kin, id, body_of(model, body), finite_point(p_B, "p_B"))));
      },
      nb::arg("model"), nb::arg("q"), nb::arg("v"), nb::arg("a"), nb::arg("body"), nb::arg("p_B"),
      "The acceleration (3,) in the world of a point p_B (3,) of a body, m/s².");
}

void bind_frame_jacobians(nb::module_& m) {
  m.def(
      "body_jacobian",
      [](const Model& model, const ArrayIn& q, const NameOrNumber& body) {
        const Kinematics& kin = kinematics_at(model, q);
        return matrix<6>([&](Mat6X& J) { body_jacobian(model, kin, body_of(model, body), J); });
      },
      nb::arg("model"), nb::arg("q"), nb::arg("body"),
      "J (6, nv) with J v = body_velocity(model, q, v, body): angular rows first, world axes, at the body's origin.");
  m.def(
      "frame_jacobian",
      [](const Model& model, const ArrayIn& q, const NameOrNumber& frame) {
        const Kinematics& kin = kinematics_at(model, q);
        return matrix<6>([&](Mat6X& J) { frame_jacobian(model, kin, frame_of(model, frame), J); });
      },
      nb::arg("model"), nb::arg("q"), nb::arg("frame"),
      "J (6, nv) with J v = frame_velocity(model, q, v, frame): angular rows first, world axes, at the frame's "
      "origin.");
  m.def(
      "point_jacobian",
      [](const Model& model, const ArrayIn& q, const NameOrNumber& body, const ArrayIn& p_B) {
        const Kinematics& kin = kinematics_at(model, q);
        return matrix<3>(
            [&](Mat3X& J) { point_jacobian(model, kin, body_of(model, body), finite_point(p_B, "p_B"), J); });
      },
      nb::arg("model"), nb::arg("q"), nb::arg("body"), nb::arg("p_B"),
      "J (3, nv) with J v = point_velocity(model, q, v, body, p_B). Jᵀ takes a force at the point to the DoFs.");
  m.def(
      "body_jacobian_rate",
      [](const Model& model, const ArrayIn& q, const ArrayIn& v, const NameOrNumber& body) {
        const Kinematics& kin = kinematics_at(model, q, v);
        return matrix<6>([&](Mat6X& J) { body_jacobian_rate(model, kin, body_of(model, body), J); });
      },
      nb::arg("model"), nb::arg("q"), nb::arg("v"), nb::arg("body"),
      "J̇ (6, nv), the rate of body_jacobian() as the model moves with v: accelerations are J a + J̇ v.");
  m.def(
      "frame_jacobian_rate",
      [](const Model& model, const ArrayIn& q, const ArrayIn& v, const NameOrNumber& frame) {
        const Kinematics& kin = kinematics_at(model, q, v);
        return matrix<6>([&](Mat6X& J) { frame_jacobian_rate(model, kin, frame_of(model, frame), J); });
      },
      nb::arg("model"), nb::arg("q"), nb::arg("v"), nb::arg("frame"),
      "J̇ (6, nv), the rate of frame_jacobian() as the model moves with v: accelerations are J a + J̇ v.");
  m.def(
      "point_jacobian_rate",
      [](const Model& model, const ArrayIn& q, const ArrayIn& v, const NameOrNumber& body, const ArrayIn& p_B) {
        const Kinematics& kin = kinematics_at(model, q, v);
        return matrix<3>(
            [&](Mat3X& J) { point_jacobian_rate(model, kin, body_of(model, body), finite_point(p_B, "p_B"), J); });
      },
      nb::arg("model"), nb::arg("q"), nb::arg("v"), nb::arg("body"), nb::arg("p_B"),
      "J̇ (3, nv), the rate of point_jacobian() as the model moves with v.");
}

void bind_motion_derivatives(nb::module_& m) {
  m.def(
      "body_pose_derivatives",
      [](const Model& model, const ArrayIn& q, const NameOrNumber& body) {
        const Kinematics& kin = kinematics_at(model, q);
        return matrix<6>([&](Mat6X& dX) { body_pose_derivatives(model, kin, body_of(model, body), dX); });
      },
      nb::arg("model"), nb::arg("q"), nb::arg("body"),
      "∂X_WB/∂q (6, nv): three rows for the rotation, as a rotation vector in the world, and three for the origin. It "
      "equals "
      "body_jacobian().");
  m.def(
      "frame_pose_derivatives",
      [](const Model& model, const ArrayIn& q, const NameOrNumber& frame) {
        const Kinematics& kin = kinematics_at(model, q);
        return matrix<6>([&](Mat6X& dX) { frame_pose_derivatives(model, kin, frame_of(model, frame), dX); });
      },
      nb::arg("model"), nb::arg("q"), nb::arg("frame"), "∂X_WF/∂q (6, nv), as body_pose_derivatives().");
  m.def(
      "point_position_derivatives",
      [](const Model& model, const ArrayIn& q, const NameOrNumber& body, const ArrayIn& p_B) {
        const Kinematics& kin = kinematics_at(model, q);
        return matrix<3>([&](Mat3X& dp) {
          point_position_derivatives(model, kin, body_of(model, body), finite_point(p_B, "p_B"), dp);
        });
      },
      nb::arg("model"), nb::arg("q"), nb::arg("body"), nb::arg("p_B"), "∂/∂q (3, nv) of point_position().");
  m.def(
      "body_velocity_derivatives",
      [](const Model& model, const ArrayIn& q, const ArrayIn& v, const NameOrNumber& body) {
        const Kinematics& kin = kinematics_at(model, q, v);
        return two_matrices<6>(
            [&](Mat6X& by_q, Mat6X& by_v) { body_velocity_derivatives(model, kin, body_of(model, body), by_q, by_v); });
      },
      nb::arg("model"), nb::arg("q"), nb::arg("v"), nb::arg("body"),
      "(∂V/∂q, ∂V/∂v), both (6, nv), of V = body_velocity(model, q, v, body).");
  m.def(
      "frame_velocity_derivatives",
      [](const Model& model, const ArrayIn& q, const ArrayIn& v, const NameOrNumber& frame) {
        const Kinematics& kin = kinematics_at(model, q, v);
        return two_matrices<6>([&](Mat6X& by_q, Mat6X& by_v) {
          frame_velocity_derivatives(model, kin, frame_of(model, frame), by_q, by_v);
        });
      },
      nb::arg("model"), nb::arg("q"), nb::arg("v"), nb::arg("frame"),
      "(∂V/∂q, ∂V/∂v), both (6, nv), of V = frame_velocity(model, q, v, frame).");
  m.def(
      "point_velocity_derivatives",
      [](const Model& model, const ArrayIn& q, const ArrayIn& v, const NameOrNumber& body, const ArrayIn& p_B) {
        const Kinematics& kin = kinematics_at(model, q, v);
        return two_matrices<3>([&](Mat3X& by_q, Mat3X& by_v) {
          point_velocity_derivatives(model, kin, body_of(model, body), finite_point(p_B, "p_B"), by_q, by_v);
        });
      },
      nb::arg("model"), nb::arg("q"), nb::arg("v"), nb::arg("body"), nb::arg("p_B"),
      "(∂/∂q, ∂/∂v), both (3, nv), of point_velocity(model, q, v, body, p_B).");
}

void bind_axes(nb::module_& m) {
  m.def(
      "dof_axis",
      [](const Model& model, const ArrayIn& q, int dof) {
        return to_numpy(VecX(dof_axis(model, kinematics_at(model, q), dof)));
      },
      nb::arg("model"), nb::arg("q"), nb::arg("dof"),
      "The motion axis [ω; v₀] (6,) of a DoF in world axes: the velocity that it gives, per unit of its own, to "
      "whatever it moves, with "
      "the linear part taken at tree_origin().");
  m.def(
      "tree_origin",
      [](const Model& model, const ArrayIn& q, int dof) {
        return to_numpy(VecX(tree_origin(model, kinematics_at(model, q), dof)));
      },
      nb::arg("model"), nb::arg("q"), nb::arg("dof"),
      "A place in the world (3,) that is the same for all DoFs of a tree: the origin of its root body.");
}

}  // namespace

void bind_kinematics(nb::module_& m) {
  bind_places(m);
  bind_velocities(m);
  bind_accelerations(m);
  bind_frame_jacobians(m);
  bind_motion_derivatives(m);
  bind_axes(m);
}

}  // namespace lithe::python
