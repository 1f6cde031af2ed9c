"""Signatures of methods and operators, for help, editors and type checkers."""

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
    assert np.tri(3) @ x == se.Constant(np.tri(3)) @ x
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
    with pytest.raises(se.UnsupportedError, match="axis 0 has symbolic length n"):
        A.unstack()
    with pytest.raises(se.ShapeError):
        x.item()
    with pytest.raises(se.UnsupportedError, match="as_explicit"):
        x.tolist()


def test_an_expression_is_truthy_for_any_length():
    empty, one = se.TensorSymbol("z", 0), se.TensorSymbol("x", 1)
    assert empty
    assert one
    assert one @ one
    with pytest.raises(TypeError, match="entry by entry"):
        bool(one > 0)


x3, y3, A2 = se.TensorSymbol("x", 3), se.TensorSymbol("y", 3), se.TensorSymbol("A", 2, 2)
n = sympy.Symbol("n", integer=True, positive=True)


@pytest.mark.parametrize(
    "build",
    [
        lambda x: sympy.Matrix([x]),
        lambda x: sympy.Matrix([[x]]),
        lambda x: sympy.Matrix([x, x]),
        lambda x: sympy.Matrix(1, 1, [x]),
        lambda x: sympy.Matrix(1, 1, lambda i, j: x),
        lambda x: sympy.ImmutableMatrix([x]),
        lambda x: sympy.SparseMatrix(1, 1, {(0, 0): x}),
        lambda x: sympy.eye(2).applyfunc(lambda entry: x),
        lambda x: sympy.zeros(2).__setitem__((0, 0), x),
        lambda x: sympy.hessian(x @ x, [x]),
        lambda x: sympy.Matrix([x @ x]).jacobian([x]),
    ],
)
@pytest.mark.parametrize("length", [3, n])
def test_a_tensor_is_no_entry_of_a_stock_matrix(build, length):
    with pytest.raises(
        se.ShapeError, match=r"an entry of SymPy's matrices is a scalar, and .* has"
    ):
        build(se.TensorSymbol("x", length))


XS, YS = ([tensor[k] for k in range(3)] for tensor in (x3, y3))
AS = [[A2[i, j] for j in range(2)] for i in range(2)]


@pytest.mark.parametrize(
    ("value", "entries"),
    [
        (x3, XS),
        ([x3, y3], [XS, YS]),
        (A2, AS),
        ([A2, A2.T], [AS, [list(row) for row in zip(*AS, strict=True)]]),
        ([x3 @ y3, 1], [x3 @ y3, 1]),
    ],
    ids=str,
)
@pytest.mark.parametrize(
    "kind", [sympy.Array, sympy.MutableDenseNDimArray, sympy.ImmutableSparseNDimArray]
)
def test_stock_arrays_unpack_tensors(kind, value, entries):
    assert kind(value).tolist() == entries


def test_stock_arrays_refuse_symbolic_lengths():
    with pytest.raises(TypeError, match="the first axis of z has the length n, which is no number"):
        sympy.Array(se.TensorSymbol("z", n))


def test_stock_derivatives_by_entries():
    expected = [2 * x3[k] for k in range(3)]
    assert sympy.derive_by_array(x3 @ x3, x3).tolist() == expected
    assert list(sympy.hessian(x3 @ x3, list(x3))) == list(2 * sympy.eye(3))
    assert list(sympy.Matrix([x3 @ x3]).jacobian(list(x3))) == expected


def test_stock_factor():
    x, y, S = *se.tensors("x y", n), se.TensorSymbol("S", n, n)
    assert sympy.factor(S @ x + S @ y) == se.factor(S @ x + S @ y) == S @ (x + y)
    assert sympy.factor([S @ x + S @ y, x]) == [S @ (x + y), x]
    assert sympy.factor((x @ x) ** 2 - 1) == (x @ x - 1) * (x @ x + 1)


def test_stock_code_takes_no_tensor_for_a_sequence():
    """Neither by its methods nor by its length."""
    x, y, s, t = *se.tensors("x y", 3), se.TensorSymbol("s"), sympy.Symbol("t")
    f = x @ y
    assert (sympy.eye(2) + sympy.Matrix(2, 2, [f] * 4))[0, 1] == f
    assert (sympy.Array([t]) * f)[0] == t * f
    assert (sympy.Tuple(x), sympy.sympify([x])) == ((x,), [x])
    assert sympy.Array([f, s]).shape == (2,)
    assert sympy.derive_by_array(s**2 * t, [s, t]) == sympy.Array([2 * s * t, s**2])
    assert sympy.flatten([x, [y]]) == [x, y]
    assert sympy.solve([s + t - 1, s - t], [s, t]) == {s: sympy.S.Half, t: sympy.S.Half}
    assert sympy.lambdify(x, f.subs(y, x))(np.ones(3)) == 3
