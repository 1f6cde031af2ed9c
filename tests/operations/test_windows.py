"""Windows, correlations and convolutions, against NumPy and Torch, without copies of windows."""

import tracemalloc

import numpy as np
import pytest
from libraries import LIBRARIES
from oracles import assert_close
from sympy import symbols

import sympy_einsum as se

n, m, k = symbols("n m k", integer=True, positive=True)
rng = np.random.default_rng(5)
SLIDING = np.lib.stride_tricks.sliding_window_view


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
@pytest.mark.parametrize("name", ["convolve", "correlate"])
def test_vectors(name, mode):
    for lengths in ((7, 3), (3, 7), (4, 4), (6, 2), (2, 6), (5, 1)):
        data = [rng.standard_normal(length) for length in lengths]
        expected = getattr(np, name)(*data, mode)
        symbolic = [se.TensorSymbol("a", n), se.TensorSymbol("v", m)]
        known = [se.TensorSymbol(s, k) for s, k in zip("av", lengths, strict=True)]
        for a, v in [known, symbolic] if lengths[0] >= lengths[1] else [known]:
            expr = getattr(np, name)(a, v, mode)
            # Linear in both.
            f = (expr * se.Constant(expected) if a in known else expr**2 / 2).sum()
            value, by_a, by_v = se.lambdify([a, v], [expr, *se.gradient(f, [a, v])])(*data)
            assert_close(value, expected)
            assert_close(by_a @ data[0], expected @ expected)
            assert_close(by_v @ data[1], expected @ expected)
            if a in known:
                jacobian = se.lambdify([a, v], se.diff(expr, a))(*data)
                assert_close(jacobian @ data[0], expected)
            if mode == "same" and a not in known:
                continue  # halves of lengths are no integers in Python
            again = eval(str(expr), {**vars(se), "a": a, "v": v, "n": n, "m": m})
            assert_close(se.lambdify([a, v], again)(*data), expected)


@pytest.mark.parametrize("mode", ["same", "valid"])
@pytest.mark.parametrize("name", ["convolve", "correlate"])
def test_a_longer_second_vector_is_an_error_where_the_first_had_to_be_longer(name, mode):
    """Also in derivatives, where the result would be empty, and by one entry only."""
    a, v = se.TensorSymbol("a", n), se.TensorSymbol("v", m)
    expr = getattr(np, name)(a, v, mode)
    for e in (expr, se.gradient((expr**3).sum(), v)):
        call = se.lambdify([a, v], e)
        for lengths in ((3, 4), (3, 5), (1, 7)):
            with pytest.raises(se.ShapeError, match="longer than its axis"):
                call(*map(np.ones, lengths))


def test_windows_of_a_slice_without_entries_are_none():
    x = se.TensorSymbol("x", n)
    call = se.lambdify([x], se.windows(x, 3)[2:])
    assert call(np.ones(4)).shape == (0, 3)
    assert call(np.ones(5)).shape == (1, 3)
    with pytest.raises(se.ShapeError):
        se.lambdify([x], se.windows(x, 3))(np.ones(2))


@pytest.mark.parametrize("length", [3, m], ids=str)
def test_second_derivatives_of_convolutions(length):
    a, v = se.TensorSymbol("a", n), se.TensorSymbol("v", length)
    for mode in ("full", "same", "valid"):
        f = se.sin(se.convolve(a, v, mode)).sum()
        data = rng.standard_normal(6), rng.standard_normal(3)
        gradients = se.gradient(f, [a, v])
        blocks = se.lambdify([a, v], se.hessian(f, [a, v]))(*data)
        derivatives = se.lambdify([a, v], gradients)
        for j, length in enumerate((6, 3)):
            for k in range(length):
                ends = [[own.copy() for own in data] for _ in range(2)]
                ends[0][j][k] += 1e-5
                ends[1][j][k] -= 1e-5
                up, down = derivatives(*ends[0]), derivatives(*ends[1])
                for i in range(2):
                    assert_close(blocks[i][j][:, k], (up[i] - down[i]) / 2e-5, 1e-8)


LAYERS = {
    "one axis": ((2, 3, 9), (4, 3, 3), {}),
    "strided": ((2, 3, 9), (4, 3, 3), {"stride": 2, "padding": 1}),
    "images": ((2, 3, 6, 7), (4, 3, 2, 3), {}),
    "padded": ((2, 3, 6, 7), (4, 3, 2, 3), {"padding": (2, 1), "stride": (1, 2)}),
    "dilated": ((1, 2, 8, 9), (3, 2, 2, 3), {"dilation": (3, 2), "padding": 1}),
    "a point": ((2, 3, 4, 5), (4, 3, 1, 1), {"stride": 2}),
    "volumes": ((1, 2, 4, 5, 3), (2, 2, 2, 3, 2), {"padding": (1, 0, 1)}),
}


@pytest.mark.parametrize("name", LAYERS)
def test_layers(name):
    torch = pytest.importorskip("torch")
    shape, kernel, options = LAYERS[name]
    x, w = se.TensorSymbol("x", shape), se.TensorSymbol("w", kernel)
    data = [rng.standard_normal(shape), rng.standard_normal(kernel)]
    function = getattr(torch.nn.functional, f"conv{len(shape) - 2}d")
    tensors = [torch.tensor(array, requires_grad=True) for array in data]
    y = function(*tensors, **options)
    torch.sin(y).sum().backward()
    expr = se.conv(x, w, **options)
    outputs = [expr, *se.gradient(se.sin(expr).sum(), [x, w])]
    expected = [y.detach().numpy(), *[tensor.grad.numpy() for tensor in tensors]]
    for one, other in zip(se.lambdify([x, w], outputs)(*data), expected, strict=True):
        assert_close(one, other, label=name)


@pytest.mark.parametrize("stride", [1, 2, 3])
def test_same_padding(stride):
    jax = pytest.importorskip("jax")
    x, w = rng.standard_normal((1, 2, 7)), rng.standard_normal((3, 2, 4))
    expected = jax.lax.conv_general_dilated(x, w, (stride,), "SAME")
    found = se.lambdify([], se.conv(se.Constant(x), se.Constant(w), stride, "same"))()
    assert_close(found, expected, 1e-6)


@pytest.mark.parametrize("mode", ["full", "valid"])
def test_derivatives_by_long_vectors(mode):
    """Vectors with more positions than are added one by one."""
    data = rng.standard_normal(300), rng.standard_normal(140)
    expected = np.convolve(*data, mode)
    for lengths in ((300, 140), (n, m)):
        a, v = se.TensorSymbol("a", lengths[0]), se.TensorSymbol("v", lengths[1])
        c = np.convolve(a, v, mode)
        by_a, by_v = se.lambdify([a, v], [se.diff(c, a), se.diff(c, v)])(*data)
        assert_close(by_a @ data[0], expected)
        assert_close(by_v @ data[1], expected)
    by_both = se.lambdify([a, v], se.diff(c, a, v))(data[0][:5], data[1][:3])
    assert_close(by_both @ data[1][:3] @ data[0][:5], np.convolve(data[0][:5], data[1][:3], mode))


def test_windows_of_windows_have_derivatives():
    """Their products share indices, or have scalar factors."""
    x = se.TensorSymbol("x", 5)
    data = rng.standard_normal(5)
    for f in (
        lambda x: np.cos(SLIDING(np.cos(SLIDING(x, 2)).sum(axis=-1), 2)).sum(),
        lambda x: (SLIDING(SLIDING(np.convolve(x, x, "same"), 2).max(-1)[::2], 2) ** 2).sum(),
    ):
        gradient = se.lambdify([x], se.gradient(f(x), x))
        hessian = se.lambdify([x], se.hessian(f(x), x))(data)
        for k, step in enumerate(np.eye(5) * 1e-6):
            assert abs((f(data + step) - f(data - step)) / 2e-6 - gradient(data)[k]) < 1e-7
            assert_close(hessian[k], (gradient(data + step) - gradient(data - step)) / 2e-6, 1e-6)


def test_symbolic_images():
    x, w = se.TensorSymbol("x", (1, 2, n, m)), se.TensorSymbol("w", (3, 2, 2, 3))
    f = (se.conv(x, w, padding=1) ** 2).sum()
    data = rng.standard_normal((1, 2, 5, 6)), rng.standard_normal((3, 2, 2, 3))
    known = [se.TensorSymbol("x", data[0].shape), w]
    other = (se.conv(*known, padding=1) ** 2).sum()
    expected = se.lambdify(known, se.gradient(other, known))(*data)
    for one, two in zip(se.lambdify([x, w], se.gradient(f, [x, w]))(*data), expected, strict=True):
        assert_close(one, two)


def test_hessian_of_a_layer():
    x, w = se.TensorSymbol("x", (1, 1, 4, 3)), se.TensorSymbol("w", (1, 1, 2, 2))
    assert se.check_derivative(se.gradient(se.sin(se.conv(x, w)).sum(), w), x) < 1e-5
    assert se.check_derivative(se.gradient(se.sin(se.conv(x, w, padding=1)).sum(), x), x) < 1e-5


WINDOWS = {
    "of a vector": ((7,), 3, None, 1, 1),
    "of rows": ((5, 6), 2, 0, 2, 1),
    "of images": ((5, 6), (2, 3), None, (1, 2), 1),
    "dilated": ((3, 9), 3, 1, 2, 2),
}


@pytest.mark.parametrize("name", WINDOWS)
def test_windows(name):
    shape, size, axis, stride, dilation = WINDOWS[name]
    x, data = se.TensorSymbol("x", shape), rng.standard_normal(shape)
    found = se.windows(x, size, axis, stride, dilation)
    value, total = se.lambdify([x], [found, found.mean(axis=-1)])(data)
    wide = (size - 1) * dilation + 1 if dilation > 1 else size
    expected = SLIDING(data, wide, axis)[..., ::dilation]
    over = range(len(shape)) if axis is None else [axis]
    steps = [slice(None)] * len(shape)
    for k, own in enumerate(over):
        steps[own] = slice(None, None, stride[k] if isinstance(stride, tuple) else stride)
    expected = expected[tuple(steps)]
    assert_close(value, expected)
    assert_close(total, expected.mean(axis=-1))
    assert SLIDING(x, size, axis) == se.windows(x, size, axis)
    f = (se.exp(found) * se.Constant(rng.standard_normal(expected.shape))).sum()
    assert se.check_derivative(f, x) < 1e-6


@pytest.mark.parametrize("backend", LIBRARIES)
def test_every_backend(backend):
    library = LIBRARIES[backend]()
    x, w = se.TensorSymbol("x", (2, 3, 6, 5)), se.TensorSymbol("w", (4, 3, 2, 3))
    y = se.conv(x, w, stride=(2, 1), padding=1)
    views = se.exp(se.windows(x, 3, 2, stride=2)).sum(axis=-1)
    outputs = [y, *se.gradient(se.sin(y).sum(), [x, w]), views, se.gradient(views.sum(), x)]
    data = rng.standard_normal((2, 3, 6, 5)), rng.standard_normal((4, 3, 2, 3))
    results = se.lambdify([x, w], outputs, backend=backend)(*map(library.into, data))
    for one, other in zip(results, se.lambdify([x, w], outputs)(*data), strict=True):
        assert_close(library.back(one), other, label=backend)
    a, v = se.TensorSymbol("a", n), se.TensorSymbol("v", m)
    f = se.sin(se.convolve(a, v, "valid"))
    outputs = [f, *se.gradient(f.sum(), [a, v])]
    vectors = rng.standard_normal(7), rng.standard_normal(3)
    results = se.lambdify([a, v], outputs, backend=backend)(*map(library.into, vectors))
    for one, other in zip(results, se.lambdify([a, v], outputs)(*vectors), strict=True):
        assert_close(library.back(one), other, label=backend)


@pytest.mark.parametrize("steps", [(1, -1), (2, 1), (-1, 2, -3)])
@pytest.mark.parametrize("backend", LIBRARIES)
def test_positions_of_windows_are_ones(backend, steps):
    """Sums of windows alone, as in Hessians of convolutions with few entries."""
    library = LIBRARIES[backend]()
    counts = (1, 2, 3)[-len(steps) :]
    ends = [step * (count - 1) for step, count in zip(steps, counts, strict=True)]
    start = -sum(end for end in ends if end < 0)
    length = start + sum(end for end in ends if end > 0) + 2
    expected = np.zeros((*counts, length))
    for index in np.ndindex(*counts):
        expected[(*index, start + sum(np.multiply(index, steps)))] = 1
    window = se.Positions(length, start, steps, counts)
    ones, total = se.lambdify([], [window, window.T + 2 * se.tanh(window).T], backend)()
    np.testing.assert_array_equal(library.back(ones), expected)
    np.testing.assert_allclose(library.back(total), expected.T * (1 + 2 * np.tanh(1)), rtol=1e-6)


def test_a_hessian_of_one_entry_of_a_convolution():
    x, a = se.TensorSymbol("x", 2), se.TensorSymbol("a", 3)
    f = se.convolve(a, se.convolve(x, x, "valid")[[0]], "same").sum()
    for mode, simplify in (("forward", False), ("reverse", True)):
        hessian = se.lambdify([x, a], se.hessian(f, x, mode=mode, simplify=simplify))
        np.testing.assert_allclose(hessian([1, 2], [3, 4, 5]), [[0, 24], [24, 0]])


def test_a_vector_of_one_entry_is_the_shorter_one():
    a, v = se.TensorSymbol("a", 1), se.TensorSymbol("v", n)
    for function, mode in ((np.convolve, "valid"), (np.convolve, "same"), (np.correlate, "valid")):
        value = se.lambdify([a, v], function(a, v, mode))([2.0], [1.0, 2, 3])
        np.testing.assert_array_equal(value, function([2.0], [1.0, 2, 3], mode))


def peak(function, *arrays):
    tracemalloc.start()
    function(*arrays)
    found = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return found


def test_nothing_is_copied_into_windows():
    shapes = (4, 8, 40, 40), (8, 8, 3, 3)
    x, w = (se.TensorSymbol(name, shape) for name, shape in zip("xw", shapes, strict=True))
    arrays = [rng.standard_normal(shape) for shape in shapes]
    y = se.conv(x, w, padding=1)
    call = se.lambdify([x, w], [y, *se.gradient((y**2).sum() / 2, [x, w])])
    # The windows alone would be 9 times as large as the images.
    assert peak(call, *arrays) < 7 * arrays[0].nbytes
    a = se.TensorSymbol("a", n)
    call = se.lambdify([a], [se.windows(a, 50).mean(axis=-1), se.convolve(a, a[:50])])
    assert peak(call, rng.standard_normal(20000)) < 6 * 8 * 20000


def test_as_sums_and_entries():
    i = symbols("i", integer=True)
    a, v = se.TensorSymbol("a", 4), se.TensorSymbol("v", 2)
    assert str(se.to_indexed(se.correlate(a, v), [i])) == "Sum(a[i + j]*v[j], (j, 0, 1))"
    entries = se.convolve(a, v).as_explicit().subs({a[k]: k + 1 for k in range(4)})
    found = entries.subs({v[0]: 1, v[1]: 10})
    assert list(found) == list(np.convolve([1, 2, 3, 4], [1, 10]))
    assert se.latex(se.windows(a, 2)) == "a_{i + j}"


X, W = se.TensorSymbol("X", (2, 3, 5)), se.TensorSymbol("W", (1, 3, n))


@pytest.mark.parametrize(
    ("build", "error", "text"),
    [
        (lambda: se.convolve(X, X), se.ShapeError, "two vectors are convolved"),
        (lambda: se.convolve(X[0, 0], X[0, 0], "half"), se.TensorError, "'half'"),
        (lambda: se.conv(X, X[:, :2]), se.ShapeError, "3 channels, kernels of 2"),
        (lambda: se.conv(X, X[0]), se.ShapeError, "conv takes images"),
        (lambda: se.conv(X[:, :, :2], X), se.ShapeError, "axis 2 of length 2 is too short"),
        (lambda: se.conv(X, X, stride=0), se.TensorError, "a stride is a positive integer"),
        (lambda: se.conv(X, X, padding="some"), se.TensorError, "'some'"),
        (lambda: se.conv(X, X, padding=(1, 2)), se.ShapeError, "2 paddings for 1 axes"),
        (lambda: se.windows(X, (2, 2)), se.ShapeError, "2 numbers for the shape of a window"),
        (
            lambda: se.lambdify(
                [X, W], se.gradient((se.conv(X, W, stride=3, dilation=2) ** 2).sum(), X)
            ),
            se.UnsupportedError,
            "give the kernel's lengths as numbers",
        ),
    ],
)
def test_errors(build, error, text):
    with pytest.raises(error, match=text):
        build()


def test_a_layer_of_symbolic_lengths_correlates():
    """In derivatives a function of a convolution is multiplied by one vector."""
    n, k = symbols("n k", integer=True, positive=True)
    x, w = se.TensorSymbol("x", n), se.TensorSymbol("w", k)
    f = (se.tanh(se.convolve(x, w, "valid")) ** 2).sum()
    compute = se.lambdify([x, w], [f, se.gradient(f, x), se.gradient(f, w)])
    rng = np.random.default_rng(5)
    data = [rng.normal(size=9), rng.normal(size=4)]
    _, *gradients = compute(*data)
    for place, gradient in enumerate(gradients):
        for entry in range(data[place].size):
            ends = [[value.copy() for value in data] for _ in range(2)]
            ends[0][place][entry] += 1e-6
            ends[1][place][entry] -= 1e-6
            derivative = (compute(*ends[0])[0] - compute(*ends[1])[0]) / 2e-6
            np.testing.assert_allclose(gradient[entry], derivative, rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize("backend", ["numpy", "jax", "torch", "dask"])
def test_no_pieces_of_a_vector_that_is_shorter_by_one(backend):
    """Without checks; NumPy would exchange the two."""
    library = LIBRARIES[backend]()
    a, v = se.TensorSymbol("a", n), se.TensorSymbol("v", m)
    compute = se.lambdify([a, v], se.correlate(a, v), backend, check=False)
    for count in (0, 1, 2):
        x, w = np.arange(count + 2.0), np.array([1.0, 10.0, 100.0])
        found = library.back(compute(library.into(x), library.into(w)))
        np.testing.assert_allclose(found, np.correlate(x, w)[:count])
        assert found.shape == (count,)


@pytest.mark.parametrize("name", LIBRARIES)
def test_windows_that_nothing_is_multiplied_by(name):
    library = LIBRARIES[name]()
    x, X = se.TensorSymbol("x", n), se.TensorSymbol("X", (n - 1, 2, n))
    slide = se.sliding_window_view(x, 2)
    exprs = [se.jacobian(slide, x), se.jacobian(3 * slide, x), se.jacobian(slide, x) + X]
    expected = np.array([[np.eye(4)[i + k] for k in range(2)] for i in range(3)])
    given = [np.arange(4.0), np.arange(24.0).reshape(3, 2, 4)]
    values = se.lambdify([x, X], exprs, name)(*map(library.into, given))
    for value, other in zip(values, [expected, 3 * expected, expected + given[1]], strict=True):
        np.testing.assert_allclose(library.back(value), other)


@pytest.mark.parametrize("name", LIBRARIES)
def test_windows_of_unknown_length_times_matrices(name):
    """As with known lengths, by a sum over the kernel."""
    library = LIBRARIES[name]()
    results = []
    for rows, count, columns in ((n, m, k), (6, 3, 2)):
        X, W = se.TensorSymbol("X", (rows, columns)), se.TensorSymbol("W", (count, columns))
        y = se.convolve(se.tanh(X).sum(axis=1), (W**3).sum(axis=1), "same")
        exprs = [se.jacobian(y, X), se.jacobian(y, W), se.diff((y**2).sum(), X, W)]
        data = [np.random.default_rng(2).standard_normal(size) for size in ((6, 2), (3, 2))]
        found = se.lambdify([X, W], exprs, name)(*map(library.into, data))
        results.append([library.back(value) for value in found])
    for one, other in zip(*results, strict=True):
        assert_close(one, other)


@pytest.mark.parametrize(
    ("function", "name"),
    [
        (lambda a, v: se.convolve(a, v, "same"), "convolve"),
        (lambda a, v: se.correlate(a, v), "correlate"),
        (lambda a, v: se.roll(a, -3) * v.sum(), "roll"),
        (lambda a, v: se.windows(a, 3).sum() * v, "window"),
    ],
    ids=["convolve", "correlate", "roll", "windows"],
)
def test_lengths_that_do_not_fit_are_explained_by_the_functions_that_need_them(function, name):
    a, v = se.TensorSymbol("a", m), se.TensorSymbol("v", n)
    compiled = se.lambdify([a, v], function(a, v))
    with pytest.raises(se.ShapeError, match=rf"{name}.*axis.*m.* must be at least 0, but with"):
        compiled(np.ones(2), np.ones(7))
