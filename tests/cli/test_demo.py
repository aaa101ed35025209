import base64
import json
import os
import pty
import re
import shutil
import signal
import struct
import subprocess

import pytest
from interrupting import read_terminal
from recording import read_recording

LITHE = os.path.abspath(os.environ.get("LITHE_CLI", "build/lithe"))
PLACEHOLDER = '<script type="application/json" id="lithe-show">null</script>'


def demo(folder, *arguments):
    return subprocess.run(
        [LITHE, "demo", *map(str, arguments)], capture_output=True, text=True, timeout=300, cwd=folder
    )


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    """A folder in which the demo was run, and what it said."""
    folder = tmp_path_factory.mktemp("demo")
    (folder / "page.html").write_text(f"<!doctype html><body>{PLACEHOLDER}</body>")
    result = demo(folder, "--viewer", "page.html")
    assert (result.returncode, result.stderr) == (0, "")
    return folder, result.stdout


def floats(text):
    data = base64.b64decode(text, validate=True)
    return struct.unpack(f"<{len(data) // 4}f", data)


def document(folder):
    page = (folder / "out" / "demo.html").read_text()
    return json.loads(re.search(r'id="lithe-show">(.*)</script>', page)[1])


def miss(q):
    return ((q[0] - 2.2) ** 2 + (q[1] - 2.2) ** 2) ** 0.5


def test_it_says_what_happened_in_a_few_lines(shown):
    _, text = shown
    assert "\x1b" not in text
    lines = text.splitlines()
    assert 25 <= len(lines) <= 35
    assert max(len(line.replace(LITHE, "lithe")) for line in lines) <= 100  # commands are shown as this program was called
    assert re.search(r"start +no torques: the box ends 3\.37 m from there", text)
    found = re.search(r"found +torques with which it ends ([\d.e-]+) mm from there$", text, re.M)
    assert 0 <= float(found[1]) < 10
    assert re.search(r"work +\d+ iterations of L-BFGS on \d+ torques.* in [\d.]+ s, \d+ thread", text)
    assert lines[lines.index("Next") + 1 :] and len(lines) - lines.index("Next") <= 5
    assert "xdg-open out/demo.html" in text


def test_it_has_the_papers_table(shown):
    _, text = shown
    unit = {"µs": 1e-6, "ms": 1e-3}
    took = r"([\d.]+) (µs|ms)"
    row = rf"^  {{}} +here +(\d+) +(\d+) +{took} +{took} +([\d.]+)× +{took} +([\d.]+)×$"
    for scene, dofs, contacts in [("humanoid", 33, 12), ("half_cheetah", 9, 2), ("jump_worm", 5, 2), ("catapult", 5, 2)]:
        found = re.search(row.format(scene), text, re.M)
        assert (int(found[1]), int(found[2])) == (dofs, contacts)
        analytic, central, ridders = (float(found[i]) * unit[found[i + 1]] for i in (3, 5, 8))
        assert 0 < analytic < min(central, ridders)  # by a factor of more than ten: no load of the machine changes that
        assert float(found[7]) == pytest.approx(central / analytic, rel=0.02)
        assert float(found[10]) == pytest.approx(ridders / analytic, rel=0.02)
    assert re.search(r"^  Atlas +paper +8\.53 ms +749 ms +87\.84× +2229 ms +261×$", text, re.M)
    assert re.search(r"^  Half Cheetah +paper +0\.395 ms +8\.64 ms +21\.86× +24 ms +60×$", text, re.M)
    assert re.search(r"^  Jump-Worm +paper +0\.256 ms +3\.82 ms +14\.89× +9\.727 ms +37\.9×$", text, re.M)
    assert re.search(r"^  Catapult +paper +0\.265 ms +4\.36 ms +16\.45× +12\.0 ms +45\.2×$", text, re.M)


def test_its_recordings_miss_before_and_hit_after(shown):
    folder, _ = shown
    for name, near in [("start", False), ("optimised", True)]:
        header, frames = read_recording(folder / "out" / f"demo_{name}.lithe")
        assert (header["title"], len(frames)) == ("catapult", 501)
        assert (miss(frames[-1].q) < 0.01) == near
        assert all(frame.tau is not None for frame in frames[:-1])
        assert any(frame.contacts for frame in frames)
        assert any(any(frame.tau) for frame in frames[:-1]) == near


def test_its_page_has_both_motions_and_the_cost(shown):
    folder, _ = shown
    show = document(folder)
    assert [motion["name"] for motion in show["motions"]] == ["start", "optimised"]
    bodies = [body["name"] for body in show["bodies"]]
    for motion in show["motions"]:
        assert len(floats(motion["times"])) == 501
        assert sum(struct.unpack("<501I", base64.b64decode(motion["contact_counts"]))) > 0
        assert len(floats(motion["gradients"]["bodies"])) == 501 * len(bodies) * 3
    place = 7 * bodies.index("projectile")
    x, _, z = floats(show["motions"][1]["poses"])[-7 * len(bodies) :][place : place + 3]
    assert miss((x, z)) < 0.01
    # At the optimum, little depends on where things are.
    before, after = (max(map(abs, floats(motion["gradients"]["bodies"]))) for motion in show["motions"])
    assert before > 1 and after < 0.1 * before
    (curve,) = show["curves"]
    x, y = floats(curve["x"]), floats(curve["y"])
    assert (curve["name"], curve["x_label"], curve["log_y"]) == ("cost", "iteration", True)
    assert x == tuple(range(len(x))) and y[0] == pytest.approx(11.37, abs=0.01) and y[-1] < 1e-3


def test_its_page_shows_the_floor_and_the_target(shown):
    show = document(shown[0])
    seen = {shape["name"]: shape for shape in show["shapes"] if shape["role"] == "visual"}
    assert set(seen) == {"floor", "target"}
    assert seen["target"]["position"] == pytest.approx([2.2, 0, 2.2])
    assert seen["floor"]["position"] == next(s["position"] for s in show["shapes"] if s["name"] == "floor")


def test_its_recordings_can_be_exported_with_gradients(shown):
    folder, _ = shown
    arguments = ["out/demo_optimised.lithe", "--compare", "out/demo_start.lithe", "--gradients", "--json", "o.json"]
    result = subprocess.run([LITHE, "export", *arguments], capture_output=True, text=True, cwd=folder, timeout=60)
    assert (result.returncode, result.stderr) == (0, "")
    show, again = document(folder), json.loads((folder / "o.json").read_text())
    for one, other in zip(show["motions"], reversed(again["motions"]), strict=True):
        assert one["gradients"] == other["gradients"]


def test_without_a_viewer_there_are_recordings_and_advice(tmp_path):
    program = tmp_path / "bin" / "lithe"
    program.parent.mkdir()
    shutil.copy(LITHE, program)
    result = subprocess.run(
        [program, "demo", "--out", "results"], capture_output=True, text=True, cwd=tmp_path, timeout=300
    )
    assert (result.returncode, result.stderr) == (0, "")
    assert "no page     the viewer's page is not built: `make viewer` does that" in result.stdout
    assert "xdg-open" not in result.stdout
    assert sorted(path.name for path in (tmp_path / "results").iterdir()) == ["demo_optimised.lithe", "demo_start.lithe"]


def test_a_folder_that_cannot_be_made_is_an_error_at_once(tmp_path):
    (tmp_path / "out").write_text("a file")
    result = demo(tmp_path)
    assert (result.returncode, result.stdout) == (1, "")  # nothing was begun
    assert result.stderr.startswith("lithe: error: cannot make the folder 'out' for the results: ")
    assert (tmp_path / "out").read_text() == "a file"
    result = demo(tmp_path, "--out", "/proc/nowhere")
    assert result.returncode == 1 and "/proc/nowhere" in result.stderr


def on_a_terminal(folder, *arguments):
    """All that the demo writes to a terminal."""
    ours, its = pty.openpty()
    process = subprocess.Popen([LITHE, "demo", *arguments], cwd=folder, stdout=its, stderr=its, stdin=its)
    os.close(its)
    text = b""
    while part := read_terminal(ours):
        text += part
    os.close(ours)
    assert process.wait(timeout=300) == 0
    return text.decode()


def test_on_a_terminal_there_are_a_bar_and_bold_headlines(tmp_path):
    text = on_a_terminal(tmp_path)
    # What takes less than 0.3 s has no bar: of the first one, a fast machine may see nothing.
    bars = re.findall(r"\r  (optimising|measuring) [━╌]+  (.*?)\x1b\[K", text)
    assert bars
    for title, note in bars:
        assert re.fullmatch(r"iteration \d+, cost \d\.\de[-+]\d\d" if title == "optimising" else r"\d+ %", note)
    assert "\x1b[1mNext\x1b[0m" in text
    plain = on_a_terminal(tmp_path, "--no-color", "--viewer", "nowhere.html")
    assert "\x1b[1m" not in plain
    assert "nowhere.html (--viewer): No such file" in plain


def test_it_can_be_interrupted(tmp_path):
    process = subprocess.Popen([LITHE, "demo", "--threads", "1"], cwd=tmp_path, stdout=subprocess.PIPE, text=True)
    process.stdout.readline()  # it is at work
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=60) == 130
    process.stdout.close()
    assert list((tmp_path / "out").iterdir()) == []
