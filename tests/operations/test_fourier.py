"""Fourier transforms against NumPy and JAX: values, first and second derivatives."""

import re

import numpy as np
import pytest
from oracles import assert_close, jax64
from sympy import symbols

import sympy_einsum as se
import sympy_einsum.numpy as snp
from sympy_einsum.expressions import Fourier

n = symbols("n", integer=True, positive=True)


def parts(value):
    """Return the real and the imaginary part of a complex value of any kind; of a real one only
    itself."""
    return [np.real(value), np.imag(value)] if np.iscomplexobj(value) else [value]


def check(function, *shapes, orders=2):
    """Compare a function of NumPy's namespace and of real arrays with JAX, by its first
    argument."""
    jax = jax64()
    rng = np.random.default_rng(3)
    arrays = [rng.standard_normal(shape) for shape in shapes]
    symbols = [se.TensorSymbol(f"x{k}", *shape) for k, shape in enumerate(shapes)]
    ours = parts(function(snp, *symbols))
    weights = [rng.standard_normal([int(length) for length in part.shape]) for part in ours]
    scalars = [(w * part**2 + se.sin(part)).sum() for w, part in zip(weights, ours, strict=True)]

    def theirs(*values):
        return parts(function(jax.numpy, *values))

    def losses(*values):
        pairs = zip(weights, theirs(*values), strict=True)
        return [(w * part**2 + jax.numpy.sin(part)).sum() for w, part in pairs]

    expressions = [ours, [se.gradient(scalar, symbols[0]) for scalar in scalars]]
    references = [theirs, jax.jacrev(losses)]
    if orders > 1:
        expressions.append([se.hessian(scalar, symbols[0]) for scalar in scalars])
        references.append(jax.hessian(losses))
    # One program is compiled faster than each of its operations.
    expected = jax.jit(lambda *values: [own(*values) for own in references])(*arrays)
    for order, (group, wanted) in enumerate(zip(expressions, expected, strict=True)):
        for expr, value in zip(group, wanted, strict=True):
            assert_close(se.lambdify(symbols, expr)(*arrays), value, label=f"order {order}")


@pytest.mark.slow
@pytest.mark.parametrize(("length", "count"), [(1, None), (2, 3), (4, None), (4, 3), (5, 6)])
@pytest.mark.parametrize("name", ["rfft", "fft", "ifft", "ihfft"])
def test_of_real_vectors(name, length, count):
    check(lambda np, x: getattr(np.fft, name)(x, count), (length,), orders=1 + (name == "rfft"))


@pytest.mark.parametrize(("length", "count"), [(1, 1), (2, 2), (3, 4), (3, 5), (4, 3), (2, 6)])
@pytest.mark.parametrize("name", ["irfft", "hfft", "fft", "ifft"])
def test_of_complex_vectors(name, length, count):
    def function(np, x, y):
        z = se.ComplexTensor(x, y) if np is snp else x + 1j * y
        return getattr(np.fft, name)(z, count)

    check(function, (length,), (length,), orders=1)


@pytest.mark.parametrize(("axis", "norm"), [(0, "ortho"), (-2, "forward")])
@pytest.mark.parametrize("name", ["rfft", "fft", "ifft", "irfft", "hfft", "ihfft"])
def test_axes_and_norms(name, axis, norm):
    check(lambda np, x: getattr(np.fft, name)(x, axis=axis, norm=norm), (3, 4, 2), orders=1)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["fft2", "ifft2", "rfft2", "irfft2", "fftn", "ifftn", "rfftn", "irfftn"]
)
def test_along_several_axes(name):
    check(lambda np, x: getattr(np.fft, name)(x), (3, 4))
    check(lambda np, x: getattr(np.fft, name)(x, (5, 2), (0, 1), "ortho"), (3, 4), orders=1)
    if name.endswith("n"):
        check(lambda np, x: getattr(np.fft, name)(x, axes=(2, 0)), (3, 2, 4), orders=1)
        check(lambda np, x: getattr(np.fft, name)(x, s=(2,), axes=(1,)), (3, 4), orders=1)


@pytest.mark.slow
@pytest.mark.parametrize("length", [4, 5])
def test_programs_of_transforms(length):
    filters = np.exp(-1j * np.arange(length // 2 + 1))
    one, two = (length,), (length, 3)
    check(lambda np, a, b: np.fft.irfft(np.fft.rfft(a) * np.fft.rfft(b), length), one, one)
    check(lambda np, a, b: np.fft.irfft(np.fft.rfft(a) / (np.fft.rfft(b) + 9), length), one, one)
    check(lambda np, a: np.fft.irfft(filters * np.fft.rfft(a) - 2j, length), one)
    check(lambda np, a, b: np.fft.irfft2(np.fft.rfft2(a) * np.fft.rfft2(b), two), two, two)
    check(lambda np, a: np.abs(np.fft.rfft(a)) ** 2, one)
    check(lambda np, a: np.abs(np.fft.rfft(a)[1:]), one)
    check(lambda np, a: np.angle(np.fft.rfft(a)[1:2], deg=True), one)
    check(lambda np, a: np.conj(np.fft.rfft(a)) * np.fft.rfft(a)[::-1], one)
    check(lambda np, a: np.fft.fftshift(np.fft.fft(a)), one)
    check(lambda np, a: np.fft.ifftshift(a, axes=0), two, orders=1)


@pytest.mark.parametrize("length", [1, 4, 5])
def test_frequencies(length):
    for name in ("fftfreq", "rfftfreq"):
        expected = getattr(np.fft, name)(length, 0.5)
        assert_close(se.lambdify([], getattr(snp.fft, name)(length, 0.5))(), expected)
        d = se.TensorSymbol("d")
        x = se.TensorSymbol("x", n)
        scaled = getattr(snp.fft, name)(n, d) * getattr(snp.fft, name[:-4])(x).real
        signal = np.arange(length) + 1.0
        found = se.lambdify([x, d], scaled)(signal, 0.5)
        assert_close(found, expected * getattr(np.fft, name[:-4])(signal).real)
    assert snp.fft.fftshift([3, 1, 2]) == snp.fft.fftshift(se.Constant([3, 1, 2]))


def test_a_transform_and_its_inverse_cancel():
    x, A = se.TensorSymbol("x", n), se.TensorSymbol("A", 4, 5)
    assert se.simplify(np.fft.irfft(np.fft.rfft(x), n)) == x
    assert se.simplify(np.fft.irfft(np.fft.rfft(A, axis=0), 4, axis=0)) == A
    assert se.simplify(np.fft.ifft(np.fft.fft(x, norm="ortho"), norm="ortho").real) == x
    # One with other frequencies, or other lengths, is no inverse.
    y = se.TensorSymbol("y", 5)
    other, numbers = se.simplify(np.fft.irfft(np.fft.rfft(y), 4)), np.arange(5.0)
    assert_close(se.lambdify([y], other)(numbers), np.fft.irfft(np.fft.rfft(numbers), 4))


def test_no_waves_are_built():
    """One transform gives both parts, a gradient takes one backward transform, and no matrix is
    built."""
    x, y = se.tensors("x y", n)
    z = np.fft.rfft(x)
    both = se.lambdify([x], [z.real, z.imag])
    assert both.source.count(" = spectrum(") == 1
    loss = ((np.fft.irfft(z * np.fft.rfft(y), n)) ** 2).sum()
    code = se.lambdify([x, y], se.gradient(loss, x)).source
    assert code.count(" = spectrum(") == 3
    assert code.count(" = from_spectrum(") == 2
    shapes = re.findall(r"# \((.*)\)$", code, re.MULTILINE)
    assert all(shape.count("n") < 2 for shape in shapes)


def test_a_loss_and_its_gradients_share_their_transforms():
    x, t, gains = *se.tensors("x t", n), se.TensorSymbol("gains", n // 2 + 1)
    loss = ((np.fft.irfft(np.fft.rfft(x) * gains, n) - t) ** 2).sum()
    code = se.lambdify([x, t, gains], [loss, *se.gradient(loss, [x, gains])]).source
    assert code.count(" = spectrum(") == code.count(" = from_spectrum(") == 2
    body = code[code.index("def function") :]
    assert "zeros" not in body
    assert body.count(" - t") == 1


def test_factors_stand_in_front_of_transforms():
    x, y = se.tensors("x y", n)
    waves = se.simplify(np.fft.rfft(2 * x - 2 * y).real)
    assert waves == 2 * np.fft.rfft(x - y).real
    assert se.simplify(np.fft.fft(-x - y).imag) == -np.fft.fft(x + y).imag


@pytest.mark.parametrize("length", [1, 2, 3, 8, 9])
def test_powers_and_filters_by_their_definition(length):
    """All frequencies and half of them, with weights that aren't conjugate."""
    rng = np.random.default_rng(length)
    x, w, gains = *se.tensors("x w", n), se.TensorSymbol("gains", n // 2 + 1)
    values, weights = rng.standard_normal((2, length))
    half = rng.standard_normal(length // 2 + 1)
    turns = np.exp(-2j * np.pi * np.outer(np.arange(length), np.arange(length)) / length)
    for transform, factor, given in ((np.fft.fft, w, weights), (np.fft.rfft, gains, half)):
        power = (factor * abs(transform(x)) ** 2).sum()
        found = se.lambdify([x, factor], [power, se.gradient(power, x)])(values, given)
        waves = turns[: len(given)]
        assert_close(found[0], given @ abs(waves @ values) ** 2)
        assert_close(found[1], 2 * (waves.conj().T @ (given * (waves @ values))).real)
    filtered = np.fft.ifft(np.fft.fft(x) * w).real
    found = se.lambdify([x, w], [filtered, se.gradient((filtered**2).sum(), w)])(values, weights)
    matrix = (turns.conj() / length * (turns @ values)).real
    assert_close(found[0], matrix @ weights)
    assert_close(found[1], 2 * matrix.T @ matrix @ weights)


def test_single_precision_stays():
    x = se.TensorSymbol("x", 6)
    power = (abs(np.fft.rfft(x)) ** 2).sum()
    found = se.lambdify([x], [np.fft.rfft(x).real, se.gradient(power, x)])(np.ones(6, np.float32))
    assert [value.dtype for value in found] == [np.float32, np.float32]


def test_complex_arguments_are_taken_linearly():
    x = se.TensorSymbol("x", 4)
    values = np.array([1 + 2j, 3, 5j, -1])
    weights = np.exp(2j * np.pi * np.outer(np.arange(4), np.arange(4)) / 4).real
    found = se.lambdify([x], snp.fft.fft(x).real)(values)
    assert_close(found, weights @ values)
    pair = se.ComplexTensor(x, x)
    found = se.lambdify([x], snp.fft.irfft(pair, 6))(values)
    expected = [np.fft.irfft(part + 1j * part, 6) for part in (values.real, values.imag)]
    assert_close(found, expected[0] + 1j * expected[1])


def test_waves_as_they_are():
    for waves in (Fourier(5), Fourier(6, 4, 3), Fourier(6, 4, weighted=True), Fourier(1, 1, 1)):
        entries = np.array(waves.as_explicit().tolist(), float)
        found = se.lambdify([], waves)()
        c, i, k = np.ogrid[tuple(slice(int(length)) for length in waves.shape)]
        period = int(waves.length)
        expected = np.cos(2 * np.pi * i * k / period + c * np.pi / 2)
        if waves.weighted:
            expected = expected * (2 - (k == 0) - (2 * k == period))
        assert_close(found, expected)
        assert_close(entries, expected)
        assert eval(str(waves), dict(vars(se))) is waves


def test_waves_of_different_lengths_do_not_cancel():
    x = se.TensorSymbol("x", 4)
    waves = Fourier(4), Fourier(5, 4, 4)
    product = se.simplify(se.einsum("cik,cjk,j->i", *waves, x))
    entries = [np.array(own.as_explicit().tolist(), float) for own in waves]
    given = np.array([0.3, -1.0, 0.5, 2.0])
    expected = np.einsum("cik,cjk,j->i", *entries, given)
    assert_close(se.lambdify([x], product)(given), expected)


def test_symbolic_lengths():
    m = symbols("m", integer=True, positive=True)
    x = se.TensorSymbol("x", n)
    assert np.fft.rfft(x).shape == (n // 2 + 1,)
    assert np.fft.rfft(x, n + m).shape == ((n + m) // 2 + 1,)
    assert np.fft.fft(se.TensorSymbol("y", n + m), n).shape == (n,)
    with pytest.raises(se.UnsupportedError, match="is truncated to m positions or zero-padded"):
        np.fft.rfft(x, m)


def test_wrong_transforms():
    x = se.TensorSymbol("x", 4)
    with pytest.raises(se.ShapeError, match="a positive length, not 0"):
        np.fft.rfft(x, 0)
    with pytest.raises(se.ShapeError, match="a positive length, not 0"):
        np.fft.irfft(se.TensorSymbol("y", 1))
    with pytest.raises(se.ShapeError, match="axis 1 is out of range"):
        np.fft.fft(x, axis=1)
    with pytest.raises(se.TensorError, match="norm is 'backward', 'ortho' or 'forward', not 'a'"):
        np.fft.ifft(np.fft.rfft(x), norm="a")
    with pytest.raises(se.UnsupportedError, match="rfft takes a real tensor"):
        np.fft.rfft(np.fft.rfft(x))
    with pytest.raises(se.ShapeError, match="2 axes got 1 lengths"):
        np.fft.fft2(se.TensorSymbol("A", 3, 4), (3,))
    with pytest.raises(se.ShapeError, match="length 4 has 4 frequencies or positions, not 5"):
        Fourier(4, 5)
    with pytest.raises(se.ShapeError, match="has 3 frequencies or positions, not 4"):
        Fourier(4, 4, weighted=True)
    with pytest.raises(se.UnsupportedError, match="out"):
        np.fft.rfft(x, out=np.zeros(3))
