"""Compares robots that Lithe reads from URDF with Pinocchio's own reading of the same files.

    compare_pinocchio.py PRINT_MODEL FILE [FILE …]

With a fixed base, at random states: mass matrix, inverse dynamics and its derivatives by q and v, to 1e-9 of their largest entry. Exit code
77 (skipped) where the Python module pinocchio is absent.
"""

import json
import subprocess
import sys

try:
    import numpy as np
    import pinocchio
except ImportError as error:
    print(f"compare_pinocchio: skipped: {error.name} is not installed (pip install pin)")
    sys.exit(77)

TOLERANCE = 1e-9
STATES = 20


def their_q(model, angles):
    """Pinocchio's q from one number per DoF: joints without limits have a cosine and a sine there."""
    q = pinocchio.neutral(model)
    for joint in range(1, model.njoints):
        at, dof = model.idx_qs[joint], model.idx_vs[joint]
        if model.nqs[joint] == 2:
            q[at : at + 2] = np.cos(angles[dof]), np.sin(angles[dof])
        else:
            q[at] = angles[dof]
    return q


def compare(print_model, path):
    """The largest difference, relative to the largest entry."""
    model = pinocchio.buildModelFromUrdf(path)
    data = model.createData()
    empty = json.loads(subprocess.run([print_model, "--fixed-base", path], input="", capture_output=True, text=True, check=True).stdout)
    ours_at = {joint["name"]: joint["v_index"] for joint in empty["joints"]}
    order = np.array([ours_at[model.names[j]] for j in range(1, model.njoints)])
    assert empty["nv"] == model.nv, f"{path}: nv is {empty['nv']}, Pinocchio's {model.nv}"
    random = np.random.default_rng(1)
    states = [random.uniform(-2, 2, (3, model.nv)) for _ in range(STATES)]  # q, v, a in Pinocchio's order

    def line(state):
        ours = np.zeros_like(state)
        ours[:, order] = state
        return " ".join(repr(float(x)) for x in ours.reshape(-1))

    run = subprocess.run(
        [print_model, "--fixed-base", path], input="\n".join(map(line, states)) + "\n", capture_output=True, text=True, check=True
    )
    worst = 0.0
    for (angles, v, a), ours in zip(states, json.loads(run.stdout)["states"]):
        q = their_q(model, angles)
        dtau_dq, dtau_dv, half = pinocchio.computeRNEADerivatives(model, data, q, v, a)
        mass = np.triu(half) + np.triu(half, 1).T
        for name, theirs in [("M", mass), ("dtau_dq", dtau_dq), ("dtau_dv", dtau_dv)]:
            mine = np.reshape(ours[name], (model.nv, model.nv), order="F")[np.ix_(order, order)]
            worst = max(worst, np.abs(mine - theirs).max() / max(1.0, np.abs(theirs).max()))
        tau = pinocchio.rnea(model, data, q, v, a)
        worst = max(worst, np.abs(np.array(ours["tau"])[order] - tau).max() / max(1.0, np.abs(tau).max()))
    return worst


def main():
    if len(sys.argv) < 3:
        print(__doc__)
        return 2
    failed = False
    for path in sys.argv[2:]:
        worst = compare(sys.argv[1], path)
        print(f"{path}: differs by {worst:.2g}")
        failed = failed or not worst <= TOLERANCE
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
