"""lithe.torch: torch's own gradcheck, rollouts, shapes, dtypes, parameters."""

import numpy as np
import pytest

import lithe

torch = pytest.importorskip("torch", reason="torch is not installed")

import lithe.torch as lt  # noqa: E402
from torch_cases import CASES, EXACT, IN_CONTACT, noise, numbers  # noqa: E402


@pytest.mark.parametrize("name", CASES)
def test_gradcheck_of_a_step(name):
    case = CASES[name]()
    assert (case.take().status.contacts > 0) == (name in IN_CONTACT)
    assert torch.autograd.gradcheck(case.step(), case.inputs(), eps=1e-7, atol=1e-4, rtol=1e-3, check_forward_ad=True)


@pytest.mark.parametrize("name", ["on a corner", "robot on the ground"])
def test_gradcheck_of_a_batch(name):
    case = CASES[name]()
    q, v, tau, *values = case.inputs(2, 1, spread=1e-3)
    tau = numbers(noise((3, case.model.nv), 0.1, seed=5))
    values[0] = numbers(np.full((2, 3), values[0].item()) + noise((2, 3), 1e-3, seed=6))
    q_next, v_next = case.step()(q, v, tau, *values)
    assert q_next.shape == (2, 3, case.model.nq) and v_next.shape == (2, 3, case.model.nv)
    assert torch.autograd.gradcheck(case.step(), (q, v, tau, *values), eps=1e-7, atol=1e-4, rtol=1e-3)


@pytest.mark.parametrize("name", ["on a corner", "rolling", "robot on the ground"])
def test_forces_are_results_that_can_be_differentiated(name):
    case = CASES[name]()
    _, _, forces = case.step(forces=True)(*case.inputs())
    expected = np.zeros(len(case.model.body_names))
    for contact in case.take().contacts:
        normal_force = abs(contact.impulse @ contact.normal) / case.options.time_step
        for shape in (contact.shape_a, contact.shape_b):
            expected[case.model.shapes[shape].body] += normal_force
    assert expected.max() > 1
    assert forces.detach().numpy() == pytest.approx(expected)
    assert torch.autograd.gradcheck(
        lambda *x: case.step(forces=True)(*x)[2], case.inputs(), eps=1e-7, atol=1e-2, rtol=1e-3, check_forward_ad=True
    )


def test_gradcheck_of_motor_targets():
    case = CASES["motor and loop"]()
    q, v, tau, *_ = (x.detach() for x in case.inputs())

    def call(targets):
        return lt.step(case.model, q, v, tau, options=case.options, targets=targets, gradient=EXACT)

    targets = numbers(case.targets)
    assert torch.autograd.gradcheck(call, (targets,), eps=1e-6, atol=1e-5)
    (by_tensor,) = torch.autograd.grad(call(targets)[1].sum(), targets)
    target = numbers(case.targets[0])
    _, v_next = lt.step(
        case.model,
        q,
        v,
        tau,
        {"motor/drive/target": target},
        options=case.options,
        targets=case.targets,
        gradient=EXACT,
    )
    (by_name,) = torch.autograd.grad(v_next.sum(), target)
    assert by_tensor.item() == by_name.item() != 0


def test_a_time_step_is_a_parameter():
    case = CASES["robot on the ground"]()
    q, v, tau, *_ = (x.detach() for x in case.inputs())
    dt = numbers(case.options.time_step)

    def call(dt):
        return lt.step(case.model, q, v, tau, {"time_step": dt}, gradient=EXACT, forces=True)

    assert torch.equal(call(dt)[0], case.step()(*case.inputs())[0])
    assert torch.autograd.gradcheck(call, (dt,), eps=1e-9, atol=1e-2, rtol=1e-3, check_forward_ad=True)


@pytest.mark.parametrize("name", ["smooth", "on a corner", "robot on the ground"])
def test_gradcheck_of_a_rollout(name):
    case = CASES[name]()
    q, v, _, *values = case.inputs(2, spread=1e-3)
    tau = numbers(noise((2, 3, case.model.nv), 0.1, seed=7))
    assert torch.autograd.gradcheck(case.rollout(), (q, v, tau, *values), eps=1e-7, atol=1e-3, rtol=1e-3)


def test_a_rollout_is_its_steps():
    case = CASES["robot on the ground"]()
    q, v, _, *values = case.inputs(2, 2, spread=1e-2)
    tau = numbers(noise((2, 6, case.model.nv), 0.1, seed=8))
    q_all, v_all = case.rollout()(q, v, tau, *values)
    assert q_all.shape == (2, 2, 7, case.model.nq) and v_all.shape == (2, 2, 7, case.model.nv)
    weight = torch.tensor(noise(q_all.shape, 1.0, seed=9))
    by_rollout = torch.autograd.grad((weight * q_all).sum() + (v_all**2).sum(), (q, v, tau, *values))
    states = [(q, v)]
    for t in range(6):
        states.append(case.step()(*states[-1], tau[:, t], *values))
    q_steps, v_steps = (torch.stack(x, dim=-2) for x in zip(*states))
    by_steps = torch.autograd.grad((weight * q_steps).sum() + (v_steps**2).sum(), (q, v, tau, *values))
    assert torch.allclose(q_all, q_steps, atol=1e-9) and torch.allclose(v_all, v_steps, atol=1e-9)
    for a, b in zip(by_rollout, by_steps):
        assert torch.allclose(a, b, rtol=1e-6, atol=1e-9)


def test_a_rollout_starts_with_what_it_is_given():
    case = CASES["on a corner"]()
    q, v = numbers(case.q), numbers(case.v)
    q_all, v_all = lt.rollout(case.model, q, v, torch.zeros(4, 2, 6, dtype=torch.float64), options=case.options)
    assert torch.equal(q_all[:, 0], q.expand(4, 7)) and torch.equal(v_all[:, 0], v.expand(4, 6))
    assert q_all[0, 0, 3:].norm() > 1.4 and q_all[0, 1, 3:].norm().item() == pytest.approx(1)
    (by_q,) = torch.autograd.grad(q_all[:, 0].sum(), q)
    assert torch.equal(by_q, torch.full((7,), 4.0, dtype=torch.float64))
    q_all, _ = lt.rollout(case.model, q, v, torch.zeros(0, 6, dtype=torch.float64))
    assert torch.equal(q_all, q[None])


@pytest.mark.parametrize("batch", [(), (1,), (5,), (2, 3), (0,), (2, 0, 3)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_every_item_is_a_step_of_its_own(batch, dtype):
    case = CASES["robot on the ground"]()
    q, v, tau = (x.detach().to(dtype) for x in case.inputs(*batch, spread=1e-2)[:3])
    q_next, v_next, forces = lt.step(case.model, q, v, tau, options=case.options, forces=True)
    assert q_next.dtype == v_next.dtype == forces.dtype == dtype
    assert (
        q_next.shape == (*batch, 9)
        and v_next.shape == (*batch, 9)
        and forces.shape == (*batch, len(case.model.body_names))
    )
    for i in np.ndindex(batch):
        record = lithe.step(case.model, *(x[i].numpy().astype(np.float64) for x in (q, v, tau)), options=case.options)
        assert np.array_equal(q_next[i].numpy(), record.q.astype(q_next.numpy().dtype))
        assert np.array_equal(v_next[i].numpy(), record.v.astype(v_next.numpy().dtype))


def test_float32_has_the_gradients_of_float64():
    case = CASES["on a corner"]()
    grads = []
    for dtype in (torch.float64, torch.float32):
        inputs = tuple(numbers(x.detach().numpy().astype(np.float32), dtype=dtype) for x in case.inputs(3))
        q_next, v_next = case.step()(*inputs)
        grads.append(torch.autograd.grad(q_next.sum() + v_next.sum(), inputs))
    for double, single in zip(*grads):
        assert single.dtype == torch.float32
        assert torch.allclose(single, double.float(), rtol=1e-5, atol=1e-5)


def test_a_batch_of_nothing_has_gradients():
    case = CASES["sliding"]()
    q, v = torch.zeros(0, 7, dtype=torch.float64, requires_grad=True), numbers(case.v)
    q_next, v_next, forces = lt.step(case.model, q, v, forces=True)
    (q_next.sum() + v_next.sum()).backward()
    assert q.grad.shape == (0, 7) and torch.equal(v.grad, torch.zeros(6, dtype=torch.float64))
    assert forces.shape == (0, 2)


def test_parameters_broadcast():
    case = CASES["sliding"]()
    q, v = torch.tensor(case.q), torch.tensor(case.v) + torch.tensor(noise((2, 3, 6), 1e-2, seed=10))
    friction, mass = numbers(0.4), numbers([[0.9], [1.1]])
    _, v_next = lt.step(
        case.model, q, v, None, {"shape/cube/friction": friction, "body/cube/mass": mass, "gravity/z": -9.0}
    )
    assert v_next.shape == (2, 3, 6)
    v_next.square().sum().backward()
    assert friction.grad.shape == () and friction.grad != 0 and mass.grad.shape == (2, 1)
    other = case.model.copy()
    other.set_parameters(["shape/cube/friction", "body/cube/mass", "gravity/z"], [0.4, 1.1, -9.0])
    assert np.array_equal(v_next[1, 2].detach().numpy(), lithe.step(other, case.q, v[1, 2].numpy()).v)
    assert case.model["body/cube/mass"] == 1.0, "the model itself is not changed"


def test_the_gradient_of_a_bounce_is_chosen():
    scene = lithe.scene("bouncing_ball")
    model, q, v = scene.model, np.array(scene.q), np.array(scene.v)
    for _ in range(2000):
        record = lithe.step(model, q, v, options=scene.time_step)
        if record.v[2] > 0:
            break
        q, v = np.array(record.q), np.array(record.v)
    else:
        raise AssertionError("the ball did not bounce")
    found = {}
    for name, gradient in {"continuous": None, "exact": EXACT}.items():
        start = numbers(q)
        lt.step(model, start, numbers(v), options=scene.time_step, gradient=gradient)[0][2].backward()
        found[name] = start.grad[2].item()
        assert lt.last_reports()[0].mode == ("exact" if gradient else "bounce_mass_metric")
    assert found["continuous"] < 0 < found["exact"]  # a ball that starts higher bounces later, and is lower then
