"""A corpus of 76 matrix and tensor derivatives from the literature, against their closed forms."""

import numpy as np
import pytest
import sympy
from corpus import CORPUS, run, symbols_of, wrt_names
from oracles import assert_close, assert_plain, data_for, jax64

import sympy_einsum as se
import sympy_einsum.numpy as snp

# Name and reason of every problem that isn't solved yet.
KNOWN_FAILURES: dict[str, str] = {}

CASES = [
    pytest.param(
        problem,
        id=problem["name"],
        marks=[pytest.mark.xfail(strict=True, reason=KNOWN_FAILURES[problem["name"]])]
        if problem["name"] in KNOWN_FAILURES
        else [],
    )
    for problem in CORPUS
]


def arrays_of(problem, variables):
    arrays = data_for(variables.values(), domains=problem.get("domain"))
    return {name: arrays[symbol] for name, symbol in variables.items()}


def expected(problem, arrays):
    """Return the closed form where the literature has one, otherwise JAX's value."""
    if "known_closed_form" in problem:
        return run(problem["known_closed_form"], np, arrays)
    jax = jax64()
    names = wrt_names(problem)

    def derivative(depth):
        if depth == len(names):
            return lambda args: run(problem["code"], jax.numpy, args, jax.scipy.special)

        def outer(args):
            def inner(value):
                return derivative(depth + 1)({**args, names[depth]: value})

            return jax.jacfwd(inner)(args[names[depth]])

        return outer

    # The innermost call differentiates first, so the last wrt is the outermost.
    names.reverse()
    return derivative(0)({name: jax.numpy.asarray(value) for name, value in arrays.items()})


def test_the_corpus_is_whole():
    assert len(CORPUS) == len({problem["name"] for problem in CORPUS}) == 76


@pytest.mark.parametrize("problem", CASES)
def test_derivative(problem):
    variables = symbols_of(problem)
    function = run(problem["code"], snp, variables)
    wrt = [variables[name] for name in wrt_names(problem)]
    derivative = se.diff(function, *wrt)
    assert_plain(derivative)
    shape = tuple(getattr(function, "shape", ()))
    for variable in wrt:
        shape += variable.shape
    assert tuple(getattr(derivative, "shape", ())) == shape
    arrays = arrays_of(problem, variables)
    compiled = se.lambdify(list(variables.values()), [function, derivative])
    value, gradient = compiled(*arrays.values())
    assert_close(value, run(problem["code"], np, arrays), 1e-10, "value")
    reference = np.broadcast_to(expected(problem, arrays), np.shape(gradient))
    assert_close(gradient, reference, 1e-8, "derivative")


@pytest.mark.parametrize("problem", CASES)
def test_numpy_itself_builds_the_same_expression(problem):
    variables = symbols_of(problem)
    ours = run(problem["code"], snp, variables)
    # np.pi is a float.
    assert run(problem["code"], np, variables) == ours.xreplace({sympy.pi: sympy.Float(np.pi)})


@pytest.mark.parametrize("problem", CASES)
def test_variables_in_turn_are_one_diff(problem):
    """diff(y, x, z) is diff(diff(y, x), z), and diff(y, x, 2) is diff(y, x, x)."""
    variables = symbols_of(problem)
    function = run(problem["code"], snp, variables)
    wrt = [variables[name] for name in wrt_names(problem)]
    step_by_step = function
    for variable in wrt:
        step_by_step = se.diff(step_by_step, variable)
    assert se.diff(function, *wrt) == step_by_step
    if len(set(wrt)) == 1:
        assert se.diff(function, wrt[0], len(wrt)) == step_by_step
