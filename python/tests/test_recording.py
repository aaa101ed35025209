"""Recordings: what is written comes back bit by bit, and damage is noticed."""

import struct
import zlib

import numpy as np
import pytest

import lithe


@pytest.fixture
def motion(tmp_path):
    """A file of a bouncing cheetah, and what was written to it."""
    scene = lithe.scene("half_cheetah")
    path = tmp_path / "motion.lithe"
    q, v, states, contacts = scene.q, scene.v, [], []
    with lithe.RecordingWriter(path, scene.model, "half_cheetah", scene.time_step) as writer:
        for k in range(30):
            record = lithe.step(scene.model, q, v, options=scene.time_step)
            writer.append(record, k * scene.time_step)
            states.append((q.copy(), v.copy()))
            contacts.append(record.contacts)
            q, v = record.q, record.v
        writer.append((q, v))
        states.append((q.copy(), v.copy()))
        contacts.append([])
        assert writer.frames == 31 and "31 frames" in repr(writer)
    assert writer.bytes == path.stat().st_size and "closed" in repr(writer)
    return path, scene, states, contacts


def test_a_motion_comes_back_bit_by_bit(motion):
    path, scene, states, contacts = motion
    for source in [path, str(path)]:
        recording = lithe.read_recording(source)
        assert (len(recording), recording.cut_off, recording.title) == (31, False, "half_cheetah")
        assert recording.time_step == scene.time_step
        assert (recording.nq, recording.nv) == (9, 9)
        np.testing.assert_allclose(recording.times, scene.time_step * np.arange(31), rtol=1e-15)
        assert recording.q.tobytes() == b"".join(q.tobytes() for q, _ in states)
        assert recording.v.tobytes() == b"".join(v.tobytes() for _, v in states)
        assert recording.q.shape == (31, 9)
    assert sum(map(len, contacts)) > 30
    for k, expected in enumerate(contacts):
        found = recording.contacts(k)
        assert len(found) == len(expected)
        for a, b in zip(found, expected, strict=True):
            assert (a.shape_a, a.shape_b) == (b.shape_a, b.shape_b)
            assert a.point.tobytes() == b.point.tobytes()
            assert a.normal.tobytes() == b.normal.tobytes()
            assert a.impulse.tobytes() == b.impulse.tobytes()
    assert "31 frames" in repr(recording)


def test_a_recording_names_the_parts_of_its_model(motion):
    path, scene, *_ = motion
    recording, model = lithe.read_recording(path), scene.model
    assert recording.body_names == model.body_names
    assert recording.joint_names == model.joint_names
    assert recording.shape_names == model.shape_names
    assert recording.joint_types == [joint.type for joint in model.joints]
    assert recording.joint_bodies == [joint.body for joint in model.joints]
    assert recording.shape_bodies == [shape.body for shape in model.shapes]


def test_frames_can_be_read_one_by_one(motion):
    path, _, states, contacts = motion
    reader = lithe.RecordingReader(path)
    assert (reader.title, reader.nq, reader.body_names[0]) == ("half_cheetah", 9, "world")
    count = 0
    for frame, (q, v), touching in zip(reader, states, contacts, strict=True):
        np.testing.assert_array_equal(frame.q, q)
        np.testing.assert_array_equal(frame.v, v)
        assert len(frame.contacts) == len(touching)
        count += 1
    assert count == 31 and not reader.cut_off
    with pytest.raises(StopIteration):
        next(reader)


def test_what_drove_each_step_comes_back_too(tmp_path):
    scene = lithe.scene("gripper")
    path, model, rng = tmp_path / "grip.lithe", scene.model, np.random.default_rng(5)
    forces = rng.normal(size=(10, model.nv))
    q, v = scene.q, scene.v
    with lithe.RecordingWriter(path, model, "gripper", scene.time_step) as writer:
        for k in range(10):
            targets = scene.motor_targets * k if k < 8 else None
            record = lithe.step(model, q, v, forces[k], targets=targets, options=scene.time_step)
            writer.append(record)
            q, v = record.q, record.v
        writer.append((q, v))
    recording = lithe.read_recording(path)
    assert recording.has_controls and recording.motor_names == [motor.name for motor in model.motors]
    assert recording.tau.tobytes() == forces.tobytes() + bytes(8 * model.nv)
    np.testing.assert_array_equal(recording.targets[:8], np.outer(np.arange(8), scene.motor_targets))
    assert np.isnan(recording.targets[8:]).all()
    frames = list(lithe.RecordingReader(path))
    assert frames[3].tau.tobytes() == forces[3].tobytes()
    np.testing.assert_array_equal(frames[3].targets, 3 * scene.motor_targets)
    assert frames[9].targets is None
    assert frames[10].tau is None


def test_a_recorded_step_can_be_taken_again(motion):
    path, scene, *_ = motion
    recording = lithe.read_recording(path)
    assert recording.has_controls
    for k in range(30):
        record = lithe.step(scene.model, recording.q[k], recording.v[k], recording.tau[k], options=recording.time_step)
        np.testing.assert_allclose(record.q, recording.q[k + 1], rtol=0, atol=1e-12)


def test_controls_can_be_given_with_a_state(tmp_path):
    gripper, pendulum = lithe.scene("gripper"), lithe.scene("pendulum")
    nv, targets = gripper.model.nv, gripper.motor_targets
    with lithe.RecordingWriter(tmp_path / "m", gripper.model) as writer:
        writer.append((gripper.q, gripper.v), tau=np.arange(nv))
        writer.append((gripper.q, gripper.v), targets=targets)
        writer.append((gripper.q, gripper.v))
        with pytest.raises(ValueError, match=rf"tau: expected shape \({nv},\), got \(1,\)"):
            writer.append((gripper.q, gripper.v), tau=[1])
        with pytest.raises(ValueError, match="targets: expected"):
            writer.append((gripper.q, gripper.v), targets=[1, 2, 3, 4])
        with pytest.raises(ValueError, match="a StepRecord has its own"):
            writer.append(lithe.step(gripper.model, gripper.q, gripper.v), tau=np.arange(nv))
    recording = lithe.read_recording(tmp_path / "m")
    assert len(recording) == 3 and recording.has_controls
    np.testing.assert_array_equal(recording.tau, [np.arange(nv), np.zeros(nv), np.zeros(nv)])
    np.testing.assert_array_equal(recording.targets[1], targets)
    with lithe.RecordingWriter(tmp_path / "m", pendulum.model) as writer:
        for _ in range(2):
            writer.append((pendulum.q, pendulum.v))
    assert not lithe.read_recording(tmp_path / "m").has_controls


def version_1(path):
    """A file of version 1: a hinge with two frames, without controls."""

    def text(word):
        return struct.pack("<I", len(word)) + word

    def block(content):
        length = struct.pack("<I", len(content))
        return length + struct.pack("<I", zlib.crc32(length + content)) + content

    header = struct.pack("<IId", 1, 1, 0.25) + text(b"old")
    header += struct.pack("<I", 2) + text(b"world") + text(b"rod")
    header += struct.pack("<I", 1) + text(b"hinge") + struct.pack("<II", 0, 1)
    header += struct.pack("<I", 1) + text(b"bob") + struct.pack("<I", 1)
    frames = [struct.pack("<Iddd", 0, 0.25 * k, 1.5 + k, -k) for k in range(2)]
    path.write_bytes(struct.pack("<8sII", b"LITHEREC", 1, 0x01020304) + b"".join(map(block, [header, *frames])))


def test_files_of_version_1_are_still_read(tmp_path):
    version_1(tmp_path / "old")
    recording = lithe.read_recording(tmp_path / "old")
    assert (len(recording), recording.title, recording.motor_names) == (2, "old", [])
    assert not recording.has_controls
    np.testing.assert_array_equal(recording.q[:, 0], [1.5, 2.5])
    np.testing.assert_array_equal(recording.tau, np.zeros((2, 1)))
    assert recording.targets.shape == (2, 0)
    assert [frame.tau for frame in lithe.RecordingReader(tmp_path / "old")] == [None, None]


def test_contacts_are_found_by_number(motion):
    recording = lithe.read_recording(motion[0])
    assert repr(recording.contacts(-2)) == repr(recording.contacts(29))
    for frame in [31, -32]:
        with pytest.raises(IndexError, match="31"):
            recording.contacts(frame)


def test_a_cut_file_is_read_up_to_its_last_full_frame(motion):
    path, _, states, _ = motion
    data = path.read_bytes()
    lengths = set()
    for size in range(len(data) - 700, len(data), 50):
        path.write_bytes(data[:size])
        recording = lithe.read_recording(path)
        assert recording.cut_off and "cut off" in repr(recording)
        assert recording.q.tobytes() == b"".join(q.tobytes() for q, _ in states[: len(recording)])
        lengths.add(len(recording))
    assert len(lengths) > 2 and max(lengths) == 30


def test_damage_is_an_error_that_says_where(motion):
    path = motion[0]
    data = bytearray(path.read_bytes())
    rng = np.random.default_rng(3)
    for place in rng.integers(0, len(data) - 200, 40):
        damaged = bytearray(data)
        damaged[place] ^= 1 << int(rng.integers(8))
        path.write_bytes(damaged)
        try:
            recording = lithe.read_recording(path)
        except lithe.Error as error:
            assert str(path) in str(error) and "error:" in str(error)
        else:
            # A block that claims to be longer than the file is one that was cut off.
            assert recording.cut_off and len(recording) < 31


def test_what_is_no_recording_is_an_error(tmp_path):
    with pytest.raises(lithe.Error, match="nothing"):
        lithe.read_recording(tmp_path / "nothing.lithe")
    for data in [b"", b"LITHEREC", b"something else altogether", struct.pack("<8sII", b"LITHEREC", 99, 0x01020304)]:
        (tmp_path / "bad").write_bytes(data)
        with pytest.raises(lithe.Error, match="bad"):
            lithe.read_recording(tmp_path / "bad")
    with pytest.raises(TypeError):
        lithe.read_recording(3)


def test_time_goes_on_by_itself(tmp_path):
    model = lithe.scene("pendulum").model
    with lithe.RecordingWriter(tmp_path / "m", model, time_step=0.5) as writer:
        for _ in range(3):
            writer.append(([0.1], [0.2]))
        writer.append(([0.3], [0.4]), time=7)
    np.testing.assert_array_equal(lithe.read_recording(tmp_path / "m").times, [0, 0.5, 1, 7])


def test_frames_that_do_not_fit_are_refused_and_not_written(tmp_path):
    model = lithe.scene("pendulum").model
    other = lithe.scene("half_cheetah")
    record = lithe.step(other.model, other.q, other.v)
    with lithe.RecordingWriter(tmp_path / "m", model) as writer:
        with pytest.raises(ValueError, match=r"q: expected shape \(1,\), got \(2,\)"):
            writer.append(([0, 0], [0]))
        with pytest.raises(ValueError, match="v: expected"):
            writer.append(([0], "x"))
        with pytest.raises(lithe.Error, match="q has 9 entries"):
            writer.append(record)
        for wrong in [3, None, ([0],), [[0], [0]], "ab"]:
            with pytest.raises(TypeError, match="state: expected a StepRecord"):
                writer.append(wrong)
        assert writer.frames == 0
    assert len(lithe.read_recording(tmp_path / "m")) == 0


def test_a_closed_writer_takes_nothing_more(tmp_path):
    writer = lithe.RecordingWriter(tmp_path / "m", lithe.scene("pendulum").model)
    writer.append(([0], [0]))
    writer.flush()
    assert len(lithe.read_recording(tmp_path / "m")) == 1
    writer.close()
    writer.close()
    writer.flush()
    with pytest.raises(ValueError, match="closed"):
        writer.append(([0], [0]))


def test_the_writer_closes_when_something_goes_wrong(tmp_path):
    with pytest.raises(RuntimeError, match="mine"):
        with lithe.RecordingWriter(tmp_path / "m", lithe.scene("pendulum").model) as writer:
            writer.append(([0], [0]))
            raise RuntimeError("mine")
    assert len(lithe.read_recording(tmp_path / "m")) == 1


def test_a_place_that_cannot_be_written_is_an_error(tmp_path):
    model = lithe.scene("pendulum").model
    with pytest.raises(lithe.Error, match="cannot be written"):
        lithe.RecordingWriter(tmp_path / "no folder" / "m", model)
    for time_step in [0, -1, float("nan")]:
        with pytest.raises(lithe.Error, match="time step"):
            lithe.RecordingWriter(tmp_path / "m", model, "", time_step)


def test_arrays_outlive_their_recording(motion):
    recording = lithe.read_recording(motion[0])
    q, contacts = recording.q, recording.contacts(5)
    kept = q.copy()
    del recording
    np.testing.assert_array_equal(q, kept)
    assert all(np.isfinite(contact.point).all() for contact in contacts)
