"""Einsum expressions as text, and the theorems about them: all preserve values."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from sympy import Rational, Symbol

import sympy_einsum as se
from sympy_einsum.operations import Written, WrittenProduct, WrittenSum

# Symbols of each order, all of whose axes have one length, so that any indices fit.
ORDERS = {"a": 0, "b": 0, "x": 1, "y": 1, "A": 2, "B": 2, "T": 3, "long_name1": 2}
VARIABLES = {
    name: se.TensorSymbol(name, (3,) * order) if order else Symbol(name, real=True)
    for name, order in ORDERS.items()
}
LETTERS = st.sampled_from(["i", "j", "k", "é", "row", "0", "12"])


def leaves(order):
    found = [VARIABLES[name] for name, own in ORDERS.items() if own == order]
    found += {0: [2, Rational(1, 3), -4], 1: [se.Ones(3)], 2: [se.Delta(3)]}.get(order, [])
    return st.sampled_from(found)


@st.composite
def products(draw, order, depth):
    inputs = draw(st.lists(st.lists(LETTERS, max_size=3), max_size=3))
    known = sorted({i for term in inputs for i in term})
    if order and not known:
        inputs, known = [*inputs, ["i"]], ["i"]
    output = [draw(st.sampled_from(known)) for _ in range(order)]
    return WrittenProduct(inputs, output, [draw(arguments(len(t), depth - 1)) for t in inputs])


@st.composite
def arguments(draw, order, depth):
    """Return operands of an order up to 3, nested to a depth."""
    count = draw(st.integers(1, 3 if depth else 1))
    terms = []
    for _ in range(count):
        deeper = depth > 0 and draw(st.booleans())
        terms.append(draw(products(order, depth) if deeper else leaves(order)))
    return terms[0] if count == 1 else WrittenSum(terms)


@settings(max_examples=150)
@given(st.integers(0, 2).flatmap(lambda order: products(order, 3)))
def test_text_reads_back(expr):
    assert se.read_einsum(str(expr), VARIABLES) is expr
    assert se.read_einsum(str(expr).replace("->", " → ").replace("+", "⊕"), VARIABLES) is expr


def same_values(before, after):
    """Tell whether both have one value, in the ordinary sense and in a semiring."""
    before, after = before.expr, after.expr
    arrays = [
        np.random.default_rng(3).integers(0, 4, (3,) * order) if order else 2
        for order in ORDERS.values()
    ]
    for semiring in (None, "count", "min-plus"):
        try:
            f = se.lambdify(list(VARIABLES.values()), [before, after], semiring=semiring)
        except se.UnsupportedError:
            assert semiring is not None  # fractions and negative numbers are no sums of ones
            continue
        # Ordinary values are those of real numbers.
        own = arrays if semiring else [np.asarray(a, float) for a in arrays]
        one, other = f(*own)
        np.testing.assert_allclose(one, other, rtol=1e-9)


@pytest.mark.slow
@settings(max_examples=25)
@given(st.integers(0, 2).flatmap(lambda order: products(order, 3)), st.randoms())
def test_theorems_keep_values(expr, random):
    flat = se.denest(expr)
    same_values(expr, flat)
    count = len(expr.arguments)
    same_values(expr, se.commute(expr, random.sample(range(count), count)))
    same_values(expr, se.commute(expr))
    split = se.split_deltas(expr)
    assert all(len({*term}) == len(term) for term in (*split.inputs, split.output))
    same_values(expr, split)
    merged = se.merge_deltas(split)
    assert se.Delta(3) not in merged.arguments
    same_values(split, merged)
    if expr.symbols:
        symbol = random.choice(list(expr.symbols))
        same_values(expr, se.split_deltas(expr, symbol))
        places = sum(term.count(symbol) for term in (*expr.inputs, expr.output))
        some = random.sample(range(places), random.randint(0, places))
        same_values(expr, se.split_deltas(expr, symbol, some))
        same_values(expr, se.add_ones(expr, random.choices(list(expr.symbols), k=2)))
    for step in (se.remove_ones, se.add_ones, se.vectorize_constants, se.substitute_deltas):
        same_values(expr, step(expr))
    assert se.Delta(3) not in se.substitute_deltas(expr).arguments
    if count > 1:
        group = random.sample(range(count), random.randint(1, count - 1))
        nested = se.nest(expr, group)
        same_values(expr, nested)
        last = len(nested.arguments) - 1
        same_values(nested, se.denest(nested, (last,)))


def test_theorems_are_as_the_table_says():
    variables = {**VARIABLES, "z": se.TensorSymbol("z", 3), "v": VARIABLES["y"]}
    variables["S"] = VARIABLES["A"]
    for name, _, algebra, before, after in se.THEOREMS:
        before, after = (text.replace("n)", "3)").replace("(n,", "(3,") for text in (before, after))
        given_ = se.read_einsum(before, variables)
        expected = se.read_einsum(after, variables)
        if name in ("expand", "factor"):
            assert getattr(se, name)(given_) == expected.expr
            continue
        if name == "nest":
            assert se.nest(given_, (1, 2)) is expected
        else:
            assert getattr(se, name)(given_) is expected
        same_values(given_, expected)
        assert algebra in ("commutative semiring", "commutative ring")


def entries(text, arrays):
    """Return an einsum expression's value by loops over all global positions [W, def. 4.2]."""
    head, names = text[2:-1].split("; ")
    inputs, output = head.split("->")
    tensors = [arrays[name] for name in names.split(", ")]
    pairs = list(zip(inputs.split(","), tensors, strict=True))
    lengths = {i: n for term, t in pairs for i, n in zip(term, t.shape, strict=True)}
    result = np.zeros([lengths[i] for i in output])
    for position in np.ndindex(*lengths.values()):
        at = dict(zip(lengths, position, strict=True))
        factors = [t[tuple(at[i] for i in term)] for term, t in pairs]
        result[tuple(at[i] for i in output)] += np.prod(factors)
    return result


STEPS = {
    "some occurrences": (
        "#(ij,ik,jk->ik; A, B, C)",
        lambda e: se.split_deltas(e, "i", [1, 2]),
        "#(ij,lk,jk,il->lk; A, B, C, Delta(2))",
    ),
    "no occurrence": (
        "#(ij,jk->ik; A, C)",
        lambda e: se.split_deltas(e, "j", []),
        "#(ij,jk,jl->ik; A, C, Delta(3))",
    ),
    "one of a repeated index": (
        "#(ij,ij->iij; A, A)",
        lambda e: se.split_deltas(e, "i", [3]),
        "#(ij,ij,ik->ikj; A, A, Delta(2))",
    ),
    "ones of the paper's first example": (
        "#(ij,jk->ik; A, C)",
        lambda e: se.add_ones(e, "i"),
        "#(ij,jk,i->ik; A, C, Ones(2))",
    ),
    "neutral combination": ("#(ij,i,ji->ij; A, p, q)", se.remove_ones, "#(ij->ij; A)"),
    "ones that add up": ("#(ij,i,k->ij; A, p, r)", se.remove_ones, "#(ij,k->ij; A, Ones(4))"),
    "the last ones of an index": ("#(i,i->i; p, p)", se.remove_ones, "#(i->i; Ones(2))"),
    "constant vectorization": (
        "#(ij,jk->ik; A, c)",
        se.vectorize_constants,
        "#(ij,,j,k->ik; A, 5, Ones(3), Ones(4))",
    ),
    "a constant's diagonal": (
        "#(ii,ij->ij; d, A)",
        se.vectorize_constants,
        "#(,i,i,ij->ij; 3, Ones(2), Ones(2), A)",
    ),
    "delta substitution": (
        "#(ijkl,kl->ij; D, A)",
        se.substitute_deltas,
        "#(ijkl,kl->ij; #(ij->ijij; Ones(2, 3)), A)",
    ),
}


@pytest.mark.parametrize("name", STEPS)
def test_named_steps_have_the_value_of_the_definition(name):
    before, step, after = STEPS[name]
    shapes = {"A": (2, 3), "B": (2, 4), "C": (3, 4)}
    symbols = {name: se.TensorSymbol(name, shape) for name, shape in shapes.items()}
    constants = {
        "p": se.Ones(2), "q": se.Ones(3, 2), "r": se.Ones(4), "c": 5 * se.Ones(3, 4),
        "d": 3 * se.Ones(2, 2), "D": se.Delta(2, 3),
    }  # fmt: skip
    rng = np.random.default_rng(1)
    arrays = {name: rng.uniform(1, 2, shape) for name, shape in shapes.items()}
    expected = entries(
        before, {**arrays, **{n: np.array(se.evaluate(c), float) for n, c in constants.items()}}
    )
    head, names = before[2:-1].split("; ")
    inputs, output = head.split("->")
    given_ = [({**symbols, **constants})[n] for n in names.split(", ")]
    found = step(WrittenProduct(inputs.split(","), output, given_))
    assert str(found) == after
    value = se.lambdify(list(symbols.values()), found.expr)(*arrays.values())
    np.testing.assert_allclose(value, expected)


def test_corollary_7_11_by_steps():
    """Constants and deltas go; for each index that nothing else has a vector of ones remains."""
    text = "#(ij,kl,jm,m->ik; Delta(2), C, D, v)"
    C, D = 5 * se.Ones(3, 4), se.Delta(2)
    e = WrittenProduct(["ij", "kl", "jm", "m"], "ik", [se.Delta(2), C, D, se.TensorSymbol("v", 2)])
    assert str(e).replace("5*Ones(3, 4)", "C") == text.replace("D, v", "Delta(2), v")
    steps = se.remove_ones(se.merge_deltas(se.vectorize_constants(e)))
    assert str(steps) == "#(,k,l,i->ik; 5, Ones(3), Ones(4), v)"
    assert steps.expr == e.expr


def test_the_index_graph_of_figure_1():
    text = "#(a,b,c,d,e,abbcde->bc; v1, v2, v3, v4, v5, #(i,j,k,l->iijkkl; v6, v7, v8, v9))"
    e = se.read_einsum(text)
    graph = se.index_graph(e)
    assert graph == se.index_graph(e, (5,))
    assert (graph.inner, graph.outer) == (tuple("iijkkl"), tuple("abbcde"))
    assert len(graph.vertices) == 18
    pairs = {("u1", "u2"), ("u4", "u5"), ("v2", "v3")}
    links = {(f"{kind}{k}", f"x{k}") for kind in "uv" for k in range(1, 7)}
    assert {*graph.edges} == pairs | links
    assert len(graph.edges) == len(pairs | links)
    found = [("".join(a), "".join(b)) for a, b in graph.components]
    assert found == [("ab", "ij"), ("cd", "k"), ("e", "l")]
    assert set(graph.labels) == {*"abcdeijkl", *[f"x{k}" for k in range(1, 7)]}
    assert 'label="x6"' in se.to_dot(graph)
    assert se.to_dot(graph).count("->") == len(graph.edges)
    # Indices of the inner product are others than those of equal name outside.
    collision = se.index_graph(se.read_einsum("#(ij,->; U, #(ji->; V))"))
    assert collision.vertices == collision.edges == collision.components == ()
    swapped = se.index_graph(se.read_einsum("#(ij,j->i; #(ji->ij; V), w)"))
    assert swapped.components == ((("i",), ("i",)), (("j",), ("j",)))
    joined = se.index_graph(se.read_einsum("#(iji,->; #(a,b,c->abc; p, q, r), s)"))
    assert joined.components == ((("i",), ("a", "c")), (("j",), ("b",)))


def test_the_index_graph_agrees_with_denesting():
    """The number of components is that of the symbols that the index strings get."""
    rng = np.random.default_rng(5)
    for _ in range(60):
        d = rng.integers(0, 7)
        inner, outer = ["".join(rng.choice(list("abcd"), d)) for _ in range(2)]
        x = se.TensorSymbol("x", 2)
        operands = "".join(sorted({*inner}))
        product = WrittenProduct(list(operands), inner, [x] * len(operands))
        e = WrittenProduct([outer], "", [product])
        graph = se.index_graph(e)
        assert len(graph.components) == len(se.denest(e).symbols)
        for outside, inside in graph.components:
            ends = zip(outer, inner, strict=True)
            assert all((o in outside) == (i in inside) for o, i in ends)


def test_the_examples_of_the_paper():
    A, B, v = se.TensorSymbol("A", 3, 4), se.TensorSymbol("B", 4, 5), se.TensorSymbol("v", 5)
    symbols = {"A": A, "B": B, "v": v}
    flat = se.read_einsum("#(ij,jk,k->i; A, B, v)", symbols)
    assert str(se.nest(flat, (0, 1))) == "#(k,ik->i; v, #(ij,jk->ik; A, B))"
    assert str(se.nest(flat, (1, 2))) == "#(ij,j->i; A, #(jk,k->j; B, v))"
    assert flat.expr == se.einsum("ij,jk,k->i", A, B, v)
    # section 6.2: collisions of symbols, and the example of figure 1
    collision = se.read_einsum("#(ijk,->; U, #(ijk->; V))")
    assert str(se.denest(collision)) == "#(ijk,lmn->; U, V)"
    inner = "#(i,j,k,l->iijkkl; v6, v7, v8, v9)"
    figure = se.read_einsum(f"#(a,b,c,d,e,abbcde->bc; v1, v2, v3, v4, v5, {inner})")
    assert str(se.denest(figure)) == (
        "#(a,a,c,c,e,a,a,c,e->ac; v1, v2, v3, v4, v5, v6, v7, v8, v9)"
    )
    # cor. 7.11
    alone = se.read_einsum("#(ab->ab; Delta(n))")
    assert str(se.merge_deltas(alone)) == "#(a->aa; Ones(n))"
    assert str(se.merge_deltas(se.read_einsum("#(abab,ab->; Delta(m, n), A)"))) == "#(ab->; A)"


def test_shapes_are_inferred():
    found = se.read_einsum("#(ij,jk->ik; A, #(ab,b->ab; B, w)) + C")
    A, B, C, w = (
        next(s for s in found.expr.free_symbols if str(s) == name) for name in ("A", "B", "C", "w")
    )
    assert A.shape[1] == B.shape[0]
    assert B.shape[1] == w.shape[0] == C.shape[1]
    assert found.expr == A @ (B * w[None, :]) + C
    assert se.parse("#(ij,j->i; A, x)", "A 2 x 1", syntax="einsum").shape[0] is not None
    n = Symbol("n", integer=True, positive=True)
    S = se.TensorSymbol("S", n, n)
    assert se.parse("#(ii->; S)", {"S": S}, syntax="einsum") == se.trace(S)
    assert se.parse("#(,i->i; 2, Ones(n))", syntax="einsum") == 2 * se.Ones(n)


def test_written_expressions_are_expressions():
    A, x = se.TensorSymbol("A", 2, 3), se.TensorSymbol("x", 3)
    e = se.written(se.exp(A @ x) * (A @ x) + 2)
    assert e.expr == se.exp(A @ x) * (A @ x) + 2
    assert "exp(A @ x)" in str(e)
    assert se.written(e) is e
    f = se.lambdify([A, x], se.denest(A @ x))
    np.testing.assert_array_equal(f(np.ones((2, 3)), np.ones(3)), [3, 3])
    assert se.gradient(se.denest((A @ x) @ (A @ x)), x) == se.gradient((A @ x) @ (A @ x), x)
    assert pickle.loads(pickle.dumps(e)) is e
    assert isinstance(e, Written)
    for expr in (se.Delta(2), se.Ones(2, 3), se.Delta(2, 3), x @ x + 1, 2 * (x @ x) * x, x):
        assert se.written(expr).expr == expr
    assert str(se.written(se.Delta(2))) == "#(i->ii; Ones(2))"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected a variable.*but the text ends"),
        ("#(ij,j->i; A x)", r"expected '\+', ',' or '\)', but found 'x'"),
        ("#(ij,j->i; A, )", r"expected a variable.*but found '\)'"),
        ("#(ij,j->i; A, x", "is never closed"),
        ("A)", r"has no '#\(' before it"),
        ("#(ij,j->i A, x)", "expected index strings"),
        ("#(ij,j; A, x)", "one arrow"),
        ("#(i->j->k; A)", "one arrow"),
        ("#(ij->i; A, x)", "1 index strings for 2 arguments"),
        ("#(ij->k; A)", "the output index 'k' is in no index string"),
        ("#(i#->i; A)", "is no index string"),
        ("#(ij->i; 2)", "2 has order 0, but order 2 is needed"),
        ("#(ij,i->i; A, A)", "A has order 2, but order 1 is needed|order"),
        ("#(ii->; Ones(2)) ", "order 1, but order 2"),
        ("#(ij,j->i; Delta(2), Ones(3))", "lengths are 2 and 3"),
        ("#(i->i; Ones(0))", "lengths are names or positive numbers"),
        ("A * B", "unexpected character '\\*'"),
        ("1e999 + a", "out of the range"),
    ],
)
def test_errors_say_where(text, message):
    with pytest.raises(se.ParseError, match=message):
        se.read_einsum(text)
    with pytest.raises(se.ParseError):
        se.parse(text, syntax="einsum")


def test_declarations():
    n = Symbol("n", integer=True, positive=True)
    text = "#(ij,j->i; A, x)"
    for declared in ("A 2 x 1", {"A": 2, "x": 1}, {"A": 2}, {"A": (4, n)}, None):
        shape = se.read_einsum(text, declared).expr.shape
        assert shape == (4,) if declared == {"A": (4, n)} else len(shape) == 1
    for wrong in ("A 2 x", "A x", {"A": -1}, {"A": True}, {"A": "2 x"}, 3, {"A": 99}):
        with pytest.raises(se.ParseError, match=r"order|declar"):
            se.read_einsum(text, wrong)
    with pytest.raises(se.ParseError, match="A has order 3, but order 2 is needed"):
        se.read_einsum(text, {"A": 3})


def test_limits():
    deep = "#(i->i; " * 900 + "x" + ")" * 900
    found = se.read_einsum(deep)
    assert str(found) == deep
    assert str(se.denest(found)) == "#(i->i; x)"
    with pytest.raises(se.ParseError, match="nested more than 1000 deep"):
        se.read_einsum("#(i->i; " * 1200 + "x" + ")" * 1200)
    with pytest.raises(se.ParseError, match="characters; at most"):
        se.read_einsum("x + " * 50_000 + "x")
    for wrong in (3, None, b"x"):
        with pytest.raises(se.ParseError, match="text is needed"):
            se.read_einsum(wrong)


def test_wrong_places():
    A, x = se.TensorSymbol("A", 2, 3), se.TensorSymbol("x", 3)
    for call in (
        lambda: se.commute(A @ x, [0, 0]),
        lambda: se.nest(A @ x, (0, 5)),
        lambda: se.nest(A @ x, (1, 1)),
        lambda: se.denest(A @ x, (0,)),
        lambda: se.denest(A @ x, ()),
        lambda: se.denest(A @ x, (4,)),
        lambda: se.split_deltas(A @ x, "z"),
        lambda: se.split_deltas(A @ x, "j", [2]),
        lambda: se.split_deltas(A @ x, "j", [-1]),
        lambda: se.split_deltas(A @ x, occurrences=[0]),
        lambda: se.add_ones(A @ x, "z"),
        lambda: se.index_graph(A @ x),
        lambda: se.index_graph(A @ x, (0,)),
        lambda: se.merge_deltas(x + 1),
        lambda: WrittenProduct(["ij"], "k", [A]),
        lambda: WrittenProduct(["ij", "j"], "i", [A]),
    ):
        with pytest.raises(se.TensorError):
            call()
