"""What an environment is made of, for one world and for many: model, driven joints, start and reward."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lithe._lithe import (
    Joint,
    JointType,
    LoadedModel,
    Model,
    Scene,
    StepOptions,
    Task,
    TaskForm,
    TaskOf,
    TaskTerm,
    hold_task,
    names_file,
    normalized,
    retract,
    task_from,
    task_loss,
)
from lithe.world import GroundLike, Source

Array = NDArray[np.float64]
# reward(q (…, nq), v (…, nv), action (…, actions)) -> (…): of the state after the step.
Reward = Callable[[Array, Array, Array], Any]
# Joints that an action drives, with the largest force of each; a list of names: the joints' own limits.
Actuated = Mapping[str, float] | Sequence[str]

LIMIT_WITHOUT_LIMIT = 10.0  # N or N·m
EFFORT_WEIGHT = 1e-3

# Of what a file holds, unless told otherwise.
ACTION_SECONDS = 0.01
EPISODE_SECONDS = 10.0


@dataclass(frozen=True)
class Preset:
    """How an environment of a scene differs from what the scene says."""

    actuated: Mapping[str, float] | None = None
    hold: int = 1
    task: Callable[[], Task] | None = None


def _run_forward() -> Task:
    speed = TaskTerm("root.x", of=TaskOf.velocity, target=2.0)
    upright = TaskTerm("root.pitch", target=0.0, weight=0.5)
    return Task(description="run forward at 2 m/s with a level back", steps=2500, terms=[speed, upright])


PRESETS = {
    "cartpole": Preset(),
    "double_cartpole": Preset(actuated={"cart": LIMIT_WITHOUT_LIMIT}),
    "half_cheetah": Preset(
        actuated={"b_thigh": 120, "b_shin": 90, "b_foot": 60, "f_thigh": 120, "f_shin": 60, "f_foot": 30},
        hold=5,
        task=_run_forward,
    ),
    "jump_worm": Preset(hold=10),
}


@dataclass(eq=False)
class Setup:
    """All that does not change from step to step."""

    model: Model
    q: Array  # (nq,) and (nv,): the initial state before noise
    v: Array
    options: StepOptions
    targets: Array | None  # of motors
    dofs: NDArray[np.intp]  # that an action drives
    limits: Array  # of their forces
    hold: int
    horizon: int  # environment steps; 0: no end
    noise: float
    reward: Reward
    names: list[str] = field(default_factory=list)  # of the driven joints

    def forces(self, actions: Array) -> Array:
        """Generalised forces (…, nv) of actions (…, actions) that are within their limits."""
        tau = np.zeros((*actions.shape[:-1], self.model.nv))
        tau[..., self.dofs] = actions
        return tau

    def clipped(self, actions: object, *leading: int) -> Array:
        """Actions as numbers within their limits. Wrong shapes and NaN are a ValueError."""
        x = np.asarray(actions, dtype=np.float64)
        expected = (*leading, len(self.dofs))
        if x.shape != expected:
            raise ValueError(f"action: expected shape {expected}, got {x.shape}")
        if np.isnan(x).any():
            raise ValueError("action: has a number that is NaN")
        return np.clip(x, -self.limits, self.limits)

    def rewards(self, q: Array, v: Array, actions: Array) -> Array:
        """Of states after the step and the actions that led there. A world that overflowed has a finite reward too."""
        largest = np.finfo(np.float64).max
        with np.errstate(over="ignore"):
            rewards = np.asarray(self.reward(q, v, actions), dtype=np.float64)
        if rewards.shape != q.shape[:-1]:
            raise ValueError(f"reward: expected shape {q.shape[:-1]}, got {rewards.shape}")
        return np.clip(rewards, -largest, largest)

    def start(self, random: np.random.Generator, options: Mapping[str, Any] | None) -> tuple[Array, Array]:
        """The state that an episode starts from: near the scene's, or options={'q': (nq,), 'v': (nv,)} exactly."""
        options = options or {}
        unknown = set(options) - {"q", "v"}
        if unknown:
            raise ValueError(f"options: unknown {sorted(unknown)}; known are 'q' and 'v'")
        model, noise = self.model, self.noise
        q = np.array(retract(model, self.q, random.uniform(-noise, noise, model.nv)))
        v = self.v + random.uniform(-noise, noise, model.nv)
        if "q" in options:
            q = np.array(normalized(model, options["q"]))
        if "v" in options:
            v = np.array(options["v"], dtype=np.float64)
            if v.shape != (model.nv,) or not np.isfinite(v).all():
                raise ValueError(f"v: expected {model.nv} finite numbers, got {v}")
        return q, v


def set_up(
    source: Source,
    *,
    actuated: Actuated | None,
    task: Task | str | None,
    reward: Reward | None,
    hold: int | None,
    horizon: int | None,
    noise: float,
    options: StepOptions | None,
    ground: GroundLike,
    keyframe: str | None,
    load_options: Mapping[str, Any],
) -> Setup:
    """Settles everything that was left open, by the scene's name, its task and its model; or by what a file holds."""
    preset = PRESETS.get(source, Preset()) if isinstance(source, str) else Preset()
    scene = Scene(source, ground=ground, keyframe=keyframe, **load_options)
    from_file = isinstance(source, (LoadedModel, os.PathLike)) or (isinstance(source, str) and names_file(source))
    label = f"'{scene.name}'" if from_file else f"scene '{source}'" if isinstance(source, str) else "the scene"
    model = scene.model.copy()
    if hold is None:
        hold = max(1, round(ACTION_SECONDS / scene.time_step)) if from_file else preset.hold
    if hold < 1:
        raise ValueError(f"hold: {hold} steps per action; give 1 or more")
    if not (math.isfinite(noise) and noise >= 0):
        raise ValueError(f"noise: {noise}; it must be finite and not negative")
    if isinstance(task, str):
        task = task_from(scene, task)
    if task is None:
        task = preset.task() if preset.task else scene.task
    if task is None and reward is None and from_file:
        task = hold_task(scene)
        task.steps = max(1, round(EPISODE_SECONDS / scene.time_step))
    if reward is None and task is None:
        raise ValueError(f"{label} has no task that could be rewarded; give reward= or task=")
    if horizon is None:
        horizon = max(1, task.steps // hold) if task is not None and task.steps > 0 else 0
    driven = _driven_joints(model, preset.actuated if actuated is None else actuated, label)
    limits = np.array(list(driven.values()))
    return Setup(
        model=model,
        q=np.array(scene.q),
        v=np.array(scene.v),
        options=options if options is not None else StepOptions(scene.time_step),
        targets=np.array(scene.motor_targets) if len(model.motor_names) > 0 else None,
        dofs=np.array([model.v_index(name) for name in driven], dtype=np.intp),
        limits=limits,
        hold=hold,
        horizon=horizon,
        noise=noise,
        reward=reward if reward is not None else _task_reward(model, task, limits),
        names=list(driven),
    )


def _task_reward(model: Model, task: Task | None, limits: Array) -> Reward:
    """Minus the task's loss of the state, minus the effort: EFFORT_WEIGHT · mean of (action/limit)²."""
    assert task is not None
    terms = [_Term(model, term) for term in task.terms]
    points = _Points(model, task)

    def reward(q: Array, v: Array, action: Array) -> Any:
        effort = EFFORT_WEIGHT * np.mean((action / limits) ** 2, axis=-1)
        return -sum(term(q, v) for term in terms) - points(q, v) - effort

    return reward


class _Term:
    """A TaskTerm for states of any leading dimensions."""

    def __init__(self, model: Model, term: TaskTerm) -> None:
        if model.joints[model.joint(term.joint)].type == JointType.ball:
            raise ValueError(f"task: joint '{term.joint}' is a ball, and a term is of one number")
        self.of_position = term.of == TaskOf.position
        self.index = model.q_index(term.joint) if self.of_position else model.v_index(term.joint)
        self.target, self.weight = term.target, term.weight
        self.signed = term.form == TaskForm.signed_square

    def __call__(self, q: Array, v: Array) -> Any:
        miss = (q if self.of_position else v)[..., self.index] - self.target
        return self.weight * miss * (np.abs(miss) if self.signed else miss)


class _Points:
    """The points of a task, for states of any leading dimensions. Where they are is computed state by state."""

    def __init__(self, model: Model, task: Task) -> None:
        self.model = model
        self.task = Task([], task.steps, points=task.points) if task.points else None
        for point in task.points:
            model.body(point.body)  # an unknown name shows now

    def __call__(self, q: Array, v: Array) -> Any:
        if self.task is None:
            return 0.0
        losses = [self._loss(*state) for state in zip(q.reshape(-1, self.model.nq), v.reshape(-1, self.model.nv))]
        return np.reshape(losses, q.shape[:-1])

    def _loss(self, q: Array, v: Array) -> float:
        assert self.task is not None
        if not (np.isfinite(q).all() and np.isfinite(v).all()):
            return math.inf  # the world overflowed
        return float(task_loss(self.task, self.model, q, v).value)


def _driven_joints(model: Model, actuated: Actuated | None, label: str) -> dict[str, float]:
    """Names with limits. By default joints with a finite effort limit; if none, all that do not let a body float."""
    if isinstance(actuated, Mapping):
        driven = {name: float(limit) for name, limit in actuated.items()}
    elif actuated is not None:
        driven = {name: _limit(model, name) for name in actuated}
    else:
        pushable = [joint for joint in model.joints if joint.type != JointType.ball and joint.effort_limit > 0]
        limited = [joint for joint in pushable if math.isfinite(joint.effort_limit)]
        chosen = limited or [joint for joint in pushable if not _floats(model, joint)]
        driven = {joint.name: _limit(model, joint.name) for joint in chosen}
    if not driven:
        raise ValueError(f"{label} has no joint that an action could drive; give actuated=")
    for name, limit in driven.items():
        if model.joints[model.joint(name)].type == JointType.ball:
            raise ValueError(f"actuated: joint '{name}' is a ball and has no single force")
        if not (math.isfinite(limit) and limit > 0):
            raise ValueError(f"actuated: joint '{name}' has the limit {limit}; it must be positive and finite")
    return driven


def _limit(model: Model, joint: str) -> float:
    limit = model.joints[model.joint(joint)].effort_limit
    return limit if math.isfinite(limit) else LIMIT_WITHOUT_LIMIT


def _floats(model: Model, joint: Joint) -> bool:
    """Several joints between the world and a body let it float, in the plane or in space."""
    return model.bodies[joint.body].parent == 0 and sum(other.body == joint.body for other in model.joints) > 1
