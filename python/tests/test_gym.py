"""lithe.gym: Gymnasium's own checks, derivatives from infos, and vector environments against single ones."""

import pickle
import warnings

import numpy as np
import pytest

import lithe

gymnasium = pytest.importorskip("gymnasium", reason="gymnasium is not installed")

from gymnasium.utils.env_checker import check_env  # noqa: E402
from gymnasium.vector import AutoresetMode  # noqa: E402

import lithe.gym as lg  # noqa: E402

IDS = ["Lithe/Cartpole-v0", "Lithe/DoubleCartpole-v0", "Lithe/HalfCheetah-v0", "Lithe/JumpWorm-v0"]


def actions_of(env, count, seed):
    rng = np.random.default_rng(seed)
    space = env.action_space
    return rng.uniform(space.low, space.high, (count, *space.shape)).astype(np.float32)


@pytest.mark.parametrize("identity", IDS)
def test_gymnasium_finds_nothing_wrong(identity):
    # Unbounded observations and forces in newtons are meant so; Gymnasium recommends others.
    with warnings.catch_warnings():
        warnings.filterwarnings("error")
        warnings.filterwarnings("ignore", message=".*(symmetric and normalized space|infinity).*")
        env = gymnasium.make(identity)
        check_env(env.unwrapped)
        env.close()


@pytest.mark.parametrize("identity", IDS)
def test_an_episode_is_as_long_as_its_task(identity):
    env = gymnasium.make(identity)
    observation, info = env.reset(seed=4)
    assert env.observation_space.contains(observation) and info == {}
    setup = env.unwrapped.setup
    total = 0.0
    for k, action in enumerate(actions_of(env, 10_000, seed=5)):
        observation, reward, terminated, truncated, info = env.step(action)
        assert env.observation_space.contains(observation) and isinstance(reward, float) and not terminated
        total += reward
        if truncated:
            break
    assert k + 1 == setup.horizon and np.isfinite(total)


def test_rewards_are_the_tasks_loss():
    for name in ("cartpole", "jump_worm"):
        scene = lithe.scene(name)
        env = lg.make(name, hold=1)
        env.reset(seed=6)
        action = np.array(env.action_space.high / 2)
        observation, reward, *_ = env.step(action)
        q, v = np.split(observation, [scene.model.nq])
        loss = lithe.task_loss(scene.task, scene.model, q, v)
        assert reward == pytest.approx(-loss.value - 1e-3 * 0.25)


def test_actions_are_clipped_forces_of_driven_joints():
    env = lg.make("half_cheetah", hold=1, noise=0)
    env.reset()
    observation, *_ = env.step(np.full(6, 1e6, dtype=np.float32))
    scene = lithe.scene("half_cheetah")
    tau = np.array([0, 0, 0, 120, 90, 60, 120, 60, 30], dtype=float)
    record = lithe.step(scene.model, scene.q, scene.v, tau, options=scene.time_step)
    assert np.array_equal(observation, np.concatenate([record.q, record.v]))
    with pytest.raises(ValueError, match=r"action: expected shape \(6,\), got \(5,\)"):
        env.step(np.zeros(5))
    with pytest.raises(ValueError, match="action: .* NaN"):
        env.step(np.full(6, np.nan))


def test_seeds_and_starts():
    env = lg.make("cartpole")
    first, _ = env.reset(seed=7)
    again, _ = env.reset()
    same, _ = env.reset(seed=7)
    assert np.array_equal(first, same) and not np.array_equal(first, again)
    assert np.abs(first - [1, 1, 0, 0]).max() <= 0.01
    exact, _ = env.reset(options={"q": [0.5, 0.25], "v": [1.0, 2.0]})
    assert np.array_equal(exact, [0.5, 0.25, 1.0, 2.0])
    with pytest.raises(ValueError, match="unknown .'state'."):
        env.reset(options={"state": 1})
    with pytest.raises(ValueError, match="v: expected 2 finite numbers"):
        env.reset(options={"v": [1.0, np.inf]})
    ball = lg.make("sliding_cube", actuated=["cube.x"], reward=lambda q, v, action: -(q[..., 0] ** 2))
    q = ball.reset(seed=8)[0][:7]
    assert np.linalg.norm(q[3:]) == pytest.approx(1) and not np.array_equal(q[3:], [0, 0, 0, 1])


@pytest.mark.parametrize("hold", [1, 4])
def test_jacobians_of_an_info_are_those_of_the_step(hold):
    env = lg.make("half_cheetah", hold=hold)
    env.reset(seed=9)
    for action in 0.2 * actions_of(env, 12, seed=10):
        observation, *_, info = env.step(action)
    start, action = observation, 0.1 * env.action_space.high
    *_, info = env.step(action)
    jacobians = info["jacobians"]()
    nv = env.setup.model.nv
    analytic = np.block(
        [
            [jacobians.dqnext_dq, jacobians.dqnext_dv, jacobians.dqnext_daction],
            [jacobians.dvnext_dq, jacobians.dvnext_dv, jacobians.dvnext_daction],
        ]
    )

    def after(x):  # nothing of the cheetah turns in space: q is its own tangent
        env.reset(options={"q": x[:nv], "v": x[nv : 2 * nv]})
        return env.step(x[2 * nv :])[0]

    x, h = np.concatenate([start, action]).astype(np.float64), 1e-6
    differences = np.stack([(after(x + h * e) - after(x - h * e)) / (2 * h) for e in np.eye(len(x))], axis=1)
    assert info["contacts"] >= 0 and analytic == pytest.approx(differences, rel=1e-4, abs=1e-4)


def test_jacobians_stay_with_their_step():
    env = lg.make("cartpole")
    env.reset(seed=11)
    *_, first = env.step([1.0])
    *_, second = env.step([1.0])
    late = first["jacobians"]()
    assert late is first["jacobians"]()
    assert not np.array_equal(late.dvnext_dq, second["jacobians"]().dvnext_dq)
    assert first["jacobians"] != second["jacobians"]
    copied = pickle.loads(pickle.dumps(first["jacobians"]))
    assert np.array_equal(copied().dvnext_dq, late.dvnext_dq) and copied == first["jacobians"]


def test_scenes_of_ones_own():
    reward = lambda q, v, action: np.cos(q[..., 0])  # noqa: E731
    env = lg.make("pendulum", reward=reward, horizon=3)
    check = env.reset(seed=12)[0]
    observation, value, _, truncated, _ = env.step(np.array([20.0]))
    assert env.setup.names == ["hinge"] and env.action_space.high == 10 and not truncated
    assert value == pytest.approx(np.cos(observation[0])) and not np.array_equal(check, observation)
    assert not env.step([0.0])[3] and env.step([0.0])[3]
    task = lithe.Task([lithe.TaskTerm("hinge", target=1.0)], 50)
    assert lg.make(lithe.scene("pendulum"), task=task, hold=5).setup.horizon == 10
    assert lg.make("pendulum", reward=reward).setup.horizon == 0
    assert lg.make("gripper", reward=reward).setup.targets is not None


def test_misuse_is_named():
    for options, text in [
        ({"scene": "pendulum"}, "scene 'pendulum' has no task that could be rewarded"),
        ({"scene": "cartpole", "hold": 0}, "hold: 0 steps"),
        ({"scene": "cartpole", "noise": -1}, "noise: -1"),
        ({"scene": "cartpole", "actuated": {"cart": 0}}, "joint 'cart' has the limit 0"),
        ({"scene": "cartpole", "actuated": ["cat"]}, "cart"),
        ({"scene": "cartpole", "actuated": []}, "no joint that an action could drive"),
        ({"scene": "cartpool"}, "cartpole"),
        ({"scene": "cartpole", "render_mode": "human"}, "render_mode"),
        ({"scene": "sliding_cube", "actuated": ["cube.ball"], "reward": abs}, "'cube.ball' is a ball"),
    ]:
        with pytest.raises(ValueError, match=text):
            lg.make(**options)
    with pytest.raises(ValueError, match="num_envs: 0"):
        lg.make_vec("cartpole", 0)


def test_a_world_that_overflows_is_terminated():
    env = lg.make("double_cartpole")
    env.reset(options={"v": [0, 1e200, 0]})
    _, reward, terminated, _, _ = env.step([0.0])
    assert terminated is True and np.isfinite(reward)
    envs = lg.make_vec("double_cartpole", 2)
    envs.reset(options={"v": np.array([[0, 0, 0], [0, 1e200, 0]])})
    assert envs.step(np.zeros((2, 1)))[2].tolist() == [False, True]


@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
@pytest.mark.parametrize("name", ["cartpole", "half_cheetah"])
def test_vector_environments_are_single_ones(mode, name):
    count, options = 3, {"horizon": 4}
    singles = gymnasium.vector.SyncVectorEnv([lambda: lg.make(name, **options)] * count, autoreset_mode=mode)
    together = lg.make_vec(name, count, autoreset_mode=mode, **options)
    assert together.metadata["autoreset_mode"] == mode
    assert together.single_action_space == singles.single_action_space and together.action_space == singles.action_space
    assert together.observation_space == singles.observation_space
    assert np.array_equal(together.reset(seed=13)[0], singles.reset(seed=13)[0])
    for action in actions_of(together, 11, seed=14):
        found, expected = together.step(action), singles.step(action)
        for a, b in zip(found[:4], expected[:4]):
            assert np.array_equal(a, b) and a.dtype == b.dtype
        assert ("final_obs" in found[4]) == ("final_obs" in expected[4])
        if "final_obs" in found[4]:
            assert found[4]["_final_obs"].all()
            assert np.array_equal(np.stack(found[4]["final_obs"]), np.stack(expected[4]["final_obs"]))
            assert np.array_equal(found[4]["final_info"]["contacts"], expected[4]["final_info"]["contacts"])
        for i in np.flatnonzero(found[4]["_jacobians"]):
            a, b = found[4]["jacobians"][i](), expected[4]["jacobians"][i]()
            assert a.dvnext_daction == pytest.approx(b.dvnext_daction, rel=1e-9, abs=1e-12)
            assert a.dqnext_dq == pytest.approx(b.dqnext_dq, rel=1e-9, abs=1e-12)


def test_worlds_end_at_their_own_times():
    envs = lg.make_vec("cartpole", 3, autoreset_mode="Disabled", horizon=3)
    envs.reset(seed=[1, 2, 3])
    zeros = np.zeros((3, 1), dtype=np.float32)
    envs.step(zeros)
    kept = envs.step(zeros)[0]
    observation, _ = envs.reset(seed=9, options={"reset_mask": np.array([False, True, False])})
    assert np.array_equal(observation[[0, 2]], kept[[0, 2]]) and not np.array_equal(observation[1], kept[1])
    assert envs.step(zeros)[3].tolist() == [True, False, True]
    with pytest.raises(RuntimeError, match="world 0 is done"):
        envs.step(zeros)
    envs.reset(options={"reset_mask": np.array([True, False, True])})
    assert envs.step(zeros)[3].tolist() == [False, False, False]


def test_jacobians_of_many_worlds():
    envs = gymnasium.make_vec("Lithe/HalfCheetah-v0", num_envs=4)
    with pytest.raises(RuntimeError, match="no step was taken yet"):
        envs.jacobians()
    envs.reset(seed=15)
    *_, infos = envs.step(actions_of(envs, 1, seed=16)[0])
    assert envs.jacobians().dvnext_daction.shape == (4, 9, 6)
    early = infos["jacobians"][2]
    assert np.array_equal(early().dqnext_dv, envs.jacobians().dqnext_dv[2])
    *_, later = envs.step(actions_of(envs, 1, seed=17)[0])
    assert early().dqnext_dv.shape == (9, 9), "computed before the step, and kept"
    envs.step(actions_of(envs, 1, seed=18)[0])
    with pytest.raises(RuntimeError, match="took another step since"):
        later["jacobians"][2]()


def test_vector_wrappers_work():
    envs = gymnasium.wrappers.vector.RecordEpisodeStatistics(lg.make_vec("cartpole", 2, horizon=3))
    envs = gymnasium.wrappers.vector.DictInfoToList(envs)
    envs.reset(seed=19)
    for _ in range(3):
        *_, infos = envs.step(np.zeros((2, 1), dtype=np.float32))
    assert len(infos) == 2 and infos[0]["episode"]["l"] == 3
    assert infos[1]["jacobians"]().dvnext_daction.shape == (2, 1)


def test_environments_run_in_other_processes():
    envs = gymnasium.make_vec("Lithe/Cartpole-v0", num_envs=2, vectorization_mode="async")
    together = lg.make_vec("cartpole", 2)
    try:
        assert np.array_equal(envs.reset(seed=20)[0], together.reset(seed=20)[0])
        action = np.ones((2, 1), dtype=np.float32)
        found, expected = envs.step(action), together.step(action)
        assert np.array_equal(found[0], expected[0])
        there, here = found[4]["jacobians"][1](), expected[4]["jacobians"][1]()
        assert there.dvnext_dq == pytest.approx(here.dvnext_dq, abs=1e-12)
    finally:
        envs.close()


def test_gradients_improve_a_control():
    """Newton's method on one held force, by the Jacobians of the infos: the cart shall be at 1.2 m after 0.3 s."""
    env = lg.make("cartpole", noise=0)
    force, misses = 0.0, []
    for _ in range(5):
        observation, _ = env.reset()
        by_force = np.zeros(4)
        for _ in range(30):
            observation, *_, info = env.step([force])
            j = info["jacobians"]()
            by_state = np.block([[j.dqnext_dq, j.dqnext_dv], [j.dvnext_dq, j.dvnext_dv]])
            by_force = by_state @ by_force + np.concatenate([j.dqnext_daction, j.dvnext_daction])[:, 0]
        misses.append(abs(observation[0] - 1.2))
        force -= (observation[0] - 1.2) / by_force[0]
    assert misses[0] > 0.1 and misses[-1] < 1e-8
