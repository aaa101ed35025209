"""Kinematics and dynamics of robot files against Pinocchio's and MuJoCo's, at random states."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import lithe

FloatArray = npt.NDArray[np.float64]

HERE = Path(__file__).resolve().parent
ROBOTS = HERE.parent.parent / "tests" / "compare"
MJCFS = ["bounded.xml", "from_geoms.xml", "joints.xml", "puppet.xml"]
# And whether the root floats.
URDFS = [
    ("arm.urdf", False),
    ("hand.urdf", False),
    ("hand.urdf", True),
    ("crawler.urdf", False),
    ("crawler.urdf", True),
]
TOLERANCE = 1e-9
STATES = 10


@pytest.fixture(scope="module")
def pinocchio() -> Any:
    return pytest.importorskip("pinocchio", reason="the module pinocchio is not installed (pip install pin)")


@pytest.fixture(scope="module")
def mujoco() -> Any:
    return pytest.importorskip("mujoco", reason="the module mujoco is not installed (pip install mujoco)")


def robot(name: str) -> str:
    """The path of a robot file: one of our own, or one that the comparison of C++ reads as well."""
    for folder in (HERE / "models", ROBOTS / "urdf", ROBOTS / "mjcf"):
        if (folder / name).exists():
            return str(folder / name)
    pytest.skip(f"there is no robot file {name} in python/tests/models or tests/compare (of the source tree)")


def assert_close(what: str, ours: FloatArray, theirs: FloatArray) -> None:
    """Relative to the largest entry."""
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    assert ours.shape == theirs.shape, what
    error = np.abs(ours - theirs).max(initial=0) / max(1.0, np.abs(theirs).max(initial=0))
    assert error <= TOLERANCE, f"{what} differs by {error:.3g}"


def skew(a: FloatArray) -> FloatArray:
    return np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])


# Pinocchio. Its free joint's velocity is in the body's axes, linear part first: ours has the position's rate in the
# world's axes and the angular velocity in the body's. Joints without limits have a cosine and a sine in its q.


State = tuple[FloatArray, FloatArray, FloatArray]  # q, v, a of ours


class WithPinocchio:
    """A robot in both engines, in one state."""

    def __init__(self, pinocchio: Any, path: str, floating: bool) -> None:
        self.pin = pinocchio
        self.floating = floating
        self.ours = lithe.load(path, base="floating" if floating else "fixed").model
        self.theirs = pinocchio.buildModelFromUrdf(path, *([pinocchio.JointModelFreeFlyer()] if floating else []))
        self.data = self.theirs.createData()
        assert self.ours.nv == self.theirs.nv
        # order[k] is our DoF that is their DoF k.
        joints = range(2 if floating else 1, self.theirs.njoints)
        root = list(range(6)) if floating else []
        self.order = np.array(root + [self.ours.v_index(self.theirs.names[j]) for j in joints])

    def place(self, q: FloatArray, v: FloatArray, a: FloatArray) -> None:
        """Their q, v, a from ours; T, with v_theirs = T v_ours (our order); how their v, a change with our q, v."""
        nv = self.ours.nv
        self.q, self.v, self.a = q, v, a
        self.T = np.eye(nv)
        self.v_by_q, self.a_by_q, self.a_by_v = np.zeros((3, nv, nv))
        shift = np.zeros(nv)
        their_q = self.pin.neutral(self.theirs)
        if self.floating:
            their_q[:7] = q[:7]
            R, w = lithe.body_pose(self.ours, q, 1).R, v[3:6]
            self.T[:3, :3] = R.T
            u = R.T @ v[:3]
            shift[:3] = -np.cross(w, u)
            self.v_by_q[:3, 3:6] = skew(u)
            self.a_by_q[:3, 3:6] = skew(R.T @ a[:3]) - skew(w) @ skew(u)
            self.a_by_v[:3, :3] = -skew(w) @ R.T
            self.a_by_v[:3, 3:6] = skew(u)
        for j in range(2 if self.floating else 1, self.theirs.njoints):
            at, angle = self.theirs.idx_qs[j], q[self.ours.q_index(self.theirs.names[j])]
            if self.theirs.nqs[j] == 2:
                their_q[at : at + 2] = np.cos(angle), np.sin(angle)
            else:
                their_q[at] = angle
        self.their_q = their_q
        self.their_v = (self.T @ v)[self.order]
        self.their_a = (self.T @ a + shift)[self.order]

    def unordered(self, x: FloatArray) -> FloatArray:
        """Their DoFs in our order."""
        result = np.empty_like(x)
        result[np.ix_(*[self.order] * x.ndim)] = x
        return result

    def forces(self, tau: FloatArray) -> FloatArray:
        return self.T.T @ self.unordered(tau)


def with_pinocchio(pinocchio: Any, name: str, floating: bool) -> tuple[WithPinocchio, list[State]]:
    both = WithPinocchio(pinocchio, robot(name), floating)
    random = np.random.default_rng(1)
    nv = both.ours.nv
    neutral = lithe.neutral_configuration(both.ours)
    states = [(lithe.retract(both.ours, neutral, x), v, a) for x, v, a in random.uniform(-2, 2, (STATES, 3, nv))]
    return both, states


ON_URDFS = pytest.mark.parametrize(("name", "floating"), URDFS, ids=[f"{n}{' floats' if f else ''}" for n, f in URDFS])


@ON_URDFS
def test_dynamics_are_pinocchios(pinocchio: Any, name: str, floating: bool) -> None:
    both, states = with_pinocchio(pinocchio, name, floating)
    for q, v, a in states:
        both.place(q, v, a)
        arguments = (both.theirs, both.data, both.their_q)
        half = pinocchio.crba(*arguments)
        M = both.unordered(np.triu(half) + np.triu(half, 1).T)
        assert_close("M", lithe.mass_matrix(both.ours, q), both.T.T @ M @ both.T)
        tau = both.forces(pinocchio.rnea(*arguments, both.their_v, both.their_a))
        assert_close("rnea", lithe.rnea(both.ours, q, v, a), tau)
        gravity = both.forces(pinocchio.computeGeneralizedGravity(*arguments))
        assert_close("gravity_compensation", lithe.gravity_compensation(both.ours, q), gravity)
        # Theirs of the same forces has to be the acceleration that they belong to.
        their_tau = (np.linalg.inv(both.T).T @ tau)[both.order]
        assert_close("a", pinocchio.aba(*arguments, both.their_v, their_tau), both.their_a)
        assert_close("forward_dynamics", lithe.forward_dynamics(both.ours, q, v, tau), a)
        both.place(q, v, np.zeros_like(a))
        h = both.forces(pinocchio.rnea(*arguments, both.their_v, both.their_a))
        assert_close("bias_forces", lithe.bias_forces(both.ours, q, v), h)


@ON_URDFS
def test_derivatives_of_dynamics_are_pinocchios(pinocchio: Any, name: str, floating: bool) -> None:
    both, states = with_pinocchio(pinocchio, name, floating)
    for q, v, a in states:
        both.place(q, v, a)
        arguments = (both.theirs, both.data, both.their_q, both.their_v)
        by_q, by_v, half = pinocchio.computeRNEADerivatives(*arguments, both.their_a)
        by_q, by_v, M = (both.unordered(x) for x in (by_q, by_v, np.triu(half) + np.triu(half, 1).T))
        T = both.T
        # τ = Tᵀ τ_theirs(q, T v, T a − …), and T turns with the base.
        dtau_dq = T.T @ (by_q @ T + by_v @ both.v_by_q + M @ both.a_by_q)
        dtau_dv = T.T @ (by_v @ T + M @ both.a_by_v)
        if floating:
            force = both.unordered(pinocchio.rnea(*arguments, both.their_a))[:3]
            dtau_dq[:3, 3:6] -= T[:3, :3].T @ skew(force)
        d = lithe.rnea_derivatives(both.ours, q, v, a)
        assert_close("dtau_dq", d.dtau_dq, dtau_dq)
        assert_close("dtau_dv", d.dtau_dv, dtau_dv)
        assert_close("dtau_da", d.dtau_da, T.T @ M @ T)

        f = lithe.forward_dynamics_derivatives(both.ours, q, v, d.tau)
        if floating:
            inverse = np.linalg.inv(T.T @ M @ T)
            assert_close("da_dq", f.da_dq, -inverse @ dtau_dq)
            assert_close("da_dv", f.da_dv, -inverse @ dtau_dv)
        else:
            da_dq, da_dv, half = pinocchio.computeABADerivatives(*arguments, d.tau[both.order])
            assert_close("da_dq", f.da_dq, both.unordered(da_dq))
            assert_close("da_dv", f.da_dv, both.unordered(da_dv))
            assert_close("da_dtau", f.da_dtau, both.unordered(np.triu(half) + np.triu(half, 1).T))


@ON_URDFS
def test_kinematics_are_pinocchios(pinocchio: Any, name: str, floating: bool) -> None:
    both, states = with_pinocchio(pinocchio, name, floating)
    world_axes = pinocchio.ReferenceFrame.LOCAL_WORLD_ALIGNED
    angular_first = [3, 4, 5, 0, 1, 2]
    links = [body for body in both.ours.body_names if both.theirs.existBodyName(body)]
    assert len(links) >= 4
    for q, v, a in states:
        both.place(q, v, a)
        pinocchio.forwardKinematics(both.theirs, both.data, both.their_q, both.their_v, both.their_a)
        pinocchio.computeJointJacobians(both.theirs, both.data, both.their_q)
        pinocchio.updateFramePlacements(both.theirs, both.data)
        for link in links:
            frame = both.theirs.getBodyId(link)
            pose = lithe.body_pose(both.ours, q, link)
            assert_close("R", pose.R, both.data.oMf[frame].rotation)
            assert_close("p", pose.p, both.data.oMf[frame].translation)
            J = pinocchio.getFrameJacobian(both.theirs, both.data, frame, world_axes)[angular_first]
            in_our_order = np.empty_like(J)
            in_our_order[:, both.order] = J
            assert_close("body_jacobian", lithe.body_jacobian(both.ours, q, link), in_our_order @ both.T)
            V = pinocchio.getFrameVelocity(both.theirs, both.data, frame, world_axes).vector[angular_first]
            assert_close("body_velocity", lithe.body_velocity(both.ours, q, v, link), V)
            A = pinocchio.getFrameClassicalAcceleration(both.theirs, both.data, frame, world_axes).vector[angular_first]
            assert_close("body_acceleration", lithe.body_acceleration(both.ours, q, v, a, link), A)


@ON_URDFS
def test_momentum_is_pinocchios(pinocchio: Any, name: str, floating: bool) -> None:
    both, states = with_pinocchio(pinocchio, name, floating)
    # Pinocchio's totals count what is fixed in the world; ours what can move.
    mass = sum(both.ours[f"body/{body}/mass"] for body in both.ours.body_names[1:])
    all_moves = mass == pytest.approx(both.ours.total_mass)
    assert all_moves == (floating or name == "arm.urdf")
    for q, v, a in states:
        both.place(q, v, a)
        h = pinocchio.computeCentroidalMomentum(both.theirs, both.data, both.their_q, both.their_v)
        ours = lithe.centroidal(both.ours, q, v)
        assert_close("linear momentum", ours.momentum[3:], h.linear)
        # Theirs is about its own centre of mass.
        com = pinocchio.centerOfMass(both.theirs, both.data, both.their_q, both.their_v)
        about = lithe.spatial_momentum(both.ours, q, v, com)
        assert_close("angular momentum", about[:3], h.angular)
        kinetic = pinocchio.computeKineticEnergy(both.theirs, both.data, both.their_q, both.their_v)
        assert lithe.kinetic_energy(both.ours, q, v) == pytest.approx(kinetic, rel=TOLERANCE)
        if all_moves:
            assert_close("centre of mass", ours.com, com)
            potential = pinocchio.computePotentialEnergy(both.theirs, both.data, both.their_q)
            assert lithe.potential_energy(both.ours, q) == pytest.approx(potential, rel=TOLERANCE, abs=TOLERANCE)


@ON_URDFS
def test_pushes_are_pinocchios(pinocchio: Any, name: str, floating: bool) -> None:
    both, states = with_pinocchio(pinocchio, name, floating)
    # A link that a joint moves: its frame is then the joint's.
    link = {"arm.urdf": "wrist", "hand.urdf": "slide", "crawler.urdf": "left_foot"}[name]
    random = np.random.default_rng(2)
    for q, v, a in states:
        both.place(q, v, a)
        wrench = random.uniform(-3, 3, 6)
        joint = both.theirs.frames[both.theirs.getBodyId(link)].parent
        R = lithe.body_pose(both.ours, q, link).R
        forces = pinocchio.StdVec_Force()
        for j in range(both.theirs.njoints):
            forces.append(pinocchio.Force(R.T @ wrench[3:], R.T @ wrench[:3]) if j == joint else pinocchio.Force.Zero())
        tau = pinocchio.rnea(both.theirs, both.data, both.their_q, both.their_v, both.their_a, forces)
        assert_close("rnea", lithe.rnea(both.ours, q, v, a, wrenches={link: wrench}), both.forces(tau))


# MuJoCo. Its q has quaternions w x y z, and positions that count from where the file puts the joint; its v is ours.


class WithMujoco:
    def __init__(self, mujoco: Any, path: str) -> None:
        self.mujoco = mujoco
        self.ours = lithe.load(path).model
        self.theirs = mujoco.MjModel.from_xml_path(path)
        # Damping and springs are our step's; what is compared is what bodies do by themselves.
        flags = mujoco.mjtDisableBit
        for flag in (flags.mjDSBL_PASSIVE, flags.mjDSBL_CONSTRAINT, flags.mjDSBL_ACTUATION):
            self.theirs.opt.disableflags |= int(flag)
        self.theirs.opt.enableflags |= int(mujoco.mjtEnableBit.mjENBL_ENERGY)
        self.data = mujoco.MjData(self.theirs)
        assert (self.ours.nq, self.ours.nv) == (self.theirs.nq, self.theirs.nv)

    def our_q(self) -> FloatArray:
        q = np.array(self.data.qpos)
        kinds = self.mujoco.mjtJoint
        for joint in range(self.theirs.njnt):
            at, kind = self.theirs.jnt_qposadr[joint], self.theirs.jnt_type[joint]
            if kind in (int(kinds.mjJNT_HINGE), int(kinds.mjJNT_SLIDE)):
                q[at] -= self.theirs.qpos0[at]
                continue
            if kind == int(kinds.mjJNT_FREE):
                at += 3
            q[at : at + 4] = np.roll(q[at : at + 4], -1)
        return q

    def place(self, random: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        """A random state: q and v of ours."""
        nv = self.theirs.nv
        self.data.qpos = self.theirs.qpos0
        self.mujoco.mj_integratePos(self.theirs, self.data.qpos, random.uniform(-2, 2, nv), 1.0)
        self.mujoco.mj_normalizeQuat(self.theirs, self.data.qpos)
        self.data.qvel = random.uniform(-2, 2, nv)
        return self.our_q(), np.array(self.data.qvel)

    def mass_matrix(self) -> FloatArray:
        M = np.zeros((self.theirs.nv, self.theirs.nv))
        for k, e in enumerate(np.eye(self.theirs.nv)):
            self.mujoco.mj_mulM(self.theirs, self.data, M[k], e)
        return M


@pytest.mark.parametrize("name", MJCFS)
def test_dynamics_are_mujocos(mujoco: Any, name: str) -> None:
    both = WithMujoco(mujoco, robot(name))
    random = np.random.default_rng(1)
    for _ in range(STATES):
        q, v = both.place(random)
        tau, a = random.uniform(-2, 2, (2, both.theirs.nv))
        pushed = random.uniform(-2, 2, (both.theirs.nbody, 6))  # force at the centre of mass, torque
        pushed[0] = 0
        both.data.qfrc_applied = tau
        both.data.xfrc_applied = pushed
        mujoco.mj_forward(both.theirs, both.data)
        assert_close("M", lithe.mass_matrix(both.ours, q), both.mass_matrix())
        assert_close("bias_forces", lithe.bias_forces(both.ours, q, v), both.data.qfrc_bias)
        lever = both.data.xipos - both.data.xpos
        wrenches = {
            body: np.concatenate([F[3:] + np.cross(r, F[:3]), F[:3]])
            for body, F, r in zip(both.ours.body_names[1:], pushed[1:], lever[1:])
        }
        ours = lithe.forward_dynamics(both.ours, q, v, tau, wrenches=wrenches)
        assert_close("forward_dynamics", ours, both.data.qacc_smooth)
        # MuJoCo's inverse dynamics does not subtract what is applied.
        both.data.qacc = a
        mujoco.mj_inverse(both.theirs, both.data)
        assert_close("rnea", lithe.rnea(both.ours, q, v, a), both.data.qfrc_inverse)


@pytest.mark.parametrize("name", MJCFS)
def test_kinematics_are_mujocos(mujoco: Any, name: str) -> None:
    both = WithMujoco(mujoco, robot(name))
    random = np.random.default_rng(2)
    nv = both.theirs.nv
    for _ in range(STATES):
        q, v = both.place(random)
        mujoco.mj_forward(both.theirs, both.data)
        mujoco.mj_subtreeVel(both.theirs, both.data)
        linear, angular = np.zeros((2, 3, nv))
        for body, pose in enumerate(lithe.body_poses(both.ours, q)):
            assert_close("R", pose.R, both.data.xmat[body].reshape(3, 3))
            assert_close("p", pose.p, both.data.xpos[body])
            mujoco.mj_jacBody(both.theirs, both.data, linear, angular, body)
            assert_close("body_jacobian", lithe.body_jacobian(both.ours, q, body), np.vstack([angular, linear]))
        assert len(both.ours.frame_names) == both.theirs.nsite
        for site in range(both.theirs.nsite):
            pose = lithe.frame_pose(both.ours, q, site)
            assert_close("site R", pose.R, both.data.site_xmat[site].reshape(3, 3))
            assert_close("site p", pose.p, both.data.site_xpos[site])
            mujoco.mj_jacSite(both.theirs, both.data, linear, angular, site)
            assert_close("frame_jacobian", lithe.frame_jacobian(both.ours, q, site), np.vstack([angular, linear]))
        assert_close("centre of mass", lithe.centre_of_mass(both.ours, q), both.data.subtree_com[0])
        linear_momentum = both.theirs.body_subtreemass[0] * both.data.subtree_linvel[0]
        momentum = np.concatenate([both.data.subtree_angmom[0], linear_momentum])
        assert_close("centroidal momentum", lithe.centroidal_momentum(both.ours, q, v), momentum)
        assert lithe.potential_energy(both.ours, q) == pytest.approx(both.data.energy[0], rel=TOLERANCE, abs=TOLERANCE)
        assert lithe.kinetic_energy(both.ours, q, v) == pytest.approx(both.data.energy[1], rel=TOLERANCE)


def test_contacts_of_round_shapes_are_mujocos(mujoco: Any) -> None:
    both = WithMujoco(mujoco, robot("round.xml"))
    both.theirs.opt.disableflags = 0
    random = np.random.default_rng(3)
    compared = expected = 0
    for _ in range(STATES):
        both.data.qpos = both.theirs.qpos0
        mujoco.mj_integratePos(both.theirs, both.data.qpos, random.uniform(-0.03, 0.03, both.theirs.nv), 1.0)
        mujoco.mj_normalizeQuat(both.theirs, both.data.qpos)
        mujoco.mj_forward(both.theirs, both.data)
        # By the names of their shapes; a capsule over a plane has one at each end.
        theirs: dict[frozenset[str], list[tuple[float, FloatArray, FloatArray]]] = {}
        for c in both.data.contact:
            first, second = (both.theirs.geom(g).name for g in c.geom)
            normal = np.array(c.frame[:3]) * (1.0 if first > second else -1.0)  # to the alphabet's first
            theirs.setdefault(frozenset((first, second)), []).append((c.dist, np.array(c.pos), normal))
        expected += len(both.data.contact)
        for ours in lithe.detect_contacts(both.ours, both.our_q()):
            if ours.gap >= 0.05:  # MuJoCo takes the larger one of two margins, we their sum
                continue
            a, b = (both.ours.shape_names[shape] for shape in (ours.shape_a, ours.shape_b))
            gap, point, normal = min(theirs[frozenset((a, b))], key=lambda t: float(np.linalg.norm(t[1] - ours.point)))
            assert_close("gap", np.array(ours.gap), np.array(gap))
            assert_close("point", ours.point, point)
            assert_close("normal", ours.normal * (1.0 if b > a else -1.0), normal)
            compared += 1
    assert compared == expected >= 3 * STATES
