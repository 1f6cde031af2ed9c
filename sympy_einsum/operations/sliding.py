"""Sliding windows, correlations and convolutions: products with affine selectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from sympy import Expr, Integer, Max, S, ceiling, floor

from ..core import Length, ShapeError, TensorError, as_length, as_list, as_scalar, same_length
from ..expressions import (
    Operand,
    Positions,
    Selection,
    TensorLike,
    as_operand,
    contract,
    order_of,
    shape_of,
)
from .axes import Axes, as_axes
from .indexing import getitem
from .padding import zero_pad

# One number for all axes, or one per axis.
PerAxis: TypeAlias = Length | Sequence[Length]
Padding: TypeAlias = Length | str | Sequence[Length | Sequence[Length]]


def _per_axis(values: PerAxis, count: int, what: str) -> list[Expr]:
    listed = values if isinstance(values, (tuple, list)) else [values] * count
    found = [as_scalar(value, what) for value in as_list(listed, what)]
    if len(found) != count:
        raise ShapeError(f"there are {len(found)} numbers for {what} along {count} axes")
    return found


def _step(value: Expr, what: str) -> Expr:
    if not (value.is_Integer and value.is_positive):
        raise TensorError(f"{what} is a positive integer, not {value}")
    return value


def _window_count(length: Expr, size: Expr, stride: Expr, dilation: Expr, axis: int) -> Expr:
    """Return the number of windows along an axis."""
    room = length - (size - 1) * dilation - 1
    if room.is_negative:
        raise ShapeError(
            f"axis {axis} of length {length} is too short for windows of {size} entries, "
            f"{dilation} apart"
        )
    return room + 1 if stride == 1 else floor(room / stride) + 1


def windows(
    x: TensorLike,
    window_shape: PerAxis,
    axis: Axes = None,
    stride: PerAxis = 1,
    dilation: PerAxis = 1,
) -> Operand:
    """Return all windows of a shape along some axes, with strides and dilations; the axes within a
    window come last.

    Windows are views where the library supports it. Means and maxima over the last axes are average
    and max pooling.

    Parameters
    ==========

    x : a tensor
    window_shape : the length of a window along each of the axes
    axis : an axis, several, or None for all
    stride, dilation : the distances of windows, and of entries within a window, along each axis

    Raises
    ======

    ShapeError : an axis is out of range or too short, or another number of lengths
    TensorError : a stride or a dilation that isn't a positive integer

    Examples
    ========

    >>> import sympy_einsum as se
    >>> x = se.TensorSymbol("x", 6)
    >>> se.lambdify([x], se.windows(x, 2, stride=2).mean(axis=-1))([1.0, 3, 5, 7, 9, 11])
    array([ 2.,  6., 10.])
    """
    A = as_operand(x)
    over = as_axes(axis, order_of(A))
    sizes = _per_axis(window_shape, len(over), "the shape of a window")
    strides = _per_axis(stride, len(over), "the strides of windows")
    dilations = _per_axis(dilation, len(over), "the dilations of windows")
    labels = list(range(order_of(A)))
    operands, terms, output = [A], [tuple(labels)], list(labels)
    lengths = dict(enumerate(shape_of(A)))
    inside = []
    for k, along in enumerate(over):
        size, first, second = as_length(sizes[k]), 2 * k + A.order, 2 * k + A.order + 1
        a, b = _step(strides[k], "a stride"), _step(dilations[k], "a dilation")
        count = _window_count(lengths[along], size, a, b, along)
        operands.append(Positions(lengths[along], 0, (a, b), (count, size)))
        terms.append((first, second, along))
        lengths |= {first: count, second: size}
        output[along] = first
        inside.append(second)
    return contract(operands, terms, [*output, *inside], lengths)


def sliding_window_view(x: TensorLike, window_shape: PerAxis, axis: Axes = None) -> Operand:
    """Return all windows of a shape along some axes, as NumPy's ``sliding_window_view``.

    Raises ShapeError as :func:`windows` does.

    >>> import sympy_einsum as se
    >>> x = se.TensorSymbol("x", 6)
    >>> se.sliding_window_view(x, 4).shape
    (3, 4)
    """
    return windows(x, window_shape, axis)


def _vectors(a: TensorLike, v: TensorLike) -> tuple[Operand, Operand]:
    a, v = as_operand(a), as_operand(v)
    if order_of(a) != 1 or order_of(v) != 1:
        raise ShapeError(
            f"two vectors are convolved, not tensors of shapes {shape_of(a)} and {shape_of(v)}; "
            "conv takes stacks of images"
        )
    if a.shape[0].is_zero or v.shape[0].is_zero:
        raise ShapeError("an empty vector can't be convolved")
    return a, v


def _is_longer(one: Operand, other: Operand) -> bool:
    """Tell whether a vector is provably at least as long as another, and not provably as long."""
    excess = one.shape[0] - other.shape[0]
    return bool(excess.is_nonnegative and not excess.is_zero)


def convolve(a: TensorLike, v: TensorLike, mode: str = "full") -> Operand:
    """Convolve two vectors as NumPy does: c[j] = Σ a[j - k] v[k].

    Parameters
    ==========

    a, v : vectors
    mode : "full", "same" for the length of the longer vector, "valid" for the entries where the
        shorter vector is within the longer one; if their lengths can't be compared, ``a`` is taken
        to be the longer one

    Raises
    ======

    ShapeError : they aren't vectors, or one is empty; when a compiled function is called, ``v`` is
        longer than ``a`` although ``a`` was taken to be the longer one
    TensorError : another mode

    Examples
    ========

    >>> import sympy_einsum as se
    >>> a, v = se.TensorSymbol("a", 3), se.TensorSymbol("v", 2)
    >>> se.lambdify([a, v], se.convolve(a, v))([1, 2, 3], [1, 10])
    array([ 1, 12, 23, 30])
    """
    a, v = _vectors(a, v)
    if _is_longer(v, a):
        a, v = v, a
    n, m = a.shape[0], v.shape[0]
    if not isinstance(mode, str):
        raise TensorError(f"the mode of a convolution is 'full', 'same' or 'valid', not {mode!r}")
    if mode == "valid":
        selector = Positions(n, m - 1, (1, -1), (n - m + 1, m))
        lengths = {0: n - m + 1, 1: m, 2: n}
        return contract((selector, a, v), ((0, 1, 2), (2,), (1,)), [0], lengths)
    if mode not in ("full", "same"):
        raise TensorError(f"the mode of a convolution is 'full', 'same' or 'valid', not {mode!r}")
    # An axis of 2 n - 1 entries makes calls fail with a v that is longer than a.
    fits = mode == "full" or bool((n - m).is_nonnegative)
    length = n + m - 1 if fits else 2 * n - 1
    total = Positions(length, 0, (1, 1), (n, m))
    full = contract((total, a, v), ((0, 1, 2), (0,), (1,)), [2], {0: n, 1: m, 2: length})
    first = floor((m - 1) / Integer(2))
    return full if mode == "full" else getitem(full, slice(first, first + n))


def correlate(a: TensorLike, v: TensorLike, mode: str = "valid") -> Operand:
    """Correlate two vectors as NumPy does: c[j] = Σ a[j + k] v[k].

    Modes and errors are those of :func:`convolve`.

    >>> import sympy_einsum as se
    >>> a, v = se.TensorSymbol("a", 3), se.TensorSymbol("v", 2)
    >>> se.lambdify([a, v], se.correlate(a, v))([1, 2, 3], [1, 10])
    array([21, 32])
    """
    a, v = _vectors(a, v)
    n, m = a.shape[0], v.shape[0]
    if isinstance(mode, str) and mode == "valid" and not _is_longer(v, a):
        lengths = {0: n - m + 1, 1: m, 2: n}
        selector = Positions(n, 0, (1, 1), (n - m + 1, m))
        return contract((selector, a, v), ((0, 1, 2), (2,), (1,)), [0], lengths)
    flip = Selection(m, m - 1, -1, m)
    flipped = contract((v, flip), ((0,), (1, 0)), [1], {0: m, 1: m})
    if isinstance(mode, str) and mode == "same" and _is_longer(v, a):
        first = floor(n / Integer(2))
        return getitem(convolve(a, flipped), slice(first, first + m))
    return convolve(a, flipped, mode)


def _pads(
    padding: Padding, lengths: Sequence[Expr], sizes: Sequence[Expr], steps: Sequence[list[Expr]]
) -> list[tuple[Expr, Expr]]:
    """Return the numbers of zeros before and after each axis."""
    if isinstance(padding, str) and padding == "valid":
        padding = 0
    if isinstance(padding, str) and padding == "same":
        found = []
        for n, size, stride, dilation in zip(lengths, sizes, *steps, strict=True):
            count = ceiling(n / stride)
            total = Max(0, (count - 1) * stride + (size - 1) * dilation + 1 - n)
            found.append((floor(total / 2), total - floor(total / 2)))
        return found
    if isinstance(padding, str):
        raise TensorError(f"padding is 'valid', 'same' or numbers, not {padding!r}")
    listed = padding if isinstance(padding, (tuple, list)) else [padding] * len(lengths)
    if len(listed) != len(lengths):
        raise ShapeError(f"there are {len(listed)} paddings for {len(lengths)} axes")
    pairs = [pad if isinstance(pad, (tuple, list)) else (pad, pad) for pad in listed]
    if any(len(pair) != 2 for pair in pairs):
        raise ShapeError("the padding of an axis is a number, or a pair: before and behind")
    ends = [tuple([as_length(end) for end in pair]) for pair in pairs]
    return [(low, high) for low, high in ends]


def conv(
    x: TensorLike,
    kernel: TensorLike,
    stride: PerAxis = 1,
    padding: Padding = 0,
    dilation: PerAxis = 1,
) -> Operand:
    """Compute the convolution layer of neural networks: stacks of images correlated with kernels,
    y[n, o, i] = Σ x[n, c, stride·i + dilation·k - padding] kernel[o, c, k].

    Parameters
    ==========

    x : shape (batch, channels, \\*lengths), of any number of axes
    kernel : shape (outputs, channels, \\*lengths)
    stride, dilation : one for all axes, or one per axis
    padding : zeros around the images: "valid" for none, "same" for results as long as the images
        divided by the stride, a number, or per axis a number or a pair

    Raises
    ======

    ShapeError : orders or channels differ, or a kernel is larger than an image
    TensorError : a stride or dilation that isn't a positive integer, an unknown padding
    UnsupportedError : in compiled functions, kernels of symbolic lengths or of many entries

    Examples
    ========

    >>> import sympy_einsum as se
    >>> x, w = se.TensorSymbol("x", (2, 3, 8, 8)), se.TensorSymbol("w", (5, 3, 3, 3))
    >>> se.conv(x, w, padding=1).shape, se.conv(x, w, stride=2).shape
    ((2, 5, 8, 8), (2, 5, 3, 3))

    References
    ==========

    V. Dumoulin, F. Visin, "A guide to convolution arithmetic for deep learning", 2016.
    """
    x, kernel = as_operand(x), as_operand(kernel)
    if order_of(x) < 3 or order_of(kernel) != order_of(x):
        raise ShapeError(
            "conv takes images of shape (batch, channels, lengths) and kernels of shape (outputs, "
            f"channels, lengths), not {shape_of(x)} and {shape_of(kernel)}"
        )
    if not same_length(x.shape[1], kernel.shape[1]):
        raise ShapeError(f"images of {x.shape[1]} channels, kernels of {kernel.shape[1]}")
    count = x.order - 2
    strides = [_step(s, "a stride") for s in _per_axis(stride, count, "the strides")]
    dilations = [_step(s, "a dilation") for s in _per_axis(dilation, count, "the dilations")]
    sizes = kernel.shape[2:]
    pads = _pads(padding, x.shape[2:], sizes, (strides, dilations))
    x = zero_pad(x, [(S.Zero, S.Zero)] * 2 + pads)
    operands, terms = [x, kernel], [[0, 1], [2, 1]]
    lengths = {0: x.shape[0], 1: x.shape[1], 2: kernel.shape[0]}
    output = [0, 2]
    for axis in range(count):
        source, window, entry = range(3 * axis + 3, 3 * axis + 6)
        length, a, b = x.shape[axis + 2], strides[axis], dilations[axis]
        number = _window_count(length, sizes[axis], a, b, axis + 2)
        operands.append(Positions(length, 0, (a, b), (number, sizes[axis])))
        terms.append([window, entry, source])
        terms[0].append(source)
        terms[1].append(entry)
        lengths |= {source: length, window: number, entry: sizes[axis]}
        output.append(window)
    return contract(operands, terms, output, lengths)
