"""Functions given to lambdify for undefined ones, on every backend."""

import inspect
import pickle

import numpy as np
import pytest
import sympy
from libraries import LIBRARIES
from sympy import Function, cos, sin, symbols
from sympy.utilities.lambdify import implemented_function

import sympy_einsum as se

f = Function("f")
s = symbols("s", real=True)
x = se.TensorSymbol("x", 3)
A = se.TensorSymbol("A", (2, 3))
MATRIX = np.array([[0.3, -0.2, 0.5], [0.1, 0.7, -0.4]])
VECTOR = np.array([0.2, 0.9, 0.4])


def minus_sine(u):
    return -1 * np.sin(u)


NUMPY = {"f": np.sin, "f'": np.cos, "f''": minus_sine}


@pytest.fixture(params=LIBRARIES)
def library(request):
    return LIBRARIES[request.param]()


def names_in(library):
    space = getattr(library.module, "numpy", library.module)
    return {"f": space.sin, "f'": space.cos, "f''": lambda u: -space.sin(u)}


def test_values_and_derivatives(library):
    e = f(A @ x).sum() + f(x @ x) * s
    wanted = [e, *se.gradient(e, [A, x]), se.hessian(e, x), se.diff(f(s) * x, s)]
    given = se.lambdify([A, x, s], wanted, library.name, functions=names_in(library))
    known = [expr.subs(f, sin) for expr in wanted[:-1]] + [cos(s) * x]
    expected = se.lambdify([A, x, s], known)(MATRIX, VECTOR, 0.7)
    found = given(library.into(MATRIX), library.into(VECTOR), 0.7)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(library.back(one), other, rtol=1e-12)


def test_functions_are_named_as_they_may_be():
    other = se.TensorSymbol("f", 3)
    source = se.lambdify([other], f(other) * other, functions=NUMPY).source
    assert "function0_(f)" in source
    assert "f_(x)" in se.lambdify(x, se.gradient(f(x).sum(), x), functions=NUMPY).source
    hostile = Function("__import__('os').getcwd()")
    assert se.lambdify(x, hostile(x), functions={str(hostile): np.cos})(VECTOR)[0] == np.cos(0.2)


def test_results_that_are_the_arguments_are_not_written_over():
    identity = {"f": lambda u: u, "f'": lambda u: u[:]}
    wanted = [2 * f(x) + f(x) ** 2, f(x), se.gradient(f(x).sum(), x) * 3]
    given = VECTOR.copy()
    found = se.lambdify(x, wanted, functions=identity)(given)
    np.testing.assert_array_equal(given, VECTOR)
    for one, other in zip(found, [2 * VECTOR + VECTOR**2, VECTOR, 3 * VECTOR], strict=True):
        np.testing.assert_allclose(one, other)
        assert not np.may_share_memory(one, given)


def test_functions_that_are_not_entrywise_raise():
    function = se.lambdify(x, f(x), functions={"f": np.sum})
    with pytest.raises(se.ShapeError, match=r"for f has made an array of shape \(\) of \(3,\)"):
        function(VECTOR)


def test_missing_parts_are_named():
    with pytest.raises(se.UnsupportedError, match="the function f' has no numerical code"):
        se.lambdify(x, se.gradient(f(x).sum(), x), functions={"f": np.sin})
    with pytest.raises(se.UnsupportedError, match="the function f has no numerical code"):
        se.codegen(x, f(x))
    with pytest.raises(se.UnsupportedError, match="the function f has no numerical code"):
        sympy.lambdify([x], f(x).sum(), "numpy")


@pytest.mark.parametrize("wrong", [[np.sin], {"f": 3}, {f: np.sin}, "f"])
def test_functions_are_a_dictionary(wrong):
    with pytest.raises(se.TensorError, match="functions"):
        se.lambdify(x, f(x), functions=wrong)


def test_compiled_functions_are_pickled_with_them():
    function = se.lambdify([A, x], se.gradient(f(A @ x).sum(), x), functions=NUMPY)
    again = pickle.loads(pickle.dumps(function))
    np.testing.assert_array_equal(again(MATRIX, VECTOR), function(MATRIX, VECTOR))


def test_functions_that_bring_their_own():
    doubled = implemented_function("doubled", lambda u: 2 * u)
    np.testing.assert_allclose(se.lambdify(x, doubled(x))(VECTOR), 2 * VECTOR)
    own = se.function("tripled", code=lambda u: 3 * u)
    np.testing.assert_allclose(se.lambdify(x, own(x) + 1)(VECTOR), 3 * VECTOR + 1)
    with pytest.raises(se.UnsupportedError, match="isn't written out"):
        se.codegen(x, own(x))


def test_text_of_ones_own_is_spelled_by_the_library(library):
    own = se.function("bell_", code="np.exp(-{0}**2)")
    compiled = se.lambdify(x, own(2 * x), library.name)
    np.testing.assert_allclose(library.back(compiled(library.into(VECTOR))), np.exp(-4 * VECTOR**2))


def test_stock_lambdify():
    e = f(x @ x) * s + f(x @ x).diff(x).sum() + f(s * (x @ x)).diff(s)
    given = sympy.lambdify([x, s], e, [NUMPY, "numpy"])
    known = sin(x @ x) * s + se.diff(sin(x @ x), x).sum() + cos(s * (x @ x)) * (x @ x)
    expected = se.lambdify([x, s], known)(VECTOR, 0.7)
    np.testing.assert_allclose(given(VECTOR, 0.7), expected, rtol=1e-12)
    tensor = sympy.lambdify([A, x], se.hessian(f(A @ x).sum(), x), [NUMPY, "numpy"])
    known = MATRIX.T * -np.sin(MATRIX @ VECTOR) @ MATRIX
    np.testing.assert_allclose(tensor(MATRIX, VECTOR), known, rtol=1e-12)
    assert 'globals()["f\'"]' in inspect.getsource(given)


def test_kernels_hold_no_unknown_functions():
    own = se.function("kernel_", code=lambda u: u)
    with pytest.raises(se.UnsupportedError):
        se.codegen(x, own(x) + 1, "cupy")
    text = se.codegen(x, se.function("kernel2_", code="np.exp({0})")(x) + 1, "cupy")
    assert "cp.exp(x)" in text


def test_text_of_ones_own_has_brackets_around_it():
    """In tensors, scalars of tensors and ordinary scalars; in SymPy's lambdify too."""
    cubed, less = se.function("cubed", code="{0}**3"), se.function("less", code="{0} - 1")
    for v, value in (
        (se.TensorSymbol("x", 2), np.array([2.0, 3.0])),
        (se.TensorSymbol("s", ()), 2.0),
        (symbols("t"), 2.0),
    ):
        exprs = [cubed(cubed(v)), 1 / less(v + 5), v - less(v), cubed(v) ** 2, less(v) * v]
        expected = [value**9, 1 / (value + 4), 1 + 0 * value, value**6, (value - 1) * value]
        for compile in (se.lambdify, sympy.lambdify):
            for found, own in zip(compile([v], exprs)(value), expected, strict=True):
                np.testing.assert_allclose(found, own, rtol=1e-12)
