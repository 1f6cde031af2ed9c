"""The search for contraction orders: as good as an exhaustive one, in bounded time."""

import random
import sys

import opt_einsum
import pytest
from sympy.abc import n

from sympy_einsum.contraction_order import (
    Contraction,
    contraction_path,
    contraction_steps,
    path_cost,
    path_determining_symbols,
)

SAMPLES = 150
# Function calls that a search may take: a fraction of a second.
MAX_CALLS = 500_000


def random_network(generator):
    """Return terms, output and sizes of a small random product of tensors."""
    labels = range(generator.randint(3, 6))
    terms = tuple(
        tuple(generator.sample(labels, generator.choice([1, 1, 2, 2, 3])))
        for _ in range(generator.randint(3, 6))
    )
    used = sorted({i for term in terms for i in term})
    lengths = generator.choice([[100], [3, 30, 1000], [2, 5]])
    output = tuple(i for i in used if generator.random() < 0.3)
    return terms, output, tuple((i, generator.choice(lengths)) for i in used)


def cost_of_linear(terms, output, sizes, path):
    """Return the cost of an order given as positions in a shrinking list."""
    pending, steps = list(range(len(terms))), []
    for positions in path:
        steps.append(tuple(pending.pop(k) for k in sorted(positions, reverse=True)))
        pending.append(len(terms) + len(steps) - 1)
    return path_cost(terms, output, sizes, steps)


def test_orders_are_as_cheap_as_the_best():
    generator = random.Random(3)
    for _ in range(SAMPLES):
        terms, output, sizes = random_network(generator)
        best = opt_einsum.DynamicProgramming(minimize="combo-16", search_outer=True)
        linear = best([frozenset(t) for t in terms], frozenset(output), dict(sizes))
        found = path_cost(terms, output, sizes, contraction_path(terms, output, sizes))
        assert found <= 1.2 * cost_of_linear(terms, output, sizes, linear), (terms, output, sizes)


def test_each_operand_and_result_is_used_once():
    generator = random.Random(4)
    for _ in range(SAMPLES):
        terms, output, sizes = random_network(generator)
        path = contraction_path(terms, output, sizes)
        used = sorted(k for step in path for k in step)
        assert used == list(range(len(terms) + len(path) - 1))
        *_, (_, _, last) = contraction_steps(terms, output, path)
        assert last == set(output)


def star(count):
    """Return a tensor with a vector on each axis."""
    return (tuple(range(count)), *[(i,) for i in range(count)]), ()


def open_star(count):
    """Return a tensor with a matrix on each axis."""
    return (tuple(range(count)), *[(i, count + i) for i in range(count)]), range(count, 2 * count)


def bundle(count):
    """Return matrices with one index in common."""
    return tuple((0, i + 1) for i in range(count)), range(1, count + 1)


def summed_bundle(count):
    return bundle(count)[0], ()


def clique(count):
    """Return tensors that pairwise share an index."""
    pairs = [[(min(i, j), max(i, j)) for j in range(count) if j != i] for i in range(count)]
    number = {pair: k for k, pair in enumerate(sorted({p for own in pairs for p in own}))}
    return tuple(tuple(number[p] for p in own) for own in pairs), ()


@pytest.mark.parametrize("network", [star, open_star, bundle, summed_bundle, clique])
@pytest.mark.parametrize("count", [9, 12, 15])
def test_no_product_takes_long_to_order(network, count):
    terms, output = network(count)
    sizes = tuple((i, 100) for i in sorted({i for term in terms for i in term}))
    calls = 0

    def watch(frame, event, argument):
        nonlocal calls
        calls += event in ("call", "c_call")

    contraction_path.cache_clear()
    sys.setprofile(watch)
    try:
        contraction_path(terms, tuple(output), sizes)
    finally:
        sys.setprofile(None)
    assert calls <= MAX_CALLS


def test_a_length_that_some_values_make_negative_counts_as_none():
    """The length of x[-3:2] is 5 - n; dependence of the order on n is tried with large values."""
    terms = ((0, 1), (1, 2), (2, 3))
    assert path_determining_symbols([Contraction(terms, (2, 3), (5 - n, n, n, n))]) == []
