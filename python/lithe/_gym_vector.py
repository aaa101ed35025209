"""Many worlds as one Gymnasium vector environment."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium.spaces import Box
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from lithe._gym_jacobians import EnvJacobians, StepOfWorld, StepOfWorlds, chain
from lithe._gym_setup import Actuated, Reward, Setup, set_up
from lithe._lithe import StepBatch, StepOptions, Task
from lithe.world import GroundLike, Source

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]
Seeds = int | Sequence[int | None] | None


class LitheVectorEnv(VectorEnv[Array, NDArray[np.float32], Any]):
    """Many worlds of one scene, stepped together on all cores. Each has the bits of a LitheEnv of its own.

    What happens to a world that is done is said by autoreset_mode, and by metadata['autoreset_mode']:

      NEXT_STEP  (default) its next step() ignores the action and resets: the initial observation, a reward of 0
      SAME_STEP  it is reset at once: the observation is the next episode's first; infos['final_obs'] and
                 infos['final_info'] are the end
      DISABLED   nothing: call reset(options={'reset_mask': done}) before the next step

    For the Jacobians in infos, the records of hold · num_envs steps are kept.
    """

    metadata: dict[str, Any] = {"render_modes": [], "autoreset_mode": AutoresetMode.NEXT_STEP}

    def __init__(
        self,
        num_envs: int,
        scene: Source,
        *,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        threads: int = 0,
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
        """threads=0: one per core. Everything else as in LitheEnv."""
        if num_envs < 1:
            raise ValueError(f"num_envs: {num_envs}; give 1 or more")
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
        self.num_envs = num_envs
        self.render_mode = None
        self.autoreset_mode = AutoresetMode(autoreset_mode)
        self.metadata = {**self.metadata, "autoreset_mode": self.autoreset_mode}
        model, limits = self.setup.model, self.setup.limits.astype(np.float32)
        self.single_observation_space = Box(-np.inf, np.inf, (model.nq + model.nv,), dtype=np.float64)
        self.single_action_space = Box(-limits, limits, dtype=np.float32)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._worlds = [StepBatch(model, num_envs, threads=threads) for _ in range(self.setup.hold)]
        self._q = np.tile(self.setup.q, (num_envs, 1))
        self._v = np.tile(self.setup.v, (num_envs, 1))
        self._elapsed = np.zeros(num_envs, dtype=np.int64)
        self._done = np.zeros(num_envs, dtype=np.bool_)
        self._randoms: list[np.random.Generator | None] = [None] * num_envs
        self._last_step: StepOfWorlds | None = None

    def reset(self, *, seed: Seeds = None, options: dict[str, Any] | None = None) -> tuple[Array, dict[str, Any]]:
        """All worlds, or those of options={'reset_mask': (num_envs,)}. World i gets the seed seed + i, or seed[i].

        Options 'q' and 'v' as in LitheEnv, for all worlds or with a row for each.
        """
        options = dict(options or {})
        which = np.ones(self.num_envs, dtype=np.bool_)
        if "reset_mask" in options:
            which = np.asarray(options.pop("reset_mask"), dtype=np.bool_)
            if which.shape != (self.num_envs,):
                raise ValueError(f"reset_mask: expected shape ({self.num_envs},), got {which.shape}")
        seeds: Sequence[int | None] = [None] * self.num_envs
        if isinstance(seed, (int, np.integer)):
            seeds = [int(seed) + i for i in range(self.num_envs)]
        elif seed is not None:
            seeds = seed
        if len(seeds) != self.num_envs:
            raise ValueError(f"seed: {len(seeds)} for {self.num_envs} worlds")
        for i in np.flatnonzero(which):
            if seeds[i] is not None:
                self._randoms[i], _ = seeding.np_random(seeds[i])
        self._restart(which, options)
        self._done &= ~which
        return self._observations(), {}

    def step(self, actions: NDArray[np.float32]) -> tuple[Array, Array, Flags, Flags, dict[str, Any]]:
        """`hold` steps of the model in each world, under its action (num_envs, actions)."""
        setup = self.setup
        if self.autoreset_mode == AutoresetMode.DISABLED and self._done.any():
            raise RuntimeError(
                f"world {int(np.argmax(self._done))} is done: call reset(options={{'reset_mask': …}}) first"
            )
        applied = setup.clipped(actions, self.num_envs)
        q, v, tau = self._q, self._v, setup.forces(applied)
        if self._last_step is not None:
            self._last_step.close()
        for worlds in self._worlds:
            worlds.step(q, v, tau, options=setup.options, targets=setup.targets)
            q, v = worlds.q, worlds.v
        last = self._worlds[-1]
        self._q, self._v = np.array(q), np.array(v)
        self._elapsed += 1
        rewards = setup.rewards(self._q, self._v, applied)
        terminated = np.array([last.status(i).diverged for i in range(self.num_envs)], dtype=np.bool_)
        truncated = self._elapsed >= setup.horizon if setup.horizon > 0 else np.zeros_like(terminated)
        ignored = self._done.copy()  # worlds whose action was not looked at: they are reset instead
        rewards, terminated, truncated = np.where(ignored, 0.0, rewards), terminated & ~ignored, truncated & ~ignored
        infos = self._infos(~ignored)
        self._done = terminated | truncated
        if self.autoreset_mode == AutoresetMode.SAME_STEP and self._done.any():
            self._keep_ends(infos)
            self._restart(self._done, {})
            self._done[:] = False
        self._restart(ignored, {})
        return self._observations(), rewards, terminated, truncated, infos

    def jacobians(self) -> EnvJacobians:
        """Of the last step of all worlds, (num_envs, …) each."""
        if self._last_step is None:
            raise RuntimeError("jacobians: no step was taken yet")
        return self._last_step()

    def _infos(self, stepped: Flags) -> dict[str, Any]:
        self._last_step = StepOfWorlds(lambda: chain([worlds.jacobians() for worlds in self._worlds], self.setup.dofs))
        of_each = np.empty(self.num_envs, dtype=object)
        of_each[:] = [StepOfWorld(self._last_step, i) if stepped[i] else None for i in range(self.num_envs)]
        contacts = np.where(stepped, np.array(self._worlds[-1].contacts), 0)
        return {"jacobians": of_each, "_jacobians": stepped.copy(), "contacts": contacts, "_contacts": stepped.copy()}

    def _keep_ends(self, infos: dict[str, Any]) -> None:
        """The last observations and infos of worlds that are done."""
        ends, mask = np.full(self.num_envs, None, dtype=object), self._done.copy()
        observations = self._observations()
        for i in np.flatnonzero(mask):
            ends[i] = observations[i]
        infos.update(final_obs=ends, _final_obs=mask)
        final: dict[str, Any] = {}
        for key in ("jacobians", "contacts"):
            final[key], final[f"_{key}"] = infos[key].copy(), mask.copy()
            infos[f"_{key}"] &= ~mask  # what is left is of the episode that begins
        infos.update(final_info=final, _final_info=mask.copy())

    def _restart(self, which: Flags, options: dict[str, Any]) -> None:
        for i in np.flatnonzero(which):
            random = self._randoms[i]
            if random is None:
                random = self._randoms[i] = seeding.np_random(None)[0]
            of_world = {key: x if np.ndim(x) < 2 else x[i] for key, x in options.items()}
            self._q[i], self._v[i] = self.setup.start(random, of_world)
            self._elapsed[i] = 0

    def _observations(self) -> Array:
        return np.concatenate([self._q, self._v], axis=1)
