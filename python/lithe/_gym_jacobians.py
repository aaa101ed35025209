"""Derivatives of environment steps, for infos."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lithe._gym_setup import Setup
from lithe._lithe import GradientOptions, StepJacobianBatch, StepJacobians, StepRecord, step_jacobians

Array = NDArray[np.float64]
OfOneStep = StepJacobians | StepJacobianBatch  # blocks (…, nv, nv)


@dataclass(frozen=True, eq=False)
class EnvJacobians:
    """How the state after an environment step depends on the state before it and on the action that was applied.

    Derivatives by q are in its tangent, and q after the step moves in its own: nv numbers each. An action was applied
    after it was clipped to its limits. Many worlds: one more dimension at the front.
    """

    dqnext_dq: Array  # (nv, nv)
    dqnext_dv: Array  # (nv, nv)
    dqnext_daction: Array  # (nv, actions)
    dvnext_dq: Array  # (nv, nv)
    dvnext_dv: Array  # (nv, nv)
    dvnext_daction: Array  # (nv, actions)

    def world(self, i: int) -> EnvJacobians:
        """Those of one world of many."""
        return EnvJacobians(
            self.dqnext_dq[i],
            self.dqnext_dv[i],
            self.dqnext_daction[i],
            self.dvnext_dq[i],
            self.dvnext_dv[i],
            self.dvnext_daction[i],
        )


def chain(steps: Sequence[OfOneStep], dofs: NDArray[np.intp]) -> EnvJacobians:
    """The Jacobians of several steps after one another, under one action."""
    nv = steps[0].dqnext_dq.shape[-1]
    by_state, by_action = np.eye(2 * nv), np.zeros((2 * nv, len(dofs)))
    for j in steps:
        of_q = np.concatenate([j.dqnext_dq, j.dqnext_dv], axis=-1)
        of_v = np.concatenate([j.dvnext_dq, j.dvnext_dv], axis=-1)
        of_step = np.concatenate([of_q, of_v], axis=-2)
        of_action = np.concatenate([j.dqnext_dtau[..., dofs], j.dvnext_dtau[..., dofs]], axis=-2)
        by_state, by_action = of_step @ by_state, of_step @ by_action + of_action
    q_rows, v_rows = by_state[..., :nv, :], by_state[..., nv:, :]
    return EnvJacobians(
        q_rows[..., :nv],
        q_rows[..., nv:],
        by_action[..., :nv, :],
        v_rows[..., :nv],
        v_rows[..., nv:],
        by_action[..., nv:, :],
    )


class StepOfEnv:
    """info['jacobians'] of an environment: call it for the EnvJacobians of its step, which are computed then.

    Two of them are equal if they are of the same step. Pickling computes them: the records stay here.
    """

    def __init__(self, setup: Setup, records: Sequence[StepRecord]) -> None:
        self._setup: Setup | None = setup
        self.records = list(records)
        self._known: EnvJacobians | None = None
        first = records[0]
        self._start = np.concatenate([first.q_before, first.v_before, first.tau])

    def __call__(self, options: GradientOptions | None = None) -> EnvJacobians:
        """`options` says which derivative is wanted."""
        if self._setup is None:
            if options is not None:
                raise ValueError("options: these Jacobians were pickled, and are what they were then")
            assert self._known is not None
            return self._known
        if options is None and self._known is not None:
            return self._known
        model = self._setup.model
        steps = [step_jacobians(model, record, options=options) for record in self.records]
        found = chain(steps, self._setup.dofs)
        if options is None:
            self._known = found
        return found

    def __eq__(self, other: object) -> bool:
        return isinstance(other, StepOfEnv) and np.array_equal(self._start, other._start)

    def __hash__(self) -> int:
        return hash(self._start.tobytes())

    def __getstate__(self) -> dict[str, object]:
        return {"_setup": None, "records": [], "_known": self(), "_start": self._start}


class StepOfWorlds:
    """The step of all worlds of a vector environment, for as long as it takes no other."""

    def __init__(self, compute: Callable[[], EnvJacobians]) -> None:
        self._compute: Callable[[], EnvJacobians] | None = compute
        self._known: EnvJacobians | None = None

    def close(self) -> None:
        """The worlds move on."""
        self._compute = None

    def __call__(self) -> EnvJacobians:
        if self._known is None:
            if self._compute is None:
                raise RuntimeError(
                    "jacobians: the environment took another step since; ask for them before the next step"
                )
            self._known = self._compute()
        return self._known


class StepOfWorld:
    """infos['jacobians'][i] of a vector environment: call it for the EnvJacobians of world i, before the next step."""

    def __init__(self, step: StepOfWorlds, world: int) -> None:
        self._step, self._world = step, world

    def __call__(self) -> EnvJacobians:
        return self._step().world(self._world)
