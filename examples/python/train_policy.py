"""Trains a neural network through contact: it learns to push blocks that lie on the ground to where they should be.

A block of 1 kg lies on a rough floor. The policy is told how far away its target is, and plans a push: ten forces
along x, each of which acts for 50 ms. Friction brings the block to rest; the loss asks that this be at the target.
Its gradient comes back through all 100 steps of 64 blocks at once, sliding and sticking included: lithe.torch.rollout
is an autograd function like any other.

A push that is too weak moves nothing, and its exact gradient is zero. Gradients that are aware of this
("complementarity-aware") ask what would happen if the contact gave way. Without them the same training ends at about
2.5 times the loss. Run it with:

    python examples/python/train_policy.py
"""

import time

import torch

import lithe
import lithe.torch

BLOCKS, KNOTS, HOLD, TIME_STEP = 64, 10, 10, 5e-3
ITERATIONS = 80


class PushPolicy(torch.nn.Module):
    """From the way to go (…, 1), m, to forces (…, KNOTS), N."""

    def __init__(self) -> None:
        super().__init__()
        self.network = torch.nn.Sequential(torch.nn.Linear(1, 32), torch.nn.Tanh(), torch.nn.Linear(32, KNOTS))

    def forward(self, way: torch.Tensor) -> torch.Tensor:
        return 10 * self.network(way)


def push(scene: lithe.Scene, forces: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Where blocks that start at x = 0 are after the pushes (blocks, KNOTS), and how fast they still are."""
    model = scene.model
    along_x = forces.repeat_interleave(HOLD, dim=-1)  # (blocks, T)
    tau = torch.nn.functional.pad(along_x[..., None], (0, model.nv - 1))  # (blocks, T, nv): cube.x is the first DoF
    q, v = torch.tensor(scene.q), torch.zeros(model.nv, dtype=torch.float64)
    aware = lithe.GradientOptions(complementarity_aware=True)
    q_all, v_all = lithe.torch.rollout(model, q, v, tau, options=TIME_STEP, gradient=aware)
    return q_all[..., -1, 0], v_all[..., -1, 0]


def loss_of(policy: PushPolicy, scene: lithe.Scene, way: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    forces = policy(way[:, None])
    x, speed = push(scene, forces)
    return ((x - way) ** 2 + 0.1 * speed**2 + 1e-6 * (forces**2).mean(dim=-1)).mean(), (x - way).abs()


def main() -> None:
    torch.manual_seed(1)
    torch.set_default_dtype(torch.float64)
    scene = lithe.scene("sliding_cube")
    policy = PushPolicy()
    optimizer = torch.optim.Adam(policy.parameters(), lr=2e-2)
    schedule = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.97)
    unseen = torch.linspace(-0.95, 0.95, 32)

    with torch.no_grad():
        before, miss = loss_of(policy, scene, unseen)
    print(f"before training   loss {before:.5f}, mean miss {100 * miss.mean():5.1f} cm")
    started = time.perf_counter()
    for iteration in range(1, ITERATIONS + 1):
        way = 2 * torch.rand(BLOCKS) - 1
        loss, _ = loss_of(policy, scene, way)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        if iteration % 10 == 0:
            reports = lithe.torch.last_reports()
            heuristic = sum(report.heuristic for report in reports) / sum(report.steps for report in reports)
            print(
                f"iteration {iteration:4d}    loss {loss.item():.5f}, {100 * heuristic:4.1f} % of steps heuristic"
            )
    seconds = time.perf_counter() - started
    with torch.no_grad():
        after, miss = loss_of(policy, scene, unseen)
    print(
        f"after training    loss {after:.5f}, mean miss {100 * miss.mean():5.1f} cm, largest {100 * miss.max():.1f} cm"
    )
    print(f"{ITERATIONS} iterations of {BLOCKS} blocks and {KNOTS * HOLD} steps in {seconds:.1f} s")
    print(f"the loss of targets that were not in the training fell by a factor of {before / after:.0f}")
    assert after < before / 20, "training should lower the loss at least 20 times"


if __name__ == "__main__":
    main()
