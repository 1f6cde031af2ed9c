"""Methods and operators have signatures that help, editors and type checkers see."""

from __future__ import annotations

import inspect
from types import FunctionType

import numpy as np
import pytest
import sympy

import sympy_einsum as se
from sympy_einsum.sympy_hooks import Methods

n = sympy.Symbol("n", integer=True, positive=True)
NAMES = sorted(
    name
    for kind in Methods.__mro__
    if kind.__module__.startswith("sympy_einsum.sympy_hooks")
    for name, member in vars(kind).items()
    if isinstance(member, (FunctionType, property)) and not name.startswith("_")
)


@pytest.mark.parametrize("name", NAMES)
def test_methods_are_attached_with_signature_and_docstring(name):
    method = getattr(se.TensorExpr, name)
    assert inspect.getattr_static(se.TensorExpr, name) is inspect.getattr_static(Methods, name)
    assert method.__doc__
    if not isinstance(method, property):
        hints = inspect.signature(method)
        first = next(iter(hints.parameters.values()))
        assert first.name == "self" or first.annotation == "TensorLike"
        assert hints.return_annotation is not inspect.Signature.empty


def test_help_shows_the_signature(capsys):
    help(se.TensorSymbol("x", 3).sum)
    assert "sum(axis: 'Axes' = None, keepdims: 'bool' = False)" in capsys.readouterr().out


def test_arrays_on_the_left_leave_operators_to_tensors():
    x = se.TensorSymbol("x", 3)
    assert np.ones(3) + x == x + np.ones(3)
    assert np.eye(3) @ x == se.Constant(np.eye(3)) @ x
    assert np.ones(3) - x == se.Constant(np.ones(3)) - x


def test_length_and_pieces():
    x, A = se.TensorSymbol("x", 3), se.TensorSymbol("A", n, 2)
    assert (len(x), len(se.TensorSymbol("z", 0)), x.size, A.size, A.ndim) == (3, 0, 3, 2 * n, 2)
    assert list(reversed(x)) == [x[2], x[1], x[0]]
    first, *rest = x
    assert (first, rest, [row.shape for row in A.T]) == (x[0], [x[1], x[2]], [(n,), (n,)])
    assert dict(zip("ab", A.T, strict=True)) == {"a": A[:, 0], "b": A[:, 1]}
    for unpacked in (A, x @ x):
        with pytest.raises(TypeError, match=r"has the length n|has no length"):
            iter(unpacked)
    assert x.unstack() == (x[0], x[1], x[2])
    assert A.unstack(axis=1) == (A[:, 0], A[:, 1])
    one = se.TensorSymbol("y", 1, 1)
    assert (one.item(), x.item(2), (x @ x).item()) == (one[0, 0], x[2], x @ x)
    with pytest.raises(TypeError, match=r"first axis of A has the length n, .* \.shape\[0\]"):
        len(A)
    with pytest.raises(TypeError, match="without axes, such as x @ x, has no length"):
        len(x @ x)
    with pytest.raises(se.UnsupportedError, match="axis 0 has the length n"):
        A.unstack()
    with pytest.raises(se.ShapeError):
        x.item()
    with pytest.raises(se.UnsupportedError, match="as_explicit"):
        x.tolist()


def test_an_expression_is_true_whatever_its_length():
    empty, one = se.TensorSymbol("z", 0), se.TensorSymbol("x", 1)
    assert empty
    assert one
    assert one @ one
    with pytest.raises(TypeError, match="entry by entry"):
        bool(one > 0)


def test_stock_code_takes_no_tensor_for_a_sequence():
    """By its methods or by its length."""
    x, y, s, t = *se.tensors("x y", 3), se.TensorSymbol("s"), sympy.Symbol("t")
    f = x @ y
    assert (sympy.eye(2) + sympy.Matrix(2, 2, [f] * 4))[0, 1] == f
    assert (sympy.Array([t]) * f)[0] == t * f
    assert (sympy.Tuple(x), sympy.sympify([x])) == ((x,), [x])
    assert sympy.Matrix([x]).shape == (1, 1)
    assert sympy.Array([f, s]).shape == (2,)
    assert sympy.derive_by_array(s**2 * t, [s, t]) == sympy.Array([2 * s * t, s**2])
    assert sympy.flatten([x, [y]]) == [x, y]
    assert sympy.solve([s + t - 1, s - t], [s, t]) == {s: sympy.S.Half, t: sympy.S.Half}
    assert sympy.lambdify(x, f.subs(y, x))(np.ones(3)) == 3
