"""The autograd functions behind lithe.torch.

Each takes rows (items, …) of float64 and has the same parts:

  forward        leaves torch, computes with NumPy arrays, and returns tensors and what the derivatives are taken from
  backward, jvp  call another such function, so that torch.func may transform them as well
  vmap           moves the mapped dimension to the front: its items are more items of the batch

What a derivative is taken from (the records of a step, the tape of a rollout) is handed over as an opaque object. A
transformation may ask for the derivatives of other items than those: then the step is taken once more. So an opaque
object saves time, and never decides what the result is.

Torch 2 calls forward(*inputs) and setup_context(ctx, inputs, output); older ones call forward(ctx, *inputs).
_portable() makes one of the other.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from lithe._lithe import GradientOptions, Model, RolloutBatch, StepBatch, StepOptions, StepParameters, rollout_batch
from lithe._torch_coordinates import Coordinates, coordinates_of
from lithe._torch_reports import note_divergence, note_gradients
from lithe._torch_worlds import Kind, idle_worlds

Array = NDArray[np.float64]
Tensors = tuple[torch.Tensor, ...]

TWICE = (
    "lithe.torch: steps and rollouts can be differentiated once, and this is the derivative of a derivative "
    "(create_graph=True); take finite differences of first derivatives, or detach() the gradient"
)


def _portable(function: Any) -> Any:
    """For torch before 2.0: forward and setup_context in one."""
    if hasattr(torch.autograd.Function, "setup_context"):
        return function
    compute, set_up = function.forward, function.setup_context

    def forward(ctx: Any, *inputs: Any) -> Any:
        output = compute(*inputs)
        set_up(ctx, inputs, output)
        return output

    function.forward = staticmethod(forward)
    return function


def _as_one_batch(function: Any, info: Any, in_dims: tuple[Any, ...], fixed: tuple[Any, ...], tensors: Tensors) -> Any:
    """The vmap rule of all functions: mapped items become rows. `fixed` are the arguments that are no tensors."""
    size = info.batch_size
    rows = []
    for x, dim in zip(tensors, in_dims[len(fixed) :]):
        x = x.expand(size, *x.shape) if dim is None else x.movedim(dim, 0)
        rows.append(x.reshape(size * x.shape[1], *x.shape[2:]))
    out = function.apply(*fixed, *rows)
    split = tuple(x.reshape(size, x.shape[0] // size, *x.shape[1:]) if isinstance(x, torch.Tensor) else x for x in out)
    return split, tuple(0 if isinstance(x, torch.Tensor) else None for x in split)


def _arrays(*tensors: torch.Tensor) -> tuple[Array, ...]:
    return tuple(x.detach().numpy() for x in tensors)


def _tensor(x: Array) -> torch.Tensor:
    return torch.from_numpy(x if x.flags.writeable else x.copy())


@dataclass(eq=False)
class Call:
    """What a call is given besides its tensors."""

    model: Model
    parameters: StepParameters | None
    options: StepOptions | float | None
    gradient: GradientOptions | None
    threads: int
    motors_on: bool
    forces: bool = False
    recompute: bool = False
    coordinates: Coordinates = field(init=False)

    def __post_init__(self) -> None:
        self.coordinates = coordinates_of(self.model)


class Taken:
    """Steps or rollouts that were taken, and from where. Worlds of steps are used again when nobody needs them."""

    def __init__(self, inputs: tuple[Array, ...], worlds: Any, kind: Kind | None = None) -> None:
        self.inputs, self.worlds, self.kind, self.process = inputs, worlds, kind, os.getpid()

    def __del__(self) -> None:
        if self.kind is not None:
            idle_worlds.give(self.worlds, self.kind, self.process)

    def is_from(self, inputs: tuple[Array, ...]) -> bool:
        return all(a is b or np.array_equal(a, b) for a, b in zip(self.inputs, inputs))


def _take_step(call: Call, inputs: tuple[Array, ...]) -> Taken:
    q, v, tau, targets, values = inputs
    kind = (call.model.nv, len(q), 1 if len(q) == 1 else call.threads)
    worlds = idle_worlds.take(call.model, kind)
    worlds.step(
        q,
        v,
        tau,
        options=call.options,
        targets=targets if call.motors_on else None,
        parameters=call.parameters,
        values=None if call.parameters is None else values,
    )
    return Taken(inputs, worlds, kind)


def _taken(call: Call, taken: Taken | None, inputs: tuple[Array, ...], take: Callable[..., Taken]) -> Taken:
    return taken if taken is not None and taken.is_from(inputs) else take(call, inputs)


@_portable
class Step(torch.autograd.Function):
    """(call, q, v, tau, targets, values) → (q⁺, v⁺, forces, Taken)."""

    @staticmethod
    def forward(call: Call, *inputs: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, Taken]:
        taken = _take_step(call, _arrays(*inputs))
        note_divergence(taken.worlds)
        forces = (
            _tensor(taken.worlds.body_forces) if call.forces else torch.empty(len(inputs[0]), 0, dtype=torch.float64)
        )
        return _tensor(taken.worlds.q), _tensor(taken.worlds.v), forces, taken

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: tuple[Any, ...]) -> None:
        ctx.call = inputs[0]
        ctx.taken = None if ctx.call.recompute else output[-1]
        ctx.save_for_backward(*inputs[1:])
        ctx.save_for_forward(*inputs[1:])

    @staticmethod
    def backward(ctx: Any, *by: Any) -> tuple[Any, ...]:
        out = StepVjp.apply(ctx.call, ctx.taken, *ctx.saved_tensors, *by[:3])
        by_q, by_v, by_tau, by_values = out
        return None, by_q, by_v, by_tau, None, by_values

    @staticmethod
    def jvp(ctx: Any, *changes: Any) -> tuple[Any, ...]:
        inputs = ctx.saved_tensors
        given = [torch.zeros_like(x) if dx is None else dx for x, dx in zip(inputs, changes[1:])]
        return (*StepJvp.apply(ctx.call, ctx.taken, *inputs, given[0], given[1], given[2], given[4]), None)

    @staticmethod
    def vmap(info: Any, in_dims: tuple[Any, ...], call: Call, *inputs: torch.Tensor) -> Any:
        return _as_one_batch(Step, info, in_dims, (call,), inputs)


class _Derivative(torch.autograd.Function):
    """What is a derivative itself: it has none."""

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: tuple[Any, ...]) -> None:
        pass

    @staticmethod
    def backward(ctx: Any, *by: Any) -> Any:
        raise RuntimeError(TWICE)


@_portable
class StepVjp(_Derivative):
    """(call, taken, five inputs, by q⁺, by v⁺, by forces) → gradients by q, v, tau, values."""

    @staticmethod
    def forward(call: Call, taken: Taken | None, *tensors: torch.Tensor) -> Tensors:
        arrays = _arrays(*tensors)
        inputs, (by_q, by_v, by_forces) = arrays[:5], arrays[5:]
        worlds: StepBatch = _taken(call, taken, inputs, _take_step).worlds
        gradient = worlds.vjp(
            call.coordinates.gradient_by_tangent(worlds.q, by_q),
            by_v,
            by_forces if call.forces else None,
            options=call.gradient,
        )
        note_gradients(gradient)
        by_entries = call.coordinates.gradient_by_entries(inputs[0], gradient.q)
        return _tensor(by_entries), _tensor(gradient.v), _tensor(gradient.tau), _tensor(gradient.parameters)

    @staticmethod
    def vmap(info: Any, in_dims: tuple[Any, ...], call: Call, taken: Taken | None, *tensors: torch.Tensor) -> Any:
        return _as_one_batch(StepVjp, info, in_dims, (call, taken), tensors)


@_portable
class StepJvp(_Derivative):
    """(call, taken, five inputs, changes of q, v, tau, values) → changes of q⁺, v⁺, forces."""

    @staticmethod
    def forward(call: Call, taken: Taken | None, *tensors: torch.Tensor) -> Tensors:
        arrays = _arrays(*tensors)
        inputs, (dq, dv, dtau, dvalues) = arrays[:5], arrays[5:]
        worlds: StepBatch = _taken(call, taken, inputs, _take_step).worlds
        change = worlds.jvp(
            call.coordinates.tangent_of(inputs[0], dq),
            dv,
            dtau,
            None if call.parameters is None else dvalues,
            options=call.gradient,
        )
        forces = _tensor(change.body_forces) if call.forces else torch.empty(len(dq), 0, dtype=torch.float64)
        return _tensor(call.coordinates.change_of(worlds.q, change.q)), _tensor(change.v), forces

    @staticmethod
    def vmap(info: Any, in_dims: tuple[Any, ...], call: Call, taken: Taken | None, *tensors: torch.Tensor) -> Any:
        return _as_one_batch(StepJvp, info, in_dims, (call, taken), tensors)


def _take_rollout(call: Call, inputs: tuple[Array, ...]) -> Taken:
    q, v, tau, targets, values = inputs
    worlds = rollout_batch(
        call.model,
        q,
        v,
        tau,
        options=call.options,
        targets=targets if call.motors_on else None,
        parameters=call.parameters,
        values=None if call.parameters is None else values,
        gradient=call.gradient,
        threads=1 if len(q) == 1 else call.threads,
    )
    return Taken(inputs, worlds)


@_portable
class Rollout(torch.autograd.Function):
    """(call, q, v, tau, targets, values) → (q, v, Taken): the states after each step (items, T, …)."""

    @staticmethod
    def forward(call: Call, *inputs: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, Taken]:
        taken = _take_rollout(call, _arrays(*inputs))
        note_divergence(taken.worlds)
        return _tensor(taken.worlds.q[:, 1:]), _tensor(taken.worlds.v[:, 1:]), taken

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: tuple[Any, ...]) -> None:
        ctx.call, ctx.taken = inputs[0], output[-1]
        ctx.save_for_backward(*inputs[1:])

    @staticmethod
    def backward(ctx: Any, *by: Any) -> tuple[Any, ...]:
        by_q, by_v, by_tau, by_values = RolloutVjp.apply(ctx.call, ctx.taken, *ctx.saved_tensors, *by[:2])
        return None, by_q, by_v, by_tau, None, by_values

    @staticmethod
    def vmap(info: Any, in_dims: tuple[Any, ...], call: Call, *inputs: torch.Tensor) -> Any:
        return _as_one_batch(Rollout, info, in_dims, (call,), inputs)


@_portable
class RolloutVjp(_Derivative):
    """(call, taken, five inputs, by q, by v) → gradients by the initial q and v, by tau and values."""

    @staticmethod
    def forward(call: Call, taken: Taken | None, *tensors: torch.Tensor) -> Tensors:
        arrays = _arrays(*tensors)
        inputs, (by_q, by_v) = arrays[:5], arrays[5:]
        worlds: RolloutBatch = _taken(call, taken, inputs, _take_rollout).worlds
        by_tangent = call.coordinates.gradient_by_tangent(worlds.q[:, 1:], by_q)
        gradient = worlds.vjp(_after_start(by_tangent), _after_start(by_v))
        note_gradients(gradient)
        by_entries = call.coordinates.gradient_by_entries(inputs[0], gradient.q)
        return _tensor(by_entries), _tensor(gradient.v), _tensor(gradient.tau), _tensor(gradient.parameters)

    @staticmethod
    def vmap(info: Any, in_dims: tuple[Any, ...], call: Call, taken: Taken | None, *tensors: torch.Tensor) -> Any:
        return _as_one_batch(RolloutVjp, info, in_dims, (call, taken), tensors)


def _after_start(x: Array) -> Array:
    """With a row of zeros for the initial state, which does not pass through the function (items, T + 1, nv)."""
    return np.concatenate([np.zeros_like(x[:, :1]), x], axis=1)
