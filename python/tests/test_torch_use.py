"""lithe.torch in use: what is kept, threads, reports, misuse, training, torch.func."""

import subprocess
import sys
import threading
import types
import warnings

import numpy as np
import pytest

import lithe

torch = pytest.importorskip("torch", reason="torch is not installed")

import lithe.torch as lt  # noqa: E402
from lithe import _torch_functions as functions  # noqa: E402
from lithe._torch_coordinates import coordinates_of  # noqa: E402
from torch_cases import CASES, EXACT, noise, numbers  # noqa: E402


NEW_TORCH = hasattr(torch, "func")


def test_a_gradient_of_a_gradient_is_an_error():
    case = CASES["sliding"]()
    for call, tau in ((case.step(), numbers(case.tau)), (case.rollout(), numbers(case.tau[None]))):
        q, v, _, *values = case.inputs()
        (by_v,) = torch.autograd.grad(call(q, v, tau, *values)[1].square().sum(), v, create_graph=True)
        with pytest.raises(RuntimeError, match="differentiated once"):
            by_v.sum().backward()
    # Asking for the graph is no error as long as nothing goes back through it.
    q, v, tau, *values = case.inputs()
    scale = numbers(2.0)
    _, v_next = case.step()(q, v, tau, *values)
    (by_v,) = torch.autograd.grad(v_next.sum(), v, create_graph=True)
    (scale * by_v.detach().sum()).backward()
    assert scale.grad == by_v.sum()


def test_without_gradients_nothing_is_recorded():
    case = CASES["sliding"]()
    q, v, tau, *values = case.inputs(2)
    expected = case.step()(q, v, tau, *values)[0]
    for mode in (torch.no_grad, torch.inference_mode):
        with mode():
            q_next, v_next = case.step()(q, v, tau, *values)
        assert not q_next.requires_grad and q_next.grad_fn is None
        assert torch.equal(q_next, expected)
    assert not lt.step(case.model, q.detach(), v.detach())[0].requires_grad


def test_only_what_is_asked_for_is_differentiated():
    case = CASES["robot on the ground"]()
    q, v, tau = (x.detach() for x in case.inputs(2)[:3])
    tau.requires_grad_()
    q_next, _ = lt.step(case.model, q, v, tau, options=case.options)
    q_next.sum().backward()
    assert q.grad is None and tau.grad.abs().sum() > 0


def test_recomputed_steps_have_the_same_gradients():
    case = CASES["on a corner"]()
    found = []
    for recompute in (False, True):
        inputs = case.inputs(3, spread=1e-3)
        q_next, v_next = case.step(recompute=recompute)(*inputs)
        found.append(torch.autograd.grad(q_next.sum() + v_next.sum(), inputs))
    assert all(torch.equal(a, b) for a, b in zip(*found))


def test_a_model_is_read_when_it_is_used():
    case = CASES["sliding"]()
    model = case.model.copy()
    q, v, tau, *_ = case.inputs(2)
    before = lt.step(model, q, v, tau, options=case.options, gradient=EXACT)
    model["gravity/z"] = -1.0
    (late,) = torch.autograd.grad(before[1].sum(), v)
    (expected,) = torch.autograd.grad(lt.step(case.model, q, v, tau, options=case.options, gradient=EXACT)[1].sum(), v)
    assert torch.equal(late, expected), "the gradient is that of the model as it was"
    with torch.no_grad():
        after = lt.step(model, q, v, tau, options=case.options)
    assert np.array_equal(after[1][0].numpy(), lithe.step(model, case.q, case.v, case.tau, options=case.options).v)
    assert not torch.equal(before[1], after[1])


def test_earlier_results_stay():
    case = CASES["robot on the ground"]()
    q, v = torch.tensor(case.q).expand(4, 9), torch.tensor(case.v).expand(4, 9)
    first, _ = lt.step(case.model, q, v)
    copy = first.clone()
    for k in range(5):
        lt.step(case.model, q, v + k)
    assert torch.equal(first, copy)


def test_inputs_changed_in_place_are_noticed():
    case = CASES["sliding"]()
    q, v = torch.tensor(case.q), numbers(case.v)
    _, v_next = lt.step(case.model, q, v)
    q += 1
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        v_next.sum().backward()


def test_several_threads_get_what_one_gets():
    case = CASES["robot on the ground"]()
    inputs = [case.inputs(4, spread=1e-2 * k) for k in range(6)]

    def gradient(x):
        q_next, v_next = case.step()(*x)
        return torch.autograd.grad(q_next.sum() + v_next.square().sum(), x)

    expected, found = [gradient(x) for x in inputs], {}

    def work(k):
        for _ in range(10):
            found[k] = gradient(inputs[k])

    threads = [threading.Thread(target=work, args=(k,)) for k in range(len(inputs))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == len(inputs)
    for k, one in enumerate(expected):
        assert all(torch.equal(a, b) for a, b in zip(one, found[k]))


def test_a_forked_process_can_step():
    script = """
import os, sys, torch, lithe, lithe.torch
scene = lithe.scene('half_cheetah')
q, v = torch.tensor(scene.q).expand(8, -1), torch.tensor(scene.v).expand(8, -1).clone().requires_grad_()
kept = lithe.torch.step(scene.model, q, v, threads=2)[0]
here = lithe.torch.step(scene.model, q, v, threads=2)[0].detach()
child = os.fork()
if child == 0:
    del kept
    there = lithe.torch.step(scene.model, q, v, threads=2)[0]
    there.sum().backward()
    os._exit(0 if torch.equal(there, here) else 3)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    assert subprocess.run([sys.executable, "-c", script], timeout=300).returncode == 0


def test_reports_say_what_a_gradient_is():
    case = CASES["robot on the ground"]()
    inputs = case.inputs(2, spread=1e-3)
    case.step()(*inputs)[1].sum().backward()
    reports = lt.last_reports()
    assert len(reports) == 2 and all(report.mode == "exact" and report.clamping == 4 for report in reports)
    q, v, _, *values = inputs
    case.rollout()(q, v, torch.zeros(3, 9, dtype=torch.float64), *values)[0][..., -1, :].sum().backward()
    assert [report.steps for report in lt.last_reports()] == [3, 3]


def test_overflow_is_a_warning():
    case = CASES["smooth"]()
    q, v = numbers(case.q), numbers(case.v)
    with pytest.warns(RuntimeWarning, match="overflowed in a step .item 1, of 2"):
        q_next, _ = lt.step(case.model, q, torch.stack([v, v + 1e200]))
    assert torch.equal(q_next[1], q)
    with pytest.warns(RuntimeWarning, match="overflowed in a step"):
        lt.rollout(case.model, q, v + 1e200, torch.zeros(2, 2, dtype=torch.float64))
    q_next, v_next = lt.step(case.model, q, v, gradient=EXACT)
    with pytest.warns(RuntimeWarning, match="too large for a double"):
        (1e308 * (q_next.sum() + v_next.sum())).backward()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        lt.step(case.model, q, v)[0].sum().backward()


def raises(text, error=ValueError):
    return pytest.raises(error, match=text)


def test_misuse_is_named():
    case = CASES["sliding"]()
    model, q, v, tau = case.model, *(x.detach() for x in case.inputs()[:3])
    with raises(r"q: expected shape \(…, 7\), got \(3,\)"):
        lt.step(model, q[:3], v)
    with raises(r"v: expected shape \(…, 6\), got \(2, 5\)"):
        lt.step(model, q, v[:5].expand(2, 5))
    with raises(r"q: expected shape \(…, 7\), got \(\)"):
        lt.step(model, q[0], v)
    with raises(r"tau: expected shape \(…, T, 6\), got \(6,\)"):
        lt.rollout(model, q, v, tau)
    with raises(r"do not broadcast to one batch: q \(2,\), v \(3,\)"):
        lt.step(model, q.expand(2, 7), v.expand(3, 6))
    with raises(r"do not broadcast to one batch: .*params\['gravity/z'\] \(3,\)"):
        lt.step(model, q.expand(2, 7), v, None, {"gravity/z": torch.ones(3, dtype=torch.float64)})
    with raises("v: is float32, but q is float64"):
        lt.step(model, q, v.float())
    with raises(r"params\['gravity/z'\]: is float32, but q is float64"):
        lt.step(model, q, v, None, {"gravity/z": torch.tensor(-9.0)})
    with raises("q: expected float32 or float64, got int64"):
        lt.step(model, q.long(), v)
    with raises("tau: is on device 'meta'"):
        lt.step(model, q, v, tau.to("meta"))
    with raises("q: expected a dense tensor"):
        lt.step(model, q.to_sparse(), v)
    with raises("q: expected a torch.Tensor, got ndarray", TypeError):
        lt.step(model, q.numpy(), v)
    with raises(r"params\['gravity/z'\]: expected a tensor or a number, got list", TypeError):
        lt.step(model, q, v, None, {"gravity/z": [1.0]})
    with raises("gravity/y", lithe.Error):
        lt.step(model, q, v, None, {"gravity/yy": 1.0})
    with raises("world 1: .*"):
        lt.step(model, q, torch.stack([v, v * float("nan")]))
    with raises("mass", lithe.Error):
        lt.step(model, q, v, None, {"body/cube/mass": -1.0})


def test_misuse_of_targets_is_named():
    case = CASES["motor and loop"]()
    model, q, v = case.model, torch.tensor(case.q), torch.tensor(case.v)
    targets, tau = torch.ones(1, dtype=torch.float64), torch.zeros(4, 3, dtype=torch.float64)
    with raises(r"params\['motor/drive/target'\]: the motors are off"):
        lt.step(model, q, v, None, {"motor/drive/target": 1.0})
    with raises("a second time"):
        lt.step(model, q, v, None, {"motor/drive/target": 1.0}, targets=targets)
    with raises(r"targets: expected shape \(…, 1\), got \(2,\)"):
        lt.step(model, q, v, targets=[1.0, 2.0])
    with raises("targets: require a gradient"):
        lt.rollout(model, q, v, tau, targets=torch.ones(4, 1, dtype=torch.float64, requires_grad=True))
    q_all, _ = lt.rollout(model, q, v, tau, targets=np.ones((4, 1)))
    chained = q, v
    for _ in range(4):
        chained = lt.step(model, *chained, targets=targets)
    assert torch.allclose(q_all[-1], chained[0], atol=1e-12)


def test_a_policy_is_trained_through_friction():
    case = CASES["sliding"]()
    torch.manual_seed(1)
    policy = torch.nn.Sequential(torch.nn.Linear(2, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1)).double()
    optimizer = torch.optim.Adam(policy.parameters(), lr=0.02)
    start = (
        torch.tensor(case.q).expand(4, 7)
        + 0.1 * torch.linspace(-1, 1, 4)[:, None] * torch.eye(7, dtype=torch.float64)[0]
    )
    losses = []
    for _ in range(15):
        q, v = start, torch.zeros(4, 6, dtype=torch.float64)
        for _ in range(20):
            push = 20 * policy(torch.stack([q[:, 0], v[:, 0]], dim=-1))
            q, v = lt.step(case.model, q, v, torch.nn.functional.pad(push, (0, 5)), options=0.01)
        loss = (q[:, 0] - 0.3).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 0.2 * losses[0]


def test_tangents_and_entries_are_inverse_maps():
    model = lithe.scene("boxes").model
    coordinates = coordinates_of(model)
    q = lithe.random_configuration(model, 3)
    delta = noise(model.nv, 1.0, seed=11)
    assert coordinates.tangent_of(q, coordinates.change_of(q, delta)) == pytest.approx(delta, abs=1e-12)
    assert coordinates.gradient_by_tangent(q, coordinates.gradient_by_entries(q, delta)) == pytest.approx(
        delta, abs=1e-12
    )
    small = 1e-6 * delta
    moved = np.asarray(lithe.retract(model, q, small)) - q
    assert coordinates.change_of(q, small) == pytest.approx(moved, abs=1e-10)


def mapped(function, in_dims, size, *arguments):
    """What torch.func.vmap does with a function's rule."""
    return function.vmap(types.SimpleNamespace(batch_size=size, randomness="error"), in_dims, *arguments)


def test_the_vmap_rules_take_mapped_items_as_a_batch():
    case = CASES["robot on the ground"]()
    parameters = lithe.StepParameters(case.model, list(case.params))
    call = functions.Call(case.model, parameters, case.options, EXACT, 1, motors_on=False)
    q, v, tau, *values = (x.detach() for x in case.inputs(2, 3, spread=1e-2))
    targets = torch.zeros(3, 0, dtype=torch.float64)
    params = torch.stack(values).expand(3, -1)
    # Mapped over dimension 1 of q, 0 of v, and not over the rest.
    (q_next, v_next, _, taken), dims = mapped(
        functions.Step, (None, 1, 0, None, None, None), 2, call, q.transpose(0, 1), v, tau[0], targets, params
    )
    assert dims == (0, 0, 0, None) and q_next.shape == (2, 3, 9)
    expected = case.step()(q, v, tau[0], *values)
    assert torch.equal(q_next, expected[0]) and torch.equal(v_next, expected[1])
    # The rule of the derivative: with the records of these items, and with those of others, which must not be used.
    by = torch.tensor(noise((2, 3, 9), 1.0, seed=12))
    leaves = tuple(x.clone().requires_grad_() for x in (q, v, tau[0]))
    q_next, v_next = case.step()(*leaves, *values)
    by_q, by_v, by_tau = torch.autograd.grad(((q_next + v_next) * by).sum(), leaves)
    no_forces = torch.zeros(3, 0, dtype=torch.float64)
    other = functions.Step.apply(call, 0 * q[0], v[0], tau[0], targets, params)[-1]
    for records in (taken, other, None):
        found, dims = mapped(
            functions.StepVjp,
            (None, None, 0, 0, None, None, None, 0, 0, None),
            2,
            call,
            records,
            q,
            v,
            tau[0],
            targets,
            params,
            by,
            by,
            no_forces,
        )
        assert dims == (0, 0, 0, 0)
        assert torch.equal(found[0], by_q) and torch.equal(found[1], by_v)
        assert torch.allclose(found[2].sum(0), by_tau, atol=1e-12)


@pytest.mark.skipif(not NEW_TORCH, reason="torch.func needs torch 2, and this is torch " + torch.__version__)
@pytest.mark.parametrize("name", ["on a corner", "robot on the ground"])
def test_torch_func(name):
    from torch.func import grad, jacfwd, jacrev, jvp, vmap

    case = CASES[name]()
    inputs = tuple(x.detach() for x in case.inputs(3, spread=1e-3))
    q, v, tau, *values = inputs

    def velocity(q, v, tau):
        return case.step()(q, v, tau, *values)[1]

    def loss(q, v, tau):
        return velocity(q, v, tau).square().sum()

    assert torch.equal(vmap(velocity)(q, v, tau), velocity(q, v, tau))
    leaves = tuple(x.clone().requires_grad_() for x in (q, v, tau))
    expected = torch.autograd.grad(loss(*leaves), leaves)
    assert all(torch.equal(a, b) for a, b in zip(vmap(grad(loss, argnums=(0, 1, 2)))(q, v, tau), expected))
    by_rows, by_columns = jacrev(velocity)(q[0], v[0], tau[0]), jacfwd(velocity)(q[0], v[0], tau[0])
    assert torch.allclose(by_rows, by_columns, atol=1e-9)
    many = vmap(jacrev(velocity))(q, v, tau)
    assert torch.allclose(many[0], by_rows, atol=1e-12) and many.shape == (3, case.model.nv, case.model.nq)
    _, moved = jvp(lambda v: velocity(q[0], v, tau[0]), (v[0],), (torch.ones_like(v[0]),))
    assert torch.allclose(moved, jacrev(velocity, argnums=1)(q[0], v[0], tau[0]).sum(-1), atol=1e-9)
    with pytest.raises(RuntimeError, match="differentiated once"):
        grad(lambda v: grad(loss, argnums=1)(q[0], v, tau[0]).sum())(v[0])

    def far(v):
        return case.rollout()(q[0], v, tau[:1], *values)[0][..., -1, :]

    assert torch.allclose(vmap(far)(v), torch.stack([far(x) for x in v]))
    assert torch.allclose(vmap(jacrev(far))(v)[1], jacrev(far)(v[1]), atol=1e-12)
