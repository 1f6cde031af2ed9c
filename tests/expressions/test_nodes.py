"""Invariants of every node: class, arguments, order, symbols and assumptions."""

import sympy
from node_samples import LEAVES, SAMPLES, T, X, inside, sample, scalar, t, v, x, y
from oracles import LENGTHS, n
from sympy import Basic, Symbol

import sympy_einsum as se


def concrete_node_classes():
    found, stack = set(), [se.TensorExpr]
    while stack:
        cls = stack.pop()
        below = [c for c in cls.__subclasses__() if c.__module__.startswith("sympy_einsum")]
        stack.extend(below)
        if not below:
            found.add(cls)
    return found


def test_the_samples_hold_every_node_class():
    seen, stack = set(), list(SAMPLES.values())
    while stack:
        node = stack.pop()
        seen.add(type(node))
        stack.extend(node.operands if isinstance(node, se.TensorExpr) else node.args)
        stack.extend(node.loop.outputs if isinstance(node, se.Scan) else ())
    # Unknown functions can't be computed.
    missing = concrete_node_classes() - seen - {se.Unknown}
    assert not missing, f"no sample of {missing}"


@sample
def test_is_a_sympy_expression(name):
    e = SAMPLES[name]
    assert isinstance(e, sympy.Expr)
    assert e.is_commutative
    assert sympy.sympify(e) is e
    assert all(isinstance(argument, Basic) for argument in e.args)


@sample
def test_func_of_args_is_the_node(name):
    for e in (SAMPLES[name], inside(name)):
        if e.args:
            assert e.func(*e.args) == e
            assert hash(e.func(*e.args)) == hash(e)


@sample
def test_comparing_sorting_and_hashing(name):
    e = SAMPLES[name]
    assert e == e
    assert not e != e  # noqa: SIM202
    assert e != 1
    assert e not in (None, "x", x + x)
    assert len({e, e}) == 1
    others = list(SAMPLES.values())
    assert sum(other == e for other in others) == 1
    assert e.compare(e) == 0
    both = [e, T, x]
    assert sorted(both, key=sympy.default_sort_key) == sorted([x, T, e], key=sympy.default_sort_key)


@sample
def test_free_symbols_and_has(name):
    e = SAMPLES[name]
    assert e.free_symbols <= set(LEAVES.values()), e.free_symbols - set(LEAVES.values())
    assert e.atoms(Symbol) <= set(LEAVES.values())
    assert not e.has(Symbol("elsewhere"))
    assert not e.has(se.TensorSymbol("elsewhere", (n,)))
    for leaf in e.free_symbols:
        assert e.has(leaf)
        assert e.has_free(leaf)
    around = inside(name)
    for leaf in scalar(e).free_symbols:
        assert around.has(leaf)
    # As with SymPy's matrices, the lengths of a tensor symbol don't count.
    assert around.free_symbols - set(LENGTHS) == (scalar(e).free_symbols | {t}) - set(LENGTHS) or (
        around == 0
    )


@sample
def test_counting(name):
    for e in (SAMPLES[name], inside(name)):
        assert sympy.count_ops(e) >= 0
        assert e.count_ops() >= 0
    assert (inside(name).count_ops() >= 3) == (inside(name) != 0)


def test_atoms():
    e = se.exp(X @ v) + t * x
    assert e.atoms(se.TensorSymbol) == {X, v, x}
    assert t in e.atoms(Symbol)
    f = sympy.sin((x @ y) * t)
    assert f.atoms(se.TensorSymbol) == {x, y}


def test_has_sees_functions_and_symbols():
    e = se.exp(X @ v)
    assert e.has(X, v)
    assert e.has(x, v)
    assert not e.has(x)
    assert (x @ y).has(x)


def test_assumptions_of_scalar_nodes():
    f = x @ x
    assert f.is_real in (True, None)
    assert f.is_number is False
    assert f.is_symbol is False
    assert not f.is_constant(x)
    assert f.is_constant(t)
    assert f.is_polynomial(t)
    assert sympy.sqrt(f**2) == sympy.Abs(f) or sympy.sqrt(f**2) == f or f.is_real is None
