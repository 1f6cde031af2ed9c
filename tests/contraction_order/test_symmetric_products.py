"""Products of two equal halves: one half is multiplied, and the product is A @ A.T."""

import random

import numpy as np
import pytest
from sympy import symbols

import sympy_einsum as se
from sympy_einsum.compiler.planning import make_plan

m, n, k, r = symbols("m n k r", integer=True, positive=True)
X, D, W = (se.TensorSymbol(name, s) for name, s in [("X", (m, n)), ("D", (m, k)), ("W", (k, r))])
M, N = se.TensorSymbol("M", (k, k)), se.TensorSymbol("N", (m, m))
C, w = se.TensorSymbol("C", (n, k, m)), se.TensorSymbol("w", m)


def halves(plan):
    """Return the products of a value and its own transpose."""
    steps = plan.instructions

    dots = [step for step in steps if step.op == "dot" and len(step.shape) == 2]
    pairs = [[steps[k] for k in step.inputs] for step in dots]
    return [
        (a, b)
        for step, (a, b) in zip(dots, pairs, strict=True)
        if (a.op == "transpose" and a.inputs[0] == step.inputs[1])
        or (b.op == "transpose" and b.inputs[0] == step.inputs[0])
    ]


MIRRORED = {
    "Khatri-Rao": ("mi,mk,mj,ml->ikjl", (X, D, X, D)),
    "with factors beside": ("mi,mk,mj,ml,kr,lr->ikjl", (X, D, X, D, W, W)),
    "with a matrix beside": ("mi,mk,mj,ml,kl->ikjl", (X, D, X, D, M)),
    "with weights in both": ("mi,m,mj,m,k->ikj", (X, w, X, w, se.TensorSymbol("v", k))),
    "of order 3": ("ikm,jlm,kl->ikjl", (C, C, M)),
    "summed in the half": ("mk,mi,kr,ml,mj,ls->rsij", (D, X, W, D, X, W)),
}


@pytest.mark.parametrize("name", MIRRORED)
def test_one_half_is_multiplied(name):
    subscripts, operands = MIRRORED[name]
    expr = se.einsum(subscripts, *operands)
    plan = make_plan([expr])
    assert halves(plan)
    rng = np.random.default_rng(4)
    lengths = {m: 7, n: 4, k: 3, r: 2}
    data = {
        s: rng.standard_normal([int(length.subs(lengths)) for length in s.shape])
        for s in dict.fromkeys(operands)
    }
    value = se.lambdify([*data], expr)(*data.values())
    np.testing.assert_allclose(
        value, np.einsum(subscripts, *[data[s] for s in operands]), atol=1e-12, rtol=1e-12
    )


PLAIN = {
    "a matrix between": ("mi,mp,pj->ij", (X, N, X)),
    "the index that they share is kept": ("mi,mk,mj,ml->mikjl", (X, D, X, D)),
    "other axes": ("ij,jk,ki->", (M, M, M)),
}


@pytest.mark.parametrize("name", PLAIN)
def test_other_products_are_unchanged(name):
    subscripts, operands = PLAIN[name]
    assert not halves(make_plan([se.einsum(subscripts, *operands)]))


@pytest.mark.parametrize("seed", range(60))
def test_random_products_of_equal_factors(seed):
    generator = random.Random(seed)
    lengths = dict(zip("abcdef", (2, 3, 4, 5, 1, 6), strict=True))
    terms, operands = [], []
    for place in range(generator.randint(1, 3)):
        own = generator.sample("abcd", generator.randint(1, 3))
        symbol = se.TensorSymbol(f"T{place}", tuple(lengths[c] for c in own))
        image = [c if generator.random() < 0.5 else c.upper() for c in own]
        terms += ["".join(own), "".join(image)]
        operands += [symbol, symbol]
    for place in range(generator.randint(0, 2)):
        pool = sorted({c for term in terms for c in term})
        own = generator.sample(pool, min(len(pool), 2))
        shape = tuple(lengths[c.lower()] for c in own)
        terms.append("".join(own))
        operands.append(se.TensorSymbol(f"R{place}", shape))
    used = sorted({c for term in terms for c in term})
    output = "".join(generator.sample(used, generator.randint(0, min(4, len(used)))))
    rng = np.random.default_rng(seed)
    data = {s: rng.standard_normal([int(v) for v in s.shape]) for s in dict.fromkeys(operands)}
    subscripts = f"{','.join(terms)}->{output}"
    expr = se.einsum(subscripts, *operands)
    expected = np.einsum(subscripts, *[data[s] for s in operands])
    np.testing.assert_allclose(
        se.lambdify([*data], expr)(*data.values()), expected, rtol=1e-10, atol=1e-10
    )
