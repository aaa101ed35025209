"""Wrong, odd and hostile arguments: a clear error or the right answer, never a crash and never a wrong number."""

import concurrent.futures
import copy
import gc
import multiprocessing
import os
import threading

import numpy as np
import pytest

import lithe
from lithe.world import World

CHEETAH = "half_cheetah"


@pytest.fixture
def start():
    scene = lithe.scene(CHEETAH)
    rng = np.random.default_rng(2)
    return scene.model, scene.q + 0.1 * rng.normal(size=9), rng.normal(size=9), rng.normal(size=9)


def calls(model, q, v, tau):
    """Every argument that is an array of one size, as (name, size, function of it)."""
    names = ["body/torso/mass"] if "torso" in model.body_names else [model.parameter_names()[0]]
    return {
        "step q": ("q", 9, lambda x: lithe.step(model, x, v, tau)),
        "step v": ("v", 9, lambda x: lithe.step(model, q, x, tau)),
        "step tau": ("tau", 9, lambda x: lithe.step(model, q, v, x)),
        "step targets": ("targets", 0, lambda x: lithe.step(model, q, v, targets=x)),
        "step wrenches": ("wrenches", 6, lambda x: lithe.step(model, q, v, wrenches={model.body_names[1]: x})),
        "mass_matrix q": ("q", 9, lambda x: lithe.mass_matrix(model, x)),
        "rnea a": ("a", 9, lambda x: lithe.rnea(model, q, v, x)),
        "aba tau": ("tau", 9, lambda x: lithe.aba(model, q, v, x)),
        "gravity": ("gravity", 3, lambda x: setattr(model, "gravity", x)),
        "set_parameters": ("values", 1, lambda x: model.set_parameters(names, x)),
        "axis": ("axis", 3, lambda x: lithe.revolute("j", x)),
        "half_size": ("half_size", 3, lambda x: lithe.Box(x)),
    }


CALLS = list(calls(lithe.scene(CHEETAH).model, np.zeros(9), np.zeros(9), np.zeros(9)))


@pytest.mark.parametrize("call", CALLS)
def test_a_wrong_size_is_a_value_error_with_both_shapes(start, call):
    name, size, use = calls(*start)[call]
    with pytest.raises(ValueError, match=rf"{name}.*{size}.*{size + 1}"):
        use(np.zeros(size + 1))
    for wrong in [np.zeros((size + 1, 2)), np.zeros((1, 1, size)), 0.0, np.float64(1), np.array(1.0), np.array(1), 7]:
        with pytest.raises(ValueError, match=f"{name}.*shape"):
            use(wrong)


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize(
    "make",
    [
        lambda n: np.ones(n, complex),
        lambda n: [1j] * n,
        lambda n: "x" * n,
        lambda n: ["x"] * n,
        lambda n: np.array([None] * n, object),
        lambda n: np.array([1.0] * n, object),
        lambda n: [[1.0], [1.0, 2.0]],
        lambda n: {"a": 1},
        lambda n: {1.0, 2.0},
        lambda n: object(),
        lambda n: b"x" * n,
        lambda n: np.ones(n, bool),
        lambda n: np.zeros(n, "datetime64[s]"),
        lambda n: (1.0 for _ in range(n)),
        lambda n: lithe.Pose(),
    ],
    ids="complex complexes str strs None object ragged dict set thing bytes bool date generator Pose".split(),
)
def test_what_is_not_numbers_is_a_value_error_that_names_the_argument(start, call, make):
    name, size, use = calls(*start)[call]
    with pytest.raises(ValueError, match=name):
        use(make(max(size, 1)))


def forms(x):
    """The same numbers in every layout that NumPy has."""
    step2 = np.zeros((len(x), 2))
    step2[:, 0] = x
    packed = np.zeros(len(x), dtype=[("a", "i4"), ("x", "f8"), ("b", "i1")])  # unaligned, 13 bytes apart
    packed["x"] = x
    reading = x.copy()
    reading.flags.writeable = False
    return {
        "array": x,
        "list": list(x),
        "tuple": tuple(map(float, x)),
        "strided": step2[:, 0],
        "reversed": x[::-1].copy()[::-1],
        "read-only": reading,
        "Fortran": np.asfortranarray(step2)[:, 0],
        "big-endian": x.astype(">f8"),
        "unaligned": packed["x"],
        "long double": x.astype(np.longdouble),
        "memoryview": memoryview(x),
        "broadcast row": np.broadcast_to(x, (3, len(x)))[1],
    }


@pytest.mark.parametrize("form", forms(np.zeros(1)))
def test_layouts_do_not_matter(start, form):
    model, q, v, tau = start
    expected = lithe.step(model, q, v, tau)
    record = lithe.step(model, forms(q)[form], forms(v)[form], forms(tau)[form])
    assert record.q.tobytes() == expected.q.tobytes() and record.v.tobytes() == expected.v.tobytes()
    M = lithe.mass_matrix(model, q)
    assert lithe.mass_matrix(model, forms(q)[form]).tobytes() == M.tobytes()


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int64, np.int8, np.uint16, int])
def test_other_numbers_are_converted(start, dtype):
    model, q, v, tau = start
    q, v, tau = (np.array([1, 0, 2, 0, 1, 3, 0, 1, 2], dtype) for _ in range(3))
    expected = lithe.step(model, q.astype(float), v.astype(float), tau.astype(float))
    record = lithe.step(model, q, v, tau)
    assert record.q.tobytes() == expected.q.tobytes()
    assert lithe.step(model, q.tolist(), v.tolist(), tau.tolist()).q.tobytes() == expected.q.tobytes()


def test_arguments_are_not_changed(start):
    kept = [x.copy() for x in start[1:]]
    record = lithe.step(*start)
    for _ in range(5):
        record = lithe.step(start[0], record.q, record.v, start[3])
    for x, before in zip(start[1:], kept, strict=True):
        assert x.tobytes() == before.tobytes()


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("name", ["q", "v", "tau"])
def test_what_is_not_finite_is_refused_with_its_place(start, name, value):
    model, *arrays = start
    bad = dict(zip(["q", "v", "tau"], map(np.array, arrays), strict=True))
    bad[name][4] = value
    with pytest.raises(ValueError, match=rf"{name}.*4"):
        lithe.step(model, **bad)


def test_what_is_not_finite_is_refused_elsewhere_too(start):
    model, q, v, tau = start
    body = model.body_names[1]
    for use, name in [
        (lambda: lithe.step(model, q, v, wrenches={body: [np.nan] * 6}), "wrench"),
        (lambda: lithe.step(model, q, v, options=np.nan), "time step"),
        (lambda: lithe.rnea(model, q, v, np.full(9, np.inf)), "a"),
        (lambda: lithe.mass_matrix(model, np.full(9, np.nan)), "q"),
        (lambda: setattr(model, "gravity", [0, 0, np.nan]), "gravity"),
        (lambda: model.__setitem__(model.parameter_names()[0], np.nan), "nan"),
    ]:
        with pytest.raises(ValueError, match=name):
            use()
    assert lithe.step(model, q, v, tau).status.solved


def test_none_and_wrong_types_are_type_errors(start):
    model, q, v, tau = start
    for use in [
        lambda: lithe.step(model, None, v),
        lambda: lithe.step(model, q, None),
        lambda: lithe.step(None, q, v),
        lambda: lithe.step(lithe.scene(CHEETAH), q, v),
        lambda: lithe.step(model, q),
        lambda: lithe.step(model, q, v, tau, 0.001),
        lambda: lithe.step(model, q, v, options="fast"),
        lambda: lithe.step(model, q, v, wrenches=[1, 2]),
        lambda: lithe.step(model, q, v, wrenches={3: np.zeros(6)}),
        lambda: lithe.step(model, q, v, guess=3),
        lambda: lithe.step(model, q, v, record=3),
        lambda: lithe.mass_matrix(model, None),
        lambda: lithe.scene(3),
        lambda: model[3],
        lambda: model.body(1.5),
    ]:
        with pytest.raises(TypeError):
            use()


def test_unknown_names_are_errors_that_suggest(start):
    model = start[0]
    for use, suggestion in [
        (lambda: lithe.scene("half_chetah"), CHEETAH),
        (lambda: model.body(model.body_names[1] + "x"), model.body_names[1]),
        (lambda: model.joint(model.joint_names[0] + "x"), model.joint_names[0]),
        (lambda: model[model.parameter_names()[0] + "x"], model.parameter_names()[0]),
        (lambda: lithe.step(model, *start[1:3], wrenches={"nobody": np.zeros(6)}), "nobody"),
    ]:
        with pytest.raises(lithe.Error, match=suggestion):
            use()


@pytest.mark.parametrize("size", [1e30, 1e150, 1e200, 1e308])
def test_huge_numbers_end_in_a_status_and_not_in_nan(start, size):
    model, q, v, tau = start
    large = size * np.array([1, -1, 0.5, 0, 1, -1, 1, 0.25, -1])
    for arrays in [(q, v, large), (q, large, tau), (large, v, tau)]:
        record = lithe.step(model, *arrays)
        assert np.isfinite(record.q).all() and np.isfinite(record.v).all()
        if record.status.diverged:
            assert record.v.tobytes() == arrays[1].tobytes()


def test_a_time_step_must_be_positive(start):
    model, q, v, _ = start
    for wrong in [0, -1e-3, np.inf]:
        with pytest.raises(ValueError, match="time step"):
            lithe.step(model, q, v, options=wrong)


def test_parts_outlive_their_parents():
    scene = lithe.scene(CHEETAH)
    model, shape = scene.model, scene.model.shapes[0]
    material, placement = shape.material, shape.placement
    friction, place = material.friction, placement.p.copy()
    loaded = lithe.load_text(lithe.write_mjcf(model).xml, "x.xml").model
    mass = loaded.total_mass
    del scene, shape
    gc.collect()
    churn = [lithe.scene(CHEETAH) for _ in range(20)]
    assert model.nv == 9 and len(model.body_names) == len(churn[0].model.body_names)
    assert material.friction == friction and placement.p.tobytes() == place.tobytes()
    assert loaded.total_mass == mass
    assert lithe.step(model, np.zeros(9), np.zeros(9)).q.shape == (9,)


def test_arrays_of_a_record_outlive_it(start):
    record = lithe.step(*start)
    arrays = [record.q, record.v, record.q_before, record.v_before, record.tau, record.f]
    kept = [array.copy() for array in arrays]
    contacts = record.contacts
    del record
    gc.collect()
    churn = [lithe.step(start[0], start[1] + 0.01 * k, start[2]) for k in range(20)]
    assert len(churn) == 20
    for array, before in zip(arrays, kept, strict=True):
        assert array.tobytes() == before.tobytes()
    assert not any(array.flags.writeable for array in arrays[:5])  # views; f is a copy
    assert all(np.isfinite(contact.impulse).all() for contact in contacts)


def test_results_can_be_written_to_without_harm(start):
    M = lithe.mass_matrix(start[0], start[1])
    before = M.copy()
    M[:] = 7
    assert lithe.mass_matrix(start[0], start[1]).tobytes() == before.tobytes()


def test_an_argument_that_calls_back_into_lithe_does_not_mix_up_states(start):
    model, q, v, tau = start

    class Lazy:
        def __array__(self, dtype=None, copy=None):
            lithe.step(model, np.zeros(9), np.zeros(9))
            return np.array(v)

    assert lithe.step(model, q, Lazy(), tau).q.tobytes() == lithe.step(model, q, v, tau).q.tobytes()


def test_an_argument_that_raises_is_reported(start):
    class Broken:
        def __array__(self, dtype=None, copy=None):
            raise KeyError("mine")

    with pytest.raises(ValueError, match="q: .*mine"):
        lithe.step(start[0], Broken(), start[2])


def run(model, q, v, steps=150):
    record = None
    for _ in range(steps):
        record = lithe.step(model, q, v, options=2e-3, guess=record)
        q, v = record.q, record.v
    return q.tobytes() + v.tobytes()


def test_many_threads_step_one_model_to_the_same_bits(start):
    model, q, v, _ = start
    starts = [(q + 0.01 * k, v - 0.1 * k) for k in range(8)]
    expected = [run(model, *state) for state in starts]
    all_at_once = threading.Barrier(len(starts))

    def work(state):
        all_at_once.wait()
        return run(model, *state)

    with concurrent.futures.ThreadPoolExecutor(len(starts)) as pool:
        assert list(pool.map(work, starts)) == expected


def test_threads_may_use_many_models_at_once():
    names = ["pendulum", "cartpole", CHEETAH, "boxes", "four_bar", "gripper"]
    expected = [World(name).simulate(0.02).q.tobytes() for name in names]
    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        results = list(pool.map(lambda name: World(name).simulate(0.02).q.tobytes(), 3 * names))
    assert results == 3 * expected


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_other_processes_step_to_the_same_bits(method):
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"this system has no {method}")
    world = World(CHEETAH)
    world.step(steps=3)
    expected = copy.copy(world).simulate(0.05)
    with multiprocessing.get_context(method).Pool(2) as pool:
        motions = [pool.apply_async(world.simulate, (0.05,)) for _ in range(3)]
        for motion in motions:
            result = motion.get(timeout=300)
            assert result.q.tobytes() == expected.q.tobytes() and result.v.tobytes() == expected.v.tobytes()


def test_a_forked_child_can_go_on_with_what_its_parent_held(start):
    if not hasattr(os, "fork"):
        pytest.skip("this system has no fork")
    model, q, v, tau = start
    record = lithe.step(model, q, v, tau)
    expected = lithe.step(model, record.q, record.v, guess=record).q.tobytes()
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(writer, lithe.step(model, record.q, record.v, guess=record).q.tobytes())
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        result = pipe.read()
    os.waitpid(child, 0)
    assert result == expected
