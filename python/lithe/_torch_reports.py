"""What lithe.torch has to say of its results besides numbers."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Sequence

from lithe._lithe import GradientReport, RolloutBatch, RolloutGradientBatch, RolloutReport, StepBatch, StepVjpBatch

Reports = list[GradientReport] | list[RolloutReport]


class _Last(threading.local):
    gradients: StepVjpBatch | RolloutGradientBatch | None = None


_last = _Last()


def last_reports() -> Reports:
    """The reports of this thread's last backward pass through a step() or a rollout(), one per item of the flat batch.

    A GradientReport (of a step) or a RolloutReport says whether the derivative is that of the step as computed, whether
    it holds on one side only, and how close the step was to another set of contacts. Gradients that are too large for a
    double are a RuntimeWarning as well. Empty before the first backward pass. A backward pass through several steps
    leaves the reports of the one that was differentiated last: the first in time.
    """
    return [] if _last.gradients is None else _last.gradients.reports


def note_gradients(gradients: StepVjpBatch | RolloutGradientBatch) -> None:
    """Keeps their reports for last_reports(), and warns of gradients that are not what they should be."""
    _last.gradients = gradients
    items = len(gradients.q)
    if isinstance(gradients, StepVjpBatch):
        if overflowed := gradients.overflowed:
            _warn("the gradient is too large for a double", overflowed, items, "zeros stand for it")
    elif cut := gradients.cut:
        _warn(
            "what flows back became too large for a double", cut, items, "later states are left out of earlier gradients"
        )


def note_divergence(worlds: StepBatch | RolloutBatch) -> None:
    """Warns of worlds in which numbers overflowed on the way forward."""
    if diverged := worlds.diverged:
        _warn("numbers overflowed in a step", diverged, len(worlds), "the state stays as it was before it")


def _warn(what: str, items: Sequence[int], of: int, so: str) -> None:
    which = f"item {items[0]}" if len(items) == 1 else f"{len(items)} items, the first of them {items[0]}"
    warnings.warn(f"lithe.torch: {what} ({which}, of {of}); {so}", RuntimeWarning, stacklevel=3)
