import base64
import json
import os
import shutil
import struct
import subprocess

import pytest

LITHE = os.environ.get("LITHE_CLI", "build/lithe")
PLACEHOLDER = '<script type="application/json" id="lithe-show">null</script>'
STEPS = 30


def lithe(*arguments, program=LITHE, **environment):
    clean = {key: value for key, value in os.environ.items() if key != "LITHE_VIEWER"}
    return subprocess.run(
        [program, *map(str, arguments)], capture_output=True, text=True, timeout=300, env={**clean, **environment}
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
