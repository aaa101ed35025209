"""Many worlds of one model at once, on all cores: steps, rollouts and their derivatives.

    worlds = lithe.batch.step(model, q, v, tau)     # q (worlds, nq), v and tau (worlds, nv)
    gradient = worlds.vjp(v=by_v)                   # gradient.q, .v, .tau (worlds, nv)
    motions = lithe.batch.rollout(model, q, v, tau) # tau (worlds, T, nv)

Worlds may differ in states, forces, motor targets and in numbers of the model. Each has the bits that it would have alone, on any number of
threads. A StepBatch keeps its memory from step to step: for many steps, make one and call its step().
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from lithe._lithe import (
    Model,
    RolloutBatch,
    RolloutGradientBatch,
    StepBatch,
    StepJacobianBatch,
    StepJvpBatch,
    StepOptions,
    StepParameters,
    StepVjpBatch,
)
from lithe._lithe import rollout_batch as rollout

__all__ = [
    "RolloutBatch",
    "RolloutGradientBatch",
    "StepBatch",
    "StepJacobianBatch",
    "StepJvpBatch",
    "StepVjpBatch",
    "rollout",
    "step",
]


def step(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike | None = None,
    *,
    options: StepOptions | float | None = None,
    targets: ArrayLike | None = None,
    parameters: StepParameters | list[str] | None = None,
    values: ArrayLike | None = None,
    threads: int = 0,
) -> StepBatch:
    """One step of every world; the arguments are those of StepBatch.step().

    There are as many worlds as q, v, tau or values have rows; an array for a single world, without that first dimension, holds for all.
    """
    by_world = [array for array in (q, v, tau, values) if array is not None and np.ndim(array) == 2]
    if not by_world:
        raise ValueError("q: expected one row per world, shape (worlds, nq); for a single world use lithe.step()")
    batch = StepBatch(model, np.shape(by_world[0])[0], threads=threads)
    batch.step(q, v, tau, options=options, targets=targets, parameters=parameters, values=values)
    return batch
