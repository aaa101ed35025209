"""StepBatches for one step each, used again.

A fresh StepBatch has memory to find, which takes longer than a step of a small robot. So one that is not needed any more
waits here for the next step of as many worlds.
"""

from __future__ import annotations

import atexit
import os
import threading

from lithe._lithe import Model, StepBatch

# How much may wait: worlds · nv of all batches together. A world takes half a kilobyte per DoF.
LARGEST = 400_000

# What a batch must have in common with the next step: nv (its memory fits then), worlds, threads.
Kind = tuple[int, int, int]


class IdleWorlds:
    """Safe to use from threads. A forked process, in which the batches' threads do not exist, starts with none."""

    def __init__(self) -> None:
        self._abandoned: list[object] = []  # of the process that this one was forked from: never to be touched
        self._open()

    def _open(self) -> None:
        self._process = os.getpid()
        self._lock = threading.Lock()
        self._waiting: dict[Kind, list[StepBatch]] = {}  # the kind that was used last comes last
        self._held = 0

    def take(self, model: Model, kind: Kind) -> StepBatch:
        """Worlds of this model as it is now."""
        if self._process != os.getpid():
            self._abandoned.append(self._waiting)
            self._open()
        nv, size, threads = kind
        batch = None
        with self._lock:
            if kind in self._waiting:
                batches = self._waiting.pop(kind)
                batch = batches.pop()
                self._held -= nv * size
                if batches:
                    self._waiting[kind] = batches
        if batch is None:
            return StepBatch(model, size, threads=threads)
        batch.set_model(model)
        return batch

    def give(self, batch: StepBatch, kind: Kind, process: int) -> None:
        """Puts a batch back that was taken by this process. Where there is no room, it is let go."""
        if process != os.getpid():
            self._abandoned.append(batch)
            return
        # Called by the garbage collector, which may have interrupted take(): never wait.
        if self._process != process or not self._lock.acquire(blocking=False):
            return
        try:
            nv, size, _ = kind
            self._make_room(nv * size)
            if self._held + nv * size <= LARGEST:
                self._waiting.setdefault(kind, []).append(batch)
                self._held += nv * size
        finally:
            self._lock.release()

    def _make_room(self, wanted: int) -> None:
        """Lets go of what was not used for longest."""
        while self._waiting and self._held + wanted > LARGEST:
            kind = next(iter(self._waiting))
            if len(self._waiting) == 1:
                return
            nv, size, _ = kind
            self._held -= nv * size * len(self._waiting.pop(kind))

    def close(self) -> None:
        """Lets go of everything, while the library is still there, and takes nothing back."""
        if self._process == os.getpid():
            self._open()
            self._process = -1


idle_worlds = IdleWorlds()
atexit.register(idle_worlds.close)
