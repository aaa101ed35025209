"""Which friction explains a motion that was measured? A block is pushed over the ground, slides and stops.

The motion is recorded with noise in every position and velocity; the search starts from a friction that is too low.
"""

import numpy as np

import lithe

TRUTH = 0.35
NOISE = 0.01  # standard deviation, m and m/s
STEPS = 150  # of 5 ms


def block_on_ground(friction: float) -> lithe.Model:
    """A block of 2 kg that slides along x and may leave the ground along z. The ground's own friction is known."""
    half_size = np.array([0.1, 0.1, 0.05])
    body = lithe.Body("block", lithe.SpatialInertia.box(2.0, 2 * half_size))
    material = lithe.Material(friction=friction)
    return (
        lithe.ModelBuilder()
        .add_body("world", body, [lithe.prismatic("x", [1, 0, 0]), lithe.prismatic("z", [0, 0, 1])])
        .add_shape("block", lithe.Shape("block", lithe.Box(half_size), material=material))
        .add_shape("world", lithe.Shape("ground", lithe.Plane(), material=lithe.Material(friction=0.35)))
        .build()
    )


def measured_motion() -> lithe.ObservedMotion:
    """From rest at a known place, pushed with 12 N for 0.3 s, then left alone: simulated here, with noise."""
    tau = np.zeros((STEPS, 2))
    tau[:60, 0] = 12
    motion = lithe.rollout(block_on_ground(TRUTH), [0, 0.05], [0, 0], tau, options=0.005)
    random = np.random.default_rng(1)
    q = motion.q + NOISE * random.standard_normal(motion.q.shape)
    v = motion.v + NOISE * random.standard_normal(motion.v.shape)
    q[0], v[0] = motion.q[0], motion.v[0]
    return lithe.ObservedMotion(q, v, tau)


def main() -> None:
    model = block_on_ground(friction=0.2)
    bounds = {"shape/block/friction": (0.01, 0.9)}
    # Where a motion starts is estimated too, unless it is known.
    found = lithe.identify(model, measured_motion(), bounds, options=0.005, free_starts=False)
    friction = found["shape/block/friction"]
    print(f"friction {friction:.4f} ± {found.deviation('shape/block/friction'):.4f}, the truth is {TRUTH}")
    print(f"{found.iterations} iterations, {found.reason}; the difference that is left is {found.root_mean_square:.4f}")


if __name__ == "__main__":
    main()
