"""A step of a robot that stands on the ground, and its derivatives: Jacobians, a gradient (VJP), a direction (JVP).

Beside them are differences of steps, which say the same. Run it with:

    python examples/python/differentiate_step.py
"""

import numpy as np

import lithe

np.set_printoptions(linewidth=120)

scene = lithe.scene("half_cheetah")
model = scene.model

# Let it fall onto its feet for half a second.
q, v, record = scene.q, scene.v, None
for _ in range(250):
    record = lithe.step(model, q, v, options=scene.time_step, guess=record)
    q, v = np.array(record.q), np.array(record.v)

# One more step, with some torque in every joint, from a state that is pressed 0.1 mm into the ground: at a gap of
# exactly zero a step has a kink, which a difference would straddle.
q[model.q_index("root.z")] -= 1e-4
tau = np.zeros(model.nv)
tau[3:] = [3.0, -2.0, 1.0, -3.0, 2.0, -1.0]
record = lithe.step(model, q, v, tau, options=scene.time_step)
print(record)
for contact in record.contacts:
    foot = model.shape_names[contact.shape_a]
    if foot == "ground":
        foot = model.shape_names[contact.shape_b]
    force = abs(contact.impulse @ contact.normal) / scene.time_step
    print(f"  {foot:8s} carries {force:6.1f} N")

# All of it: how the next state depends on the state and the torques.
jacobians = lithe.step_jacobians(model, record, parameters=["shape/ground/friction", "body/torso/mass"])
print("\nThe next speed of the torso along x, by the torques of the six joints (m/s per N·m):")
print("  analytic   ", np.array2string(jacobians.dvnext_dtau[0, 3:], precision=6))


def next_speed(tau):
    return lithe.step(model, q, v, tau, options=scene.time_step).v[0]


step = 1e-3
differences = np.array(
    [(next_speed(tau + step * e) - next_speed(tau - step * e)) / (2 * step) for e in np.eye(model.nv)]
)
print("  differences", np.array2string(differences[3:], precision=6))
print("  by the ground's friction and the torso's mass:", np.array2string(jacobians.dvnext_dp[0], precision=6))

# A gradient without any matrix: of a loss, here ½ |v⁺|², by everything at once.
gradient = lithe.step_vjp(model, record, v=record.v, parameters=["shape/ground/friction", "body/torso/mass"])
by_matrix = record.v @ jacobians.dvnext_dtau
print("\nThe gradient of ½|v⁺|² by the torques:")
print("  VJP        ", np.array2string(gradient.tau[3:], precision=6))
print("  Jacobians  ", np.array2string(by_matrix[3:], precision=6))
print(f"  {gradient.report}")

# A direction forwards: how the next state moves when the torques do.
motion = lithe.step_jvp(model, record, tau=tau)
print(
    "\nDoubling all torques would change the next speeds at a rate of", np.array2string(motion.v[:3], precision=6), "…"
)

assert np.allclose(jacobians.dvnext_dtau[0], differences, rtol=1e-6, atol=1e-9)
assert np.allclose(gradient.tau, by_matrix, rtol=1e-9, atol=1e-12)
assert np.allclose(motion.v, jacobians.dvnext_dtau @ tau, rtol=1e-9, atol=1e-12)
check = lithe.gradcheck(model, q, v, tau, options=scene.time_step)
print(f"\nEvery derivative of this step against accurate differences: {check}")
