"""lithe.view: a world in browsers. The page itself is tested with the viewer, the server in C++."""

from __future__ import annotations

import base64
import gc
import http.client
import os
import pickle
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.parse
from collections.abc import Iterator
from pathlib import Path

import lithe
import numpy as np
import pytest

PAGE = '<title>page</title><script type="application/json" id="lithe-show">null</script>'
PATIENCE = 60  # s, for what must happen in the end on whatever machine


@pytest.fixture
def page(tmp_path: Path) -> Path:
    path = tmp_path / "viewer.html"
    path.write_text(PAGE, encoding="utf-8")
    return path


@pytest.fixture
def world() -> lithe.World:
    return lithe.World("catapult")


@pytest.fixture
def view(world: lithe.World, page: Path) -> Iterator[lithe.View]:
    with lithe.view(world, viewer=page) as opened:
        yield opened


def get(address: str, **headers: str) -> tuple[int, dict[str, str], str]:
    parts = urllib.parse.urlsplit(address)
    connection = http.client.HTTPConnection(parts.netloc, timeout=PATIENCE)
    connection.request("GET", f"{parts.path}?{parts.query}", headers=headers)
    response = connection.getresponse()
    return response.status, dict(response.getheaders()), response.read().decode()


class Browser:
    """As much of a WebSocket as it takes to send commands and to be counted."""

    def __init__(self, address: str) -> None:
        parts = urllib.parse.urlsplit(address)
        self.socket = socket.create_connection((parts.hostname, parts.port), timeout=PATIENCE)
        key = base64.b64encode(os.urandom(16)).decode()
        self.socket.sendall(
            (
                f"GET /live?{parts.query} HTTP/1.1\r\nHost: {parts.netloc}\r\nOrigin: http://{parts.netloc}\r\n"
                f"Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n"
            ).encode()
        )
        answer = b""
        while b"\r\n\r\n" not in answer:
            answer += self.socket.recv(1)
        assert answer.startswith(b"HTTP/1.1 101")

    def send(self, command: str) -> None:
        # Masked with zeros, which changes nothing.
        self.socket.sendall(bytes([0x81, 0x80 | len(command)]) + bytes(4) + command.encode())

    def close(self) -> None:
        self.socket.close()


def eventually(what: str, condition) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.01)


def test_it_serves_the_page_to_those_who_know_the_address(view: lithe.View) -> None:
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/\?token=[0-9a-f]{32}", view.address)
    status, headers, body = get(view.address)
    assert status == 200 and '{"format":"lithe-live","version":1}' in body and "<title>page</title>" in body
    # A notebook of this machine may frame it, others may not.
    assert "frame-ancestors 'self' http://127.0.0.1:* http://localhost:*" in headers["Content-Security-Policy"]
    assert get(view.address[:-1])[0] == 403
    assert get(view.address, Host="example.org")[0] == 403


def test_it_says_where_it_is(world: lithe.World, page: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with lithe.view(world, viewer=page) as view:
        assert capsys.readouterr().out == f"lithe: open {view.address}\n"
        assert view.address in repr(view) and "catapult" in repr(view)
        assert view.world is world and not view.closed


def test_it_starts_where_the_world_is(world: lithe.World, page: Path) -> None:
    world.step(steps=100)
    with lithe.view(world, viewer=page) as view:
        np.testing.assert_array_equal(view.q, world.q)
        np.testing.assert_array_equal(view.v, world.v)
        assert view.time == world.time == pytest.approx(100 * world.options.time_step)


def test_update_shows_where_the_world_is_now(view: lithe.View, world: lithe.World) -> None:
    for _ in range(5):
        world.step(steps=10)
        assert not np.array_equal(view.v, world.v)
        view.update()
        np.testing.assert_array_equal(view.q, world.q)
        np.testing.assert_array_equal(view.v, world.v)
        assert view.time == world.time


def test_it_runs_as_the_world_would(view: lithe.View, world: lithe.World) -> None:
    browser = Browser(view.address)
    eventually("the browser is counted", lambda: view.clients == 1)
    browser.send("step 200")
    eventually("the steps are taken", lambda: view.time > 199.5 * world.options.time_step)
    assert world.time == 0  # a copy moves, not the world
    world.step(steps=200)
    np.testing.assert_array_equal(view.q, world.q)
    np.testing.assert_array_equal(view.v, world.v)
    browser.close()
    eventually("the browser is gone", lambda: view.clients == 0)


def test_options_of_the_world_hold(page: Path) -> None:
    world = lithe.World("pendulum", options=lithe.StepOptions(0.002, integrator=lithe.Integrator.explicit_position))
    with lithe.view(world, viewer=page) as view:
        browser = Browser(view.address)
        browser.send("step 50")
        eventually("the steps are taken", lambda: view.time > 0.099)
        world.step(steps=50)
        np.testing.assert_array_equal(view.q, world.q)
        browser.close()


def test_take_moves_the_world(view: lithe.View, world: lithe.World) -> None:
    view.play()
    eventually("it runs", lambda: view.time > 0.05)
    view.pause()
    view.take()
    assert world.time == view.time > 0.05
    np.testing.assert_array_equal(world.q, view.q)
    np.testing.assert_array_equal(world.v, view.v)


def test_update_pauses(view: lithe.View, world: lithe.World) -> None:
    view.play()
    eventually("it runs", lambda: view.time > 0.02)
    view.update()
    assert view.time == world.time == 0
    time.sleep(0.05)
    assert view.time == 0


def test_without_interaction_browsers_only_look(world: lithe.World, page: Path) -> None:
    with lithe.view(world, viewer=page, interactive=False, paused=False) as view:
        browser = Browser(view.address)
        browser.send("play")
        browser.send("step 10")
        eventually("the browser is counted", lambda: view.clients == 1)
        time.sleep(0.05)
        assert view.time == 0
        world.step()
        view.update()
        assert view.time == world.time
        browser.close()


def test_a_notebook_gets_a_frame(view: lithe.View) -> None:
    html = view._repr_html_()
    assert html.startswith("<iframe ") and f'src="{view.address}"' in html and 'height="520"' in html
    assert 'title="Lithe: catapult"' in html
    view.close()
    assert "closed" in view._repr_html_()


def test_names_cannot_break_out_of_the_frame(page: Path) -> None:
    world = lithe.World("pendulum")
    world._name = '"><script>alert(1)</script>'
    with lithe.view(world, viewer=page) as view:
        assert "<script>" not in view._repr_html_()


@pytest.mark.parametrize("source", ["cartpole", lithe.scene("cartpole"), lithe.scene("cartpole").model])
def test_anything_that_a_world_is_made_of(source: object, page: Path) -> None:
    with lithe.view(source, viewer=page) as view:  # type: ignore[arg-type]
        assert view.q.shape == (view.world.model.nq,)


def test_what_a_file_shows_is_shown(page: Path, tmp_path: Path) -> None:
    urdf = """<robot name="arm"><link name="base"><visual name="hood"><geometry><sphere radius="0.1"/></geometry></visual>
      <inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>"""
    (tmp_path / "arm.urdf").write_text(urdf)
    world = lithe.World(tmp_path / "arm.urdf")
    with lithe.view(world, viewer=page) as view:
        assert repr(view).startswith("<View of 'arm'")
        browser = Browser(view.address)
        received = b""
        while b'"name":"hood"' not in received:
            received += browser.socket.recv(65536)
        browser.close()


def test_pairs_of_a_file_that_do_not_touch_are_told(page: Path, tmp_path: Path) -> None:
    box = (
        '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
        '<collision><geometry><box size="0.2 0.2 0.2"/></geometry></collision>'
    )
    links = "".join(f'<link name="{name}">{box}</link>' for name in "abc")
    joints = "".join(
        f'<joint name="{a}{b}" type="continuous"><parent link="{a}"/><child link="{b}"/></joint>' for a, b in ["ab", "bc"]
    )
    (tmp_path / "compact.urdf").write_text(f'<robot name="compact">{links}{joints}</robot>')
    scene = lithe.Scene(tmp_path / "compact.urdf", base="floating")
    for given in [scene, pickle.loads(pickle.dumps(scene))]:
        (pair,) = given.excepted_pairs
        assert (pair.a, pair.b, pair.reason) == ("a", "c", "often")
    with lithe.view(scene, viewer=page) as view:
        browser = Browser(view.address)
        received = b""
        while b'"excepted_pairs":[{"a":"a","b":"c","reason":"they touch in 100 % of poses"}]' not in received:
            received += browser.socket.recv(65536)
        browser.close()
    assert lithe.scene("pendulum").excepted_pairs == []


def test_closing(world: lithe.World, page: Path) -> None:
    view = lithe.view(world, viewer=page)
    address = view.address
    view.close()
    view.close()
    assert view.closed and view.clients == 0 and view.address == address
    with pytest.raises(ValueError, match="the view of 'catapult' is closed"):
        view.update()
    with pytest.raises(OSError):
        get(address)
    view.wait()  # returns at once


def test_it_ends_with_its_last_reference(world: lithe.World, page: Path) -> None:
    address = lithe.view(world, viewer=page).address
    gc.collect()
    with pytest.raises(OSError):
        get(address)


def test_others_run_while_it_is_busy(view: lithe.View, world: lithe.World) -> None:
    """Calls give Python's lock away, and closing in one thread while others use it is no crash."""
    failures: list[BaseException] = []

    def use() -> None:
        try:
            for _ in range(200):
                view.update()
                assert view.q.shape == (world.model.nq,)
        except ValueError as error:  # closed meanwhile
            if "is closed" not in str(error):
                failures.append(error)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=use) for _ in range(4)]
    for thread in threads:
        thread.start()
    time.sleep(0.02)
    view.close()
    for thread in threads:
        thread.join()
    assert not failures


def test_mistakes_are_named(world: lithe.World, page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(lithe.Error, match="nowhere.html; `make viewer` builds it"):
        lithe.view(world, viewer=tmp_path / "nowhere.html")
    monkeypatch.setenv("LITHE_VIEWER", str(tmp_path / "other.html"))
    with pytest.raises(lithe.Error, match="other.html"):
        lithe.view(world)
    with pytest.raises(lithe.Error, match="token must have at least 16"):
        lithe.view(world, viewer=page, token="short")
    with pytest.raises(lithe.Error, match="there is no port 70000"):
        lithe.view(world, viewer=page, port=70000)
    (tmp_path / "empty.html").write_text("<html></html>")
    with pytest.raises(lithe.Error, match="no place for the document"):
        lithe.view(world, viewer=tmp_path / "empty.html")
    with lithe.view(world, viewer=page) as view:
        taken = urllib.parse.urlsplit(view.address).port
        with pytest.raises(lithe.Error, match=f"port {taken} cannot be used"):
            lithe.view(world, viewer=page, port=taken)
    with pytest.raises(TypeError, match="source: expected"):
        lithe.view(3.5, viewer=page)  # type: ignore[arg-type]


def test_a_given_address(world: lithe.World, page: Path) -> None:
    with lithe.view(world, viewer=page, token="abcdefgh-12345678") as view:
        assert view.address.endswith("?token=abcdefgh-12345678")


def test_a_world_with_what_is_shown_can_be_pickled(world: lithe.World) -> None:
    copy = pickle.loads(pickle.dumps(world))
    assert copy._name == "catapult" and copy._task.steps == world._task.steps  # type: ignore[union-attr]


def test_the_package_brings_the_page_along() -> None:
    path = Path(lithe.__file__).with_name("viewer.html")
    if not path.is_file():
        pytest.skip("the package was built without viewer/dist/viewer.html (`make viewer`)")
    with lithe.view("pendulum") as view:
        assert len(get(view.address)[2]) > 100_000


def test_the_code_of_the_guide_runs(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The other blocks of docs/python.md run in test_examples.py; this one would wait for Ctrl-C."""
    guide = Path(__file__).resolve().parents[2] / "docs" / "python.md"
    (code,) = re.findall(r"```py\n(.*?)```", guide.read_text(encoding="utf-8"), re.DOTALL)
    monkeypatch.setenv("LITHE_VIEWER", str(page))
    seen: list[float] = []
    monkeypatch.setattr(lithe.View, "wait", lambda self: seen.append(self.time))
    names: dict[str, object] = {"lithe": lithe}
    exec(code, names)
    names["view"].close()  # type: ignore[attr-defined]
    assert seen == [pytest.approx(0.5)]


def test_ctrl_c_ends_a_script(page: Path) -> None:
    # Its naps say that it waits, which is when it can be interrupted.
    script = (
        "import lithe, time\nnap = time.sleep\n"
        "def told_nap(seconds):\n    print('waiting', flush=True)\n    nap(seconds)\n"
        f"time.sleep = told_nap\nlithe.view('pendulum', viewer={str(page)!r}).wait()\nprint('ended')"
    )
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline().startswith("lithe: open http://127.0.0.1:")
    assert process.stdout.readline() == "waiting\n"
    process.send_signal(signal.SIGINT)
    said = process.communicate(timeout=PATIENCE)[0]
    assert said.replace("waiting\n", "") == "ended\n" and process.returncode == 0
