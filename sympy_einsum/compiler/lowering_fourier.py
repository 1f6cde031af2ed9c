"""Fourier transforms: products with waves, which are never built for them."""

from __future__ import annotations

from ..expressions import Delta, Fourier
from .context import Lowering


def transformed(builder: Lowering, waves: Fourier, value: int, backwards: bool) -> int:
    """The transform of a value along its last axis, with its parts along a new one; backwards the
    real part of the inverse transform of what has its parts along the last axis."""
    if backwards:
        params = (waves.length, waves.positions, waves.weighted)
        return builder.emit("from_spectrum", value, params=params)
    params = (waves.length, waves.frequencies, waves.weighted)
    return builder.emit("spectrum", value, params=params)


def lower_waves(builder: Lowering, node: Fourier) -> int:
    """Waves that are needed as they are: the transforms of unit vectors."""
    units = builder.value(Delta(node.positions))
    value = transformed(builder, node, units, False)
    return builder.emit("transpose", value, params=((2, 0, 1),))
