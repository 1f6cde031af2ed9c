"""Comparison of values that texts evaluate back to."""

from __future__ import annotations

import numpy as np
import sympy

import sympy_einsum as se

TYPED = {**vars(sympy), **vars(se)}


def assert_same_value(one, two):
    """Check that an object is the same, or has the same entries."""
    # Numbers are those of Python where a text is a fraction.
    one, two = map(sympy.sympify, (one, two))
    if one is two or one == two:
        return
    assert getattr(one, "shape", ()) == getattr(two, "shape", ())
    leaves = sorted(one.free_symbols | two.free_symbols, key=str)
    nodes = set(leaves).union(*[e.atoms(se.TensorExpr) for e in (one, two)])
    lengths = {s for node in nodes for d in getattr(node, "shape", ()) for s in d.free_symbols}
    lengths |= {leaf for leaf in leaves if leaf.is_integer}
    sizes = {s: 4 + k for k, s in enumerate(sorted(lengths, key=str))}
    rng = np.random.default_rng(7)
    shapes = [[int(d.subs(sizes)) for d in getattr(leaf, "shape", ())] for leaf in leaves]
    data = [
        sizes.get(leaf, rng.uniform(0.4, 1.3, shape))
        for leaf, shape in zip(leaves, shapes, strict=True)
    ]
    others = [s for s in sizes if s not in leaves]
    arguments = [*leaves, *others], [*data, *[sizes[s] for s in others]]
    values = [se.lambdify(arguments[0], e)(*arguments[1]) for e in (one, two)]
    np.testing.assert_allclose(*values, rtol=1e-9, atol=1e-9, err_msg=f"{one}\n{two}")


def leaves_of(*exprs):
    found = set()
    for e in exprs:
        for node in e.atoms(se.TensorSymbol, sympy.Symbol) if isinstance(e, sympy.Basic) else ():
            found |= {node} | ({s for d in getattr(node, "shape", ()) for s in d.free_symbols})
    return found
