"""Between the four numbers of a quaternion, which torch differentiates by, and its tangent, by which Lithe does.

A ball's unit quaternion p = (u, w) moves by p ⊕ δ = p·exp(δ), so that dp = ½ G(p) δ with

    G(p) = [w I + [u]×; −uᵀ]   (4 × 3),   Gᵀ G = I,   Gᵀ p = 0.

A step divides a quaternion that it is given by its length, so a small change dp of one of any length moves the tangent
by δ = 2 Gᵀ(p/|p|) dp/|p|: changes along p itself do nothing. All other joints have one number, its own tangent.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from lithe._lithe import Model

Array = NDArray[np.float64]


def coordinates_of(model: Model) -> Coordinates:
    return _coordinates(model.nq, model.nv, tuple(model.ball_joints))


class Coordinates:
    """Which entries of q (nq) and of v (nv) belong together, and the maps between them. Leading dimensions are any."""

    def __init__(self, nq: int, nv: int, balls: tuple[tuple[int, int], ...]) -> None:
        """`balls`: the first entries in q and in v of each ball joint."""
        self.nq, self.nv = nq, nv
        self.ball_q = np.array([range(q, q + 4) for q, _ in balls], dtype=np.intp).reshape(-1, 4)
        self.ball_v = np.array([range(v, v + 3) for _, v in balls], dtype=np.intp).reshape(-1, 3)
        self.plain_q = np.setdiff1d(np.arange(nq), self.ball_q)
        self.plain_v = np.setdiff1d(np.arange(nv), self.ball_v)

    def gradient_by_tangent(self, q: Array, gradient: Array) -> Array:
        """From the gradient by the entries of q (…, nq), of unit quaternions, that by its tangent (…, nv)."""
        return self._to_tangent(q, gradient, scale=0.5)

    def gradient_by_entries(self, q: Array, gradient: Array) -> Array:
        """From the gradient by the tangent of q (…, nv) that by its entries (…, nq); quaternions of any length."""
        return self._to_entries(q, gradient, scale=2.0)

    def tangent_of(self, q: Array, change: Array) -> Array:
        """How a small change of the entries of q (…, nq) moves its tangent (…, nv); quaternions of any length."""
        return self._to_tangent(q, change, scale=2.0)

    def change_of(self, q: Array, tangent: Array) -> Array:
        """How a small motion along the tangent (…, nv) changes the entries of q (…, nq), of unit quaternions."""
        return self._to_entries(q, tangent, scale=0.5)

    def _to_tangent(self, q: Array, x: Array, scale: float) -> Array:
        """scale·Gᵀ(p/|p|) x/|p|."""
        if not len(self.ball_q):
            return x
        out = np.empty((*x.shape[:-1], self.nv))
        out[..., self.plain_v] = x[..., self.plain_q]
        u, w, length = self._unit_quaternions(q)
        a, b = x[..., self.ball_q[:, :3]], x[..., self.ball_q[:, 3:]]
        out[..., self.ball_v] = (scale / length) * (w * a - np.cross(u, a) - b * u)
        return out

    def _to_entries(self, q: Array, x: Array, scale: float) -> Array:
        """scale·G(p/|p|) x/|p|."""
        if not len(self.ball_q):
            return x
        out = np.empty((*x.shape[:-1], self.nq))
        out[..., self.plain_q] = x[..., self.plain_v]
        u, w, length = self._unit_quaternions(q)
        d = x[..., self.ball_v]
        out[..., self.ball_q[:, :3]] = (scale / length) * (w * d + np.cross(u, d))
        out[..., self.ball_q[:, 3:]] = (-scale / length) * np.sum(u * d, axis=-1, keepdims=True)
        return out

    def _unit_quaternions(self, q: Array) -> tuple[Array, Array, Array]:
        """Vector parts (…, balls, 3), scalar parts (…, balls, 1) and the lengths that q has (…, balls, 1)."""
        p = q[..., self.ball_q]
        length = np.linalg.norm(p, axis=-1, keepdims=True)
        p = p / length
        return p[..., :3], p[..., 3:], length


_coordinates = lru_cache(maxsize=64)(Coordinates)
