"""Round trips of expressions through texts, bytes and other names."""

from __future__ import annotations

import pickle

import sympy
from oracles import assert_close, evaluate
from texts import TYPED, assert_same_value, leaves_of

import sympy_einsum as se
from sympy_einsum.expressions import shape_of

PRINTERS = (se.latex, sympy.latex, se.pretty, sympy.pretty, sympy.mathml)
NOTATIONS = ("index", "einsum", "star")
LANGUAGES = ("lippmann", "ricci")


def assert_round_trips(expr, data):
    """Check that an expression is rebuilt from its parts and its texts; ``data`` are arrays by
    symbols, for its first symbols."""
    e = sympy.sympify(expr)
    names = {s.name: s for s in {*data, *leaves_of(*data, e)}}
    assert pickle.loads(pickle.dumps(e)) == e
    assert not e.args or e.func(*e.args) == e
    assert_same_value(eval(str(e), {**TYPED, **names}), e)
    assert eval(sympy.srepr(e), TYPED) == e
    for printer in PRINTERS:
        printer(e)
    for notation in NOTATIONS:
        se.latex(e, notation=notation)
        se.pretty(e, notation=notation)
    _assert_renamed(e, next(iter(data)))
    _assert_simplified(e, data)
    for language in LANGUAGES:
        _assert_read_back(e, names, language)


def _assert_renamed(e, x):
    """Rename a symbol, and back."""
    other = sympy.Dummy("other", real=True)
    if isinstance(x, se.TensorSymbol):
        other = se.TensorSymbol("other", shape_of(x))
    for rename in (e.xreplace, lambda names: e.subs(list(names.items()))):
        there = rename({x: other})
        assert x not in there.free_symbols
        back = there.xreplace({other: x})
        assert back == e or se.equal(back, e) is not False


def _assert_simplified(e, data):
    simple = se.simplify(e)
    assert getattr(simple, "shape", ()) == getattr(e, "shape", ())
    own, once, twice = evaluate([e, simple, se.simplify(simple)], data)
    assert_close(once, own, 1e-9)
    assert_close(twice, own, 1e-9)
    assert se.equal(e, simple) is not False


def _assert_read_back(e, names, language):
    """Write in a language and parse back, unless the language lacks something."""
    try:
        read = se.parse(se.to_text(e, language), names, syntax=language)
    except se.UnsupportedError:
        return
    # These texts tell only the lengths of symbols' axes.
    if getattr(read, "shape", ()) == getattr(e, "shape", ()) and not (
        read.free_symbols - e.free_symbols
    ):
        assert_same_value(read, e)
