import base64
import json
import os
import shutil
import struct
import subprocess

import pytest
from compact_robot import COMPACT
from recording import read_recording

LITHE = os.environ.get("LITHE_CLI", "build/lithe")
PLACEHOLDER = '<script type="application/json" id="lithe-show">null</script>'
STEPS = 30


def lithe(*arguments, program=LITHE, **environment):
    return subprocess.run(
        [program, *map(str, arguments)], capture_output=True, text=True, timeout=300, env={**os.environ, **environment}
    )


def export(*arguments, **environment):
    """What an export that must go well says."""
    result = lithe("export", *arguments, **environment)
    assert (result.returncode, result.stderr) == (0, "")
    return result.stdout


def error(*arguments, code=1, **environment):
    result = lithe("export", *arguments, **environment)
    assert result.returncode == code, result.stderr
    assert result.stderr.startswith("lithe: error: ")
    return result.stderr


def floats(text):
    data = base64.b64decode(text, validate=True)
    return struct.unpack(f"<{len(data) // 4}f", data)


def record(path, scene="humanoid", *options):
    result = lithe("simulate", scene, "--steps", STEPS, "--out", path, "--quiet", *options)
    assert (result.returncode, result.stderr) == (0, "")
    return path


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    return record(tmp_path_factory.mktemp("recordings") / "standing.lithe")


@pytest.fixture
def page(tmp_path):
    path = tmp_path / "page.html"
    path.write_text(f"<!doctype html><body>{PLACEHOLDER}</body>")
    return path


def test_the_document_has_every_frame(recording, tmp_path):
    out = tmp_path / "out.json"
    said = export(recording, "--json", out)
    assert said.startswith(f"humanoid\n  motion      standing: {STEPS + 1} frames, 0.03 s\n")
    show = json.loads(out.read_text())
    assert (show["format"], show["version"], show["title"]) == ("lithe-show", 1, "humanoid")
    (motion,) = show["motions"]
    assert motion["name"] == "standing"
    assert floats(motion["times"]) == pytest.approx([1e-3 * i for i in range(STEPS + 1)])
    assert len(floats(motion["poses"])) == (STEPS + 1) * len(show["bodies"]) * 7
    force = next(series for series in motion["series"] if series["name"] == "contact force")
    assert floats(force["values"])[0] > 100


def test_the_page_holds_the_document(recording, page, tmp_path):
    html, document = tmp_path / "out.html", tmp_path / "out.json"
    export(recording, "--html", html, "--json", document, "--viewer", page)
    before, after = page.read_text().split("null")
    assert html.read_text() == before + document.read_text() + after
    export(recording, "--html", tmp_path / "other.html", LITHE_VIEWER=str(page))
    assert (tmp_path / "other.html").read_text() == html.read_text()


def test_two_motions_are_shown_together(recording, tmp_path):
    other = record(tmp_path / "pushed.lithe", "humanoid", "--controls", "random")
    export(recording, "--compare", other, "--json", tmp_path / "out.json")
    show = json.loads((tmp_path / "out.json").read_text())
    assert [motion["name"] for motion in show["motions"]] == ["standing", "pushed"]


def test_recordings_say_what_drove_them(recording, tmp_path):
    header, frames = read_recording(record(tmp_path / "pushed.lithe", "humanoid", "--controls", "random"))
    assert all(len(frame.tau) == header["nv"] and any(frame.tau) for frame in frames[:-1])
    assert (frames[-1].tau, frames[-1].contacts) == (None, [])
    assert not any(any(frame.tau) for frame in read_recording(recording)[1][:-1])
    header, frames = read_recording(record(tmp_path / "grip.lithe", "gripper"))
    assert [name for name, _ in header["motors"]] == ["lift", "grip"]
    assert all(frame.motor_targets == frames[0].motor_targets != (0, 0) for frame in frames[:-1])


@pytest.fixture(scope="module")
def thrown(tmp_path_factory):
    """The catapult, pushed at random until its box lies on it."""
    path = tmp_path_factory.mktemp("thrown") / "thrown.lithe"
    result = lithe("simulate", "catapult", "--steps", 250, "--controls", "random", "--out", path, "--quiet")
    assert (result.returncode, result.stderr) == (0, "")
    return path


def gradients(document):
    show = json.loads(document.read_text())
    return [
        (floats(motion["gradients"]["bodies"]), floats(motion["gradients"]["joints"])) for motion in show["motions"]
    ], show


def test_gradients_of_the_task(thrown, tmp_path):
    out = tmp_path / "out.json"
    export(thrown, "--json", out)
    assert "gradients" not in json.loads(out.read_text())["motions"][0]
    export(thrown, "--json", out, "--gradients")
    ((bodies, joints),), show = gradients(out)
    assert show["motions"][0]["gradients"]["loss"] == "loss"
    b, j = len(show["bodies"]), len(show["joints"])
    assert (len(bodies), len(joints)) == (251 * b * 3, 251 * j)
    x, z = read_recording(thrown)[1][-1].q[:2]
    projectile = [body["name"] for body in show["bodies"]].index("projectile")
    last = bodies[-3 * b :][3 * projectile : 3 * projectile + 3]
    assert last == pytest.approx((2 * (x - 2.2), 0, 2 * (z - 2.2)), abs=1e-5)
    assert joints[-j:] == (0,) * j
    assert max(map(abs, joints)) > 0
    export(thrown, "--json", out, "--gradients", "--every", 100)
    ((thin, _),), _ = gradients(out)
    assert thin == tuple(n for t in (0, 100, 200, 250) for n in bodies[t * b * 3 : (t + 1) * b * 3])
    export(thrown, "--compare", thrown, "--json", out, "--gradients")
    (first, second), _ = gradients(out)
    assert first == second == (bodies, joints)


def test_gradients_that_cannot_be_had_are_explained(recording, thrown, tmp_path):
    out = tmp_path / "out.json"
    text = error(recording, "--json", out, "--gradients")
    assert "standing.lithe: no gradients: the scene has no task" in text and "catapult" in text
    free = record(tmp_path / "free.lithe", "cartpole")
    text = error(free, "--json", out, "--gradients", "--model", "pendulum")
    assert "not of this model" in text
    assert "excludes" in error(thrown, "--gltf", out, "--gradients", code=2)
    assert not out.exists()


def without_a_frame(path, number):
    """The bytes of a recording without one of its frames."""
    data = path.read_bytes()
    place = 16
    for _ in range(number + 1):
        place += 8 + struct.unpack_from("<I", data, place)[0]
    return data[:place] + data[place + 8 + struct.unpack_from("<I", data, place)[0] :]


def test_gradients_need_every_frame(thrown, tmp_path):
    out, cut, gap = tmp_path / "out.json", tmp_path / "cut.lithe", tmp_path / "gap.lithe"
    cut.write_bytes(thrown.read_bytes()[:-100])
    result = lithe("export", cut, "--json", out, "--gradients")
    assert result.returncode == 0 and "was cut off" in result.stderr
    assert len(gradients(out)[0][0][1]) == 250 * 5
    gap.write_bytes(without_a_frame(thrown, 7))
    export(gap, "--json", out)
    text = error(gap, "--json", out, "--gradients")
    assert "gap.lithe: no gradients: frame 7 (t = 0.008 s) comes 0.002 s after the one before" in text


def test_gltf_is_written(recording, tmp_path):
    export(recording, "--gltf", tmp_path / "out.glb")
    data = (tmp_path / "out.glb").read_bytes()
    assert struct.unpack("<4sII", data[:12]) == (b"glTF", 2, len(data))


def test_frames_can_be_left_out(recording, tmp_path):
    export(recording, "--json", tmp_path / "out.json", "--every", 20)
    (motion,) = json.loads((tmp_path / "out.json").read_text())["motions"]
    assert floats(motion["times"]) == pytest.approx([0, 0.02, 0.03])


def test_a_recording_that_was_cut_off_is_shown_as_far_as_it_goes(recording, tmp_path):
    cut = tmp_path / "cut.lithe"
    cut.write_bytes(recording.read_bytes()[:-100])
    result = lithe("export", cut, "--json", tmp_path / "out.json")
    assert result.returncode == 0
    assert "was cut off; it is shown up to its last full frame" in result.stderr
    assert f"cut: {STEPS} frames" in result.stdout


def test_without_a_frame_there_is_nothing_to_show(recording, tmp_path):
    cut = tmp_path / "cut.lithe"
    cut.write_bytes(recording.read_bytes()[:2200])
    assert "there is no whole frame in it" in error(cut, "--json", tmp_path / "out.json")


def test_another_model_is_refused(recording, tmp_path):
    text = error(recording, "--json", tmp_path / "out.json", "--model", "stack")
    assert "the recording is not of this model: body 1 is 'pelvis' there and 'box_0' in the model" in text
    other = record(tmp_path / "stack.lithe", "stack")
    assert "stack.lithe (title 'stack')" in error(recording, "--compare", other, "--json", tmp_path / "out.json")
    assert not (tmp_path / "out.json").exists()


def test_a_title_that_leads_nowhere_needs_a_model(tmp_path):
    robot = tmp_path / "arm.urdf"
    robot.write_text(
        """<robot name="arm"><link name="base"/>
        <link name="rod"><inertial><mass value="1"/><origin xyz="0 0 -1"/>
        <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
        <visual><geometry><box size="0.1 0.1 2"/></geometry></visual></link>
        <joint name="hinge" type="continuous"><parent link="base"/><child link="rod"/><axis xyz="0 1 0"/></joint></robot>"""
    )
    motion = record(tmp_path / "arm.lithe", robot)
    out = tmp_path / "out.json"
    export(motion, "--json", out)
    assert [shape["role"] for shape in json.loads(out.read_text())["shapes"]] == ["visual"]
    moved = robot.rename(tmp_path / "moved.urdf")
    text = error(motion, "--json", out)
    assert "leads to no model" in text and "--model SCENE|FILE" in text
    export(motion, "--json", out, "--model", moved)


def test_a_file_is_shown_with_its_name_and_the_pairs_that_do_not_touch(page, tmp_path):
    robot = tmp_path / "robot.urdf"
    robot.write_text(COMPACT)
    base = "--floating-base"
    motion = record(tmp_path / "motion.lithe", robot, base)
    html = tmp_path / "out.html"
    said = export(motion, "--html", html, "--viewer", page, base)
    assert said.startswith("compact\n")
    before, after = PLACEHOLDER.split("null")
    show = json.loads(html.read_text().split(before)[1].split(after)[0])
    assert show["title"] == "compact"
    assert show["excepted_pairs"] == [{"a": "a", "b": "c", "reason": "they touch in 100 % of poses"}]

    out = tmp_path / "out.json"
    export(motion, "--json", out, base, "--self-collision", "all")
    assert json.loads(out.read_text())["excepted_pairs"] == []
    robot.write_text(COMPACT.replace(' name="compact"', ""))
    assert lithe("export", motion, "--json", out, base).returncode == 0  # there is a note about the name
    assert json.loads(out.read_text())["title"] == "robot.urdf"


def test_scenes_have_no_pairs_to_list(recording, tmp_path):
    export(recording, "--json", tmp_path / "out.json")
    assert json.loads((tmp_path / "out.json").read_text())["excepted_pairs"] == []


def test_the_viewer_is_looked_for_and_its_absence_explained(recording, page, tmp_path):
    html = tmp_path / "out.html"
    assert "nowhere.html (--viewer): No such file" in error(recording, "--html", html, "--viewer", "nowhere.html")
    assert "nowhere.html ($LITHE_VIEWER)" in error(recording, "--html", html, LITHE_VIEWER="nowhere.html")
    assert f"{tmp_path} (--viewer) is a folder" in error(recording, "--html", html, "--viewer", tmp_path)
    empty = tmp_path / "empty.html"
    empty.write_text("<html></html>")
    assert "has no place for the document" in error(recording, "--html", html, "--viewer", empty)

    program = tmp_path / "bin" / "lithe"
    program.parent.mkdir()
    shutil.copy(LITHE, program)
    result = subprocess.run(
        [program, "export", recording, "--html", html], capture_output=True, text=True, cwd=tmp_path, timeout=60
    )
    assert result.returncode == 1
    assert "`make viewer`" in result.stderr
    assert not html.exists()
    (tmp_path / "share" / "lithe").mkdir(parents=True)
    shutil.copy(page, tmp_path / "share" / "lithe" / "viewer.html")
    assert lithe("export", recording, "--html", html, program=program).returncode == 0


def test_bad_usage(recording, tmp_path):
    out = tmp_path / "out"
    assert "say what to write" in error(recording, code=2)
    assert "--html OUT.html" in error(recording, code=2)
    assert "excludes" in error(recording, "--gltf", out, "--compare", recording, code=2)
    assert "--every" in error(recording, "--json", out, "--every", 0, code=2)
    error("--json", out, code=2)


def test_files_that_are_not_there_or_not_writable(recording, tmp_path):
    out = tmp_path / "out.json"
    assert "there is no such file" in error(tmp_path / "nothing.lithe", "--json", out)
    assert "cannot write /nowhere/out.json: No such file" in error(recording, "--json", "/nowhere/out.json")
    assert "no recording of Lithe's" in error(__file__, "--json", out)
    before = recording.read_bytes()
    assert "is the recording itself" in error(recording, "--json", recording)
    assert recording.read_bytes() == before
