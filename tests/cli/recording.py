"""A reader of recordings that knows no more than docs/recording.md."""

import struct
import zlib
from pathlib import Path
from typing import NamedTuple


class Contact(NamedTuple):
    a: int
    b: int
    point: tuple
    normal: tuple
    impulse: tuple


class Frame(NamedTuple):
    time: float
    q: tuple
    v: tuple
    contacts: list
    tau: tuple | None  # None: not known
    motor_targets: tuple | None  # None: motors are off


class Bytes:
    def __init__(self, data):
        self.data = data
        self.place = 0

    def take(self, count):
        assert self.place + count <= len(self.data), "the content ends too early"
        self.place += count
        return self.data[self.place - count : self.place]

    def u32(self):
        return struct.unpack("<I", self.take(4))[0]

    def f64(self, count):
        return struct.unpack(f"<{count}d", self.take(8 * count))

    def text(self):
        return self.take(self.u32()).decode()

    def done(self):
        return self.place == len(self.data)


def blocks(file):
    while not file.done():
        length = file.take(4)
        checksum = file.u32()
        content = file.take(struct.unpack("<I", length)[0])
        assert zlib.crc32(length + content) == checksum
        yield Bytes(content)


def read_header(content):
    header = {"nq": content.u32(), "nv": content.u32(), "time_step": content.f64(1)[0], "title": content.text()}
    header["bodies"] = [content.text() for _ in range(content.u32())]
    header["joints"] = [(content.text(), content.u32(), content.u32()) for _ in range(content.u32())]
    header["shapes"] = [(content.text(), content.u32()) for _ in range(content.u32())]
    header["motors"] = [(content.text(), content.u32()) for _ in range(content.u32())]
    assert content.done()
    return header


def read_frame(content, header):
    count, controls = content.u32(), content.u32()
    assert controls in (0, 1, 3, 5, 7)
    time, q, v = content.f64(1)[0], content.f64(header["nq"]), content.f64(header["nv"])
    tau = content.f64(header["nv"]) if controls & 2 else (0.0,) * header["nv"] if controls & 1 else None
    motor_targets = content.f64(len(header["motors"])) if controls & 4 else None
    contacts = [
        Contact(content.u32(), content.u32(), content.f64(3), content.f64(3), content.f64(3)) for _ in range(count)
    ]
    assert content.done()
    return Frame(time, q, v, contacts, tau, motor_targets)


def read_recording(path):
    """The header as a dictionary, and all frames."""
    file = Bytes(Path(path).read_bytes())
    assert file.take(16) == b"LITHEREC\x02\0\0\0\x04\x03\x02\x01"
    first, *others = blocks(file)
    header = read_header(first)
    return header, [read_frame(content, header) for content in others]
