"""What lithe.torch is given: tensors checked by name, broadcast to one batch of float64 rows."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import torch
from numpy.typing import ArrayLike

from lithe._lithe import Model

# A number, or one per item of the batch.
Parameter = float | torch.Tensor
Targets = torch.Tensor | ArrayLike


def check_tensor(name: str, x: torch.Tensor, like: torch.Tensor | None = None) -> None:
    """Raises what is wrong with a tensor, by name. `like`: the tensor called q, whose dtype all others must have."""
    if not isinstance(x, torch.Tensor):
        raise TypeError(f"{name}: expected a torch.Tensor, got {type(x).__name__}")
    if x.device.type != "cpu":
        raise ValueError(f"{name}: is on device '{x.device}', and Lithe computes on the CPU; use {name}.cpu()")
    if x.layout != torch.strided:
        raise ValueError(f"{name}: expected a dense tensor, got {x.layout}")
    if x.dtype not in (torch.float32, torch.float64):
        raise ValueError(f"{name}: expected float32 or float64, got {_dtype(x)}")
    if like is not None and x.dtype != like.dtype:
        raise ValueError(f"{name}: is {_dtype(x)}, but q is {_dtype(like)}; convert one of them")


def check_shape(name: str, x: torch.Tensor, *sizes: int | str) -> None:
    """The last dimensions must have these sizes; a letter stands for any."""
    found = tuple(x.shape[-len(sizes) :]) if x.dim() >= len(sizes) else ()
    if not found or any(isinstance(want, int) and want != have for want, have in zip(sizes, found)):
        raise ValueError(f"{name}: expected shape (…, {', '.join(map(str, sizes))}), got {_shape(x.shape)}")


class Arguments:
    """The arguments of one call, as rows of one batch.

    Every argument has leading dimensions of any shape, which broadcast together; the rows are all items, flattened.
    Conversion and broadcasting are torch's own, so it is torch that carries gradients back through them.
    """

    def __init__(self, model: Model, q: torch.Tensor, v: torch.Tensor) -> None:
        self.model = model
        self._tensors: dict[str, tuple[torch.Tensor, int]] = {}  # with the number of dimensions that are no batch's
        self._numbers: dict[str, torch.Tensor] = {}  # parameters
        check_tensor("q", q)
        self.q_given = q
        self.add("q", q, model.nq)
        self.add("v", v, model.nv)

    def add(self, name: str, x: torch.Tensor, *sizes: int | str) -> None:
        """An argument whose last dimensions have these sizes."""
        check_tensor(name, x, self.q_given)
        check_shape(name, x, *sizes)
        self._tensors[name] = (x, len(sizes))

    def add_parameters(self, params: Mapping[str, Parameter] | None) -> None:
        """Numbers by name, each a single one or one per item."""
        for name, value in (params or {}).items():
            if not isinstance(value, torch.Tensor):
                try:
                    value = torch.tensor(float(value), dtype=self.q_given.dtype)
                except (TypeError, ValueError):
                    raise TypeError(
                        f"params['{name}']: expected a tensor or a number, got {type(value).__name__}"
                    ) from None
            check_tensor(f"params['{name}']", value, self.q_given)
            self._numbers[name] = value

    def add_number(self, name: str, value: torch.Tensor) -> None:
        if name in self._numbers:
            raise ValueError(f"params['{name}']: is given a second time by targets")
        self._numbers[name] = value

    @property
    def names(self) -> list[str]:
        """Of all parameters, in the order of the columns of parameters()."""
        return list(self._numbers)

    def broadcast(self) -> tuple[int, ...]:
        """Fixes the shape of the batch. Call it after all arguments were added."""
        shapes = {name: tuple(x.shape[: x.dim() - own]) for name, (x, own) in self._tensors.items()}
        shapes.update({f"params['{name}']": tuple(x.shape) for name, x in self._numbers.items()})
        try:
            self.batch = np.broadcast_shapes(*shapes.values())
        except ValueError:
            said = ", ".join(f"{name} {_shape(shape)}" for name, shape in shapes.items() if shape)
            raise ValueError(f"the leading dimensions do not broadcast to one batch: {said}") from None
        self.items = math.prod(self.batch)
        return self.batch

    def rows(self, name: str) -> torch.Tensor | None:
        """An argument with one row per item, float64, or None if it was not given."""
        if name not in self._tensors:
            return None
        x, own = self._tensors[name]
        sizes = x.shape[x.dim() - own :]
        rows: torch.Tensor = x.to(torch.float64).expand(*self.batch, *sizes).reshape(self.items, *sizes)
        return rows

    def parameters(self) -> torch.Tensor:
        """The parameters (items, number of names), float64."""
        if not self._numbers:
            return torch.empty(self.items, 0, dtype=torch.float64)
        columns = [x.to(torch.float64).expand(self.batch).reshape(self.items) for x in self._numbers.values()]
        stacked: torch.Tensor = torch.stack(columns, dim=-1)
        return stacked

    def restore(self, x: torch.Tensor) -> torch.Tensor:
        """A result with one row per item in the shape of the batch and the dtype of the arguments."""
        result: torch.Tensor = x.reshape(*self.batch, *x.shape[1:]).to(self.q_given.dtype)
        return result


def constant(x: Targets, like: torch.Tensor) -> torch.Tensor:
    """An array, which nothing is differentiated by, as a tensor of the others' dtype; a tensor as it is."""
    if isinstance(x, torch.Tensor):
        return x
    made: torch.Tensor = torch.from_numpy(np.array(x, dtype=np.float64)).to(like.dtype)
    return made


def _dtype(x: torch.Tensor) -> str:
    return str(x.dtype).replace("torch.", "")


def _shape(shape: Sequence[int]) -> str:
    return str(tuple(shape))
