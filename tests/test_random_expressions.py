"""Random expression graphs: values and first and second derivatives against JAX in float64.

A program is a list of instructions over the values made before; ``run`` carries it out in any
namespace with NumPy's names, symbols or arrays. All axis lengths are different.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from oracles import assert_close, assert_plain, evaluate, jax64
from random_programs import CONFIG, LENGTHS, NUMBER, programs, run, symbolic_values, symbols_for
from scipy import special

import sympy_einsum as se
import sympy_einsum.numpy as snp

# --- carrying out a program -----------------------------------------------------------------------


def einsum_with_repeated_outputs(np):
    """NumPy's einsum, with diagonals embedded where the output repeats an index."""

    def einsum(subscripts, *operands):
        inputs, output = subscripts.split("->")
        terms, unique, deltas = inputs.split(","), "", []
        spare = iter("ABCDEFGH")
        for letter in output:
            if letter not in unique:
                unique += letter
                continue
            copy = next(spare)
            position = next(k for k, term in enumerate(terms) if letter in term)
            length = operands[position].shape[terms[position].index(letter)]
            unique += copy
            deltas.append((letter + copy, np.eye(length)))
        terms += [pair for pair, _ in deltas]
        return np.einsum(
            ",".join(terms) + "->" + unique, *operands, *[delta for _, delta in deltas]
        )

    return einsum


# --- making one up --------------------------------------------------------------------------------


def arrays_for(leaves, number=NUMBER):
    rng = np.random.default_rng(11)
    return [0.7 * rng.standard_normal([number[axis] for axis in shape]) for shape in leaves]


def jax_results(leaves, program):
    jax = jax64()
    np_, sp_ = jax.numpy, jax.scipy.special

    def objective(x, rest):
        values = run(program, [x, *rest], np_, sp_, einsum_with_repeated_outputs(np_))
        return sum(np_.mean(value) for value in values[len(leaves) :])

    def last(x, rest):
        return run(program, [x, *rest], np_, sp_, einsum_with_repeated_outputs(np_))[-1]

    @jax.jit
    def everything(x, rest):
        return (
            last(x, rest),
            jax.jacfwd(last)(x, rest),
            jax.jacfwd(jax.jacrev(objective))(x, rest),
        )

    x, *rest = arrays_for(leaves)
    return [np.asarray(part) for part in everything(x, rest)]


@given(programs())
@settings(CONFIG, max_examples=250)
def test_derivatives_agree_with_jax(made):
    leaves, program, shapes = made
    symbols = symbols_for(leaves)
    values = symbolic_values(leaves, program)
    objective = sum(snp.mean(value) for value in values[len(leaves) :])
    x, last = symbols[0], values[-1]
    expected_shape = tuple(getattr(last, "shape", ()))
    assert tuple(map(str, expected_shape)) == tuple(s.replace("-", " - ") for s in shapes[-1])
    jacobian, hessian = se.diff(last, x), se.diff(objective, x, 2)
    assert tuple(getattr(jacobian, "shape", ())) == expected_shape + x.shape
    assert_plain(jacobian)
    assert_plain(hessian)
    data = dict(zip(symbols, arrays_for(leaves), strict=True))
    found = evaluate([last, jacobian, hessian], data)
    for actual, expected, label in zip(
        found, jax_results(leaves, program), ("value", "Jacobian", "Hessian"), strict=True
    ):
        assert_close(actual, expected, 1e-8, label)


@given(programs(size=12))
@settings(CONFIG, max_examples=500)
def test_values_agree_with_numpy(made):
    leaves, program, _ = made
    data = dict(zip(symbols_for(leaves), arrays_for(leaves), strict=True))
    symbolic = symbolic_values(leaves, program)[len(leaves) :]
    expected = run(program, arrays_for(leaves), np, special, einsum_with_repeated_outputs(np))
    for actual, reference in zip(evaluate(symbolic, data), expected[len(leaves) :], strict=True):
        assert_close(actual, reference, 1e-9)


@given(programs(size=6))
@settings(CONFIG, max_examples=200)
def test_the_order_of_building_and_the_namespace_dont_matter(made):
    """The same program gives the same objects twice, and through NumPy's own functions."""
    leaves, program, _ = made
    first, second = symbolic_values(leaves, program), symbolic_values(leaves, program)
    assert all(a == b and hash(a) == hash(b) for a, b in zip(first, second, strict=True))
    if any(not shape for shape in leaves):
        return
    forward, backward = (se.diff(first[-1], first[0], mode=mode) for mode in ("forward", "reverse"))
    data = dict(zip(symbols_for(leaves), arrays_for(leaves), strict=True))
    one, other = evaluate([forward, backward], data)
    assert_close(one, other, 1e-10)


@given(programs(size=5, variable_order=1))
@settings(CONFIG, max_examples=150)
def test_mixed_derivatives_are_symmetric(made):
    """d2f/dx da is the transpose of d2f/da dx."""
    leaves, program, _ = made
    x, a = symbols_for(leaves)[:2]
    f = snp.mean(symbolic_values(leaves, program)[-1])
    data = dict(zip(symbols_for(leaves), arrays_for(leaves), strict=True))
    one, other = evaluate([se.diff(f, x, a), se.diff(f, a, x)], data)
    assert_close(np.moveaxis(one, range(x.order), range(-x.order, 0)), other, 1e-9)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("lengths", [(1, 2, 3), (2, 1, 2), (4, 4, 4)], ids=str)
@given(programs())
@settings(CONFIG, max_examples=60)
def test_one_function_serves_all_lengths(lengths, made):
    """Values and both modes at lengths that are equal, or 1, for which nothing was planned."""
    leaves, program, _ = made
    arrays = arrays_for(leaves, dict(zip(map(str, LENGTHS), lengths, strict=True)))
    try:
        expected = run(program, arrays, np, special, einsum_with_repeated_outputs(np))[-1]
    except IndexError:  # the first entry of nothing
        return
    if not np.all(np.isfinite(expected)):  # the mean of nothing
        return
    symbols = symbols_for(leaves)
    last = symbolic_values(leaves, program)[-1]
    modes = [se.diff(last, symbols[0], mode=mode) for mode in ("forward", "reverse")]
    value, forward, reverse = se.lambdify(symbols, [last, *modes])(*arrays)
    assert_close(value, expected, 1e-9)
    assert np.shape(forward) == np.shape(expected) + arrays[0].shape
    if np.all(np.isfinite(reverse)):
        assert_close(forward, reverse, 1e-9)
