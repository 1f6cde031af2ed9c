"""Define cases of gathers and windows."""

from __future__ import annotations

from typing import Any

import numpy as np
from sympy import symbols

import sympy_einsum as se

from .case import Case, normal, rng, three, with_gradient

m, n, k, w = symbols("m n k w", integer=True, positive=True)
table, target = se.TensorSymbol("table", (m, n)), se.TensorSymbol("target", (k, n))
words = se.TensorSymbol("words", (k,))
others, apart = se.TensorSymbol("others", (m, n)), se.TensorSymbol("apart", (k, 5))
near = se.TensorSymbol("near", (k,))
signal, taps = se.TensorSymbol("signal", (n,)), se.TensorSymbol("taps", (k,))
image = se.TensorSymbol("image", (m, 4, n, w))
kernel = se.TensorSymbol("kernel", (6, 4, 3, 3))


# --- gathers --------------------------------------------------------------------------------------


def rows_added(positions: Any, rows: Any, table: Any) -> Any:
    """Scatter-add rows at positions into zeros of a table's shape."""
    width = table.shape[1]
    places = positions.reshape(-1, 1) * width + np.arange(width)
    return np.bincount(places.ravel(), rows.ravel(), table.size).reshape(table.shape)


def embedding(xp: Any, table: Any, words: Any, target: Any) -> Any:
    """Return the squared distance of looked-up rows of a table to targets."""
    return xp.sum((xp.tanh(table[words]) - target) ** 2)


def embedding_gradient(table: Any, words: Any, target: Any) -> Any:
    found = np.tanh(table[words])
    e = found - target
    entries = e.ravel()
    value = entries.dot(entries)
    found *= found
    np.subtract(1, found, out=found)
    found *= e
    found *= 2
    return value, rows_added(words, found, table)


def embedding_data(rows: int, count: int, width: int) -> list[Any]:
    first, last = normal((rows, width), (count, width))
    return [first, rng().integers(rows, size=count), last]


def sampled(xp: Any, table: Any, others: Any, words: Any, near: Any, apart: Any) -> Any:
    """Return the loss of negative sampling: neighbouring words against random words."""
    found = table[words]
    together = xp.sum(found * others[near], axis=1)
    at_random = xp.sum(found[:, None] * others[apart], axis=2)
    return xp.sum(xp.log1p(xp.exp(-together))) + xp.sum(xp.log1p(xp.exp(at_random)))


def sampled_gradients(table: Any, others: Any, words: Any, near: Any, apart: Any) -> Any:
    found, beside, away = table[words], others[near], others[apart]
    together = np.einsum("ij,ij->i", found, beside)
    at_random = np.matmul(away, found[..., None])[..., 0]
    value = np.logaddexp(0, -together).sum() + np.logaddexp(0, at_random).sum()
    one, other = -1 / (1 + np.exp(together)), 1 / (1 + np.exp(-at_random))
    by_word = np.matmul(other[:, None], away)[:, 0]
    beside *= one[:, None]
    by_word += beside
    away = other[..., None] * found[:, None]
    found *= one[:, None]
    by_other = rows_added(near, found, others)
    by_other += rows_added(apart, away, others)
    return value, rows_added(words, by_word, table), by_other


def sampled_data(size: int, count: int, width: int) -> list[Any]:
    table, others = normal((size, width), (size, width))
    positions = [rng().integers(size, size=shape) for shape in (count, count, (count, 5))]
    return [table / width**0.5, others / width**0.5, *positions]


# --- windows --------------------------------------------------------------------------------------


def filtered(xp: Any, signal: Any, taps: Any) -> Any:
    """Apply a one-dimensional convolution layer."""
    return xp.sum(xp.tanh(xp.convolve(signal, taps, "valid")) ** 2)


def filtered_gradient(signal: Any, taps: Any) -> Any:
    found = np.tanh(np.convolve(signal, taps, "valid"))
    value = found.dot(found)
    derivative = 1 - found * found
    derivative *= found
    derivative *= 2
    return (
        value,
        np.convolve(derivative, taps[::-1], "full"),
        np.correlate(signal, derivative, "valid")[::-1],
    )


def layer(image: Any, kernel: Any) -> Any:
    """Apply a two-dimensional convolution layer."""
    return (se.tanh(se.conv(image, kernel)) ** 2).sum()


def layer_gradient(image: Any, kernel: Any) -> Any:
    _, _, height, width = image.shape
    rows, columns = height - 2, width - 2
    places = [(i, j) for i in range(3) for j in range(3)]
    pieces = {(i, j): image[:, :, i : i + rows, j : j + columns] for i, j in places}
    found = 0
    for (i, j), piece in pieces.items():
        found = found + np.tensordot(piece, kernel[:, :, i, j], (1, 1))
    np.tanh(found, out=found)
    value = found.ravel().dot(found.ravel())
    derivative = 1 - found * found
    derivative *= found
    derivative *= 2
    by_image, by_kernel = np.zeros_like(image), np.empty_like(kernel)
    for (i, j), piece in pieces.items():
        by_kernel[:, :, i, j] = np.tensordot(derivative, piece, ((0, 1, 2), (0, 2, 3)))
        back = np.tensordot(derivative, kernel[:, :, i, j], (3, 0))
        by_image[:, :, i : i + rows, j : j + columns] += back.transpose(0, 3, 1, 2)
    return value, by_image, by_kernel


WINDOWS = [
    Case("negative sampling, value and gradients",
         lambda: ([table, others, words, near, apart],
                  with_gradient(sampled(se.numpy, table, others, words, near, apart),
                                table, others)),
         three((10, 4, 3), (300, 50, 16), (20000, 500, 64)), sampled_data, sampled_gradients,
         sampled, (0, 1), peers=("jax", "pytensor")),
    Case("embedding lookup, value and gradient",
         lambda: ([table, words, target],
                  with_gradient(embedding(se.numpy, table, words, target), table)),
         three((10, 6, 3), (1000, 200, 16), (20000, 5000, 64)), embedding_data,
         embedding_gradient, embedding, peers=("jax", "pytensor")),
    Case("convolution of a signal, value and gradients",
         lambda: ([signal, taps], with_gradient(filtered(se.numpy, signal, taps), signal, taps)),
         three((12, 3), (2000, 15), (50000, 63)), lambda size, width: normal((size,), (width,)),
         filtered_gradient, filtered, (0, 1), peers=("jax",)),
    Case("convolution of images, value and gradients",
         lambda: ([image, kernel], with_gradient(layer(image, kernel), image, kernel)),
         three((1, 5, 5), (4, 16, 16), (8, 64, 64)),
         lambda count, rows, columns: normal((count, 4, rows, columns), (6, 4, 3, 3)),
         layer_gradient),
]  # fmt: skip
