"""Compares models that Lithe reads from MJCF with MuJoCo's own reading of the same files.

    compare_mujoco.py PRINT_MODEL FILE [FILE …]

Each file is compared as it is, and once more as write_mjcf() writes it. For each: names of bodies, total mass, limits, keyframes, the initial state; and, at random configurations, the poses of all
bodies, sites and geoms that collide, the mass matrix and the forces of actuators, to 1e-9 of their largest entry. Exit code 77 (skipped) where the Python module mujoco is absent.
tools/compare_mujoco.py does the same with any folder of files, and prints a table.
"""

import json
import os
import subprocess
import sys
import tempfile

try:
    import mujoco
    import numpy as np
except ImportError as error:
    print(f"compare_mujoco: skipped: {error.name} is not installed (pip install mujoco)")
    sys.exit(77)

TOLERANCE = 1e-9
STATES = 20


def has_one_dof(model, joint):
    return model.jnt_type[joint] in (int(mujoco.mjtJoint.mjJNT_HINGE), int(mujoco.mjtJoint.mjJNT_SLIDE))


def our_q(model, qpos):
    """MuJoCo's qpos as Lithe's q: quaternions x y z w, and positions from where the file puts the joint."""
    q = np.array(qpos, dtype=float)
    for joint in range(model.njnt):
        at = model.jnt_qposadr[joint]
        if has_one_dof(model, joint):
            q[at] -= model.qpos0[at]
            continue
        if model.jnt_type[joint] == int(mujoco.mjtJoint.mjJNT_FREE):
            at += 3
        quaternion = np.roll(q[at : at + 4], -1)
        q[at : at + 4] = quaternion / np.linalg.norm(quaternion)
    return q


def random_qpos(model, random):
    """Anywhere within two turns or metres; mj_integratePos keeps quaternions what they are."""
    qpos = np.array(model.qpos0)
    mujoco.mj_integratePos(model, qpos, random.uniform(-2, 2, model.nv), 1.0)
    return qpos


def mujoco_state(model, qpos):
    data = mujoco.MjData(model)
    data.qpos = qpos
    mujoco.mj_kinematics(model, data)
    mujoco.mj_comPos(model, data)
    mujoco.mj_crb(model, data)
    poses = np.hstack([data.xmat, data.xpos])
    sites = np.hstack([data.site_xmat, data.site_xpos])
    # Column by column; mj_fullM has changed its arguments between versions.
    mass_matrix = np.zeros((model.nv, model.nv))
    for k in range(model.nv):
        column = np.zeros(model.nv)
        mujoco.mj_mulM(model, data, column, np.eye(model.nv)[k])
        mass_matrix[:, k] = column
    return poses, sites, mass_matrix


def rotation(quat):
    matrix = np.zeros(9)
    mujoco.mju_quat2Mat(matrix, quat)
    return matrix.reshape(3, 3)


def mujoco_geoms(model, qpos):
    """The pose of each geom as its file gives it: MuJoCo moves the frame of a mesh to its centre and axes of inertia, and data.geom_xpos is
    the body's own frame or centre where that is within 1e-6."""
    data = mujoco.MjData(model)
    data.qpos = qpos
    mujoco.mj_kinematics(model, data)
    poses = []
    for g in range(model.ngeom):
        body, mesh = model.geom_bodyid[g], model.geom_dataid[g]
        R_WB = data.xmat[body].reshape(3, 3)
        R, p = R_WB @ rotation(model.geom_quat[g]), data.xpos[body] + R_WB @ model.geom_pos[g]
        if model.geom_type[g] == int(mujoco.mjtGeom.mjGEOM_MESH):
            R = R @ rotation(model.mesh_quat[mesh]).T
            p = p - R @ model.mesh_pos[mesh]
        poses.append(np.hstack([R.ravel(), p]))
    return poses


def actuator_forces(model, qpos, qvel, ctrl):
    data = mujoco.MjData(model)
    data.qpos, data.qvel, data.ctrl = qpos, qvel, ctrl
    mujoco.mj_kinematics(model, data)
    mujoco.mj_comPos(model, data)
    mujoco.mj_tendon(model, data)
    mujoco.mj_transmission(model, data)
    mujoco.mj_fwdVelocity(model, data)
    mujoco.mj_fwdActuation(model, data)
    return np.array(data.actuator_force)


def our_torque(control, motors, q, v, u):
    """What one control makes of u, as the bridge and a motor's law have it (docs/from_mujoco.md); the motor at this instant."""
    lower, upper = (-np.inf if control["lower"] is None else control["lower"]), (np.inf if control["upper"] is None else control["upper"])
    asked = control["scale"] * min(max(u, lower), upper) + control["offset"]
    if control["kind"] == "effort":
        return control["gear"] * asked
    motor = motors[control["motor"]]
    at, dof = motor["q_index"], motor["v_index"]
    if control["kind"] == "position":
        torque = motor["stiffness"] * (asked - q[at]) - motor["damping"] * v[dof]
    else:
        torque = motor["damping"] * (asked - v[dof])
    limit = np.inf if motor["max_effort"] is None else motor["max_effort"]
    return min(max(torque, -limit), limit)


class Comparison:
    def __init__(self, path):
        self.path = path
        self.worst = 0.0
        self.failures = []
        self.differences = {}  # the largest, by quantity
        self.warnings = []

    def equal(self, what, ours, theirs):
        if ours != theirs:
            self.failures.append(f"{what}: ours {ours}, MuJoCo's {theirs}")

    def close(self, what, ours, theirs):
        ours, theirs = np.asarray(ours, dtype=float), np.asarray(theirs, dtype=float)
        if ours.shape != theirs.shape:
            self.failures.append(f"{what}: ours has the shape {ours.shape}, MuJoCo's {theirs.shape}")
            return
        if ours.size == 0:
            return
        error = np.abs(ours - theirs).max() / max(1.0, np.abs(theirs).max())
        self.worst = max(self.worst, error)
        quantity = what.split(" of ")[0] if what.startswith(("limits", "q of", "v of")) else what
        self.differences[quantity] = max(error, self.differences.get(quantity, 0.0))
        if not error <= TOLERANCE:
            self.failures.append(f"{what}: differs by {error:.3g}")


def compare_numbers(comparison, ours, model):
    names = [model.body(b).name for b in range(model.nbody)]
    named = [(o, n) for o, n in zip(ours["bodies"], names) if n]
    comparison.equal("count of bodies", len(ours["bodies"]), model.nbody)
    comparison.equal("names of bodies", [o for o, _ in named], [n for _, n in named])
    comparison.equal("nq, nv", (ours["nq"], ours["nv"]), (model.nq, model.nv))
    weightless = model.opt.disableflags & int(mujoco.mjtDisableBit.mjDSBL_GRAVITY)
    comparison.close("gravity", ours["gravity"], np.zeros(3) if weightless else model.opt.gravity)
    comparison.close("time step", ours["time_step"], model.opt.timestep)
    # A mocap body is welded to nothing, but stays where it is.
    moves = [w != 0 and model.body_mocapid[w] < 0 for w in model.body_weldid]
    moving = sum(model.body_mass[b] for b in range(1, model.nbody) if moves[b])
    comparison.close("mass of what moves", ours["mass"], moving)
    comparison.close("initial state", ours["q"], our_q(model, model.qpos0))
    limits = {joint["name"]: (joint["lower"], joint["upper"]) for joint in ours["joints"]}
    for j in range(model.njnt):
        name = model.joint(j).name
        if not name or not has_one_dof(model, j):
            continue
        unlimited = model.opt.disableflags & (int(mujoco.mjtDisableBit.mjDSBL_LIMIT) | int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT))
        if model.jnt_limited[j] and not unlimited:
            theirs = model.jnt_range[j] - model.qpos0[model.jnt_qposadr[j]]
            comparison.close(f"limits of {name}", limits[name], theirs)
        else:
            comparison.equal(f"limits of {name}", limits[name], (None, None))
    comparison.equal("count of keyframes", len(ours["keyframes"]), model.nkey)
    for k, key in enumerate(ours["keyframes"]):
        comparison.close(f"q of keyframe {k}", key["q"], our_q(model, model.key_qpos[k]))
        comparison.close(f"v of keyframe {k}", key["v"], model.key_qvel[k])


def axis_only(pose):
    z = np.reshape(pose[:9], (3, 3))[:, 2]
    return np.outer(z, z).ravel()


def compare_geoms(comparison, ours, state, model, qpos):
    if not ours["geoms"] or len(ours["geoms"]) != model.ngeom:
        comparison.equal("count of geoms", len(ours["geoms"]), model.ngeom)
        return
    poses = mujoco_geoms(model, qpos)
    mine, theirs = [], []
    for g, (shapes, pose) in enumerate(zip(ours["geoms"], poses)):
        round = model.geom_type[g] in (int(mujoco.mjtGeom.mjGEOM_CAPSULE), int(mujoco.mjtGeom.mjGEOM_CYLINDER))
        for shape in shapes[:1]:
            own = np.array(state["shape_poses"][shape])
            if round:
                # Of one that is fitted to a mesh the axes may point either way.
                own[:9], pose[:9] = axis_only(own), axis_only(pose)
            mine.append(own)
            theirs.append(pose)
    comparison.close("poses of geoms", mine, theirs)


def compare_actuators(comparison, ours, model, random):
    comparison.equal("count of actuators", len(ours["controls"]), model.nu)
    if len(ours["controls"]) != model.nu:
        return
    mine, theirs = [], []
    for _ in range(5):
        ranges = np.where(model.actuator_ctrllimited[:, None], model.actuator_ctrlrange, [[-1.0, 1.0]])
        ctrl = ranges[:, 0] + random.uniform(-0.2, 1.2, model.nu) * (ranges[:, 1] - ranges[:, 0])
        qvel = random.uniform(-1, 1, model.nv)
        qpos = random_qpos(model, random)
        moving = actuator_forces(model, qpos, qvel, ctrl)
        # Joints that a tendon couples are where their equality has them only in the pose of the file.
        still = actuator_forces(model, model.qpos0, np.zeros(model.nv), ctrl)
        for i, control in enumerate(ours["controls"]):
            limited, (lower, upper) = model.actuator_forcelimited[i], model.actuator_forcerange[i]
            if control["kind"] == "left_out" or (limited and lower != -upper):
                continue
            by_tendon = model.actuator_trntype[i] == int(mujoco.mjtTrn.mjTRN_TENDON)
            q = our_q(model, model.qpos0 if by_tendon else qpos)
            v = np.zeros(model.nv) if by_tendon else qvel
            torque = our_torque(control, ours["motors"], q, v, ctrl[i])
            if control["kind"] == "effort" and limited:
                torque = control["gear"] * min(max(torque / control["gear"], lower), upper)
            mine.append(torque)
            theirs.append(control["gear"] * (still if by_tendon else moving)[i])
    comparison.close("forces of actuators", mine, theirs)


def compare(print_model, path, written=None):
    comparison = Comparison(path)
    model = mujoco.MjModel.from_xml_path(path)
    random = np.random.default_rng(1)
    positions = [np.array(model.qpos0)] + [random_qpos(model, random) for _ in range(STATES)]
    lines = "\n".join(" ".join(repr(float(x)) for x in our_q(model, qpos)) for qpos in positions) + "\n"
    run = subprocess.run([print_model, path] + ([written] if written else []), input=lines, capture_output=True, text=True)
    if run.returncode != 0:
        comparison.failures.append(f"print_model: {run.stderr.strip()}")
        return comparison
    ours = json.loads(run.stdout)
    compare_numbers(comparison, ours, model)
    if (ours["nq"], ours["nv"]) != (model.nq, model.nv):
        return comparison
    comparison.equal("count of states", len(ours["states"]), len(positions))
    for state, qpos in zip(ours["states"], positions):
        poses, sites, mass_matrix = mujoco_state(model, qpos)
        comparison.close("poses of bodies", state["poses"], poses)
        comparison.close("poses of sites", np.reshape(state["frame_poses"], (-1, 12)), sites)
        comparison.close("mass matrix", np.reshape(state["M"], (model.nv, model.nv)), mass_matrix)
        compare_geoms(comparison, ours, state, model, qpos)
    compare_actuators(comparison, ours, model, random)
    comparison.warnings = ours["warnings"]
    return comparison


def main():
    if len(sys.argv) < 3:
        print(__doc__)
        return 2
    failed = False
    for path in sys.argv[2:]:
        with tempfile.TemporaryDirectory() as folder:
            written = os.path.join(folder, "written.xml")
            read = compare(sys.argv[1], path, written)
            again = compare(sys.argv[1], written) if os.path.exists(written) else None
        for comparison, what in ((read, "read"), (again, "written")):
            if not comparison:
                continue
            failed = failed or bool(comparison.failures)
            state = "FAILED" if comparison.failures else "ok    "
            print(f"{state} {os.path.basename(path)} {what}: largest difference {comparison.worst:.2g}")
            for failure in list(dict.fromkeys(comparison.failures))[:10]:
                print(f"       {failure}")
    print(f"compared with MuJoCo {mujoco.__version__}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
