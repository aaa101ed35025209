"""A model in motion: World keeps the state, the time and the warm start that step() leaves to its caller."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lithe._lithe import (
    Contact,
    ExceptedPair,
    LoadedModel,
    Model,
    Scene,
    StepOptions,
    StepRecord,
    StepStatus,
    Task,
    Visual,
    difference,
    kinetic_energy,
    neutral_configuration,
    normalized,
    potential_energy,
    step,
)

Floats: TypeAlias = NDArray[np.float64]
Source: TypeAlias = "Model | Scene | LoadedModel | str | os.PathLike[str]"
GroundLike: TypeAlias = "bool | float | None"
Controller: TypeAlias = "Callable[[World], ArrayLike | None]"


class Trajectory(NamedTuple):
    """A motion, one row per moment. T is the number of steps."""

    times: Floats
    """(T + 1,), s."""
    q: Floats
    """(T + 1, nq)"""
    v: Floats
    """(T + 1, nv)"""
    tau: Floats
    """(T, nv): the generalised forces of each step."""


def _vector(name: str, value: ArrayLike, size: int) -> Floats:
    """A read-only copy (size,) of finite numbers, or a ValueError that names the argument."""
    array = np.asarray(value)
    if array.dtype.kind not in "fiu":
        raise ValueError(f"{name}: expected real numbers (float64), got dtype {array.dtype}")
    if array.shape != (size,):
        raise ValueError(f"{name}: expected shape ({size},), got {array.shape}")
    vector = array.astype(np.float64)
    bad = np.flatnonzero(~np.isfinite(vector))
    if bad.size:
        raise ValueError(f"{name}[{bad[0]}] is {vector[bad[0]]}: it must be finite")
    vector.flags.writeable = False
    return vector


def _open(source: Source, ground: GroundLike, keyframe: str | None, load_options: Mapping[str, Any]) -> Model | Scene:
    """The model or scene itself, if that is all that is said; else a Scene of what was named."""
    nothing_asked = (ground is None or ground is False) and keyframe is None and not load_options
    if isinstance(source, (Model, Scene)) and nothing_asked:
        return source
    return Scene(source, ground=ground, keyframe=keyframe, **load_options)


class World:
    """A model in motion.

    >>> world = lithe.World('cartpole')
    >>> world.step(tau=[1.0, 0.0])
    >>> world.q, world.v, world.time

    `source` is a Model, which starts in its neutral configuration at rest with its motors off; a Scene or what load()
    gives, which say where they start, at what time step and with what motor targets; or the name of a scene or a file.
    `options` is a StepOptions or a time step in seconds; without it the source's time step is taken, or 1 ms.

    >>> world = lithe.World('robot.urdf', base='floating')          # stands on a ground
    >>> world = lithe.World('robot.xml', keyframe='home', ground=False)

    ground        whether to put a ground under its lowest point: True (unless there is one), False, or a height in
                  metres. None: what a file holds gets one if it would fall for ever without; anything else has its own
    keyframe      the name of a state of the file to start in
    load_options  those of load(), if `source` is a file: base=, packages=, strict= …

    The model of a Model or Scene is not copied, unless a ground is put under it: what is changed in it acts from the
    next step on.
    """

    def __init__(
        self,
        source: Source,
        *,
        options: StepOptions | float | None = None,
        ground: GroundLike = None,
        keyframe: str | None = None,
        **load_options: Any,
    ) -> None:
        opened = _open(source, ground, keyframe, load_options)
        self._model: Model
        self._targets: Floats | None = None
        if isinstance(opened, Model):
            self._model = opened
            start: tuple[ArrayLike, ArrayLike] = (neutral_configuration(opened), np.zeros(opened.nv))
            self._name = "world"
            self.options = 1e-3 if options is None else options
        else:
            self._model = opened.model
            start = (opened.q, opened.v)
            if self._model.motor_names and not isinstance(source, Model):
                self._targets = self._read_targets(opened.motor_targets)
            self.options = opened.time_step if options is None else options
            self._name = "world" if isinstance(source, Model) else opened.name
        # For those who look at it.
        self._visuals: list[Visual] = opened.visuals if isinstance(opened, Scene) else []
        self._excepted_pairs: list[ExceptedPair] = opened.excepted_pairs if isinstance(opened, Scene) else []
        self._task: Task | None = opened.task if isinstance(opened, Scene) else None
        self._warnings: list[str] = opened.warnings if isinstance(opened, Scene) else []
        self._record: StepRecord | None = None
        self._guess: StepRecord | None = None
        self._time = 0.0
        self.set_state(*start)
        self._start = (self._q, self._v, self._targets)

    @property
    def model(self) -> Model:
        """What moves."""
        return self._model

    @property
    def warnings(self) -> list[str]:
        """What load() had to say about the file that it was made of; empty for anything else."""
        return list(self._warnings)

    @property
    def options(self) -> StepOptions:
        """How steps are taken. A number can be assigned, too: a time step in seconds."""
        return self._options

    @options.setter
    def options(self, options: StepOptions | float) -> None:
        self._options = options if isinstance(options, StepOptions) else StepOptions(options)

    @property
    def q(self) -> Floats:
        """The configuration (nq,), read-only. Assign a whole one to change it; the warm start is then forgotten."""
        return self._q

    @q.setter
    def q(self, q: ArrayLike) -> None:
        self.set_state(q, self._v)

    @property
    def v(self) -> Floats:
        """The velocity (nv,), read-only. Assign a whole one to change it; the warm start is then forgotten."""
        return self._v

    @v.setter
    def v(self, v: ArrayLike) -> None:
        self.set_state(self._q, v)

    def set_state(self, q: ArrayLike, v: ArrayLike) -> None:
        """Moves to q (nq,), v (nv,), and forgets the warm start. Quaternions are scaled to length one."""
        q_read = normalized(self._model, _vector("q", q, self._model.nq))
        self._v: Floats = _vector("v", v, self._model.nv)
        self._q: Floats = _vector("q", q_read, self._model.nq)
        self._guess = None

    @property
    def time(self) -> float:
        """s. It advances with every step that does not diverge."""
        return self._time

    @time.setter
    def time(self, time: float) -> None:
        if not math.isfinite(time):
            raise ValueError(f"time is {time}: it must be finite")
        self._time = float(time)

    @property
    def targets(self) -> Floats | None:
        """One per motor, for every step that is given none: rad or m for a position, rad/s or m/s for a velocity.

        None: the motors are off. Read-only: assign a whole one to change it.
        """
        return self._targets

    @targets.setter
    def targets(self, targets: ArrayLike | None) -> None:
        self._targets = None if targets is None else self._read_targets(targets)

    def _read_targets(self, targets: ArrayLike) -> Floats:
        return _vector("targets", targets, len(self._model.motor_names))

    def step(
        self,
        tau: ArrayLike | None = None,
        *,
        targets: ArrayLike | None = None,
        wrenches: Mapping[str, ArrayLike] | None = None,
        steps: int = 1,
    ) -> StepRecord:
        """Takes one step, or several with the same forces, and returns the record of the last one.

        tau (nv,) are generalised forces; `targets` has one number per motor, and stands in for World.targets;
        `wrenches` pushes bodies: {'body': [torque about its origin (3), force (3)]} in world axes.
        """
        if steps < 1:
            raise ValueError(f"steps is {steps}: it must be at least 1")
        if targets is None:
            targets = self._targets
        pushes = None if wrenches is None else dict(wrenches)
        for _ in range(steps):
            record = step(
                self._model,
                self._q,
                self._v,
                tau,
                options=self._options,
                targets=targets,
                wrenches=pushes,
                guess=self._guess,
            )
            self._record = self._guess = record
            self._q, self._v = record.q, record.v
            if not record.status.diverged:
                self._time += self._options.time_step
        return record

    def simulate(self, seconds: float, controller: Controller | None = None) -> Trajectory:
        """Steps until `seconds` more have passed, and returns the whole motion, its start included.

        `controller` is called with the world before each step, and returns tau (nv,) or None for no forces; it may set
        World.targets as well. The number of steps is seconds / time_step, rounded up.
        """
        if not math.isfinite(seconds) or seconds < 0:
            raise ValueError(f"seconds is {seconds}: it must be finite and not negative")
        steps = math.ceil(seconds / self._options.time_step * (1 - 1e-12))
        motion = Trajectory(
            np.empty(steps + 1),
            np.empty((steps + 1, self._model.nq)),
            np.empty((steps + 1, self._model.nv)),
            np.zeros((steps, self._model.nv)),
        )
        motion.times[0], motion.q[0], motion.v[0] = self._time, self._q, self._v
        for k in range(steps):
            tau = None if controller is None else controller(self)
            self.step(tau)
            if tau is not None:
                motion.tau[k] = tau
            motion.times[k + 1], motion.q[k + 1], motion.v[k + 1] = self._time, self._q, self._v
        return motion

    def reset(self) -> None:
        """Back to the state, the motor targets and the time that the world started with. The model stays as it is."""
        q, v, targets = self._start
        self.set_state(q, v)
        self._targets = targets
        self._time = 0.0
        self._record = None

    @property
    def record(self) -> StepRecord | None:
        """Of the last step; None before the first one."""
        return self._record

    @property
    def status(self) -> StepStatus | None:
        """Of the last step; None before the first one."""
        return None if self._record is None else self._record.status

    @property
    def contacts(self) -> list[Contact]:
        """What touched during the last step, with impulses; empty before the first one."""
        return [] if self._record is None else list(self._record.contacts)

    @property
    def kinetic_energy(self) -> float:
        """J."""
        return float(kinetic_energy(self._model, self._q, self._v))

    @property
    def potential_energy(self) -> float:
        """Of gravity and of the joints' springs, J. Gravity's is zero at the height of the world's origin."""
        rest = neutral_configuration(self._model)
        stiffness = np.zeros(self._model.nv)
        for joint in self._model.joints:
            rest[joint.q_index : joint.q_index + joint.nq] = joint.rest_orientation if joint.nq == 4 else joint.rest
            stiffness[joint.v_index : joint.v_index + joint.nv] = joint.stiffness
        stretch = difference(self._model, self._q, rest)
        return float(potential_energy(self._model, self._q) + stiffness @ (stretch * stretch) / 2)

    @property
    def energy(self) -> float:
        """Kinetic and potential, J."""
        return self.kinetic_energy + self.potential_energy

    def __getstate__(self) -> dict[str, Any]:
        # Records cannot be pickled: a copy starts without the warm start.
        return {**self.__dict__, "_record": None, "_guess": None}

    def __repr__(self) -> str:
        touching = len(self._record.contacts) if self._record is not None else 0
        return (
            f"<World: nq={self._model.nq}, nv={self._model.nv}, time {self._time:g} s, "
            f"time step {self._options.time_step:g} s, {touching} contacts>"
        )
