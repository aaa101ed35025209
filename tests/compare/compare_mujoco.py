"""Compares models that Lithe reads from MJCF with MuJoCo's own reading of the same files.

    compare_mujoco.py PRINT_MODEL FILE [FILE …]

Each file is compared as it is, and once more as write_mjcf() writes it. For each: names of bodies, total mass, limits, keyframes, the initial state; and, at random configurations, the poses of all
bodies and sites and the mass matrix, to 1e-9 of their largest entry. Exit code 77 (skipped) where the Python module mujoco is absent.
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


class Comparison:
    def __init__(self, path):
        self.path = path
        self.worst = 0.0
        self.failures = []

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
        if not error <= TOLERANCE:
            self.failures.append(f"{what}: differs by {error:.3g}")


def compare_numbers(comparison, ours, model):
    names = [model.body(b).name for b in range(model.nbody)]
    named = [(o, n) for o, n in zip(ours["bodies"], names) if n]
    comparison.equal("count of bodies", len(ours["bodies"]), model.nbody)
    comparison.equal("names of bodies", [o for o, _ in named], [n for _, n in named])
    comparison.equal("nq, nv", (ours["nq"], ours["nv"]), (model.nq, model.nv))
    comparison.close("gravity", ours["gravity"], model.opt.gravity)
    comparison.close("time step", ours["time_step"], model.opt.timestep)
    moving = sum(model.body_mass[b] for b in range(1, model.nbody) if model.body_weldid[b] != 0)
    comparison.close("mass of what moves", ours["mass"], moving)
    comparison.close("initial state", ours["q"], our_q(model, model.qpos0))
    limits = {joint["name"]: (joint["lower"], joint["upper"]) for joint in ours["joints"]}
    for j in range(model.njnt):
        name = model.joint(j).name
        if not name or not has_one_dof(model, j):
            continue
        if model.jnt_limited[j]:
            theirs = model.jnt_range[j] - model.qpos0[model.jnt_qposadr[j]]
            comparison.close(f"limits of {name}", limits[name], theirs)
        else:
            comparison.equal(f"limits of {name}", limits[name], (None, None))
    comparison.equal("count of keyframes", len(ours["keyframes"]), model.nkey)
    for k, key in enumerate(ours["keyframes"]):
        comparison.close(f"q of keyframe {k}", key["q"], our_q(model, model.key_qpos[k]))
        comparison.close(f"v of keyframe {k}", key["v"], model.key_qvel[k])


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
    comparison.equal("count of states", len(ours["states"]), len(positions))
    for state, qpos in zip(ours["states"], positions):
        poses, sites, mass_matrix = mujoco_state(model, qpos)
        comparison.close("poses of bodies", state["poses"], poses)
        comparison.close("poses of sites", np.reshape(state["frame_poses"], (-1, 12)), sites)
        comparison.close("mass matrix", np.reshape(state["M"], (model.nv, model.nv)), mass_matrix)
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
