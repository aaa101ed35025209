"""`lithe view`, as a browser and a terminal meet it."""

import base64
import contextlib
import hashlib
import http.client
import json
import os
import re
import select
import shutil
import signal
import socket
import struct
import subprocess
import time
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from compact_robot import COMPACT

LITHE = os.environ.get("LITHE_CLI", "build/lithe")
BEFORE, AFTER = '<script type="application/json" id="lithe-show">', "</script>"
PATIENCE = 60  # s
TOKEN = "token-for-tests_0123"
ARM = """<robot name="arm"><link name="base"/>
<link name="rod"><inertial><mass value="1"/><origin xyz="0 0 -1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
<visual><geometry><box size="0.1 0.1 2"/></geometry></visual></link>
<joint name="hinge" type="continuous"><parent link="base"/><child link="rod"/><axis xyz="0 1 0"/></joint></robot>"""


@pytest.fixture
def page(tmp_path):
    path = tmp_path / "page.html"
    path.write_text(f"<!doctype html><body>{BEFORE}null{AFTER}</body>")
    return path


def read_line(process):
    """One line of what it says, or what came before the patience was over."""
    line = b""
    end = time.monotonic() + PATIENCE
    while not line.endswith(b"\n"):
        ready, _, _ = select.select([process.stdout], [], [], max(0, end - time.monotonic()))
        byte = os.read(process.stdout.fileno(), 1) if ready else b""
        if not byte:
            break
        line += byte
    return line.decode()


def handles_interrupts(process):
    caught = re.search(r"^SigCgt:\s*(\w+)$", Path(f"/proc/{process.pid}/status").read_text(), re.MULTILINE)
    return bool(int(caught[1], 16) >> (signal.SIGINT - 1) & 1)


@contextlib.contextmanager
def viewing(*arguments, **extra):
    """A server and its address. It must end by itself when it is interrupted, without a complaint."""
    command = [LITHE, "view", *map(str, arguments)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, **extra}) as process:
        try:
            title = read_line(process)
            address = urlsplit(read_line(process).strip())
            assert title.strip() == str(arguments[0]), process.stderr.read()
            assert (address.scheme, address.hostname, address.path) == ("http", "127.0.0.1", "/")
            assert "Ctrl-C" in read_line(process)
            yield process, address
            if process.poll() is None:
                end = time.monotonic() + PATIENCE
                while not handles_interrupts(process) and time.monotonic() < end:
                    time.sleep(0.01)
                process.send_signal(signal.SIGINT)
            _, complaints = process.communicate(timeout=PATIENCE)
            assert (process.returncode, complaints.decode()) == (0, "")
        finally:
            process.kill()


def get(address, target, host=None):
    connection = http.client.HTTPConnection(address.hostname, address.port, timeout=PATIENCE)
    connection.request("GET", target, headers={} if host is None else {"Host": host})
    answer = connection.getresponse()
    body = answer.read().decode()
    connection.close()
    return answer.status, body


def document(html):
    """What the page holds."""
    return json.loads(html.split(BEFORE)[1].split(AFTER)[0])


class WebSocket:
    """As much of RFC 6455 as one conversation needs."""

    def __init__(self, address, origin=None):
        here = f"{address.hostname}:{address.port}"
        key = base64.b64encode(os.urandom(16)).decode()
        self.socket = socket.create_connection((address.hostname, address.port), timeout=PATIENCE)
        self.socket.sendall(
            (
                f"GET /live?{address.query} HTTP/1.1\r\nHost: {here}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\nOrigin: {origin or 'http://' + here}\r\n\r\n"
            ).encode()
        )
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            head += self.take(1)
        self.status = int(head.split()[1])
        proof = hashlib.sha1((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").encode()).digest()
        self.proven = base64.b64encode(proof) in head

    def take(self, count):
        data = b""
        while len(data) < count:
            more = self.socket.recv(count - len(data))
            assert more, "the server closed the connection"
            data += more
        return data

    def send(self, text):
        mask = os.urandom(4)
        data = text.encode()
        assert len(data) < 126
        masked = bytes(byte ^ mask[i % 4] for i, byte in enumerate(data))
        self.socket.sendall(bytes([0x81, 0x80 | len(data)]) + mask + masked)

    def receive(self):
        """The next message: a dictionary, or the bytes of a frame."""
        while True:
            kind, length = self.take(2)
            if length == 126:
                (length,) = struct.unpack(">H", self.take(2))
            elif length == 127:
                (length,) = struct.unpack(">Q", self.take(8))
            data = self.take(length)
            assert kind in (0x81, 0x82, 0x89), hex(kind)  # whole texts, bytes and pings
            if kind == 0x81:
                return json.loads(data)
            if kind == 0x82:
                return data

    def receive_until(self, condition):
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            message = self.receive()
            if condition(message):
                return message
        raise AssertionError("it never came")


def frame_time(frame):
    assert frame[:4] == b"LIF1"
    return struct.unpack_from("<d", frame, 16)[0]


def frame_scene(frame):
    return struct.unpack_from("<I", frame, 4)[0]


def is_frame(message):
    return isinstance(message, bytes)


def is_text(message, *kinds):
    return not is_frame(message) and message["type"] in kinds


def test_a_scene_is_served_and_simulated(page):
    with viewing("pendulum", "--viewer", page, "--paused") as (_, address):
        status, html = get(address, f"/?{address.query}")
        assert status == 200
        assert document(html) == {"format": "lithe-live", "version": 1}
        client = WebSocket(address)
        assert (client.status, client.proven) == (101, True)
        scene = client.receive()
        assert scene["type"] == "scene"
        assert scene["show"]["format"] == "lithe-show"
        assert scene["live"]["scene"] == "pendulum"
        assert not scene["live"]["playing"]
        assert "humanoid" in [entry["name"] for entry in scene["live"]["scenes"]]
        assert frame_time(client.receive_until(is_frame)) == 0
        client.send("step 10")
        assert frame_time(
            client.receive_until(lambda message: is_frame(message) and frame_time(message) > 0.0095)
        ) == pytest.approx(0.01)
        client.send("nonsense")
        error = client.receive_until(lambda message: is_text(message, "error"))
        assert error["message"] == "'nonsense' is no command"
        client.send("scene humanoid")
        other = client.receive_until(lambda message: is_text(message, "scene"))
        assert (other["number"], other["live"]["scene"]) == (scene["number"] + 1, "humanoid")


def test_it_plays_when_the_first_browser_is_there(page):
    with viewing("catapult", "--viewer", page) as (_, address):
        client = WebSocket(address)
        scene = client.receive()
        assert scene["live"]["playing"]
        assert scene["live"]["loss"] == "loss"
        client.receive_until(lambda message: is_frame(message) and frame_time(message) > 0.05)


def test_every_scene_can_be_chosen(page):
    with viewing("pendulum", "--viewer", page) as (_, address):
        client = WebSocket(address)
        scenes = [entry["name"] for entry in client.receive()["live"]["scenes"]]
        assert len(scenes) > 20
        for name in scenes:
            client.send(f"scene {name}")
            scene = client.receive_until(lambda message: is_text(message, "scene", "error"))
            assert (scene["type"], scene["live"]["scene"]) == ("scene", name)
            client.receive_until(lambda message: is_frame(message) and frame_scene(message) == scene["number"])


def test_a_robot_file_is_served(page, tmp_path):
    robot = tmp_path / "arm.urdf"
    robot.write_text(ARM)
    with viewing(robot, "--viewer", page, "--no-ground") as (_, address):
        scene = WebSocket(address).receive()
        assert scene["live"]["scene"] == scene["show"]["title"] == "arm"
        assert scene["show"]["excepted_pairs"] == []
        assert [shape["role"] for shape in scene["show"]["shapes"]] == ["visual"]
        assert [control["name"] for control in scene["live"]["controls"]] == ["hinge"]


def test_a_robot_that_is_called_like_a_scene_goes_by_its_file(page, tmp_path):
    robot = tmp_path / "mine.urdf"
    robot.write_text(ARM.replace('name="arm"', 'name="pendulum"'))
    with viewing(robot, "--viewer", page, "--no-ground") as (_, address):
        scene = WebSocket(address).receive()
        assert scene["live"]["scene"] == scene["show"]["title"] == "mine.urdf"


def test_pairs_of_a_robot_that_do_not_touch_are_told(page, tmp_path):
    robot = tmp_path / "compact.urdf"
    robot.write_text(COMPACT)
    with viewing(robot, "--viewer", page, "--floating-base") as (_, address):
        client = WebSocket(address)
        pairs = client.receive()["show"]["excepted_pairs"]
        assert pairs == [{"a": "a", "b": "c", "reason": "they touch in 100 % of poses"}]
        client.send("scene pendulum")
        assert client.receive_until(lambda message: is_text(message, "scene"))["show"]["excepted_pairs"] == []


def test_a_recording_is_served_as_a_document(page, tmp_path):
    recording = tmp_path / "swing.lithe"
    command = [LITHE, "simulate", "pendulum", "--steps", "30", "--out", str(recording), "--quiet"]
    subprocess.run(command, check=True, timeout=PATIENCE)
    exported = tmp_path / "out.json"
    subprocess.run([LITHE, "export", str(recording), "--json", str(exported)], check=True, timeout=PATIENCE)
    with viewing(recording, "--viewer", page) as (_, address):
        status, html = get(address, f"/?{address.query}")
        assert status == 200
        assert document(html) == json.loads(exported.read_text())
        assert get(address, f"/live?{address.query}")[0] == 404
        assert WebSocket(address).status == 404
    with viewing(recording, "--viewer", page, "--every", 20, "--compare", recording) as (_, address):
        motions = document(get(address, f"/?{address.query}")[1])["motions"]
        assert [len(base64.b64decode(motion["times"])) // 4 for motion in motions] == [3, 3]


def test_strangers_are_refused(page):
    with viewing("pendulum", "--viewer", page) as (_, address):
        assert get(address, "/")[0] == 403
        assert get(address, "/?token=wrong")[0] == 403
        assert get(address, f"/?{address.query}", host="example.org")[0] == 403
        assert get(address, f"/elsewhere?{address.query}")[0] == 404
        assert WebSocket(address, origin="http://example.org").status == 403
        assert WebSocket(address._replace(query="token=wrong")).status == 403


def test_the_token_is_another_one_each_time_unless_it_is_given(page):
    tokens = []
    for _ in range(2):
        with viewing("pendulum", "--viewer", page) as (_, address):
            tokens += parse_qs(address.query)["token"]
    assert len(set(tokens)) == 2
    assert all(re.fullmatch("[0-9a-f]{32}", token) for token in tokens)
    with viewing("pendulum", "--viewer", page, "--token", TOKEN) as (_, address):
        assert address.query == f"token={TOKEN}"


def test_it_is_reachable_from_this_machine_alone(page):
    with viewing("pendulum", "--viewer", page) as (_, address):
        listening = set()
        for table in ["/proc/net/tcp", "/proc/net/tcp6"]:
            if not Path(table).exists():
                continue
            for line in Path(table).read_text().splitlines()[1:]:
                local, state = line.split()[1], line.split()[3]
                if int(local.split(":")[1], 16) == address.port and state == "0A":
                    listening.add(local.split(":")[0])
        assert listening == {"0100007F"}


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM])
def test_it_ends_when_it_is_asked_to(page, sign):
    with viewing("humanoid", "--viewer", page) as (process, address):
        client = WebSocket(address)
        client.receive_until(is_frame)
        while not handles_interrupts(process):
            time.sleep(0.01)
        process.send_signal(sign)
        assert process.wait(timeout=PATIENCE) == 0
        with pytest.raises((AssertionError, ConnectionError)):
            client.receive_until(lambda _: False)


def error(*arguments, code=1, program=LITHE, folder=None, **extra):
    result = subprocess.run(
        [program, "view", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        env={**os.environ, **extra},
        cwd=folder,
    )
    assert (result.returncode, result.stdout) == (code, ""), result.stderr
    return result.stderr


def test_mistakes_are_explained(page, tmp_path):
    viewer = ["--viewer", page]
    assert error("pendulun", *viewer).startswith("lithe: error: ")
    assert "pendulum" in error("pendulun", *viewer)
    assert "nowhere.urdf" in error(tmp_path / "nowhere.urdf", *viewer)
    broken = tmp_path / "broken.urdf"
    broken.write_text("<robot")
    assert "broken.urdf" in error(broken, *viewer)
    cut = tmp_path / "cut.lithe"
    cut.write_bytes(b"LITHEREC")
    assert "cut.lithe" in error(cut, *viewer)
    assert "a token must have at least 16 letters" in error("pendulum", *viewer, "--token", "short")
    assert "a token must have at least 16 letters" in error("pendulum", *viewer, "--token", TOKEN + "&")
    assert "--port" in error("pendulum", *viewer, "--port", 70000, code=2)
    assert "what" in error(code=2)


def test_a_port_that_is_taken_is_named(page):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        text = error("pendulum", "--viewer", page, "--port", port)
    assert text.startswith(f"lithe: error: port {port} cannot be used")
    with viewing("pendulum", "--viewer", page, "--port", port) as (_, address):
        assert address.port == port


def test_the_viewer_is_looked_for_and_its_absence_explained(page, tmp_path):
    with viewing("pendulum", LITHE_VIEWER=str(page)) as (_, address):
        assert get(address, f"/?{address.query}")[0] == 200
    assert "nowhere.html (--viewer): No such file" in error("pendulum", "--viewer", "nowhere.html")
    assert "nowhere.html ($LITHE_VIEWER)" in error("pendulum", LITHE_VIEWER="nowhere.html")
    empty = tmp_path / "empty.html"
    empty.write_text("<html></html>")
    assert "has no place for the document" in error("pendulum", "--viewer", empty)
    alone = tmp_path / "alone"
    alone.mkdir()
    program = shutil.copy(LITHE, alone / "lithe")
    assert "the viewer's page is not built: `make viewer`" in error("pendulum", program=program, folder=alone)
