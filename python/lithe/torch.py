"""Lithe in PyTorch: steps and rollouts that autograd differentiates.

    import lithe, lithe.torch
    scene = lithe.scene('half_cheetah')
    q = torch.tensor(scene.q, requires_grad=True)               # (…, nq)
    v = torch.tensor(scene.v, requires_grad=True)               # (…, nv)
    q_next, v_next = lithe.torch.step(scene.model, q, v, options=scene.time_step)
    q_next[0].backward()

Tensors are float64 or float32 (Lithe computes in float64), on the CPU. Leading dimensions are a batch of any shape,
whose items are computed on all cores; those of all arguments broadcast.

Gradients by q are by its entries as torch has them: the four numbers of a ball's quaternion (x, y, z, w), of any
length, are divided by that length first. Gradients are first derivatives: differentiating twice is a RuntimeError.
Which derivative a bounce has is said by `gradient`, a lithe.GradientOptions: by default that of the continuous
motion; GradientOptions.exact() is that of the step as computed, which torch.autograd.gradcheck agrees with.
last_reports() says what a gradient is.

On torch 2, torch.func (grad, vjp, jvp, vmap, jacrev …) can be used on both functions, jvp on step() only.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, overload

import numpy as np
import torch

from lithe._lithe import GradientOptions, Model, Scene, StepOptions, StepParameters
from lithe._torch_arguments import Arguments, Parameter, Targets, constant
from lithe._torch_functions import Call, Rollout, Step
from lithe._torch_reports import last_reports as last_reports
from lithe.world import World

__all__ = ["last_reports", "rollout", "step"]

Options = StepOptions | float | None
Params = Mapping[str, Parameter] | None
Subject = Model | Scene | World


@overload
def step(
    model: Subject,
    q: torch.Tensor,
    v: torch.Tensor,
    tau: torch.Tensor | None = None,
    params: Params = None,
    *,
    options: Options = None,
    targets: Targets | None = None,
    gradient: GradientOptions | None = None,
    forces: Literal[False] = False,
    recompute: bool = False,
    threads: int = 0,
) -> tuple[torch.Tensor, torch.Tensor]: ...


@overload
def step(
    model: Subject,
    q: torch.Tensor,
    v: torch.Tensor,
    tau: torch.Tensor | None = None,
    params: Params = None,
    *,
    options: Options = None,
    targets: Targets | None = None,
    gradient: GradientOptions | None = None,
    forces: Literal[True],
    recompute: bool = False,
    threads: int = 0,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]: ...


def step(
    model: Subject,
    q: torch.Tensor,
    v: torch.Tensor,
    tau: torch.Tensor | None = None,
    params: Params = None,
    *,
    options: Options = None,
    targets: Targets | None = None,
    gradient: GradientOptions | None = None,
    forces: bool = False,
    recompute: bool = False,
    threads: int = 0,
) -> tuple[torch.Tensor, ...]:
    """One step: (q_next, v_next), or (q_next, v_next, forces).

    model                 what moves. A Scene or a World stands for its model with its own time step (or options) and
                          motor targets, where none are given: lithe.scene('robot.urdf') opens a file once for all steps
    q (…, nq), v (…, nv)  the state
    tau (…, nv)           generalised forces; None: zero
    params                numbers of the model by name, such as {'shape/foot/friction': μ}: tensors () or (…), or plain
                          numbers. They hold for this step only, and the step is differentiated by them.
                          lithe.step_parameter_names(model) lists the names.
    options               a StepOptions or a time step in seconds; None: 1 ms
    targets (…, motors)   what the motors are told to reach; None: motors are off. A tensor is differentiated by, an
                          array is not.
    gradient              a GradientOptions: which derivative
    forces                whether the contact forces are wanted, as a result that can be differentiated (…, bodies): for
                          each body of model.body_names the sum of its contacts' normal forces, N, mean over the step
    recompute             keep nothing for the backward pass but the inputs, and take the step once more there: less
                          memory, more time
    threads               0: one per core

    q_next (…, nq) and v_next (…, nv) have the dtype of the arguments. The model is read at the time of the call;
    changing it before the backward pass changes nothing. Numbers that are not finite are a lithe.Error, which names
    the item of the flattened batch.
    """
    model, options, targets = _settled(model, options, targets)
    arguments = Arguments(model, q, v)
    if tau is not None:
        arguments.add("tau", tau, model.nv)
    arguments.add_parameters(params)
    if targets is not None:
        goals = constant(targets, q)
        arguments.add("targets", goals, len(model.motor_names))
        if isinstance(targets, torch.Tensor):
            for k, motor in enumerate(model.motor_names):
                arguments.add_number(f"motor/{motor}/target", goals[..., k])
    call = _call(arguments, options, targets, gradient, threads)
    call.forces, call.recompute = forces, recompute
    if arguments.items == 0:
        return _nothing(arguments, forces)
    by_row = Step.apply(call, *_inputs(arguments, (model.nv,)))
    results = tuple(arguments.restore(x) for x in by_row[: 3 if forces else 2])
    return results


def rollout(
    model: Subject,
    q: torch.Tensor,
    v: torch.Tensor,
    tau: torch.Tensor,
    params: Params = None,
    *,
    options: Options = None,
    targets: Targets | None = None,
    gradient: GradientOptions | None = None,
    threads: int = 0,
) -> tuple[torch.Tensor, torch.Tensor]:
    """T steps: the states before, between and after them, (q (…, T + 1, nq), v (…, T + 1, nv)).

    q (…, nq), v (…, nv)   the state at the start; q[…, 0, :] of the result is as given
    tau (…, T, nv)         generalised forces of each step
    targets (…, T, motors) of each step. They are not differentiated by here: use params={'motor/NAME/target': …} for a
                           target that holds for all steps, or step() for one that changes.

    Everything else as in step(); params hold for all steps. Kept in memory are checkpoints of the motion, from which
    the backward pass takes the steps once more. For controls that depend on the state on the way (a feedback policy),
    use step() in a loop.
    """
    given = targets
    model, options, targets = _settled(model, options, targets)
    arguments = Arguments(model, q, v)
    arguments.add("tau", tau, "T", model.nv)
    steps = tau.shape[-2]
    if given is None and targets is not None:
        targets = np.broadcast_to(np.asarray(targets), (steps, len(model.motor_names)))
    arguments.add_parameters(params)
    if targets is not None:
        if isinstance(targets, torch.Tensor) and targets.requires_grad:
            raise ValueError(
                "targets: require a gradient, which a rollout does not give; use params={'motor/NAME/target': …} for a "
                "target that holds for all steps, step() in a loop for others, or targets.detach()"
            )
        arguments.add("targets", constant(targets, q), steps, len(model.motor_names))
    call = _call(arguments, options, targets, gradient, threads)
    start_q = q.expand(*arguments.batch, model.nq).unsqueeze(-2)
    start_v = v.expand(*arguments.batch, model.nv).unsqueeze(-2)
    if arguments.items == 0 or steps == 0:
        return start_q.expand(*arguments.batch, steps + 1, model.nq), start_v.expand(
            *arguments.batch, steps + 1, model.nv
        )
    by_row = Rollout.apply(call, *_inputs(arguments, (steps, model.nv)))
    q_after, v_after = (arguments.restore(x) for x in by_row[:2])
    return torch.cat([start_q, q_after], dim=-2), torch.cat([start_v, v_after], dim=-2)


def _settled(
    subject: Subject, options: Options, targets: Targets | None
) -> tuple[Model, Options, Targets | None]:
    """The model, and what a scene or a world says where nothing else is said."""
    if isinstance(subject, Model):
        return subject, options, targets
    if isinstance(subject, World):
        own: tuple[Options, Targets | None] = (subject.options, subject.targets)
    elif isinstance(subject, Scene):
        own = (subject.time_step, subject.motor_targets if subject.model.motor_names else None)
    else:
        raise TypeError(
            f"model: expected a Model, a Scene or a World, got {type(subject).__name__}; lithe.scene() makes a Scene of "
            "a file or of what load() gives"
        )
    return subject.model, own[0] if options is None else options, own[1] if targets is None else targets


def _call(
    arguments: Arguments, options: Options, targets: Targets | None, gradient: GradientOptions | None, threads: int
) -> Call:
    arguments.broadcast()
    names = arguments.names
    if targets is None:
        for name in names:
            if name.startswith("motor/") and name.endswith("/target"):
                raise ValueError(f"params['{name}']: the motors are off; give targets as well")
    parameters = StepParameters(arguments.model, names) if names else None
    return Call(arguments.model, parameters, options, gradient, threads, motors_on=targets is not None)


def _inputs(arguments: Arguments, tau_sizes: tuple[int, ...]) -> tuple[torch.Tensor, ...]:
    """q, v, tau, targets and parameters by rows. What was not given is zero, or empty."""

    def rows(name: str, *sizes: int) -> torch.Tensor:
        x = arguments.rows(name)
        return torch.zeros(arguments.items, *sizes, dtype=torch.float64) if x is None else x

    return rows("q"), rows("v"), rows("tau", *tau_sizes), rows("targets", 0), arguments.parameters()


def _nothing(arguments: Arguments, forces: bool) -> tuple[torch.Tensor, ...]:
    """The results of a batch of no items."""
    q, v = (arguments.restore(x) for x in (arguments.rows("q"), arguments.rows("v")) if x is not None)
    none = q.new_empty(*arguments.batch, len(arguments.model.body_names))
    return (q, v, none) if forces else (q, v)
