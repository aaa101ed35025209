"""Kinematics, dynamics, their derivatives and contacts: identities between functions, and central differences."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable
from typing import NamedTuple

import hypothesis
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import strategies as st

import lithe

FloatArray = npt.NDArray[np.float64]

SCENES = [name for name in lithe.scene_names() if lithe.scene(name).model.nv <= 40]

SETTINGS = hypothesis.settings(max_examples=40, deadline=None, derandomize=True)
SEEDS = st.integers(min_value=0, max_value=2**32 - 1)


class Motion(NamedTuple):
    """A model in a random state, with random accelerations and pushes."""

    model: lithe.Model
    q: FloatArray
    v: FloatArray
    a: FloatArray
    wrenches: dict[str, FloatArray]

    def moved(self, delta: FloatArray) -> FloatArray:
        return lithe.retract(self.model, self.q, delta)


def motion(scene: str, seed: int = 1) -> Motion:
    model = lithe.scene(scene).model
    random = np.random.default_rng(seed)
    q = lithe.random_configuration(model, random)
    v, a = random.uniform(-2, 2, (2, model.nv))
    pushed = random.choice(model.body_names[1:], min(3, len(model.body_names) - 1), replace=False)
    return Motion(model, q, v, a, {str(body): random.uniform(-3, 3, 6) for body in pushed})


def central_difference(f: Callable[[FloatArray], FloatArray], x: FloatArray, step: float = 1e-3) -> FloatArray:
    """∂f/∂x, one column per entry of x, by differences of fourth order."""

    def slope(e: FloatArray) -> FloatArray:
        near = f(x + step * e) - f(x - step * e)
        far = f(x + 2 * step * e) - f(x - 2 * step * e)
        return (8 * near - far) / (12 * step)

    return np.stack([slope(e) for e in np.eye(len(x))], axis=-1)


def assert_close(ours: FloatArray, theirs: FloatArray, tolerance: float) -> None:
    """Relative to the largest entry."""
    assert ours.shape == theirs.shape
    assert np.abs(ours - theirs).max() <= tolerance * max(1.0, np.abs(theirs).max())


# Dynamics.


@SETTINGS
@hypothesis.given(seed=SEEDS, scene=st.sampled_from(SCENES))
def test_forward_dynamics_inverts_rnea(seed: int, scene: str) -> None:
    m = motion(scene, seed)
    tau = lithe.rnea(m.model, m.q, m.v, m.a, wrenches=m.wrenches)
    back = lithe.forward_dynamics(m.model, m.q, m.v, tau, wrenches=m.wrenches)
    # Errors of τ are amplified by M⁻¹.
    condition = float(np.linalg.cond(lithe.mass_matrix(m.model, m.q)))
    np.testing.assert_allclose(back, m.a, atol=1e-13 * max(100.0, condition) * max(1.0, np.abs(m.a).max()))


@SETTINGS
@hypothesis.given(seed=SEEDS, scene=st.sampled_from(SCENES))
def test_rnea_is_mass_times_acceleration_plus_bias(seed: int, scene: str) -> None:
    m = motion(scene, seed)
    tau = lithe.rnea(m.model, m.q, m.v, m.a, wrenches=m.wrenches)
    pushes = sum(lithe.body_jacobian(m.model, m.q, body).T @ F for body, F in m.wrenches.items())
    Ma = lithe.mass_matrix(m.model, m.q) @ m.a
    assert_close(tau, Ma + lithe.bias_forces(m.model, m.q, m.v) - pushes, 1e-12)
    assert_close(tau, Ma + lithe.bias_forces(m.model, m.q, m.v, wrenches=m.wrenches), 1e-12)


@pytest.mark.parametrize("scene", SCENES)
def test_columns_of_the_mass_matrix_are_inverse_dynamics(scene: str) -> None:
    m = motion(scene)
    M = lithe.mass_matrix(m.model, m.q)
    rest = np.zeros(m.model.nv)
    gravity = lithe.gravity_compensation(m.model, m.q)
    columns = [lithe.rnea(m.model, m.q, rest, e) - gravity for e in np.eye(m.model.nv)]
    assert_close(M, np.stack(columns, axis=-1), 1e-12)
    np.testing.assert_array_equal(M, M.T)
    assert np.linalg.eigvalsh(M).min() > 0
    rounding = 1e-15 * max(100.0, float(np.linalg.cond(M)))
    assert_close(lithe.inverse_mass_matrix(m.model, m.q) @ M, np.eye(m.model.nv), rounding)


@pytest.mark.parametrize("scene", SCENES)
def test_energies(scene: str) -> None:
    m = motion(scene)
    kinetic = lithe.kinetic_energy(m.model, m.q, m.v)
    assert kinetic == pytest.approx(0.5 * m.v @ lithe.mass_matrix(m.model, m.q) @ m.v, rel=1e-12)
    slope = central_difference(lambda e: np.array([lithe.potential_energy(m.model, m.moved(e))]), np.zeros(m.model.nv))
    assert_close(slope[0], lithe.gravity_compensation(m.model, m.q), 1e-8)


@pytest.mark.parametrize("angle", [0.0, 0.7, -2.0])
def test_a_pendulum_falls_as_the_textbook_says(angle: float) -> None:
    model = lithe.scene("pendulum").model  # 1 kg at the end of 1 m, hanging down at q = 0
    assert lithe.mass_matrix(model, [angle])[0, 0] == pytest.approx(1, rel=1e-14)
    assert lithe.forward_dynamics(model, [angle], [3.0])[0] == pytest.approx(-9.81 * np.sin(angle), rel=1e-14)
    assert lithe.potential_energy(model, [angle]) == pytest.approx(-9.81 * np.cos(angle), rel=1e-14)
    assert lithe.kinetic_energy(model, [angle], [3.0]) == pytest.approx(4.5, rel=1e-14)


def test_both_names_are_the_same_function() -> None:
    m = motion("half_cheetah")
    np.testing.assert_array_equal(lithe.rnea(m.model, m.q, m.v, m.a), lithe.inverse_dynamics(m.model, m.q, m.v, m.a))
    np.testing.assert_array_equal(lithe.aba(m.model, m.q, m.v, m.a), lithe.forward_dynamics(m.model, m.q, m.v, m.a))
    np.testing.assert_array_equal(lithe.aba(m.model, m.q, m.v), lithe.aba(m.model, m.q, m.v, np.zeros(m.model.nv)))


# Derivatives of dynamics.


@pytest.mark.parametrize("scene", SCENES)
def test_derivatives_of_inverse_dynamics(scene: str) -> None:
    m = motion(scene)
    zero = np.zeros(m.model.nv)

    def rnea(delta: FloatArray, v: FloatArray, a: FloatArray) -> FloatArray:
        return lithe.rnea(m.model, m.moved(delta), v, a, wrenches=m.wrenches)

    d = lithe.rnea_derivatives(m.model, m.q, m.v, m.a, wrenches=m.wrenches)
    np.testing.assert_array_equal(d.tau, lithe.rnea(m.model, m.q, m.v, m.a, wrenches=m.wrenches))
    assert_close(d.dtau_dq, central_difference(lambda e: rnea(e, m.v, m.a), zero), 1e-8)
    assert_close(d.dtau_dv, central_difference(lambda v: rnea(zero, v, m.a), m.v), 1e-8)
    assert_close(d.dtau_da, central_difference(lambda a: rnea(zero, m.v, a), m.a), 1e-8)


@pytest.mark.parametrize("scene", SCENES)
def test_derivatives_of_forward_dynamics(scene: str) -> None:
    m = motion(scene)
    zero = np.zeros(m.model.nv)
    tau = lithe.rnea(m.model, m.q, m.v, m.a, wrenches=m.wrenches)

    def aba(delta: FloatArray, v: FloatArray, forces: FloatArray) -> FloatArray:
        return lithe.aba(m.model, m.moved(delta), v, forces, wrenches=m.wrenches)

    d = lithe.forward_dynamics_derivatives(m.model, m.q, m.v, tau, wrenches=m.wrenches)
    np.testing.assert_array_equal(d.a, lithe.aba(m.model, m.q, m.v, tau, wrenches=m.wrenches))
    assert_close(d.da_dq, central_difference(lambda e: aba(e, m.v, tau), zero), 1e-7)
    assert_close(d.da_dv, central_difference(lambda v: aba(zero, v, tau), m.v), 1e-7)
    assert_close(d.da_dtau, lithe.inverse_mass_matrix(m.model, m.q), 1e-13)


@SETTINGS
@hypothesis.given(seed=SEEDS, scene=st.sampled_from(SCENES))
def test_products_equal_the_matrices_products(seed: int, scene: str) -> None:
    m = motion(scene, seed)
    g, dq, dv, da = np.random.default_rng(seed).uniform(-1, 1, (4, m.model.nv))
    d = lithe.rnea_derivatives(m.model, m.q, m.v, m.a, wrenches=m.wrenches)
    vjp = lithe.rnea_vjp(m.model, m.q, m.v, m.a, g, wrenches=m.wrenches)
    assert_close(vjp.q, g @ d.dtau_dq, 1e-11)
    assert_close(vjp.v, g @ d.dtau_dv, 1e-11)
    assert_close(vjp.a, g @ d.dtau_da, 1e-11)
    jvp = lithe.rnea_jvp(m.model, m.q, m.v, m.a, dq, dv, da, wrenches=m.wrenches)
    assert_close(jvp, d.dtau_dq @ dq + d.dtau_dv @ dv + d.dtau_da @ da, 1e-11)
    assert_close(lithe.rnea_jvp(m.model, m.q, m.v, m.a, dv=dv, wrenches=m.wrenches), d.dtau_dv @ dv, 1e-11)


INERTIAL = ["mass", "mx", "my", "mz", "Ixx", "Ixy", "Ixz", "Iyy", "Iyz", "Izz"]


@pytest.mark.parametrize("scene", SCENES)
def test_inverse_dynamics_is_linear_in_inertial_parameters(scene: str) -> None:
    m = motion(scene)
    Y = lithe.inertial_regressor(m.model, m.q, m.v, m.a)
    bodies = m.model.body_names
    assert Y.shape == (m.model.nv, 10 * len(bodies))
    assert not Y[:, :10].any()  # the world
    pi = m.model.parameters([f"body/{body}/{name}" for body in bodies[1:] for name in INERTIAL])
    armature = np.zeros(m.model.nv)
    for k, joint in enumerate(m.model.joint_names):
        end = m.model.v_index(m.model.joint_names[k + 1]) if k + 1 < len(m.model.joint_names) else m.model.nv
        armature[m.model.v_index(joint) : end] = m.model[f"joint/{joint}/armature"]
    assert_close(Y[:, 10:] @ pi + armature * m.a, lithe.rnea(m.model, m.q, m.v, m.a), 1e-12)


@pytest.mark.parametrize("scene", SCENES)
def test_derivatives_by_placements(scene: str) -> None:
    m = motion(scene)
    for joint in m.model.joint_names:
        names = [f"joint/{joint}/{axis}" for axis in "xyz"]
        changed = m.model.copy()

        def rnea(place: FloatArray) -> FloatArray:
            changed.set_parameters(names, place)
            return lithe.rnea(changed, m.q, m.v, m.a, wrenches=m.wrenches)

        by_place = central_difference(rnea, m.model.parameters(names))
        ours = lithe.placement_derivatives(m.model, m.q, m.v, m.a, joint, wrenches=m.wrenches)
        assert ours.shape == (m.model.nv, 6)
        assert_close(ours[:, 3:], by_place, 1e-8)


# Two hinges; the second one's placement is left open.
TURNED = """
<robot name="turned">
  <link name="world"/>
  <link name="first"><inertial><origin xyz="0.1 0.2 0"/><mass value="2"/>
    <inertia ixx="0.1" ixy="0.01" ixz="0" iyy="0.2" iyz="0" izz="0.3"/></inertial></link>
  <link name="second"><inertial><origin xyz="0 0.1 0.3"/><mass value="1"/>
    <inertia ixx="0.2" ixy="0" ixz="0.02" iyy="0.1" iyz="0" izz="0.1"/></inertial></link>
  <joint name="a" type="continuous"><parent link="world"/><child link="first"/><axis xyz="0 1 0.5"/></joint>
  <joint name="b" type="continuous"><parent link="first"/><child link="second"/><axis xyz="1 0.2 0.3"/>
    <origin xyz="0.3 0.1 -0.2" rpy="{} {} {}"/></joint>
</robot>
"""


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_derivatives_by_turning_a_placement(axis: int) -> None:
    def model(angle: float) -> lithe.Model:
        """About one axis alone, so that angles add."""
        return lithe.load_text(TURNED.format(*(angle * np.eye(3)[axis]))).model

    q, v, a = np.random.default_rng(1).uniform(-2, 2, (3, 2))
    by_angle = central_difference(lambda angle: lithe.rnea(model(0.4 + angle[0]), q, v, a), np.zeros(1))
    assert np.abs(by_angle).max() > 0.1
    assert_close(lithe.placement_derivatives(model(0.4), q, v, a, "b")[:, [axis]], by_angle, 1e-9)


# Kinematics.


@pytest.mark.parametrize("scene", SCENES)
def test_jacobians_give_velocities_and_accelerations(scene: str) -> None:
    m = motion(scene)
    p_B = np.array([0.1, -0.2, 0.3])
    for number, body in enumerate(m.model.body_names):
        J = lithe.body_jacobian(m.model, m.q, body)
        J_rate = lithe.body_jacobian_rate(m.model, m.q, m.v, body)
        assert_close(lithe.body_velocity(m.model, m.q, m.v, body), J @ m.v, 1e-13)
        assert_close(lithe.body_acceleration(m.model, m.q, m.v, m.a, body), J @ m.a + J_rate @ m.v, 1e-11)
        np.testing.assert_array_equal(J, lithe.body_jacobian(m.model, m.q, number))
        np.testing.assert_array_equal(J, lithe.body_pose_derivatives(m.model, m.q, body))
        J = lithe.point_jacobian(m.model, m.q, body, p_B)
        J_rate = lithe.point_jacobian_rate(m.model, m.q, m.v, body, p_B)
        assert_close(lithe.point_velocity(m.model, m.q, m.v, body, p_B), J @ m.v, 1e-13)
        assert_close(lithe.point_acceleration(m.model, m.q, m.v, m.a, body, p_B), J @ m.a + J_rate @ m.v, 1e-11)
        np.testing.assert_array_equal(J, lithe.point_position_derivatives(m.model, m.q, body, p_B))


@pytest.mark.parametrize("scene", SCENES)
def test_derivatives_of_places_and_velocities(scene: str) -> None:
    m = motion(scene)
    zero = np.zeros(m.model.nv)
    body = m.model.body_names[-1]
    p_B = np.array([0.1, -0.2, 0.3])
    position = central_difference(lambda e: lithe.point_position(m.model, m.moved(e), body, p_B), zero)
    assert_close(lithe.point_position_derivatives(m.model, m.q, body, p_B), position, 1e-9)

    by_q, by_v = lithe.body_velocity_derivatives(m.model, m.q, m.v, body)
    assert_close(by_q, central_difference(lambda e: lithe.body_velocity(m.model, m.moved(e), m.v, body), zero), 1e-9)
    np.testing.assert_array_equal(by_v, lithe.body_jacobian(m.model, m.q, body))
    by_q, by_v = lithe.point_velocity_derivatives(m.model, m.q, m.v, body, p_B)
    expected = central_difference(lambda e: lithe.point_velocity(m.model, m.moved(e), m.v, body, p_B), zero)
    assert_close(by_q, expected, 1e-9)
    np.testing.assert_array_equal(by_v, lithe.point_jacobian(m.model, m.q, body, p_B))

    rate = central_difference(lambda t: lithe.body_jacobian(m.model, m.moved(t[0] * m.v), body), np.zeros(1))[..., 0]
    assert_close(lithe.body_jacobian_rate(m.model, m.q, m.v, body), rate, 1e-9)


@pytest.mark.parametrize("scene", [name for name in SCENES if lithe.scene(name).model.frame_names])
def test_frames_ride_on_their_bodies(scene: str) -> None:
    m = motion(scene)
    zero = np.zeros(m.model.nv)
    for number, frame in enumerate(m.model.frame_names):
        pose = lithe.frame_pose(m.model, m.q, frame)
        np.testing.assert_allclose(pose.R @ pose.R.T, np.eye(3), atol=1e-14)
        J = lithe.frame_jacobian(m.model, m.q, frame)
        J_rate = lithe.frame_jacobian_rate(m.model, m.q, m.v, frame)
        assert_close(J[3:], central_difference(lambda e: lithe.frame_pose(m.model, m.moved(e), frame).p, zero), 1e-9)
        # [ω]× R is the rate of R.
        turning = central_difference(lambda e: lithe.frame_pose(m.model, m.moved(e), frame).R @ pose.R.T, zero)
        assert_close(J[:3], np.stack([turning[2, 1], turning[0, 2], turning[1, 0]]), 1e-9)
        assert_close(lithe.frame_velocity(m.model, m.q, m.v, frame), J @ m.v, 1e-13)
        assert_close(lithe.frame_acceleration(m.model, m.q, m.v, m.a, frame), J @ m.a + J_rate @ m.v, 1e-11)
        np.testing.assert_array_equal(J, lithe.frame_pose_derivatives(m.model, m.q, number))
        by_q, by_v = lithe.frame_velocity_derivatives(m.model, m.q, m.v, frame)
        expected = central_difference(lambda e: lithe.frame_velocity(m.model, m.moved(e), m.v, frame), zero)
        assert_close(by_q, expected, 1e-9)
        np.testing.assert_array_equal(by_v, J)


def test_a_degree_of_freedom_moves_its_bodies_along_its_axis() -> None:
    m = motion("humanoid")
    body = m.model.body_names[-1]
    J = lithe.body_jacobian(m.model, m.q, body)
    p = lithe.body_pose(m.model, m.q, body).p
    moving = [dof for dof in range(m.model.nv) if J[:, dof].any()]
    assert len(moving) > 6
    for dof in moving:
        axis = lithe.dof_axis(m.model, m.q, dof)
        at_body = axis[3:] + np.cross(axis[:3], p - lithe.tree_origin(m.model, m.q, dof))
        assert_close(J[:, dof], np.concatenate([axis[:3], at_body]), 1e-13)


def test_body_poses_are_one_per_body() -> None:
    m = motion("humanoid")
    poses = lithe.body_poses(m.model, m.q)
    assert len(poses) == len(m.model.body_names)
    for name, pose in zip(m.model.body_names, poses):
        np.testing.assert_array_equal(pose.p, lithe.body_pose(m.model, m.q, name).p)
        np.testing.assert_array_equal(pose.R, lithe.body_pose(m.model, m.q, name).R)
        p_B = [0.3, 0.1, -0.2]
        np.testing.assert_allclose(lithe.point_position(m.model, m.q, name, p_B), pose * p_B, atol=1e-14)


# The model as a whole.


@pytest.mark.parametrize("scene", SCENES)
def test_centre_of_mass_and_momentum(scene: str) -> None:
    m = motion(scene)
    zero = np.zeros(m.model.nv)
    c = lithe.centroidal(m.model, m.q, m.v)
    assert c.mass == pytest.approx(m.model.total_mass, rel=1e-14)
    np.testing.assert_allclose(c.com, lithe.centre_of_mass(m.model, m.q), atol=1e-13)
    assert_close(c.com_jacobian, lithe.centre_of_mass_jacobian(m.model, m.q), 1e-14)
    assert_close(c.com_jacobian, central_difference(lambda e: lithe.centre_of_mass(m.model, m.moved(e)), zero), 1e-9)
    assert_close(c.com_jacobian @ m.v, lithe.centre_of_mass_velocity(m.model, m.q, m.v), 1e-13)
    assert_close(c.com_velocity, lithe.centre_of_mass_velocity(m.model, m.q, m.v), 1e-13)
    momentum = lithe.centroidal_momentum(m.model, m.q, m.v)
    assert_close(c.A_G @ m.v, momentum, 1e-12)
    assert_close(c.momentum, momentum, 1e-12)
    assert_close(momentum[3:], c.mass * c.com_velocity, 1e-13)
    assert_close(lithe.spatial_momentum(m.model, m.q, m.v, c.com), momentum, 1e-11)
    about_origin = momentum[:3] + np.cross(c.com, momentum[3:])
    assert_close(lithe.spatial_momentum(m.model, m.q, m.v)[:3], about_origin, 1e-11)

    d = lithe.centroidal_derivatives(m.model, m.q, m.v)
    by_q = central_difference(lambda e: lithe.centroidal_momentum(m.model, m.moved(e), m.v), zero)
    assert_close(d.dmomentum_dq, by_q, 1e-8)
    np.testing.assert_array_equal(d.dmomentum_dv, c.A_G)
    by_q = central_difference(lambda e: lithe.centre_of_mass_velocity(m.model, m.moved(e), m.v), zero)
    assert_close(d.dcom_velocity_dq, by_q, 1e-8)
    np.testing.assert_array_equal(d.dcom_velocity_dv, c.com_jacobian)


# Contacts.


def ball_at(height: float) -> tuple[lithe.Model, FloatArray]:
    """A ball whose lowest point is `height` above the ground."""
    model = lithe.scene("rolling_sphere").model
    q = lithe.neutral_configuration(model)
    q[:3] = 0.3, -0.2, height
    return model, q


def test_a_ball_touches_the_ground_below_its_centre() -> None:
    model, q = ball_at(-0.01)
    (contact,) = lithe.detect_contacts(model, q)
    assert [model.shape_names[contact.shape_a], model.shape_names[contact.shape_b]] == ["ball", "ground"]
    assert contact.gap == pytest.approx(-0.01, abs=1e-15)
    np.testing.assert_allclose(contact.normal, [0, 0, 1], atol=1e-15)  # from the ground to the ball
    np.testing.assert_allclose(contact.point[:2], [0.3, -0.2], atol=1e-15)
    assert contact.flags == []
    q[2] = 0.004
    assert lithe.detect_contacts(model, q) == []
    model["shape/ball/margin"] = 0.005
    (contact,) = lithe.detect_contacts(model, q)
    assert contact.gap == pytest.approx(0.004, abs=1e-15)


def test_contacts_follow_changes_of_the_model() -> None:
    model, q = ball_at(-0.03)
    other, q_other = ball_at(-0.03)
    gap = lithe.detect_contacts(model, q)[0].gap
    other["shape/ball/radius"] = model["shape/ball/radius"] + 0.02
    assert lithe.detect_contacts(other, q_other)[0].gap == pytest.approx(gap - 0.02, abs=1e-15)
    assert lithe.detect_contacts(model, q)[0].gap == gap


TOUCHING = [name for name in SCENES if lithe.detect_contacts(lithe.scene(name).model, lithe.scene(name).q)]


@pytest.mark.parametrize("scene", TOUCHING)
def test_derivatives_of_contacts(scene: str) -> None:
    start = lithe.scene(scene)
    model = start.model
    for shape in model.shape_names:
        model[f"shape/{shape}/margin"] = 0.02
    # A little off, so that no two features compete.
    q = lithe.retract(model, start.q, np.random.default_rng(3).uniform(-1e-2, 1e-2, model.nv))
    contacts = lithe.detect_contacts(model, q)
    assert contacts

    def at(delta: FloatArray) -> FloatArray:
        found = lithe.detect_contacts(model, lithe.retract(model, q, delta))
        assert len(found) == len(contacts)
        return np.array([np.concatenate([c.point, c.normal, [c.gap]]) for c in found])

    expected = central_difference(at, np.zeros(model.nv), 1e-6)
    compared = 0
    for k, contact in enumerate(contacts):
        d = lithe.contact_derivatives(model, q, contact)
        if not d.regular or contact.flags:
            continue
        compared += 1
        assert_close(np.vstack([d.dpoint_dq, d.dnormal_dq, d.dgap_dq]), expected[k], 1e-6)
    assert compared >= 0.5 * len(contacts)


# What is asked for wrongly, or has no answer.

CART = lithe.scene("cartpole").model
OK = np.zeros(2)
SHORT = np.zeros(1)
NAN = np.array([0.0, np.nan])


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: lithe.rnea(CART, SHORT, OK, OK), ["q", "(2,)", "(1,)"]),
        (lambda: lithe.rnea(CART, OK, SHORT, OK), ["v", "(2,)", "(1,)"]),
        (lambda: lithe.rnea(CART, OK, OK, SHORT), ["a", "(2,)", "(1,)"]),
        (lambda: lithe.rnea(CART, NAN, OK, OK), ["q[1]", "nan"]),
        (lambda: lithe.rnea(CART, OK, NAN, OK), ["v[1]", "nan"]),
        (lambda: lithe.rnea(CART, OK, OK, NAN), ["a[1]", "nan"]),
        (lambda: lithe.rnea(CART, OK, OK, [[0, 0]]), ["a", "(1, 2)"]),
        (lambda: lithe.rnea(CART, OK, OK, OK, wrenches={"cart": [0] * 5}), ["wrenches['cart']", "(6,)", "(5,)"]),
        (lambda: lithe.rnea(CART, OK, OK, OK, wrenches={"cart": [0] * 5 + [np.nan]}), ["wrenches['cart'][5]", "nan"]),
        (lambda: lithe.rnea(CART, OK, OK, OK, wrenches={"crat": [0] * 6}), ["crat", "cart"]),
        (lambda: lithe.forward_dynamics(CART, OK, OK, SHORT), ["tau", "(2,)", "(1,)"]),
        (lambda: lithe.forward_dynamics(CART, OK, OK, NAN), ["tau[1]", "nan"]),
        (lambda: lithe.forward_dynamics_derivatives(CART, OK, OK, NAN), ["tau[1]", "nan"]),
        (lambda: lithe.rnea_derivatives(CART, OK, NAN, OK), ["v[1]", "nan"]),
        (lambda: lithe.rnea_vjp(CART, OK, OK, OK, NAN), ["g[1]", "nan"]),
        (lambda: lithe.rnea_vjp(CART, OK, OK, OK, SHORT), ["g", "(2,)", "(1,)"]),
        (lambda: lithe.rnea_jvp(CART, OK, OK, OK, NAN), ["dq[1]", "nan"]),
        (lambda: lithe.rnea_jvp(CART, OK, OK, OK, dv=NAN), ["dv[1]", "nan"]),
        (lambda: lithe.rnea_jvp(CART, OK, OK, OK, da=SHORT), ["da", "(2,)", "(1,)"]),
        (lambda: lithe.mass_matrix(CART, NAN), ["q[1]", "nan"]),
        (lambda: lithe.mass_matrix(CART, SHORT), ["q", "(2,)", "(1,)"]),
        (lambda: lithe.inertial_regressor(CART, OK, OK, NAN), ["a[1]", "nan"]),
        (lambda: lithe.centroidal(CART, OK, NAN), ["v[1]", "nan"]),
        (lambda: lithe.spatial_momentum(CART, OK, OK, [0, np.nan, 0]), ["about[1]", "nan"]),
        (lambda: lithe.point_position(CART, OK, "cart", [0, 0]), ["p_B", "(3,)", "(2,)"]),
        (lambda: lithe.point_jacobian(CART, OK, "cart", [0, 0, np.inf]), ["p_B[2]", "inf"]),
        (lambda: lithe.body_pose(CART, OK, "crat"), ["crat", "cart"]),
        (lambda: lithe.body_pose(CART, OK, 99), ["body", "99"]),
        (lambda: lithe.body_pose(CART, OK, -1), ["body", "-1"]),
        (lambda: lithe.frame_pose(CART, OK, 99), ["frame", "99"]),
        (lambda: lithe.placement_derivatives(CART, OK, OK, OK, 99), ["joint", "99"]),
        (lambda: lithe.dof_axis(CART, OK, 2), ["DoF 2", "nv = 2"]),
        (lambda: lithe.detect_contacts(CART, NAN), ["q[1]", "nan"]),
        (lambda: lithe.detect_contacts(CART, OK, max_points=0), ["max_points", "0"]),
    ],
)
def test_mistakes_are_value_errors_that_name_the_argument(call: Callable[[], object], words: list[str]) -> None:
    with pytest.raises(ValueError) as error:
        call()
    assert all(word in str(error.value) for word in words), str(error.value)


def test_wrong_types_are_type_errors() -> None:
    with pytest.raises(TypeError, match="wrenches"):
        lithe.rnea(CART, OK, OK, OK, wrenches=[0] * 6)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="body"):
        lithe.body_pose(CART, OK, 1.5)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="q"):
        lithe.mass_matrix(CART, None)  # type: ignore[arg-type]


# Two joints about the same axis: only their sum moves anything.
COAXIAL = """
<robot name="coaxial">
  <link name="world"/>
  <link name="ring"/>
  <link name="disc"><inertial><mass value="1"/>
    <inertia ixx="0.5" ixy="0" ixz="0" iyy="0.5" iyz="0" izz="0.5"/></inertial></link>
  <joint name="inner" type="continuous"><parent link="world"/><child link="ring"/><axis xyz="0 0 1"/></joint>
  <joint name="outer" type="continuous"><parent link="ring"/><child link="disc"/><axis xyz="0 0 1"/></joint>
</robot>
"""


def test_what_nothing_resists_is_held_still_with_a_warning() -> None:
    model = lithe.load_text(COAXIAL).model
    q = v = np.zeros(2)
    with pytest.warns(RuntimeWarning, match="forward_dynamics: .* 'inner'"):
        np.testing.assert_allclose(lithe.forward_dynamics(model, q, v, [3, 1]), [0, 2], rtol=1e-14)
    with pytest.warns(RuntimeWarning, match="inverse_mass_matrix: .* 'inner'"):
        np.testing.assert_allclose(lithe.inverse_mass_matrix(model, q), [[0, 0], [0, 2]], rtol=1e-14)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(RuntimeWarning, match="aba_derivatives: .* 'inner'"):
            lithe.aba_derivatives(model, q, v)


def test_a_model_without_degrees_of_freedom() -> None:
    model = lithe.load_text('<robot name="nothing"><link name="world"/></robot>').model
    none: list[float] = []
    assert lithe.neutral_configuration(model).shape == (0,)
    assert lithe.rnea(model, none, none, none).shape == (0,)
    assert lithe.forward_dynamics(model, none, none).shape == (0,)
    assert lithe.mass_matrix(model, none).shape == (0, 0)
    assert lithe.forward_dynamics_derivatives(model, none, none).da_dq.shape == (0, 0)
    assert lithe.detect_contacts(model, none) == []
    with pytest.raises(lithe.Error, match="centre of mass"):
        lithe.centre_of_mass(model, none)


def test_results_say_what_they_are() -> None:
    m = motion("cartpole")
    assert repr(lithe.centroidal(m.model, m.q)) == f"<Centroidal: {m.model.total_mass:.6g} kg>"
    assert repr(lithe.rnea_derivatives(m.model, m.q, m.v, m.a)) == "<InverseDynamicsDerivatives: nv=2>"
    assert repr(lithe.rnea_vjp(m.model, m.q, m.v, m.a, m.a)) == "<InverseDynamicsVjp: nv=2>"
    assert repr(lithe.forward_dynamics_derivatives(m.model, m.q, m.v)) == "<ForwardDynamicsDerivatives: nv=2>"
    assert repr(lithe.centroidal_derivatives(m.model, m.q, m.v)) == "<CentroidalDerivatives: nv=2>"
    model, q = ball_at(-0.01)
    (contact,) = lithe.detect_contacts(model, q)
    assert repr(contact) == "<DetectedContact of shapes 0 and 1: gap -0.01 m>"
    assert repr(lithe.contact_derivatives(model, q, contact)) == "<ContactDerivatives: nv=6>"


def test_threads_do_not_disturb_one_another() -> None:
    def answers(m: Motion) -> list[FloatArray]:
        d = lithe.forward_dynamics_derivatives(m.model, m.q, m.v, m.a)
        gaps = np.array([contact.gap for contact in lithe.detect_contacts(m.model, m.q)])
        Y = lithe.inertial_regressor(m.model, m.q, m.v, m.a)
        return [d.a, d.da_dq, d.da_dv, lithe.mass_matrix(m.model, m.q), Y, gaps]

    motions = [motion(scene, seed) for scene in ("humanoid", "gripper", "chain", "catapult") for seed in range(2)]
    expected = [answers(m) for m in motions]
    wrong: list[str] = []

    def work(first: int) -> None:
        for k in range(40):
            which = (first + k) % len(motions)
            if not all(np.array_equal(x, y) for x, y in zip(answers(motions[which]), expected[which])):
                wrong.append(f"thread {first}, call {k}")

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
