"""One row per scalar function: every view has every row, also rows added by users."""

from __future__ import annotations

import doctest
import inspect
import subprocess
import sys

import numpy as np
import pytest
import sympy
from scipy import special
from sympy import exp, symbols

import sympy_einsum as se
import sympy_einsum.numpy as snp
from sympy_einsum.compiler.backends import BACKENDS
from sympy_einsum.compiler.backends.scalars import scalar_code
from sympy_einsum.compiler.emit.modules import global_names
from sympy_einsum.compiler.emit.printer import printed
from sympy_einsum.compiler.ir.code import constant
from sympy_einsum.core import ROWS, Row, TensorError, add_row, code_of, derivative, row_of
from sympy_einsum.expressions import slot
from sympy_einsum.languages.matrixcalculus.functions import FUNCTIONS as TYPED
from sympy_einsum.operations import FUNCTIONS

x = se.TensorSymbol("x", (3,))
DEFINED = [row for row in ROWS if row.definition and row.function.__name__ != "exprel"]
# What Python's math has no functions for.
WITHOUT_CODE = ["spherical_in", "ndtri", "ive", "kve", "powbesselk", "gamma_rise"]
# The first arguments of functions of an order, and of a difference of distribution functions.
FIRST = {"spherical_in": 1, "gamma_rise": 1, "log_ndtr_difference": 2.1}
A, B, C, D = symbols("a b c d", positive=True)


def by_name(row):
    return row.function.__name__ + (row.numpy or row.scipy) * (row.name == "")


@pytest.mark.parametrize("row", ROWS, ids=by_name)
def test_every_name_of_a_row_is_found(row):
    given = [A, B, C, D][: row.arity]
    value = row.function(*given)
    if row.name:
        assert row.name in se.__all__
        assert getattr(se, row.name) is FUNCTIONS[row.name]
        assert FUNCTIONS[row.name](*given) == value
    for name in row.numpy.split():
        assert name in snp.__all__
        assert getattr(snp, name)(*given) == value
    tensors = [se.TensorSymbol(name, (3,)) for name in "uvw"[: len(given)]]
    for space, names in ((np, row.numpy), (special, row.scipy)):
        for name in names.split():
            assert getattr(space, name)(*tensors) == se.elementwise(row.function, *tensors)
    for name in row.matrixcalculus.split():
        assert TYPED[name].build(x) == se.elementwise(row.function, x)
        assert se.parse(f"{name}(y)", "y vector") is not None


def test_code_is_for_backends_that_there_are():
    assert {name for row in ROWS for name in row.on} <= {*BACKENDS, "arrays", "math", "scalars"}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_docstrings_are_true(name):
    """Docstrings are generated from rows; their examples check the derivatives."""
    text = inspect.getdoc(FUNCTIONS[name])
    assert text.startswith(f"``{name}(")
    first = text.split("\n\n")[0].partition("entry by entry. ")[2]
    assert first.endswith(".")
    assert len(first) > 10
    runner = doctest.DocTestRunner(verbose=False)
    runner.run(doctest.DocTestParser().get_doctest(text, {}, name, None, None))
    assert runner.summarize(verbose=False) == (0, runner.tries)
    row = FUNCTIONS[name].row
    assert all(own in text for own in (row.numpy + " " + row.scipy).split())


def test_help_takes_it_for_a_function():
    assert inspect.isroutine(se.log_ndtr)
    assert (se.log_ndtr.__name__, repr(se.log_ndtr)) == ("log_ndtr", "<function log_ndtr>")
    assert "sqrt(2)/(sqrt(pi)*erfcx(-sqrt(2)*x/2))" in se.log_ndtr.__doc__


@pytest.mark.parametrize("row", DEFINED, ids=by_name)
def test_code_and_derivatives_agree_with_the_definition(row):
    given = [A, B, C, D][: row.arity]
    values = [FIRST.get(row.name, 0.7), 1.3, 1, 1][: len(given)]
    at = dict(zip(given, values, strict=True))
    own = row.function(*given)
    slots = [slot(k) for k in range(len(given))]
    # The orders of logarithms are numbers.
    given = [1 if name in ("powlog", "power_derivative") and k == len(given) - 1 else g
             for name in [row.function.__name__] for k, g in enumerate(given)]  # fmt: skip
    given = [1, *given[1:]] if row.name == "gamma_rise" else given
    slots = [slots[k] if g != 1 else 1 for k, g in enumerate(given)]
    wanted = float(row.definition(*given).subs(at))
    text = printed(scalar_code(row.function(*slots), [*map(constant, values)], backend="scalars"))
    numbers = {"np": np, "special": special}
    numpy = BACKENDS["numpy"]
    for name in numpy.used_support(global_names(text)):
        exec(numpy.helper(name).text, numbers)
    np.testing.assert_allclose(eval(text, numbers), wanted, rtol=1e-12)
    if row.derivative is None or row.is_choice or own.func.__name__ == "step":
        return
    for symbol, gradient in zip(given, row.derivative(*given), strict=True):
        if gradient is not None and symbol != 1:
            formula = row.definition(*given)
            # SymPy has no derivatives of these.
            of_steps = formula.has(sympy.floor, sympy.ceiling)
            expected = (derivative if of_steps else sympy.diff)(formula, symbol).subs(at).evalf()
            assert abs(gradient.subs(at).evalf() - expected) < 1e-9


@pytest.mark.parametrize("row", [row for row in DEFINED if row.name], ids=by_name)
@pytest.mark.parametrize("modules", ["math", "mpmath"])
def test_stock_lambdify_without_arrays(row, modules):
    """By code for Python's own numbers, or by the definition."""
    given = [A, B, 1][: row.arity]
    if row.name == "spherical_in":
        given[0] = 2
    if row.name == "gamma_rise":
        given = [1, A, B]
    at = {A: FIRST.get(row.name, 0.7), B: 1.3}
    if modules == "math" and row.name in WITHOUT_CODE:
        return
    compute = sympy.lambdify([A, B], row.function(*given), modules)
    wanted = row.definition(*given).subs(at).evalf()
    assert abs(compute(at[A], at[B]) - wanted) < 1e-12


def test_stock_python_code_far_out_and_at_limits():
    t = symbols("t", real=True)
    at_0 = {se.entr: 0, se.exprel: 1, se.real_cbrt: 0, se.relu: 0, se.step: 0, se.ndtr: 0.5}
    for function, value in at_0.items():
        assert sympy.lambdify(t, function(t), "math")(0.0) == value
    assert sympy.lambdify(t, [se.xlogy(t, t), se.powlog(t, 2, 3)], "math")(0.0) == [0, 0]
    far = sympy.lambdify(t, [se.sigmoid(t), se.softplus(t), se.logaddexp(t, 2 * t)], "math")
    assert far(800.0) == [1, 800, 1600]
    assert far(-800.0) == [0, 0, -800]
    assert sympy.lambdify(t, se.ndtr(t), "math")(-30.0) == pytest.approx(special.ndtr(-30))
    assert sympy.pycode(se.softplus(t + 1)).count("math.log1p") == 1


def test_numeric_factors_of_masked_values_are_pulled_out():
    w, v = symbols("w v", real=True)
    assert se.masked(w, -2 * v) == -2 * se.masked(w, v)
    assert se.masked(w, 3) == 3 * w
    assert se.masked(w, sympy.oo).func is type(se.masked(w, v))
    y = se.TensorSymbol("y", 3)
    triplet = snp.maximum(0, se.norm(x - y) - se.norm(x) + 1)
    assert "2*" not in str(se.gradient(triplet, y))


def test_only_public_names_are_seen():
    assert {name for name in vars(snp) if not name.startswith("_")} == set(snp.__all__)
    assert dir(snp) == sorted(snp.__all__)
    assert not {"inspect", "sympy", "annotations", "TensorError"} & set(dir(snp))
    with pytest.raises(se.UnsupportedError, match=r"numpy\.choose"):
        np.choose(x, [x, x])


def test_a_function_has_one_row():
    with pytest.raises(TensorError, match="the function sigmoid has a row already"):
        add_row(Row(row_of(type(se.sigmoid(A))).function))
    count = len(ROWS)
    with pytest.raises(TensorError, match=r"^numpy\.exp is the name of another function"):
        add_row(Row(lambda v: v, numpy="exp"))
    assert len(ROWS) == count


def test_code_for_a_backend():
    expr = se.sigmoid(A)
    assert code_of(expr) == row_of(type(expr)).code
    assert {code_of(expr, name) for name in ("torch", "jax", "math")} == {
        row_of(type(expr)).on[name] for name in ("torch", "jax", "math")
    }
    assert code_of(A + B) is None
    assert derivative(exp(A) * se.sigmoid(A), A).has(se.sigmoid(A).func)


FROM_OUTSIDE = """
import numpy as np
import sympy
from scipy import special
import sympy_einsum as se
import sympy_einsum.numpy as snp
from sympy_einsum.core import Row, WholeFunction, add_row

class swish(WholeFunction):
    '''The rectifier x sigmoid(x).'''
    nargs = 1

{before}
add_row(Row(
    swish, "({{0}} * np.exp(-np.logaddexp(0, -({{0}}))))",
    lambda x: (se.sigmoid(x) + x * se.sigmoid(x) * se.sigmoid(-x),),
    lambda x: x / (1 + sympy.exp(-x)),
    {{"torch": "torch.nn.functional.silu({{0}})", "jax": "jax.nn.silu({{0}})", "numpy":
     "({{0}} * sigmoid({{0}}))", "math": "({{0}} / (1 + math.exp(-({{0}}))))"}},
    numpy="swish", scipy="silu", matrixcalculus="swish silu"))
add_row(Row(sympy.dirichlet_eta, "((1 - 2**(1 - {{0}})) * special.zeta({{0}}))",
            about="The eta function of Dirichlet."))
add_row(Row(lambda v: 10**v, scipy="exp10"))

class capped(WholeFunction):
    '''The smaller of x and 1.'''
    nargs = 1

add_row(Row(capped, "np.minimum({{0}}, 1)", lambda x: (se.step(1 - x),), is_choice=True))
{after}
x = se.TensorSymbol("x", (3,))
t = sympy.Symbol("t", real=True)
assert se.swish in vars(se).values() and "swish" in se.__all__
assert se.swish(x) == snp.swish(x) and str(se.parse("silu(x)", "x vector")) == "swish(x)"
assert special.exp10(x) == se.elementwise(lambda v: 10**v, x)
assert "x sigmoid(x)" in se.swish.__doc__ and "``scipy.special.silu``" in se.swish.__doc__
assert eval(str(se.swish(x)), {{**vars(se), "x": x}}) == se.swish(x)
values = np.array([-2.0, 0.0, 0.5])
wanted = values / (1 + np.exp(-values))
for expr in (se.swish(x), se.swish(2 * x / 2)):
    for backend in {backends}:
        found = se.lambdify([x], expr, backend)(INTO[backend](values))
        assert np.allclose(np.asarray(found), wanted), backend
assert "silu" in se.codegen([x], se.swish(x), "torch") + se.codegen([x], se.swish(x), "jax")
assert np.isclose(sympy.lambdify(t, se.swish(t), "math")(0.5), wanted[2])
assert np.isclose(sympy.lambdify(t, se.swish(t), "numpy")(0.5), wanted[2])
assert np.isclose(float(se.swish(t).subs(t, 0.5).evalf()), wanted[2])
assert se.check_derivative(se.swish(x).sum(), x) < 1e-6
assert se.swish(t).diff(t) == se.diff(se.swish(t), t)
gradient = se.gradient(se.capped(1 / x).sum(), x)
with np.errstate(all="ignore"):
    assert np.allclose(se.lambdify([x], gradient)(np.array([0.0, 0.5, 2.0])), [0, 0, -0.25])
assert np.allclose(se.lambdify([x], se.dirichlet_eta(x))(np.array([2.0, 3, 4]))[0], np.pi**2 / 12)
"""


@pytest.mark.slow
def test_a_row_from_outside_is_in_every_view():
    """Languages and compiler may be loaded before or after the row is added."""
    pytest.importorskip("torch")
    into = "INTO = {'numpy': np.asarray, 'jax': np.float32, 'torch': __import__('torch').tensor}\n"
    for before in (True, False):
        load = into + "import sympy_einsum.languages, sympy_einsum.compiler"
        script = FROM_OUTSIDE.format(
            before=load if before else "",
            after="" if before else load,
            backends="('numpy', 'torch', 'jax')" if before else "('numpy',)",
        )
        run = subprocess.run(
            [sys.executable, "-c", script], capture_output=True, text=True, check=False
        )
        assert run.returncode == 0, run.stderr
