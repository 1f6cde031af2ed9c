"""Define benchmark cases, and data and expressions that several of them share."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

import numpy as np

import sympy_einsum as se

# The libraries whose namespaces plain functions use; the last lacks slices, maxima of arrays and
# factorizations.
LIKE_NUMPY = ("jax", "torch", "autograd", "pytensor")
EVERY_PEER = (*LIKE_NUMPY, "tensorgrad")


@dataclass(eq=False)
class Case:
    """Define a problem.

    ``build`` returns our arguments and expressions, ``data`` the arrays for a size. ``hand`` is the
    hand-written program. ``plain`` is the function of a namespace and the arrays that ``peers``
    differentiate ``order`` times with respect to argument ``wrt``, also returning its value if
    ``value``. ``semiring`` is the semiring in which ours is evaluated.
    """

    name: str
    build: Callable[[], tuple[list[Any], Any]]
    sizes: dict[str, tuple[int, ...]]
    data: Callable[..., list[Any]]
    hand: Callable[..., Any]
    plain: Callable[..., Any] | None = None
    wrt: int | tuple[int, ...] = 0
    order: int = 1
    value: bool = True
    peers: tuple[str, ...] = LIKE_NUMPY
    semiring: str | None = None

    def is_among(self, parts: Collection[str]) -> bool:
        """Tell whether the name contains one of some texts."""
        return any(part in self.name for part in parts)

    def of(self, xp: Any, *values: Any) -> Any:
        """Return the function in a peer's namespace."""
        assert self.plain is not None
        return self.plain(xp, *values)


def rng() -> Any:
    return np.random.default_rng(7)


def normal(*shapes: tuple[int, ...]) -> list[Any]:
    generator = rng()
    return [generator.standard_normal(shape) for shape in shapes]


def three(*sizes: Any) -> dict[str, tuple[int, ...]]:
    return {
        name: size if isinstance(size, tuple) else (size,)
        for name, size in zip(("tiny", "mid", "large"), sizes, strict=True)
    }


def with_gradient(f: Any, *wrt: Any) -> list[Any]:
    return [f, *[se.gradient(f, symbol) for symbol in wrt]]
