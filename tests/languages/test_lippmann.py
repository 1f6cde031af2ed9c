"""Lippmann's language: values and derivatives in closed form, inferred axes, errors, bounds."""

import inspect
import re
import string

import numpy as np
import pytest
import scipy.special
import sympy
from hypothesis import given, settings, strategies as st
from oracles import assert_close
from texts import assert_same_value

import sympy_einsum as se
from sympy_einsum.languages.lippmann.functions import ELEMENTWISE

# --- programs with closed forms -------------------------------------------------------------------


def eye(*lengths):
    """Return the delta tensor."""
    return np.eye(int(np.prod(lengths))).reshape(lengths * 2)


def along(values):
    """Return the expression to differentiate entry by entry."""
    return values.reshape(*values.shape, *[1] * values.ndim) * eye(*values.shape)


def cofactors(X):
    return np.linalg.det(X) * np.linalg.inv(X).T


def einsum(text, *arrays):
    return np.einsum(text, *arrays)


# Declarations, expression, variable; its value and its derivative.
PROGRAMS = [
    ("A 2 b 1 c 0", "A *(ij,j->i) b + sin(b)", "b",
     lambda A, b: A @ b + np.sin(b), lambda A, b: A + np.diag(np.cos(b))),
    ("X 2", "X *(ij,ij->ij) X", "X", lambda X: X * X, lambda X: along(2 * X)),
    ("v 1", "sin(v) + cos((sin(v)))", "v",
     lambda v: np.sin(v) + np.cos(np.sin(v)),
     lambda v: np.diag((1 - np.sin(np.sin(v))) * np.cos(v))),
    ("X 2", "X *(ij,ij->) X", "X", lambda X: (X * X).sum(), lambda X: 2 * X),
    ("X 2", "(X + 1) + X *(ij,ij->ij) (X + 1)", "X",
     lambda X: X + 1 + X * (X + 1), lambda X: along(2 * X + 2)),
    ("A 2 v 1", "A *(ij,j->) v", "A",
     lambda A, v: (A @ v).sum(), lambda A, v: np.tile(v, (len(A), 1))),
    ("x 1 A 2", "x *(i,ij->j) A *(j,j->) x", "x",
     lambda x, A: x @ A @ x, lambda x, A: A @ x + A.T @ x),
    ("x 1 y 1", "x *(i,i->) y", "x", lambda x, y: x @ y, lambda x, y: y),
    ("x 1 y 1", "x *(i,j->ij) y", "y",
     lambda x, y: np.outer(x, y), lambda x, y: einsum("i,jk->ijk", x, np.eye(len(y)))),
    ("x 1 y 1", "x *(i,i->i) y", "x", lambda x, y: x * y, lambda x, y: np.diag(y)),
    ("A 2 v 1", "A *(ii,i->) v", "v",
     lambda A, v: np.diag(A) @ v, lambda A, v: np.diag(A)),
    ("X 2", "X *(ij,->ji) 1", "X",
     lambda X: X.T, lambda X: einsum("jk,il->ijkl", np.eye(len(X)), np.eye(X.shape[1]))),
    ("x 1", "x *(i,->ii) 1", "x",
     lambda x: np.diag(x), lambda x: einsum("ik,jk->ijk", np.eye(len(x)), np.eye(len(x)))),
    ("x 1", "x *(i,i->i) x *(i,i->) x", "x", lambda x: (x**3).sum(), lambda x: 3 * x**2),
    ("X 2", "X + log(2)", "X", lambda X: X + np.log(2), lambda X: eye(*X.shape)),
    ("x 1", "log(x + 1) *(i,i->) 1", "x",
     lambda x: np.log1p(x).sum(), lambda x: 1 / (1 + x)),
    ("x 1 A 2", "A *(ij,j->i) log(x + log(2) + 1) *(i,i->) 1", "x",
     lambda x, A: (A @ np.log(x + np.log(2) + 1)).sum(),
     lambda x, A: A.sum(0) / (x + np.log(2) + 1)),
    ("x 1", "log(1 + (2 + exp(1) *(,i->i) x)) *(i,i->) 1", "x",
     lambda x: np.log(3 + np.e * x).sum(), lambda x: np.e / (3 + np.e * x)),
    ("X 2", "1 + det(X)", "X", lambda X: 1 + np.linalg.det(X), cofactors),
    ("X 2", "det(X + 1)", "X",
     lambda X: np.linalg.det(X + 1), lambda X: cofactors(X + 1)),
    ("X 2", "log(det(X))", "X",
     lambda X: np.linalg.slogdet(X)[1], lambda X: np.linalg.inv(X).T),
    ("X 2", "inv(X)", "X",
     lambda X: np.linalg.inv(X),
     lambda X: -einsum("ik,lj->ijkl", np.linalg.inv(X), np.linalg.inv(X))),
    ("X 2 v 1", "v *(i,ij->j) inv(X) *(j,j->) v", "v",
     lambda X, v: v @ np.linalg.inv(X) @ v,
     lambda X, v: (np.linalg.inv(X) + np.linalg.inv(X).T) @ v),
    ("X 2", "adj(X) *(ij,ji->) X", "X",
     lambda X: len(X) * np.linalg.det(X), lambda X: len(X) * cofactors(X)),
    ("x 1", "x^3 *(i,i->) 1", "x", lambda x: (x**3).sum(), lambda x: 3 * x**2),
    ("x 1", "(x *(i,i->) x)^0.5", "x",
     lambda x: np.linalg.norm(x), lambda x: x / np.linalg.norm(x)),
    ("x 1 c 0", "x^c *(i,i->) 1", "c",
     lambda x, c: (x**c).sum(), lambda x, c: (x**c * np.log(x)).sum()),
    ("x 1", "x^-1 - 1/x + 2", "x", lambda x: 2 + 0 * x, lambda x: np.zeros((len(x),) * 2)),
    ("x 1 y 1", "x / y", "y", lambda x, y: x / y, lambda x, y: np.diag(-x / y**2)),
    ("x 1", "-x^2", "x", lambda x: -(x**2), lambda x: np.diag(-2 * x)),
    ("x 1", "tan(x) *(i,i->) 1", "x", lambda x: np.tan(x).sum(), lambda x: 1 / np.cos(x) ** 2),
    ("x 1", "arcsin(x) + arccos(x) + arctan(x)", "x",
     lambda x: np.pi / 2 + np.arctan(x), lambda x: np.diag(1 / (1 + x**2))),
    ("x 1", "tanh(x) *(i,i->) exp(x)", "x",
     lambda x: np.tanh(x) @ np.exp(x),
     lambda x: (1 - np.tanh(x) ** 2 + np.tanh(x)) * np.exp(x)),
    ("x 1", "relu(x - 0.5) + abs(x - 0.5)", "x",
     lambda x: np.maximum(x - 0.5, 0) + np.abs(x - 0.5),
     lambda x: np.diag((x > 0.5) + np.sign(x - 0.5))),
    ("x 1", "sign(x) *(i,i->) x", "x", lambda x: np.abs(x).sum(), lambda x: np.sign(x)),
    ("T 3 v 1 w 1", "T *(ijk,k->ij) v *(ij,j->i) w", "v",
     lambda T, v, w: einsum("ijk,k,j->i", T, v, w), lambda T, v, w: einsum("ijk,j->ik", T, w)),
    ("T 3", "T *(iij,->j) 1", "T",
     lambda T: einsum("iij->j", T),
     lambda T: einsum("kl,jm->jklm", np.eye(len(T)), np.eye(T.shape[2]))),
    ("A 2 B 2", "A *(ij,jk->ik) B", "A",
     lambda A, B: A @ B, lambda A, B: einsum("il,mk->iklm", np.eye(len(A)), B)),
    ("a 0 c 0", "a *(,->) c *(,->) c + a^2", "c",
     lambda a, c: a * c * c + a * a, lambda a, c: 2 * a * c),
    ("c 0 X 2", "c *(,ij->ij) X", "c", lambda c, X: c * X, lambda c, X: X),
    ("v 1", "(delta(1) + (delta(1) *(ba,a->ba) -(sin(sin(v))))) *(ba,a->ba) cos(v)", "v",
     lambda v: np.diag((1 - np.sin(np.sin(v))) * np.cos(v)), None),
    ("X 2", "delta(2) *(abij,ij->ab) X", "X", lambda X: X, lambda X: eye(*X.shape)),
    ("A 2 b 1 x 1", "(A *(ij,j->i) x - b)^2 *(i,i->) 1", "x",
     lambda A, b, x: ((A @ x - b) ** 2).sum(), lambda A, b, x: 2 * A.T @ (A @ x - b)),
    ("X 2 w 1 y 1", "log(1 + exp(-(y *(i,i->i) (X *(ij,j->i) w)))) *(i,i->) 1", "w",
     lambda X, w, y: np.log1p(np.exp(-y * (X @ w))).sum(),
     lambda X, w, y: -X.T @ (y / (1 + np.exp(y * (X @ w))))),
    ("U 2 V 2 A 2", "(A - U *(ik,jk->ij) V)^2 *(ij,ij->) 1", "U",
     lambda U, V, A: ((A - U @ V.T) ** 2).sum(), lambda U, V, A: -2 * (A - U @ V.T) @ V),
    ("x 1", "sigmoid(x) *(i,i->) softplus(x)", "x",
     lambda x: scipy.special.expit(x) @ np.log1p(np.exp(x)),
     lambda x: scipy.special.expit(x)
     * ((1 - scipy.special.expit(x)) * np.log1p(np.exp(x)) + scipy.special.expit(x))),
]  # fmt: skip


def arrays_for(symbols):
    """Return positive data below 1, well-conditioned where square, with distinct lengths."""
    rng = np.random.default_rng(3)
    lengths = {}
    arrays = {}
    for name, symbol in symbols.items():
        shape = getattr(symbol, "shape", ())
        numbers = tuple(
            int(n) if n.is_Integer else lengths.setdefault(n, 2 + len(lengths)) for n in shape
        )
        arrays[name] = rng.uniform(0.1, 0.9, numbers)
        if len(numbers) == 2 and numbers[0] == numbers[1]:
            arrays[name] += np.eye(numbers[0])
    return arrays


def called(function, arrays):
    """Return the value of a function of some of the arrays."""
    return function(**{name: arrays[name] for name in inspect.signature(function).parameters})


@pytest.mark.parametrize(
    ("declared", "expression", "variable", "value", "derivative"),
    PROGRAMS,
    ids=[program[1] for program in PROGRAMS],
)
def test_programs(declared, expression, variable, value, derivative):
    text = f"declare {declared} expression {expression} derivative wrt {variable}"
    program = se.parse_program(text)
    (question,) = program.derivatives
    assert question.expression is program.expressions[0]
    assert question.variable is program.symbols[variable]
    arrays = arrays_for(program.symbols)
    outputs = [question.expression, question.derivative] if derivative else [question.expression]
    found = se.lambdify(list(program.symbols.values()), outputs)(*arrays.values())
    assert_close(found[0], called(value, arrays))
    if derivative:
        assert_close(found[1], called(derivative, arrays))


# --- what the thesis draws ------------------------------------------------------------------------


@pytest.mark.parametrize("program", PROGRAMS, ids=[program[1] for program in PROGRAMS])
def test_derivations(program):
    """Reverse mode with explicit delta tensors gives the derivative, and simplification preserves
    it."""
    declared, expression, variable = program[:3]
    answer = se.parse_program(f"declare {declared} expression {expression}")
    arrays = arrays_for(answer.symbols)
    if "sigmoid" in expression:
        with pytest.raises(se.UnsupportedError, match="no derivative of sigmoid"):
            answer.derivation(variable)
        return
    steps = answer.derivation(variable)
    first = next(k for k, step in enumerate(steps) if step.title.startswith("derivative"))
    known = {name: getattr(array, "shape", ()) for name, array in arrays.items()}
    f, x = answer.expressions[0], answer.symbols[variable]
    args = list(answer.symbols.values())
    value = np.asarray(se.lambdify(args, se.diff(f, x))(*arrays.values()))
    lengths = f"[{','.join(map(str, value.shape))}]" if value.shape else ""
    for step in (steps[first], steps[-1]):
        e = se.parse(f"({step.text}){lengths}", known, syntax="lippmann")
        symbols = {s.name: s for s in e.free_symbols}
        found = se.lambdify(list(symbols.values()), e)(*[arrays[name] for name in symbols])
        assert_close(found, value)


def texts_of(program, variable):
    return [step.text for step in se.parse_program(program).derivation(variable)]


def test_the_first_example():
    """Figure 4.6, and the result after merging the delta tensors."""
    full = "(delta(2) *(abij,ij->abij) X) + (delta(2) *(abij,ij->abij) X)"
    assert texts_of("declare X 2 expression X *(ij,ij->ij) X", "X") == [
        "delta(2)",
        "delta(2) *(abij,ij->abij) X",
        full,
        full,
        "(X *(ab,->abab) 1) + (X *(ab,->abab) 1)",
    ]


def test_the_second_example():
    """Figures 4.7 to 4.9."""
    program = se.parse_program("declare v 1 expression sin(v) + cos((sin(v)))")
    assert program.tree().labels == ("v", "sin", "v", "sin", "cos", "+")
    graph = program.graph()
    assert graph.labels == ("v", "sin", "cos", "+")
    assert graph.below == ((), (0,), (1,), (1, 2))
    steps = program.derivation("v")
    assert [step.text for step in steps[:3]] == ["delta(1)"] * 2 + ["delta(1) *(ba,a->ba) cos(v)"]
    (full,) = [step for step in steps if step.title.startswith("derivative")]
    assert full.text == "(delta(1) + (delta(1) *(ba,a->ba) (-sin(sin(v))))) *(ba,a->ba) cos(v)"
    assert full.labels.count("δ1") == 1


def test_figures_of_chapter_3():
    tree = se.parse_program("declare A 1 b 1 expression A + sin(b)").tree()
    assert tree.labels == ("A", "b", "sin", "+")
    program = se.parse_program("declare X 2 expression (X + 1) + X *(ij,ij->ij) (X + 1)")
    assert program.tree().labels.count("X") == 3
    assert program.graph().labels == ("X", "1", "+", "*(ij,ij→ij)", "+")


def test_missing_indices():
    """Section 4.6: the sum over an index of one operand alone is made explicit."""
    texts = texts_of("declare A 2 v 1 expression A *(ij,j->) v", "A")
    assert "(1 *(,i->i) 1) *(i,j->ij) v" in texts
    assert texts[-1] == "1 *(i,j->ij) v"


def test_substitutions():
    """Table 3.1."""
    program = se.parse_program("declare X 2 Y 2 expression X - Y / adj(X)^2")
    assert program.graph().text == (
        "X + (-(Y *(ij,ij->ij) (1/exp(2 *(,ij->ij) log(det(X) *(,ij->ij) inv(X))))))"
    )


def test_growth():
    """Section 4.7: linear in the size of the tree."""
    sizes = []
    for depth in (10, 20, 40):
        text = "sin(" * depth + "v" + ")" * depth
        steps = se.parse_program(f"declare v 1 expression {text} *(i,i->i) v").derivation("v")
        sizes.append(max(len(step.labels) for step in steps))
    assert sizes[2] - sizes[1] == 2 * (sizes[1] - sizes[0])


def test_programs_are_drawn():
    program = se.parse_program("declare x 1 expression x *(i,i->) sin(x)")
    dot = se.to_dot(program.graph())
    assert '2 [label="*(i,i→)", penwidth="2"];' in dot
    assert '2 -> 0 [taillabel="1"];' in dot
    with pytest.raises(se.ParseError, match="'y' isn't declared"):
        program.derivation("y")
    assert texts_of("declare x 1 y 1 expression x", "y")[-1] == "0"
    with pytest.raises(se.UnsupportedError, match="drawn up to order 20, this has 22"):
        se.parse_program("declare T 11 expression T").derivation("T")
    with pytest.raises(se.UnsupportedError, match="has 1001 nodes; reverse mode is drawn for 300"):
        se.parse_program(f"declare x 1 expression {'-' * 1000}x").derivation("x")


# --- axes -----------------------------------------------------------------------------------------


def shapes(text, declarations=None):
    """Return the shapes of a program's variables as text: 'A(m,n) b(n)'."""
    program = se.parse_program(text, declarations)
    return " ".join(
        f"{name}({','.join(map(str, getattr(symbol, 'shape', ())))})"
        for name, symbol in program.symbols.items()
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("declare A 2 b 1 expression A *(ij,j->i) b", "A(m,n) b(n)"),
        ("declare A 2 b 1 c 0 expression A *(ij,j->i) b + sin(b)", "A(n,n) b(n) c()"),
        # Down: what the sum needs holds inside of the function and the product.
        ("declare X 2 Y 2 Z 2 expression X + exp(Y - 1 - Z)", "X(m,n) Y(m,n) Z(m,n)"),
        ("declare A 2 B 2 C 2 expression A *(ij,jk->ik) B + C", "A(m,n) B(n,k) C(m,k)"),
        ("declare T 3 expression T *(ijj,->i) 1", "T(m,n,n)"),
        ("declare X 2 v 1 expression inv(X) *(ij,j->i) v", "X(n,n) v(n)"),
        # Expressions of one program speak of the same variables.
        ("declare A 2 b 1 expression A *(ij,j->i) b expression det(A)", "A(n,n) b(n)"),
        ("declare x 1 expression x declare y 1 expression x + y", "x(n) y(n)"),
        ("declare n 1 m 1 expression n *(i,j->ij) m", "n(k) m(p)"),
        ("declare A 2[3,n] b 1 expression A *(ij,j->i) b", "A(3,n) b(n)"),
        ("declare A 2[m,5], b 1, expression A *(ij,j->i) b *(i,i->) 1[4]", "A(4,5) b(5)"),
        ("declare b 1 expression delta(1)[4,4] *(ij,j->i) b", "b(4)"),
    ],
)
def test_inferred_axes(text, expected):
    if "[m,5]" in text:
        # A length with a name is that symbol, not an unknown.
        with pytest.raises(se.ParseError, match="axis 1 of A"):
            shapes(text)
        text = text.replace("[m,5]", "[4,5]")
    assert shapes(text) == expected


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("X + 1", (2, 3)),
        ("1 - X / 2", (2, 3)),
        ("X + -log(2)^2", (2, 3)),
        ("exp(1) + (2 + (3 + X))", (2, 3)),
        ("log(2) - 1", ()),
        ("X *(ij,j->i) 1", (2,)),
        ("X *(ij,j->i) (1 + 2) *(i,k->ik) v", (2, 3)),
        ("2 *(,ij->ji) X", (3, 2)),
        ("det(2)", ()),
        ("1[4,5]", (4, 5)),
        ("delta(0)", ()),
        ("(v + 1)[3]", (3,)),
    ],
)
def test_numbers_take_the_order_that_is_needed(text, shape):
    known = {"X": (2, 3), "v": (3,)}
    assert getattr(se.parse(text, known, syntax="lippmann"), "shape", ()) == shape


def test_values_of_repeated_numbers():
    e = se.parse("det(2 + inv(3 + X)) + X *(ij,ij->) log(2)", {"X": (2, 2)}, syntax="lippmann")
    (X,) = e.free_symbols
    at = np.array([[1.0, 2], [3, 5]])
    assert_close(
        se.lambdify([X], e)(at), np.linalg.det(2 + np.linalg.inv(3 + at)) + np.log(2) * at.sum()
    )


def test_several_derivatives():
    program = se.parse_program(
        """declare A 2 b 1
        expression A *(ij,j->i) b derivative wrt A b derivative wrt c
        declare d 0 expression d^3 derivative wrt d""",
        "c 0",
    )
    A, b, c, d = (program.symbols[name] for name in "Abcd")
    assert [q.variable for q in program.derivatives] == [A, b, c, d]
    assert [q.expression for q in program.derivatives] == [A @ b] * 3 + [d**3]
    assert program.derivatives[1].derivative == A
    assert program.derivatives[2].derivative == se.Zeros(*A.shape[:1])
    assert program.derivatives[3].derivative == 3 * d**2


def test_symbols_of_ones_own():
    w = se.TensorSymbol("w", (3,))
    t = sympy.Symbol("t", positive=True)
    e = se.parse("t *(,i->i) w", {"w": w, "t": t, "unused": 4}, syntax="lippmann")
    assert e == t * w


@pytest.mark.parametrize("arrow", ["->", "→", ">", "- >"])
@pytest.mark.parametrize("star", ["*", "*_", "* ", "*\n"])
def test_spellings_of_products(arrow, star):
    A, b = se.TensorSymbol("A", (2, 3)), se.TensorSymbol("b", 3)
    text = f"A {star}( i j , j {arrow} i ) b"
    assert se.parse(text, {"A": A, "b": b}, syntax="lippmann") == A @ b


def test_chains_are_one_product():
    A, B, x = se.TensorSymbol("A", (2, 3)), se.TensorSymbol("B", (3, 4)), se.TensorSymbol("x", 4)
    known = {"A": A, "B": B, "x": x}
    chain = se.parse("A *(ij,jk->ik) B *(ij,j->i) x", known, syntax="lippmann")
    assert chain == se.einsum("ij,jk,k->i", A, B, x)
    nested = se.parse("(A *(ij,jk->ik) B) *(ij,j->i) x", known, syntax="lippmann")
    assert nested == (A @ B) @ x
    # The diagonal of what came before.
    square = {"A": se.TensorSymbol("A", (3, 3)), "B": se.TensorSymbol("B", (3, 3))}
    trace = se.parse("A *(ij,jk->ik) B *(ii,->) 2", square, syntax="lippmann")
    assert se.equal(trace, 2 * se.trace(square["A"] @ square["B"]))


@pytest.mark.parametrize("name", sorted(ELEMENTWISE))
def test_every_function_has_its_value(name):
    e = se.parse(f"{name}(x)", "x 0", syntax="lippmann")
    assert len(e.free_symbols) <= 1


# --- errors ---------------------------------------------------------------------------------------

KNOWN = {"A": (2, 3), "B": (3, 4), "S": (3, 3), "v": (3,), "w": (4,), "c": 0, "T": 3}


@pytest.mark.parametrize(
    ("text", "message", "position"),
    [
        ("v + w", "axis 1 of v has length 3 and axis 1 of w has length 4", 2),
        ("v - sin(w)", "axis 1 of v has length 3 and axis 1 of sin(w) has length 4", 2),
        ("A + A *(ij,->ji) 1", "axis 1 of A has length 2 and axis 1 of A *(ij,->ji) 1 has", 2),
        ("A / (B *(ij,->ij) 2)", "axis 1 of A has length 2 and axis 1 of (B *(ij,->ij) 2)", 2),
        ("v *(i,i->) w", "index i is one axis, but axis 1 of v has length 3 and axis 1 of w", 2),
        ("A *(ii,->) 1", "axis 1 of A has length 2 and axis 2 of A has length 3", 2),
        ("A *(ij,jk->ik) w", "w has order 1, but its index string 'jk' has 2 indices", 2),
        ("A *(i,i->i) v", "A has order 2, but its index string 'i' has 1 indices", 2),
        ("A *(ij,j->k) v", "the output index 'k' is in neither operand", 2),
        ("A + v", "+ needs equal orders, but A has order 2 and v has order 1", 2),
        ("c + v", "to repeat the scalar write c *(,i->i) 1", 2),
        ("v^w", "^ needs an exponent of order 0, but w has order 1", 1),
        ("det(A)", "det needs a square matrix, but axis 1 of A has length 2 and axis 2 of A", 0),
        ("inv(v)", "inv needs a matrix, but v has order 1", 0),
        ("adj(T)", "adj needs a matrix, but T has order 3", 0),
        ("v[4]", "axis 1 of v has length 3 and axis 1 of [4] has length 4", 2),
        ("v[3,3]", "v has order 1, but [3,3] has 2 lengths", 2),
        ("v[0]", "a length is a name or a positive integer, not 0", None),
        ("delta(v)", "n is a number up to 50, not v", 0),
        ("delta(1) *(ij,j->i) v + w", "has length 3 as axis 1 of v and axis 1 of w has", 22),
        # Where a length was known first is said.
        ("T *(ijk,k->ij) v *(ij,j->i) v + w *(i,j->ij) T", "T has order 3", 34),
        ("v *(i,ij->j) T[3,3,3]", "has order 3, but its index string 'ij'", 2),
        ("sin v", "expected an operator or a keyword before 'v'", 4),
        ("v * w", "a product has index strings, a letter for each axis", 2),
        ("v *(v + w)", "a product has index strings", 2),
        ("v *(i->) w", "a product has index strings", 9),
        ("v *(1,1->) w", "a letter for each axis", 2),
        ("v @ w", "a product has index strings", 2),
        ("v'", "the transpose of A is written A *(ij->ji)", 1),
        ("sin(v", "this '(' is never closed", 3),
        ("v)", "this ')' has no '(' before it", 1),
        ("v +", "but found the end of the text", 3),
        ("q", "'q' isn't declared; write declare q and its order", 0),
        ("sin", "sin(...) is a function", 0),
        ("v(2)", "a product is written v *(,->) (...)", 0),
        ("sine(v)", "perhaps 'sin' is meant", 0),
        ("1/0", "division by zero", 1),
        ("log(-1)", "the value is not a real number", 0),
        ("", "the text is empty", None),
        ("declare A 2", "'A' is declared twice", 8),
        ("declare d x", "expected the order of the variable, a number, but found 'x'", 10),
        ("declare d 1.5 expression d", "an order is a number from 0 to 50", 10),
        ("declare d 51 expression d", "an order is a number from 0 to 50", 10),
        ("declare d 1[2,3] expression d", "'d' has order 1, but 2 lengths are given", 8),
        ("expression v derivative v", "expected 'wrt', but found 'v'", 24),
        ("expression v derivative wrt", "expected the name of a variable", 27),
        ("expression v derivative wrt q", "'q' isn't declared", 28),
        ("derivative wrt v", "there is no expression before this derivative", 15),
        ("v w", "expected an operator or a keyword before 'w'", 2),
    ],
)
def test_errors(text, message, position):
    reader = se.parse_program if text.split(" ")[0] in KEYWORDS else parse
    with pytest.raises(se.ParseError) as caught:
        reader(text, KNOWN)
    assert message in str(caught.value)
    assert caught.value.position == position


KEYWORDS = ("declare", "expression", "derivative")


def parse(text, declarations=None):
    return se.parse(text, declarations, syntax="lippmann")


def test_an_error_says_where_a_length_comes_from():
    with pytest.raises(se.ParseError) as caught:
        se.parse_program("declare x 1 A 2[3,4]\nexpression A *(ij,j->i) 1 + x\nexpression x[5]")
    assert str(caught.value).startswith(
        "these are one axis, but axis 1 of x has length 3 as axis 1 of A and axis 1 of [5] has "
        "length 5, at line 3, column 14:"
    )


@pytest.mark.parametrize(
    "declarations",
    [{"A": -1}, {"A": "matrix"}, {"A": True}, {"A": 1.5}, ["A 2"], {"A": (2.5,)}, "A", "A two"],
)
def test_wrong_declarations(declarations):
    with pytest.raises(se.TensorError):
        parse("A", declarations)


def test_parse_refers_programs_to_parse_program():
    with pytest.raises(se.ParseError, match="parse_program reads it"):
        parse("declare A 2 expression A derivative wrt A")
    assert parse("declare A 2[3,4] expression A").shape == (3, 4)
    with pytest.raises(se.ParseError, match="unknown syntax 'fortran'"):
        se.parse("x", syntax="fortran")


# --- bounds ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("v" * 100_001, "at most 100000 are read"),
        ("(" * 1001 + "v" + ")" * 1001, "parentheses are nested more than 1000 deep"),
        ("sin(" * 70 + "c" + ")" * 70, "nested more than 64 deep"),
        ("9^9999999", "the exponent is too large"),
        ("gamma(10^9)", "the argument of gamma is too large"),
        ("exp(exp(exp(1e2)))", "the number is too large"),
        ("1e400", "out of the range"),
        ("delta(99)", "a number up to 50"),
    ],
)
def test_bounds(text, message):
    with pytest.raises(se.ParseError, match=message):
        parse(text, KNOWN)


def test_a_text_that_takes_too_long_is_refused(monkeypatch):
    monkeypatch.setattr("sympy_einsum.core.tuning.MAX_SECONDS", 0.0)
    with pytest.raises(se.ParseError, match=r"takes more than 0 s to read"):
        parse("v + v", KNOWN)


@pytest.mark.parametrize(
    "text",
    [
        "(" * 1000 + "v" + ")" * 1000,
        "sin(" * 999 + "v" + ")" * 999,
        "+".join(["v"] * 2000),
        " *(i,i->i) ".join(["v"] * 500),
        "-" * 5000 + "v",
    ],
    ids=["parentheses", "sin", "sum", "product", "minus"],
)
def test_deep_text_works(text):
    assert parse(text, KNOWN).shape == (3,)


TOKENS = st.sampled_from(
    [*"AvcT()+-/^,[]", "*(ij,j->i)", "*(i,i->)", "*(,->)", "*(", "2", "0", "sin(", "det(", "delta(",
     "declare", "expression", "derivative wrt", " "]
)  # fmt: skip


@settings(max_examples=200)
@given(
    st.one_of(st.lists(TOKENS, max_size=12).map(" ".join), st.text(string.printable, max_size=9))
)
def test_any_text_is_read_or_refused(text):
    for reader in (parse, se.parse_program):
        try:
            reader(text, KNOWN)
        except se.ParseError:
            continue


# --- written and read again -----------------------------------------------------------------------

SQUARE = {"S": se.TensorSymbol("S", (3, 3)), "v": se.TensorSymbol("v", 3)}
SQUARE |= {"R": se.TensorSymbol("R", (3, 3)), "c": sympy.Symbol("c", real=True)}
# What a text of an order is made of: other texts in the places of letters.
FORMS = {
    0: ["c", "2", "0.5", "({s} + {t})", "({s} - {t})", "({s} *(,->) {t})", "({s}^2)", "exp({s})",
        "(1/({s}^2))", "({x} *(i,i->) {y})", "({X} *(ij,ji->) {Y})", "det({X})", "(-{s})",
        "({x} *(i,ij->j) {X} *(j,j->) {y})", "(delta(1) *(ij,ij->) {X})", "({X} *(ii,->) 1)",
        "({x} *(i,i->) log(2))", "abs({s})^0.5"],
    1: ["v", "v", "v", "({x} + {y})", "({x} - 3)", "({s} *(,i->i) {x})", "({X} *(ij,j->i) {y})",
        "sin({x})", "relu({x})", "(-{x})", "({x} *(i,i->i) {y})", "({x} / exp({y}))", "({x}^3)",
        "({X} *(ii,->i) 1)", "({X} *(ij,->j) 1)", "(v + {s} *(,i->i) 1)", "(0.5 + {x})",
        "({X} *(ij,jk->ik) {Y} *(ij,j->i) {x})"],
    2: ["S", "R", "S", "({X} + {Y})", "({X} - 1)", "({X} *(ij,jk->ik) {Y})", "({X} *(ij,->ji) 1)",
        "tanh({X})", "inv({X})", "adj({X})", "({x} *(i,j->ij) {y})", "({x} *(i,->ii) 1)",
        "(delta(1) + {X})", "({X} / 2)", "({s} *(,ij->ij) {X})", "({X} *(ij,ij->ij) {Y})",
        "({X} *(ij,i->ij) {x})", "1[3,3]", "(-{X})", "({x} *(i,j->ij) 1[3])", "0[3,3]",
        "(delta(2)[3,3,3,3] *(ijkl,kl->ij) {X})"],
}  # fmt: skip
ORDERS = {"s": 0, "t": 0, "x": 1, "y": 1, "X": 2, "Y": 2}


@st.composite
def texts(draw, order, depth=3):
    form = draw(st.sampled_from(FORMS[order] if depth else FORMS[order][:2]))
    letters = re.findall(r"{(\w)}", form)
    return form.format(**{x: draw(texts(ORDERS[x], depth - 1)) for x in letters})


@settings(max_examples=150)
@given(st.integers(0, 2).flatmap(texts))
def test_written_texts_are_parsed_back(text):
    try:
        e = parse(text, SQUARE)
    except se.ParseError:  # a division by zero, a number that is too large
        return
    # SymPy leaves sqrt(c**2*Abs(c)) as two powers of one base.
    assert_same_value(parse(se.to_text(e, "lippmann"), SQUARE), e)


@pytest.mark.parametrize("program", PROGRAMS, ids=[program[1] for program in PROGRAMS])
def test_derivatives_are_written(program):
    """Unsupported expressions are refused by name; all others are parsed back to the same
    values."""
    declared, expression, variable = program[:3]
    answer = se.parse_program(f"declare {declared} expression {expression}")
    derivative = se.diff(answer.expressions[0], answer.symbols[variable])
    if derivative.has(se.Cofactors):
        with pytest.raises(se.UnsupportedError, match="Lippmann's language has no Cofactors"):
            se.to_text(derivative, "lippmann")
        return
    again = parse(se.to_text(derivative, "lippmann"), answer.symbols)
    values = se.lambdify(list(answer.symbols.values()), [derivative, again])
    assert_close(*values(*arrays_for(answer.symbols).values()))


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda A, B, x, y: A @ B @ y, "y *(i,ji->j) (A *(ij,jk->ik) B)"),
        (lambda A, B, x, y: se.einsum("ij,jk,k->i", A, B, y),
         "A *(ij,jk->ik) B *(ik,k->i) y"),
        (lambda A, B, x, y: A.T, "A *(ij,->ji) 1"),
        (lambda A, B, x, y: -A, "-A"),
        (lambda A, B, x, y: 1 - A / 3, "(-1/3) *(,ij->ij) A + 1"),
        (lambda A, B, x, y: se.diag(x), "x *(i,->ii) 1"),
        (lambda A, B, x, y: se.Delta(3, 2), "delta(2)[3,2,3,2]"),
        (lambda A, B, x, y: se.Zeros(2), "0[2]"),
        (lambda A, B, x, y: 2 * se.Ones(2, 3), "2[2,3]"),
        (lambda A, B, x, y: x[:, None] + se.Zeros(3, 4), "x *(i,j->ij) 1[4]"),
        (lambda A, B, x, y: se.asin(x) ** -2, "arcsin(x)^(-2)"),
        (lambda A, B, x, y: sympy.exp(x.sum()) + sympy.pi, "arccos(-1) + exp(x *(i,->) 1)"),
        (lambda A, B, x, y: 0.1 * x, "0.1e0 *(,i->i) x"),
    ],
)  # fmt: skip
def test_texts(make, text):
    A, B = se.TensorSymbol("A", (2, 3)), se.TensorSymbol("B", (3, 4))
    x, y = se.TensorSymbol("x", 3), se.TensorSymbol("y", 4)
    e = make(A, B, x, y)
    assert se.to_text(e, "lippmann") == text
    assert parse(text, {"A": A, "B": B, "x": x, "y": y}) == e


@pytest.mark.parametrize(
    ("e", "message"),
    [
        (se.TensorSymbol("x'", 2), 'no variable "x\'"'),
        (se.TensorSymbol("declare", 2), "no variable 'declare'"),
        (se.softmax(se.TensorSymbol("x", 2)), "no Softmax"),
        (se.Ones(sympy.Symbol("n")), "no length n"),
        (se.TensorSymbol("x", 2) ** se.TensorSymbol("y", 2), "no Pow of this kind"),
        (se.TensorSymbol("x", 4)[1:3], "no Selection"),
    ],
)
def test_expressions_without_text(e, message):
    with pytest.raises(se.UnsupportedError, match=message):
        se.to_text(e, "lippmann")
    with pytest.raises(se.TensorError, match="unknown syntax 'fortran'"):
        se.to_text(e, "fortran")


def test_texts_that_grow_without_end_are_refused():
    x = se.TensorSymbol("x", 3)
    for _ in range(40):
        x = se.sin(x) * se.cos(x)
    with pytest.raises(se.UnsupportedError, match="more than 100000 characters"):
        se.to_text(x, "lippmann")


# --- products of one operand, tokens --------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "subscripts"),
    [
        ("A *(ij->ji)", "ij->ji"),
        ("A *(ij→i)", "ij->i"),
        ("A*( i j - > j )", "ij->j"),
        ("A *_(ij->)", "ij->"),
        ("T *(ijk>kij)", "ijk->kij"),
        ("T *(ijk->ki)", "ijk->ki"),
        ("T *(ijk->ijk)", "ijk->ijk"),
        ("A *(ij->ji) *(ab->b)", "ij->i"),
    ],
)
def test_transposes_and_sums_of_one_operand(text, subscripts):
    shapes = {"A": (2, 3), "T": (2, 3, 4)}
    symbols = {name: se.TensorSymbol(name, shape) for name, shape in shapes.items()}
    x, values = symbols[text[0]], np.random.default_rng(3).normal(size=shapes[text[0]])
    e = se.parse(text, symbols)
    assert_close(se.lambdify([x], e)(values), np.einsum(subscripts, values))
    derivative = np.asarray(se.lambdify([x], se.diff(e, x))(values))
    ones = np.eye(values.size).reshape(*values.shape, values.size)
    expected = [np.einsum(subscripts, ones[..., k]) for k in range(values.size)]
    assert_close(derivative.reshape(*derivative.shape[: -values.ndim], -1), np.stack(expected, -1))
    assert se.parse(se.to_text(e, "lippmann"), symbols, syntax="lippmann") == e


def test_products_of_one_operand_as_the_thesis_writes_them():
    program = se.parse_program("declare S 2 v 1 expression S *(ii->i) + v *(i->ii) *(ij->i)")
    S, v = program.symbols["S"], program.symbols["v"]
    assert program.expressions == [se.diagonal(S) + v]
    graph = se.parse_program("declare A 2 expression A *(ij->ji)").graph()
    assert graph.text == "A *(ij,->ji) 1"
    steps = se.parse_program("declare A 2 expression sin(A *(ij->i))").derivation("A")
    assert "*(" in steps[-1].text
    assert se.parse("-b *(i->) *(,i->i) b", "b 1").order == 1
    for text, message in [
        ("A *(ij->ik)", "output index 'k' is in neither"),
        ("A *(i->i)", "has order 2, but its index string 'i'"),
        ("A *(ij->)^2", "expected an operator"),
        ("*(ij->ji) A", "expected a number"),
        ("A'", r"A \*\(ij->ji\)"),
    ]:
        with pytest.raises(se.ParseError, match=message):
            se.parse(text, "A 2", syntax="lippmann")


def test_the_tokens_of_section_3_1():
    found = se.tokens("A + sin(b)", "lippmann")
    assert [token[:2] for token in found] == [
        ("ALPHANUM", "A"),
        ("PLUS", "+"),
        ("ELEMENTWISE_FUNCTION", "sin"),
        ("LRBRACKET", "("),
        ("LOWERCASE_ALPHA", "b"),
        ("RRBRACKET", ")"),
    ]
    text = "declare C1 2 expression det(C1) *(,i->i) 1.05 / exp(b1)^2 - [n] derivative wrt C1"
    found = se.tokens(text)
    assert " ".join(token.kind for token in found) == (
        "DECLARE ALPHANUM CONSTANT EXPRESSION SPECIAL_FUNCTION LRBRACKET ALPHANUM RRBRACKET "
        "TIMES LRBRACKET COMMA LOWERCASE_ALPHA MINUS GREATER LOWERCASE_ALPHA RRBRACKET CONSTANT "
        "DIVIDE ELEMENTWISE_FUNCTION LRBRACKET ALPHANUM RRBRACKET POWER CONSTANT MINUS LSBRACKET "
        "LOWERCASE_ALPHA RSBRACKET DERIVATIVE WRT ALPHANUM"
    )
    assert "".join(token.text for token in found) == text.replace(" ", "")


@pytest.mark.parametrize(
    ("text", "syntax"),
    [
        ("x'*A*x + 1.5", "matrixcalculus"),
        ("A *( ij , j → i ) x *(i->)", "lippmann"),
        ("A^i_j x^j + 2", "ricci"),
        ("fun f x = ln (#1 x)", "caddie"),
        ("parameters Matrix A variables Vector x min norm2(A*x)^2", "geno"),
    ],
)
def test_tokens_are_the_text_without_spaces(text, syntax):
    found = se.tokens(text, syntax)
    assert "".join(token.text for token in found) == text.replace(" ", "")
    for token in found:
        assert text[token.position :].startswith(token.text)
    if syntax != "geno":
        assert [*se.tokens(text)] == found


def test_what_has_no_tokens():
    with pytest.raises(se.ParseError, match="unexpected character"):
        se.tokens("A $ b", "lippmann")
    with pytest.raises(se.ParseError, match="no token stream; choose from matrixcalculus"):
        se.tokens("#(i->; x)")
    with pytest.raises(se.ParseError):
        se.tokens("", "lippmann")
