"""Lithe's scenes as Gymnasium environments.

    import gymnasium, lithe.gym
    env = gymnasium.make('Lithe/HalfCheetah-v0')                 # or lithe.gym.make('half_cheetah', hold=10)
    envs = gymnasium.make_vec('Lithe/HalfCheetah-v0', num_envs=256)

    observation  q and v in one array (nq + nv,)
    action       forces or torques of the driven joints (actions,), N or N·m, clipped to their limits; they act during
                 `hold` steps of the model
    reward       minus the task's loss of the state after the step, minus 0.001 · the mean of (action/limit)²
    terminated   if numbers overflowed, never else
    truncated    after the task's time
    info         'jacobians': call it for the derivatives of the step, an EnvJacobians;
                 'contacts': how many contact points there were

    id                       task                                            driven joints           an action holds for
    Lithe/Cartpole-v0        upright and at rest in the middle               cart, 10 N              10 ms
    Lithe/DoubleCartpole-v0  the same with two poles                         cart, 10 N              10 ms
    Lithe/HalfCheetah-v0     (speed − 2 m/s)² + ½ pitch²                     six, 30 … 120 N·m       10 ms
    Lithe/JumpWorm-v0        −100·z|z| of the root's height: jump            three, 100 N·m          10 ms

A pole's angle is not wrapped: a turn is 2π away from upright. Other scenes need a task or a reward function:
LitheEnv('pendulum', reward=…). A robot file can stand for a scene: LitheEnv('robot.urdf') stands on a ground, and is
rewarded for staying as it starts, unless task= or reward= say something else. Gymnasium 1.1 or later.
"""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium.spaces import Box
from numpy.typing import NDArray

from lithe._gym_jacobians import EnvJacobians as EnvJacobians
from lithe._gym_jacobians import StepOfEnv
from lithe._gym_setup import Actuated, Reward, Setup, set_up
from lithe._gym_vector import LitheVectorEnv as LitheVectorEnv
from lithe._lithe import StepOptions, Task, step
from lithe.world import GroundLike, Source

__all__ = ["EnvJacobians", "LitheEnv", "LitheVectorEnv", "make", "make_vec"]

Array = NDArray[np.float64]


class LitheEnv(gymnasium.Env[Array, NDArray[np.float32]]):
    """One world. See the module for what is observed and rewarded."""

    metadata: dict[str, Any] = {"render_modes": []}

    def __init__(
        self,
        scene: Source,
        *,
        actuated: Actuated | None = None,
        task: Task | str | None = None,
        reward: Reward | None = None,
        hold: int | None = None,
        horizon: int | None = None,
        noise: float = 0.01,
        options: StepOptions | None = None,
        render_mode: None = None,
        ground: GroundLike = None,
        keyframe: str | None = None,
        **load_options: Any,
    ) -> None:
        """scene     a name of lithe.scene_names(), a URDF, SDF or MJCF file, what load() gives, or a Scene
        actuated  joints that the action drives: {name: largest force}, or names (then their own limits, or 10 N or
                  10 N·m where there are none). By default those with a finite effort limit; if there are none, all
                  that do not let a body float
        task      instead of the scene's: a Task, or the text of one that any robot can be set ('hold', 'reach NAME X Y
                  Z', 'rise HEIGHT'). Of a file by default 'hold': to stay as it starts
        reward    a function of (q, v, action) after the step, instead of the task; for many worlds it gets arrays
                  (worlds, …) and gives (worlds,)
        hold      steps of the model per action; of a file by default as many as make 10 ms
        horizon   actions per episode; 0: no end. By default the task's, of a file 10 s
        noise     the initial state is this far from the scene's at most, in each DoF and its velocity
        options   a StepOptions; by default the scene's time step
        ground, keyframe, load_options   of a file, as in World()
        """
        if render_mode is not None:
            raise ValueError(f"render_mode: '{render_mode}'; there is none")
        self.setup: Setup = set_up(
            scene,
            actuated=actuated,
            task=task,
            reward=reward,
            hold=hold,
            horizon=horizon,
            noise=noise,
            options=options,
            ground=ground,
            keyframe=keyframe,
            load_options=load_options,
        )
        self.render_mode = None
        self.observation_space = Box(-np.inf, np.inf, (self.setup.model.nq + self.setup.model.nv,), dtype=np.float64)
        limits = self.setup.limits.astype(np.float32)
        self.action_space = Box(-limits, limits, dtype=np.float32)
        self._q, self._v = self.setup.q, self.setup.v
        self._elapsed = 0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Array, dict[str, Any]]:
        """Starts near the scene's initial state, or at options={'q': (nq,), 'v': (nv,)} exactly."""
        super().reset(seed=seed)
        self._q, self._v = self.setup.start(self.np_random, options)
        self._elapsed = 0
        return self._observation(), {}

    def step(self, action: NDArray[np.float32]) -> tuple[Array, float, bool, bool, dict[str, Any]]:
        """`hold` steps of the model under one action."""
        setup = self.setup
        applied = setup.clipped(action)
        tau = setup.forces(applied)
        records = []
        for _ in range(setup.hold):
            record = step(setup.model, self._q, self._v, tau, options=setup.options, targets=setup.targets)
            self._q, self._v = np.array(record.q), np.array(record.v)
            records.append(record)
        self._elapsed += 1
        status = records[-1].status
        truncated = setup.horizon > 0 and self._elapsed >= setup.horizon
        info = {"jacobians": StepOfEnv(setup, records), "contacts": status.contacts}
        reward = float(setup.rewards(self._q, self._v, applied))
        return self._observation(), reward, status.diverged, truncated, info

    def _observation(self) -> Array:
        return np.concatenate([self._q, self._v])


def make(scene: Source, **options: Any) -> LitheEnv:
    """An environment of a scene or a file; options as in LitheEnv."""
    return LitheEnv(scene, **options)


def make_vec(scene: Source, num_envs: int, **options: Any) -> LitheVectorEnv:
    """Many worlds of a scene or a file in one environment, stepped on all cores; options as in LitheVectorEnv."""
    return LitheVectorEnv(num_envs, scene, **options)


def _register() -> None:
    for name, scene in {
        "Cartpole": "cartpole",
        "DoubleCartpole": "double_cartpole",
        "HalfCheetah": "half_cheetah",
        "JumpWorm": "jump_worm",
    }.items():
        identity = f"Lithe/{name}-v0"
        if identity not in gymnasium.registry:
            gymnasium.register(
                id=identity,
                entry_point="lithe.gym:LitheEnv",
                vector_entry_point="lithe.gym:LitheVectorEnv",
                kwargs={"scene": scene},
            )


_register()
