"""A backend is one class, defined anywhere: here for a library with NumPy's arrays and few
functions, under the names of the array API standard."""

from __future__ import annotations

import sys
from importlib.machinery import ModuleSpec
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
from scipy import linalg
from test_backends import EXPRESSIONS, NAMES, arguments_of, data_for, flattened

import sympy_einsum as se
import sympy_einsum.numpy as snp
from sympy_einsum.compiler import Backend
from sympy_einsum.compiler.backends import BACKENDS
from sympy_einsum.compiler.passes.fusion import fused

CREATING = ["arange", "asarray", "eye", "full", "ones", "zeros"]
# As NumPy calls them, and the standard.
OTHER = {"arctan": "atan", "arctan2": "atan2", "array": "asarray", "concatenate": "concat"}
SAME = [
    *("abs", "argsort", "broadcast_to", "ceil", "cos", "cosh", "diag", "diagonal", "einsum"),
    *("exp", "expm1", "flip", "floor", "inf", "iscomplexobj", "isfinite", "log", "log1p"),
    *("logaddexp", "matmul", "maximum", "minimum", "nan", "ones_like", "pi", "result_type"),
    *("select", "sign", "sin", "sinh", "sort", "sqrt", "stack", "tan", "tanh", "where", "float32"),
    *("float64", "int64", "bool", "rint", "trunc", "remainder", "fmod", "floor_divide"),
    *("copysign", "isnan", "isinf", "nan_to_num", "sinc", "heaviside", "clip", "convolve"),
    *("correlate", "cumsum", "moveaxis", "swapaxes", "take", "pad", "tri", "tril", "triu"),
    "zeros_like",
]
MATRICES = [
    *("matrix_power", "cholesky", "det", "eigh", "eigvalsh", "inv", "qr", "slogdet", "solve"),
    "svd",
]
x = se.TensorSymbol("x", (3,))


class Array(np.ndarray):
    """An array of the library."""


Array.__module__ = "toy"


def library():
    toy = ModuleType("toy")
    toy.__spec__ = ModuleSpec("toy", None)
    for name in CREATING:
        create = getattr(np, name)
        setattr(toy, name, lambda *args, _f=create, **options: _f(*args, **options).view(Array))
    vars(toy).update({name: getattr(np, name) for name in SAME})
    toy.atan, toy.atan2, toy.concat = np.arctan, np.arctan2, np.concatenate
    toy.expm = linalg.expm
    toy.fft = np.fft
    toy.linalg = SimpleNamespace(**{name: getattr(np.linalg, name) for name in MATRICES})
    return toy


@pytest.fixture
def toy(monkeypatch):
    module = library()
    monkeypatch.setitem(sys.modules, "toy", module)

    class ToyBackend(Backend):
        """Spells instructions for the toy library."""

        name = "toy"
        imports = ("import toy",)
        xp = "toy"
        packages = ("toy",)
        passes = (fused,)
        special = ()
        exponential = "toy.expm"
        renamed = {f"np.{theirs}": f"toy.{ours}" for theirs, ours in OTHER.items()}  # noqa: RUF012

    yield module
    del Backend.registered["toy"]


# What needs special functions; the derivative of sin(u)/u is a spherical Bessel function.
LACKING = {"erf", "gamma", "special", "Bessel", "added at positions", "a point"}


@pytest.mark.parametrize("name", NAMES)
def test_values(toy, name):
    exprs = EXPRESSIONS[name]
    arguments = arguments_of(exprs)
    if name in LACKING:
        with pytest.raises(se.UnsupportedError, match="backend 'toy' has no function"):
            se.lambdify(arguments, exprs, "toy")
        return
    data = data_for(arguments)
    function = se.lambdify(arguments, exprs, "toy")
    given = [toy.asarray(value) if isinstance(value, np.ndarray) else value for value in data]
    expected = flattened(se.lambdify(arguments, exprs)(*data))
    for result, value in zip(flattened(function(*given)), expected, strict=True):
        assert np.shape(result) == np.shape(value)
        np.testing.assert_allclose(result, value, rtol=1e-9, atol=1e-9)


def test_its_file_needs_nothing_else(toy):
    source = se.codegen([x], se.atan2(x, 2) + se.softmax(x), "toy")
    assert source.startswith("import toy\n")
    assert "np." not in source
    namespace = {}
    exec(source, namespace)
    found = namespace["function"](toy.asarray(np.zeros(3)))
    np.testing.assert_allclose(found, np.full(3, 1 / 3))


def test_its_passes_are_made(toy):
    chain = se.exp(x) * 2 + 1
    assert se.lambdify([x], chain, "toy").source.count("\n    t") == 1
    assert se.lambdify([x], chain, "jax").source.count("\n    t") >= 1


def test_its_names_are_reserved(toy):
    names = se.TensorSymbol("toy", (3,)), se.TensorSymbol("softmax", (3,))
    found = se.lambdify(names, names[0] * se.softmax(names[1]), "toy")(np.ones(3), np.zeros(3))
    np.testing.assert_allclose(found, np.full(3, 1 / 3))
    with pytest.raises(se.TensorError, match="name of a function"):
        se.codegen([x], se.exp(x), "toy", name="toy")


def test_it_is_found_by_its_arrays(toy):
    function = se.lambdify([x], snp.exp(x) * 2, "auto")
    assert isinstance(function(toy.asarray(np.zeros(3))), Array)
    assert not isinstance(function(np.zeros(3)), Array)


def test_it_is_listed(toy):
    assert list(BACKENDS)[-1] == "toy"
    assert len(BACKENDS) == len(list(BACKENDS))
    with pytest.raises(se.UnsupportedError, match=r"there are numpy, .*, toy$"):
        se.lambdify([x], x, "fortran")


def test_a_missing_library_is_named(toy, monkeypatch):
    monkeypatch.delitem(sys.modules, "toy")
    with pytest.raises(se.UnsupportedError, match="needs toy, which isn't installed"):
        se.lambdify([x], se.exp(x), "toy")


def test_without_it_there_is_no_trace():
    assert "toy" not in BACKENDS
    with pytest.raises(KeyError):
        BACKENDS["toy"]
