"""Bad input: every constructor and function reports the error, its place and the lengths
involved."""

import contextlib
import operator
import os

import numpy as np
import pytest
import sympy
from oracles import k, m, n, p
from sympy import Lambda, Matrix, S, Symbol, symbols

import sympy_einsum as se
import sympy_einsum.numpy as snp

t, u = symbols("t u")
x = se.TensorSymbol("x", (n,))
v = se.TensorSymbol("v", (m,))
X = se.TensorSymbol("X", (n, m))
Y = se.TensorSymbol("Y", (p, k))
A = se.TensorSymbol("A", (n, n))
T = se.TensorSymbol("T", (n, m, k))
Q = se.TensorSymbol("Q", (2, 3))
w = se.TensorSymbol("w", (3,))


class Stranger:
    """An object of an unknown type."""

    def __repr__(self):
        return "stranger"


STRANGER = Stranger()
# What stock SymPy raises when it meets a matrix it can't combine.
REFUSED = (se.TensorError, TypeError, ValueError, NotImplementedError, AttributeError)


def message(error, function, *arguments, **options):
    with pytest.raises(error) as caught:
        function(*arguments, **options)
    return str(caught.value)


def test_the_errors_are_one_family():
    assert issubclass(se.TensorError, ValueError)
    for error in (se.ShapeError, se.ParseError, se.UnsupportedError):
        assert issubclass(error, se.TensorError)


# --- einsum ---------------------------------------------------------------------------------------


def test_clashing_lengths_name_operand_index_and_both_lengths():
    for index, text in {
        "j": message(se.ShapeError, se.einsum, "ij,jk->ik", X, Y),
        "1": message(se.ShapeError, se.einsum, X, [0, 1], Y, [1, 2], [0, 2]),
    }.items():
        assert text.startswith(f"index '{index}' of ")
        assert "has length m in operand 1 and length p in operand 2" in text


def test_clashing_numbers():
    five = se.TensorSymbol("five", (5,))
    text = message(se.ShapeError, se.einsum, "ij,j->i", Q, five)
    assert "'j'" in text or " j" in text
    assert "3" in text
    assert "5" in text


# Two symbols that are written the same, n of x and of z.
NAMESAKES = {
    "+": lambda x, z, A, C: x + z,
    "*": lambda x, z, A, C: 2 * x * z,
    "@": lambda x, z, A, C: A @ z,
    "@ of matrices": lambda x, z, A, C: A @ C,
    "einsum": lambda x, z, A, C: se.einsum("ij,j->i", A, z),
    "concatenate": lambda x, z, A, C: se.concatenate([A, C], axis=1),
    "stack": lambda x, z, A, C: se.stack([x, z]),
    "where": lambda x, z, A, C: snp.where(x > 0, x, z),
    "subs": lambda x, z, A, C: (x @ x).subs(x, z),
    "reshape": lambda x, z, A, C: x.reshape(z.shape),
    "reshape with a rest": lambda x, z, A, C: A.reshape(z.shape[0], -1),
    "jvp": lambda x, z, A, C: se.jvp(x @ x, x, z),
    "vjp": lambda x, z, A, C: se.vjp(A @ x, x, z),
    "linear map": lambda x, z, A, C: se.linearize(A @ x, x) @ z,
    "batch": lambda x, z, A, C: se.batch(x @ x, {x: C.T}),
    "examples": lambda x, z, A, C: se.batch(x @ x * m, {x: A, m: se.TensorSymbol("s", z.shape[0])}),
    "carry": lambda x, z, A, C: se.scan(lambda c, _: (z, None), x, length=3),
    "start": lambda x, z, A, C: se.solution(A @ x, x, z),
    "take along axis": lambda x, z, A, C: se.take_along_axis(A, se.argsort(C, axis=1), axis=1),
    "broadcast_shapes": lambda x, z, A, C: snp.broadcast_shapes(x.shape, z.shape),
    "symmetric": lambda x, z, A, C: se.TensorSymbol("B", n, z.shape[0], n, symmetric=True),
    "variable": lambda x, z, A, C: se.gradient(x @ x, se.TensorSymbol("x", z.shape[0])),
}


@pytest.mark.parametrize("name", NAMESAKES)
def test_lengths_of_one_name_are_told_apart(name):
    """Two symbols of one name clash where their assumptions differ, which the message says."""
    other = Symbol("n", integer=True)
    x, A = se.TensorSymbol("x", n), se.TensorSymbol("A", n, n)
    z, C = se.TensorSymbol("z", other), se.TensorSymbol("C", other, m)
    message = (
        r"Symbol\('n', integer=True\) and Symbol\('n', integer=True, positive=True\) are 2 sym"
    )
    with pytest.raises(se.TensorError, match=message):
        NAMESAKES[name](x, z, A, C)


def test_a_repeated_index_needs_equal_lengths():
    text = message(se.ShapeError, se.einsum, "ii->i", X)
    assert "i" in text
    assert "n" in text
    assert "m" in text


def test_two_different_symbols_clash_as_do_sums_of_them():
    with pytest.raises(se.ShapeError):
        se.einsum("i,i->", x, v)
    one_more = se.TensorSymbol("q", (n + 1,))
    with pytest.raises(se.ShapeError):
        se.einsum("i,i->", x, one_more)
    same = se.TensorSymbol("r", ((n + 1) ** 2,))
    also = se.TensorSymbol("s", (n**2 + 2 * n + 1,))
    assert se.einsum("i,i->", same, also) is not None


WRONG_SUBSCRIPTS = {
    "too many indices": ("ijk,j->i", X, v),
    "too few indices": ("i,j->i", X, v),
    "output index not in an input": ("ij,j->k", X, v),
    "too few operands": ("ij,j->i", X),
    "too many operands": ("ij->i", X, v),
    "no letters": ("i1,1->i", X, v),
    "punctuation": ("i;j,j->i", X, v),
    "two arrows": ("ij->i->j", X),
    "half an arrow": ("ij-i", X),
    "reversed arrow": ("ij<-i", X),
    "one dot": ("i.,j->i", X, v),
    "two ellipses": ("......,j->", X, v),
    "split ellipsis": (". ..j->j", X),
    "arrow without an operand": ("->", X),
    "comma at the end": ("ij,->i", X),
    "star": ("*ij->i", X),
}


@pytest.mark.parametrize("name", WRONG_SUBSCRIPTS)
def test_wrong_subscripts(name):
    text = message(se.TensorError, se.einsum, *WRONG_SUBSCRIPTS[name])
    assert len(text) > 20
    assert "Traceback" not in text


def test_an_unknown_output_index_is_named():
    assert "q" in message(se.TensorError, se.einsum, "ij,j->q", X, v)


def test_the_operand_with_the_wrong_number_of_indices_is_named():
    text = message(se.TensorError, se.einsum, "ij,ijk->i", X, v)
    assert "v" in text or "operand 1" in text or "operand 2" in text
    assert "ijk" in text


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("ij->ij",),
        (None, X),
        (3, X),
        ("ij->ij", None),
        ("ij->ij", "X"),
        ("ij->ij", [["a", "b"]]),
        ("ij->ij", STRANGER),
        (X, "ij"),
        (X, [0, 1], v),
        (X, [0, 1.5], [0]),
        (X, [0, "j"], [0]),
        (X, [0, 1], [2]),
        (X, [0], [0]),
        (X, 0, [0]),
    ],
)
def test_einsum_refuses_other_arguments(arguments):
    with pytest.raises((se.TensorError, TypeError)) as caught:
        se.einsum(*arguments)
    assert str(caught.value)


# --- constructors ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [None, 3, x, b"x", ["x"], Symbol("x")])
def test_names_of_tensors_are_strings(name):
    if isinstance(name, Symbol):
        with contextlib.suppress(se.TensorError, TypeError):
            assert se.TensorSymbol(name, (n,)).name == "x"
        return
    with pytest.raises((se.TensorError, TypeError)):
        se.TensorSymbol(name, (n,))


LENGTHS = [
    -1,
    2.5,
    S.Half,
    "n",
    None,
    True,
    x,
    S.NaN,
    sympy.oo,
    sympy.I,
    STRANGER,
    Symbol("b", integer=False),
]


@pytest.mark.parametrize("length", LENGTHS, ids=str)
@pytest.mark.parametrize(
    "constructor",
    [
        lambda length: se.TensorSymbol("z", (n, length)),
        lambda length: se.Zeros(n, length),
        lambda length: se.Ones(length),
        lambda length: se.Delta(length),
        lambda length: se.broadcast_to(w, (length, 3)),
        lambda length: se.tensors("a b", length, n),
    ],
    ids=["TensorSymbol", "Zeros", "Ones", "Delta", "broadcast_to", "tensors"],
)
def test_lengths_are_non_negative_integers(constructor, length):
    with pytest.raises((se.TensorError, TypeError)):
        constructor(length)


def test_unknown_assumptions_are_named():
    assert "purple" in message(se.TensorError, se.TensorSymbol, "P", (n, n), purple=True)


@pytest.mark.parametrize("assumption", ["symmetric", "diagonal", "psd"])
def test_assumptions_about_square_matrices_need_one(assumption):
    # A tensor with more axes may be symmetric in all of them.
    more = (n, n, m) if assumption == "symmetric" else (n, n, n)
    for shape in ((n, m), (n,), more):
        with pytest.raises(se.TensorError):
            se.TensorSymbol("P", shape, **{assumption: True})


def test_tensors_splits_names():
    a, b = se.tensors("a b", n)
    assert (a.name, b.name) == ("a", "b")
    assert a.shape == b.shape == (n,)
    with pytest.raises(se.TensorError):
        se.tensors("", n)


def test_constants_hold_numbers():
    for value in (np.array(["a"]), np.array([None]), np.array([STRANGER])):
        with pytest.raises(se.TensorError):
            x + value
    with pytest.raises((se.TensorError, TypeError)):
        operator.add(w, [1, 2])
    with pytest.raises((se.TensorError, TypeError, ValueError)):
        operator.add(w, [[1, 2], [3]])


def test_numeric_arrays_must_fit():
    text = message(se.TensorError, lambda: Q + np.ones((2, 4)))
    assert "3" in text
    assert "4" in text
    with pytest.raises(se.TensorError):
        np.ones((2, 4)) + Q
    with pytest.raises(se.TensorError):
        Q @ np.ones(4)
    with pytest.raises(se.TensorError):
        np.ones(4) @ Q
    with pytest.raises(se.TensorError):
        se.einsum("ij,j->i", Q, np.ones(4))
    with pytest.raises(se.TensorError):
        np.multiply(np.ones((2, 4)), Q)


def test_arrays_aim_at_the_matching_axis_only():
    """A one-dimensional array and a matrix aren't broadcast silently, though NumPy does it."""
    with pytest.raises(se.TensorError):
        Q + np.ones(3)


# --- arithmetic -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "operation",
    [
        lambda a, b: a + b,
        lambda a, b: a - b,
        lambda a, b: a * b,
        lambda a, b: a / b,
        lambda a, b: a**b,
        lambda a, b: se.Max(a, b),
        lambda a, b: snp.maximum(a, b),
        lambda a, b: sympy.Add(a, b),
        lambda a, b: sympy.Mul(a, b),
        lambda a, b: sympy.Pow(a, b),
        lambda a, b: se.elementwise(Lambda((t, u), t * u + 1), a, b),
    ],
)
def test_different_orders_dont_combine_silently(operation):
    for a, b in ((X, v), (v, X), (T, X), (A, x)):
        text = message(se.TensorError, operation, a, b)
        assert "None" in text
        assert "broadcast_to" in text
        assert "einsum" in text


@pytest.mark.parametrize(
    "operation", [lambda a, b: a + b, lambda a, b: a * b, lambda a, b: se.atan2(a, b)]
)
def test_clashing_lengths_in_arithmetic_name_both(operation):
    text = message(se.ShapeError, operation, X, A)
    assert "m" in text
    assert "n" in text
    assert "axis" in text
    text = message(se.ShapeError, operation, x, v)
    assert "n" in text
    assert "m" in text
    with pytest.raises(se.ShapeError):
        operation(w, se.TensorSymbol("five", (5,)))


def test_matmul_names_both_lengths():
    for a, b in ((X, X), (X, x), (v, X), (x, v), (Q, Q)):
        text = message(se.ShapeError, lambda a=a, b=b: a @ b)
        for length in (a.shape[-1], b.shape[max(b.order - 2, 0)]):
            assert str(length) in text


@pytest.mark.parametrize("other", [2, 2.5, t, S.Half, x @ x])
def test_matmul_by_a_scalar_is_refused_as_in_numpy(other):
    with pytest.raises((se.TensorError, TypeError)):
        X @ other
    with pytest.raises((se.TensorError, TypeError)):
        other @ X


@pytest.mark.parametrize("other", ["x", None, STRANGER, {}, b"1", "__import__('os')"])
@pytest.mark.parametrize(
    "operation",
    [
        lambda a, b: a + b,
        lambda a, b: b + a,
        lambda a, b: a * b,
        lambda a, b: b * a,
        lambda a, b: a - b,
        lambda a, b: a / b,
        lambda a, b: a**b,
        lambda a, b: a @ b,
        lambda a, b: b @ a,
    ],
)
def test_operands_of_other_types_are_refused(operation, other):
    with pytest.raises((se.TensorError, TypeError)):
        operation(X, other)


@pytest.mark.parametrize("function", [len, iter, float, int, complex, list, tuple])
@pytest.mark.parametrize("tensor", [x, X, w, Q, X @ v], ids=str)
def test_a_tensor_is_no_truth_value_and_no_sequence(function, tensor):
    if function in (len, iter, list, tuple) and tensor in (w, Q):
        found = function(tensor)  # a number is known
        assert found == tensor.shape[0] if function is len else tuple(found) == tensor.unstack()
        return
    with pytest.raises((TypeError, se.TensorError)):
        function(tensor)


def test_an_unclear_comparison_raises():
    with pytest.raises((TypeError, se.TensorError)):
        bool(x > 0)
    with pytest.raises((TypeError, se.TensorError)):
        bool(x < x + 1)
    assert (x == 3) is False
    assert (x != 3) is True


def test_a_tensor_is_no_array_of_objects():
    with pytest.raises((TypeError, se.TensorError)):
        np.asarray(X)
    with pytest.raises((TypeError, se.TensorError)):
        np.array([x, x])


# --- axes, shapes, indices ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "call",
    [
        lambda: X.sum(axis=2),
        lambda: X.sum(axis=-3),
        lambda: X.sum(axis=(0, 0)),
        lambda: X.sum(axis=(0, -2)),
        lambda: X.sum(axis="0"),
        lambda: X.sum(axis=1.0),
        lambda: X.mean(axis=5),
        lambda: X.transpose(0),
        lambda: X.transpose(0, 0),
        lambda: X.transpose(0, 2),
        lambda: snp.swapaxes(X, 0, 2),
        lambda: snp.moveaxis(X, 0, 5),
        lambda: snp.expand_dims(X, 4),
        lambda: snp.squeeze(X, 0),
        lambda: snp.broadcast_to(X, (n,)),
        lambda: snp.broadcast_to(X, (m, n)),
        lambda: snp.tensordot(X, A, axes=3),
        lambda: snp.tensordot(X, A, axes=([0, 1], [0])),
        lambda: snp.tensordot(A, T, axes=3),
        lambda: snp.tensordot(A, A, axes=([0, 0], [0, 1])),
        lambda: snp.tensordot(A, A, axes=([0, 1], [0, 0])),
        lambda: snp.matvec(Q, se.Ones(1)),
        lambda: snp.vecmat(se.Ones(1), Q),
        lambda: snp.vecdot(Q, se.Ones(1)),
        lambda: snp.sum(x, initial=[1, 2]),
        lambda: snp.max(x, initial=[1, 2]),
        lambda: snp.linalg.norm(t, axis=1),
        lambda: snp.arange(1, 5, 0),
        lambda: snp.softmax(X, axis=3) if hasattr(snp, "softmax") else se.softmax(X, axis=3),
        lambda: snp.concatenate([x, X]),
        lambda: snp.concatenate([]),
        lambda: snp.stack([x, v]),
        lambda: snp.stack([]),
        lambda: snp.reshape(X, (n,)),
        lambda: snp.reshape(Q, (4,)),
        lambda: snp.reshape(Q, (-1, -1)),
        lambda: snp.linalg.matrix_power(X, 2),
        lambda: snp.linalg.matrix_power(A, t),
        lambda: snp.linalg.matrix_power(A, 1.5),
        lambda: snp.linalg.solve(A, v),
        lambda: snp.linalg.multi_dot([A]),
        lambda: snp.linalg.norm(T, 3),
        lambda: snp.inner(x, v),
        lambda: snp.vdot(x, v),
        lambda: snp.trace(x),
        lambda: snp.diagonal(x),
        lambda: snp.diag(T),
        lambda: snp.var(X, axis=2),
    ],
)
def test_axes_and_shapes_out_of_range(call):
    with pytest.raises((se.TensorError, TypeError)) as caught:
        call()
    assert str(caught.value)


@pytest.mark.parametrize(
    "index",
    [
        (0, 0, 0),
        (None, 0, 0, 0),
        "0",
        1.5,
        (Ellipsis, Ellipsis),
        True,
        ([0], True),
        np.array(True),
        slice(None, None, 0),
        slice(0.5, None),
        slice("a", None),
        Symbol("h", integer=False),
    ],
    ids=str,
)
def test_bad_indices(index):
    with pytest.raises((se.TensorError, TypeError, IndexError)):
        X[index]


def test_positions_out_of_range():
    for index in (3, -4, 30):
        text = message((se.TensorError, IndexError), lambda index=index: w[index])
        assert "3" in text
    with pytest.raises((se.TensorError, IndexError)):
        Q[2, 0]
    with pytest.raises((se.TensorError, IndexError)):
        x[n]
    with pytest.raises((se.TensorError, IndexError)):
        x[n + 1]
    assert x[n - 1] == x[-1]


def test_tensors_cant_be_assigned_to():
    with pytest.raises(TypeError):
        X[0, 0] = 1


# --- linear algebra -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["inv", "det", "adj", "logdet", "trace"])
def test_matrix_functions_need_a_square_matrix(name):
    function = getattr(se, name)
    text = message(se.ShapeError, function, X)
    assert "n" in text
    assert "m" in text
    for wrong in (x, T, t, 3, x @ x):
        with pytest.raises((se.TensorError, TypeError)):
            function(wrong)
    with pytest.raises((se.TensorError, TypeError)):
        function("X")


def test_matrix_functions_name_the_axes_of_the_matrices():
    with pytest.raises(se.ShapeError, match="axis 1 has length 2 and axis 2 has length 3"):
        se.det(se.TensorSymbol("A", (4, 2, 3)))


def test_methods_say_the_same():
    for call in (X.inv, X.det, X.trace, x.inv, x.trace, x.det):
        with pytest.raises(se.ShapeError):
            call()


# --- calculus -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "variable",
    [
        3,
        "x",
        None,
        X @ v,
        se.exp(x),
        x + x,
        2 * x,
        t**2,
        S.One,
        np.ones(3),
        se.Zeros(n),
        x.sum(),
        Matrix([t]),
        sympy.sin(x @ x),
    ],
    ids=str,
)
@pytest.mark.parametrize("operation", [se.diff, se.gradient, se.jacobian, se.hessian])
def test_only_symbols_can_be_differentiated_by(operation, variable):
    with pytest.raises((se.TensorError, TypeError)) as caught:
        operation((X @ v).sum() + v @ v, variable)
    assert str(caught.value)


def test_counts_are_positive_integers():
    for count in (-1, 1.5, "2", S.Half):
        with pytest.raises((se.TensorError, TypeError)):
            se.diff(x @ x, x, count)


def test_a_count_needs_a_variable_before_it():
    with pytest.raises((se.TensorError, TypeError)):
        se.diff(x @ x, 2)
    with pytest.raises((se.TensorError, TypeError)):
        se.diff(x @ x, 2, x)


def test_gradients_and_hessians_are_of_scalars():
    for operation in (se.gradient, se.hessian):
        text = message((se.TensorError, TypeError), operation, X @ v, v)
        assert "takes a scalar, not a tensor of shape (n,)" in text


@pytest.mark.parametrize("y", ["x", None, STRANGER, {}, "__import__('os')"])
def test_only_expressions_can_be_differentiated(y):
    with pytest.raises((se.TensorError, TypeError)):
        se.diff(y, x)


def test_options_are_checked():
    for options in ({"mode": "sideways"}, {"layout": "upside-down"}, {"colour": "red"}):
        with pytest.raises((se.TensorError, TypeError)):
            se.diff(x @ x, x, **options)


def test_tangents_and_cotangents_must_fit():
    f = X @ v
    with pytest.raises(se.TensorError):
        se.jvp(f, v, x)
    with pytest.raises(se.TensorError):
        se.vjp(f, v, v)
    with pytest.raises(se.TensorError):
        se.hvp((f * f).sum(), v, x)


# --- elementwise ----------------------------------------------------------------------------------


@pytest.mark.parametrize("function", ["exp", "__import__('os')", None, 3, Symbol("f"), x])
def test_elementwise_wants_a_function(function):
    with pytest.raises((se.TensorError, TypeError)):
        se.elementwise(function, x)
    with pytest.raises((se.TensorError, TypeError)):
        x.applyfunc(function)


def test_elementwise_counts_arguments():
    with pytest.raises((se.TensorError, TypeError)):
        se.elementwise(Lambda((t, u), t * u), x)
    with pytest.raises((se.TensorError, TypeError)):
        se.elementwise(Lambda(t, t**2), x, x)
    with pytest.raises((se.TensorError, TypeError)):
        se.elementwise(sympy.exp)
    with pytest.raises((se.TensorError, TypeError)):
        se.exp(x, x)


@pytest.mark.parametrize("argument", ["x", None, STRANGER, "__import__('os')"])
def test_functions_refuse_other_arguments(argument):
    for function in (se.exp, se.relu, snp.exp, snp.sum, snp.linalg.inv, se.norm):
        with pytest.raises((se.TensorError, TypeError)):
            function(argument)


# --- lambdify -------------------------------------------------------------------------------------


def test_missing_arguments_are_named():
    text = message(se.TensorError, se.lambdify, [x], X @ v)
    assert "X" in text
    assert "v" in text
    assert "t" in message(se.TensorError, se.lambdify, [x], t * x)
    with pytest.raises(se.TensorError):
        se.lambdify([], x.sum())


def test_a_length_no_argument_tells():
    with pytest.raises(se.TensorError, match="m"):
        se.lambdify([x], se.Delta(m))
    assert se.lambdify([x], se.Delta(n))(np.zeros(2)).shape == (2, 2)
    assert se.lambdify([m], se.Delta(m))(4).shape == (4, 4)


@pytest.mark.parametrize("arguments", ["x", ["x"], [x, x], [X @ v], [3], [None], [t**2]], ids=str)
def test_arguments_are_different_symbols(arguments):
    with pytest.raises((se.TensorError, TypeError)):
        se.lambdify(arguments, x.sum())


@pytest.mark.parametrize("expr", ["x", None, STRANGER, "__import__('os')", ["x"], [None]], ids=str)
def test_only_expressions_are_compiled(expr):
    with pytest.raises((se.TensorError, TypeError)):
        se.lambdify([x], expr)


def test_an_unknown_backend():
    text = message(se.TensorError, se.lambdify, [x], x, backend="abacus")
    assert "abacus" in text
    assert "numpy" in text


def test_wrong_shapes_at_the_call_name_argument_axis_and_both_lengths():
    function = se.lambdify([X, v], X @ v)
    assert function(np.ones((2, 3)), np.ones(3)).shape == (2,)
    text = message(se.ShapeError, function, np.ones((2, 3)), np.ones(4))
    assert "v" in text
    assert "axis" in text
    assert "4" in text
    assert "3" in text
    text = message(se.ShapeError, function, np.ones(3), np.ones(3))
    assert "X" in text
    text = message(se.ShapeError, se.lambdify([Q], Q), np.ones((2, 4)))
    assert "Q" in text
    assert "axis" in text
    assert "4" in text
    assert "3" in text


def test_lengths_are_checked_across_arguments_and_symbols():
    function = se.lambdify([n, x], n * x)
    assert np.array_equal(function(3, np.ones(3)), 3 * np.ones(3))
    with pytest.raises(se.ShapeError):
        function(4, np.ones(3))
    stretched = se.TensorSymbol("z", (n + 1,))
    function = se.lambdify([x, stretched], x.sum() + stretched.sum())
    assert function(np.ones(2), np.ones(3)) == 5
    with pytest.raises(se.ShapeError):
        function(np.ones(2), np.ones(2))


@pytest.mark.parametrize("value", [None, "x", STRANGER, [[1, 2], [3]], ["a", "b"]], ids=str)
def test_wrong_values_at_the_call(value):
    with pytest.raises((se.TensorError, TypeError, ValueError)):
        se.lambdify([x], 2 * x)(value)


def test_wrong_number_of_values_at_the_call():
    function = se.lambdify([X, v], X @ v)
    for values in ((), (np.ones((2, 3)),), (np.ones((2, 3)), np.ones(3), 1)):
        with pytest.raises((se.TensorError, TypeError)):
            function(*values)


def test_lists_and_integers_are_accepted_as_arrays():
    assert se.lambdify([x], x / 2)([1, 2, 4]).tolist() == [0.5, 1.0, 2.0]
    assert se.lambdify([x], x**-1)(np.array([1, 2, 4])).tolist() == [1.0, 0.5, 0.25]


def test_arguments_are_never_changed():
    array = np.array([1.0, -2.0, 3.0])
    before = array.copy()
    se.lambdify([x], [x, -x, x + 1, se.exp(x), 2 * x, se.relu(x), se.sin(x) * x + x**3])(array)
    assert np.array_equal(array, before)


def test_results_share_no_memory_with_arguments():
    """Writing into a result doesn't change the arguments."""
    array = np.arange(6.0).reshape(2, 3)
    exprs = [Q, Q.T, Q[0], Q[:, None], Q[:, 1:], snp.ravel(Q)]
    for result in se.lambdify([Q], exprs)(array):
        assert not np.shares_memory(result, array)
    same, again = se.lambdify([Q], [2 * Q, 2 * Q])(array)
    same += 1
    assert np.array_equal(again, 2 * array)


# --- strings are never run ------------------------------------------------------------------------


def test_strings_are_never_sympified(tmp_path):
    target = tmp_path / "pwned"
    bomb = f"__import__('pathlib').Path({str(target)!r}).touch()"
    attempts = [
        lambda: se.TensorSymbol("x", (bomb,)),
        lambda: se.TensorSymbol("x", bomb),
        lambda: se.Zeros(bomb),
        lambda: se.Ones(bomb),
        lambda: se.Delta(bomb),
        lambda: se.tensors("a b", bomb),
        lambda: se.einsum(bomb, x),
        lambda: se.einsum("i->", bomb),
        lambda: se.einsum(x, [bomb], []),
        lambda: x + bomb,
        lambda: bomb + x,
        lambda: x * bomb,
        lambda: bomb * x,
        lambda: x - bomb,
        lambda: x / bomb,
        lambda: x**bomb,
        lambda: bomb**x,
        lambda: x @ bomb,
        lambda: x == bomb,
        lambda: x[bomb],
        lambda: x[bomb:],
        lambda: x.sum(axis=bomb),
        lambda: x.applyfunc(bomb),
        lambda: se.elementwise(bomb, x),
        lambda: se.exp(bomb),
        lambda: se.relu(bomb),
        lambda: se.Max(x, bomb),
        lambda: se.inv(bomb),
        lambda: se.norm(x, bomb),
        lambda: se.broadcast_to(x, bomb),
        lambda: se.diff(bomb, x),
        lambda: se.diff(x @ x, bomb),
        lambda: se.gradient(x @ x, [bomb]),
        lambda: se.lambdify(bomb, x),
        lambda: se.lambdify([bomb], x),
        lambda: se.lambdify([x], bomb),
        lambda: se.lambdify([x], x)(bomb),
        lambda: x.diff(bomb),
        lambda: x.has(bomb),
        lambda: x.xreplace({x: bomb}),
        lambda: (x @ x).xreplace({bomb: x}),
        lambda: snp.sum(bomb),
        lambda: snp.where(bomb, x, x),
        lambda: snp.clip(x, bomb, 1),
        lambda: snp.full((3,), bomb),
        lambda: snp.ones(bomb),
        lambda: np.add(x, bomb),
        lambda: x + np.array([bomb]),
        lambda: x + np.array([bomb], dtype=object),
        lambda: se.jvp(x @ x, x, bomb),
        lambda: se.Constant([bomb]),
        lambda: x.as_explicit(bomb),
        lambda: x.transpose(bomb),
        lambda: x.has_free(bomb),
        lambda: x.atoms(bomb),
        lambda: se.Selection(5, bomb, 1, 2),
        lambda: se.Selection(5, 1, bomb, 2),
        lambda: se.Unit(5, bomb),
        lambda: se.Slot(bomb),
        lambda: (x @ x).subs([((bomb,), 1)]),
        lambda: (x @ x).subs({x: [bomb]}),
        lambda: (x @ x).subs({t: (bomb,)}),
        lambda: (x @ x).subs({t: {bomb}}, simultaneous=True),
        lambda: snp.eye(n, bomb),
        lambda: snp.select([bomb], [x]),
        lambda: se.to_indexed(x, [bomb]),
        lambda: se.from_indexed(x.sum(), [(bomb, bomb)]),
        lambda: se.reshape(x, bomb),
        lambda: se.unflatten(bomb),
        lambda: se.Ones(n, (bomb,)),
        lambda: se.TensorSymbol("x", n, {bomb}),
        lambda: se.reshape(x, (n, (bomb,))),
        lambda: x[(bomb,),],
        lambda: x.has((bomb,)),
        lambda: se.norm(x, {bomb: bomb}),
        lambda: se.from_matrix((bomb,)),
        lambda: se.elementwise(lambda u: (bomb,), x),
        lambda: (x @ x).subs({bomb}, 1),
    ]
    for attempt in attempts:
        with contextlib.suppress(Exception):
            attempt()
        assert not target.exists(), f"a string was run by {attempt.__code__.co_firstlineno}"
    assert os.listdir(tmp_path) == []


# --- foreign matrices -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "foreign",
    [
        Matrix([[1, 2], [3, 4]]),
        sympy.ImmutableMatrix([[1, 2], [3, 4]]),
        sympy.Array([[1, 2], [3, 4]]),
        sympy.MatrixSymbol("M", 2, 2),
        sympy.Identity(2),
        np.ones((2, 2)),
    ],
    ids=lambda value: type(value).__name__,
)
@pytest.mark.filterwarnings("ignore::sympy.utilities.exceptions.SymPyDeprecationWarning")
@pytest.mark.parametrize(
    "operation",
    [
        lambda a, b: a + b,
        lambda a, b: b + a,
        lambda a, b: a * b,
        lambda a, b: b - a,
        lambda a, b: sympy.Add(a, b),
        lambda a, b: sympy.Mul(a, b),
        lambda a, b: se.Max(a, b),
    ],
)
def test_a_foreign_matrix_of_the_wrong_shape_is_refused(operation, foreign):
    """Taken for a scalar it would be multiplied into every entry."""
    with pytest.raises(REFUSED):
        operation(Q, foreign)
    with pytest.raises(REFUSED):
        operation(w, foreign)


def test_a_foreign_matrix_cant_replace_a_scalar_symbol():
    for e in (t * Q, se.exp(t * w)):
        with pytest.raises(REFUSED):
            e.subs(t, Matrix([[1, 2], [3, 4]]))
        with pytest.raises(REFUSED):
            e.xreplace({t: sympy.ImmutableMatrix([[1, 2], [3, 4]])})


def test_products_with_a_matrix_of_sympy():
    """SymPy's * is the matrix product, ours is entrywise: ambiguous products raise."""
    explicit, square = Matrix([[1, 2], [3, 4]]), se.TensorSymbol("S", (2, 2))
    with pytest.raises(REFUSED):
        explicit * square
    for foreign in (explicit, explicit.as_immutable(), sympy.MatrixSymbol("M", 2, 2)):
        assert foreign @ square == se.from_matrix(foreign) @ square
        for operation in (operator.mul, operator.truediv):
            with pytest.raises(REFUSED):
                operation(square, foreign)
        with pytest.raises(REFUSED):
            foreign / square
