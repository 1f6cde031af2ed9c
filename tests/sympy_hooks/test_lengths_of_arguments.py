"""Axis lengths as values: inferred from arguments, or an error that says what to pass."""

import numpy as np
import pytest
from oracles import k, m, n
from sympy import symbols

import sympy_einsum as se

x = se.TensorSymbol("x", (k,))
z = se.TensorSymbol("z", (n,))
v = se.TensorSymbol("v", (n,))
longer = se.TensorSymbol("longer", (n + 1,))
double = se.TensorSymbol("double", (2 * n,))
mixed = se.TensorSymbol("mixed", (2 * n + k, m))
square = se.TensorSymbol("square", (n**2,))
rng = np.random.default_rng(3)


@pytest.mark.parametrize(
    ("tensor", "others", "shapes"),
    [
        (longer, [], [(4,)]),
        (double, [], [(6,)]),
        (mixed, [x], [(9, 2), (3,)]),
        (mixed, [z], [(9, 2), (3,)]),
        (mixed, [longer], [(9, 2), (4,)]),
        (mixed, [double], [(9, 2), (6,)]),
        (square, [z], [(9,), (3,)]),
    ],
)
@pytest.mark.parametrize("check", [True, False])
@pytest.mark.parametrize("order", [1, -1])
def test_lengths_are_solved_from_sums_of_lengths(tensor, others, shapes, check, order):
    arguments = [tensor, *others]
    arrays = [rng.standard_normal(shape) for shape in shapes]
    function = se.lambdify(arguments[::order], [tensor.mean(), tensor.sum()], check=check)
    mean, total = function(*arrays[::order])
    np.testing.assert_allclose(mean, arrays[0].mean())
    np.testing.assert_allclose(total, arrays[0].sum())
    if check:
        lists = function(*[array.tolist() for array in arrays[::order]])
        np.testing.assert_allclose(lists[0], arrays[0].mean())


@pytest.mark.parametrize("backend", ["jax", "torch", "dask"])
def test_other_libraries(backend):
    library = pytest.importorskip({"jax": "jax.numpy", "dask": "dask.array"}.get(backend, backend))
    values = np.arange(6.0)
    array = library.from_array(values) if backend == "dask" else library.asarray(values)
    function = se.lambdify(double, double.mean() * se.Ones(n), backend=backend)
    np.testing.assert_allclose(np.asarray(function(array)), np.full(3, 2.5))


def test_a_module_of_its_own():
    namespace = {}
    exec(se.codegen([double, z], double.mean() + z.sum(), name="compute"), namespace)
    assert namespace["compute"](np.arange(4.0), np.ones(2)) == 3.5
    with pytest.raises(ValueError, match=r"argument double has length 5 on axis 0"):
        namespace["compute"](np.arange(5.0), np.ones(2))


def test_a_length_that_does_not_fit_is_named():
    with pytest.raises(se.ShapeError, match=r"length 5 on axis 0, which must be 2\*n = 4"):
        se.lambdify(double, double.mean())(np.ones(5))
    with pytest.raises(se.ShapeError, match="order 1"):
        se.lambdify(double, double.mean())(np.ones((2, 2)))
    with pytest.raises(se.ShapeError, match="order 1"):
        se.lambdify(double, double.mean())(3.0)


def test_a_sum_needs_no_length():
    assert se.lambdify(mixed, mixed.sum())(np.ones((3, 2))) == 6


def test_a_length_whose_tensor_has_gone():
    """The derivative of a mean has its length, but not its tensor."""
    f = x.mean() * z.sum()
    for derivative in (se.vjp(f * z, x, z), se.diff(f, x), se.jvp(x.mean() * 3, x, se.Ones(k))):
        if k in derivative.free_symbols:
            with pytest.raises(se.TensorError, match=r"^k occurs .* the symbol or a tensor"):
                se.lambdify([z], derivative)
            by_symbol = se.lambdify([z, k], derivative)(np.arange(3.0), 4)
            by_tensor = se.lambdify([z, x], derivative)(np.arange(3.0), np.ones(4))
            np.testing.assert_allclose(by_symbol, by_tensor)


def test_a_name_stays_free_for_the_user():
    axis, error = (se.TensorSymbol(name, (2 * n,)) for name in ("axis", "IndexError"))
    result = se.lambdify([axis, error], axis.mean() + error.mean())(np.ones(4), np.ones(4))
    assert result == 2
    p = symbols("axis", integer=True, positive=True)
    other = se.TensorSymbol("other", (p + 1,))
    assert se.lambdify(other, other.mean())([1.0, 2.0, 3.0]) == 2
