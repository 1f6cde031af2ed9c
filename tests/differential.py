"""Random programs of the whole language against JAX: values, Jacobians in both modes, gradients and
Hessians, on every backend; at special points, of integers, for small lengths, of order three; and
their texts.

``python tests/differential.py COUNT [SEED [KIND]]`` runs many and counts what came out.
"""

from __future__ import annotations

import sys
import time
import traceback
import warnings
from collections import Counter
from functools import cache

import numpy as np
import pytest
from hypothesis import given, seed, settings
from libraries import EVERY
from more_programs import PROGRAMS
from oracles import assert_close, jax64
from random_settings import CONFIG
from round_trips import assert_round_trips

import sympy_einsum as se
import sympy_einsum.numpy as snp
from sympy_einsum import testing

TOLERANCE = 1e-7
# Each program is compiled by JAX and run once. With these options XLA is quick and sometimes wrong:
# what doesn't agree is compiled once more without. Not every version has every option.
QUICKLY = {"xla_backend_optimization_level": 0, "xla_cpu_use_fusion_emitters": False}
NAMES = ("value", "Jacobian, reverse", "Jacobian, forward", "gradient", "Hessian")
HIGHER_NAMES = ("value", "Jacobian of the Jacobian", "the same, forward", "third", "third, unread")
# Zeros, ties and numbers at which functions are exact; and large numbers among others.
POINTS = [0, 0, -1, 1, 0.5, -0.75, 2]
FACTORS = [1, 1, 20, 300]
SMALL = [(1, 1, 1), (1, 2, 3), (2, 1, 2), (2, 2, 1), (3, 3, 3), (0, 2, 3), (2, 0, 1), (3, 2, 0)]


class NoReferenceError(Exception):
    """JAX has no values, or they aren't finite."""


@cache
def quickly():
    """Return the options that this version of JAX has."""
    jax, found = jax64(), {}
    for name, value in QUICKLY.items():
        try:
            jax.jit(lambda x: x + 1).lower(1.0).compile(compiler_options={name: value})
            found[name] = value
        except jax.errors.JaxRuntimeError:
            continue
    return found


def references(made, arrays, options, higher=False):
    """Return the same as ``expressions_of``, computed by JAX."""
    jax = jax64()
    xp = testing.Namespace(jax.numpy, jax.scipy.special)
    x, *rest = [np.asarray(array, float) for array in arrays]
    count = len(made.tensors)

    def last(x, rest):
        return made.run(xp, [x, *rest])[-1]

    def total(x, rest):
        return sum(xp.mean(value) for value in made.run(xp, [x, *rest])[count:])

    def everything(x, rest):
        derivative, derivatives = jax.grad(total), jax.jacrev(last)
        if higher:
            second, third = jax.jacfwd(derivatives), jax.jacfwd(jax.jacfwd(derivative))
            return total(x, rest), last(x, rest), second(x, rest), third(x, rest)
        first, second = derivative(x, rest), jax.jacfwd(derivative)(x, rest)
        return total(x, rest), last(x, rest), derivatives(x, rest), first, second

    try:
        compiled = jax.jit(everything).lower(x, rest).compile(compiler_options=options)
    except (TypeError, ValueError, IndexError, ZeroDivisionError) as error:
        raise NoReferenceError from error
    found = [*map(np.asarray, compiled(x, rest))]
    if not all(np.all(np.isfinite(own)) for own in found):
        raise NoReferenceError
    _, value, jacobian, *others = found
    return value, jacobian, jacobian, *others, *others[:higher]


def expressions_of(made, higher=False):
    """Return a program's value and its derivatives by its first tensor."""
    x, count, result = made.tensors[0], len(made.tensors), made.result
    total = sum(snp.mean(value) for value in made.values[count:])
    if higher:
        seconds = [se.diff(result, x, x), se.diff(result, x, x, mode="forward")]
        thirds = [se.diff(total, x, x, x), se.diff(total, x, x, x, simplify=False)]
        return [result, *seconds, *thirds]
    modes = [se.jacobian(result, x, mode=mode) for mode in ("reverse", "forward")]
    return [result, *modes, se.gradient(total, x), se.hessian(total, x)]


def check(made, backends=("numpy",), arrays=None, higher=False):
    """Return the outcome on each backend: agreement, or refusal by name; a wrong value fails."""
    arrays = made.arrays() if arrays is None else arrays
    try:
        return compare(made, backends, arrays, references(made, arrays, quickly(), higher), higher)
    except AssertionError:
        return compare(made, backends, arrays, references(made, arrays, {}, higher), higher)


def compare(made, backends, arrays, expected, higher=False):
    """Return the outcome on each backend, compared with references."""
    exprs, names = expressions_of(made, higher), HIGHER_NAMES if higher else NAMES
    found = {}
    for name in backends:
        library = EVERY[name]()
        try:
            function = se.lambdify(made.tensors, exprs, name)
            results = function(*map(library.into, arrays))
        except se.UnsupportedError as error:
            found[name] = str(error)
            continue
        for label, one, other in zip(names, results, expected, strict=True):
            assert_close(library.back(one), other, TOLERANCE, f"{name}, {label} of {made!r}")
        found[name] = ""
    return found


def backends_for(number):
    """Return the backends of a program: NumPy and PyTorch always, slower ones less often."""
    every = {"jax": 20, "dask": 10, "numba": 200}
    return ["numpy", "torch", *(name for name, often in every.items() if number % often == 0)]


# --- kinds ----------------------------------------------------------------------------------------


def derivatives(made, number):
    return check(made, backends_for(number))


def at_points(made, number):
    rng = np.random.default_rng(number)
    arrays = [np.asarray(rng.choice(POINTS, array.shape), float) for array in made.arrays()]
    return check(made, backends_for(number), arrays)


def in_tails(made, number):
    rng = np.random.default_rng(number)
    arrays = [np.asarray(array * rng.choice(FACTORS, array.shape)) for array in made.arrays()]
    return check(made, backends_for(number), arrays)


def of_integers(made, number):
    """Check on arrays of integers, without PyTorch, which computes in single precision."""
    rng, kind = np.random.default_rng(number), [np.int64, np.int32][number % 2]
    arrays = [np.asarray(rng.integers(-2, 3, array.shape), kind) for array in made.arrays()]
    return check(made, [name for name in backends_for(number) if name != "torch"], arrays)


def for_small_lengths(made, number):
    lengths = dict(zip(made.lengths, SMALL[number % len(SMALL)], strict=True))
    try:
        return check(made, backends_for(number), made.arrays(lengths=lengths))
    except se.ShapeError as error:  # a position beside its axis
        raise NoReferenceError from error
    except AssertionError as error:
        raise AssertionError(f"for {lengths}: {error}") from error


# What isn't the length of an axis.
WRONG_LENGTHS = [lambda n: n + 1, lambda n: n - 1, lambda n: n + 0.5, lambda n: 10**8, lambda n: -1]


def given_lengths(made, number):
    """Check lengths that are given as arguments beside arrays."""
    rng = np.random.default_rng(number)
    order = rng.permutation(len(made.tensors))
    arguments = [made.tensors[k] for k in order]
    arrays = dict(zip(made.tensors, made.arrays(), strict=True))
    told = {s for t in made.tensors for n in getattr(t, "shape", ()) for s in n.free_symbols}
    exprs = [made.result, se.diff(made.result, made.tensors[0])]
    expected = se.lambdify(made.tensors, exprs, optimize=False)(*arrays.values())
    found = {}
    for name in backends_for(number):
        library = EVERY[name]()

        def values(wrong=None, act=int, library=library):
            given = [
                library.into(arrays[t]) if t not in made.lengths else int(arrays[t])
                for t in arguments
            ]
            if wrong is not None:
                given[arguments.index(wrong)] = act(given[arguments.index(wrong)])
            return given

        try:
            function = se.lambdify(arguments, exprs, name)
            results = function(*values())
        except se.UnsupportedError as error:
            found[name] = str(error)
            continue
        for one, other in zip(results, expected, strict=True):
            assert_close(library.back(one), other, TOLERANCE, f"{name} of {made!r}")
        for length in told.intersection(arguments):
            for act in WRONG_LENGTHS:
                with pytest.raises(se.ShapeError):
                    function(*values(length, act))
        found[name] = ""
    return found


def of_order_three(made, number):
    return check(made, ("numpy",), higher=True)


def texts(made, number):
    data = dict(zip(made.tensors, made.arrays(), strict=True))
    for expr in (made.result, se.diff(made.result, made.tensors[0])):
        assert_round_trips(expr, data)
    return {}


# JAX's second derivative of hypot is wrong where both are the same.
WITHOUT_HYPOT = {k: v for k, v in testing.OPERATIONS.items() if k != "hypot"}
# What is drawn and how it is checked.
KINDS = {
    "derivatives": (testing.programs(), derivatives),
    "more": (PROGRAMS["more"], derivatives),
    "scalars": (PROGRAMS["scalars"], derivatives),
    "points": (testing.programs(operations=WITHOUT_HYPOT), at_points),
    "tails": (testing.programs(), in_tails),
    "integers": (testing.programs(operations=WITHOUT_HYPOT), of_integers),
    "lengths": (testing.programs(numbers=False), for_small_lengths),
    "given lengths": (PROGRAMS["lengths"], given_lengths),
    "three": (testing.programs(max_order=1, max_steps=5), of_order_three),
    "loops": (testing.programs(kinds=[*testing.KINDS, *["loops"] * 10], max_steps=4), derivatives),
    "texts": (testing.programs(), texts),
    "texts of more": (PROGRAMS["more"], texts),
    "texts of scalars": (PROGRAMS["scalars"], texts),
}


def main(count, start=0, kind="derivatives"):
    """Run a number of programs, in slices with a seed each."""
    warnings.simplefilter("ignore")
    counts, steps, refusals, size = Counter(), Counter(), Counter(), min(100, count)
    programs, act = KINDS[kind]
    began = time.time()

    def one(made):
        counts["programs"] += 1
        steps.update(step.name for step in made.steps)
        refusals.update(made.refused)
        try:
            for name, reason in act(made, counts["programs"]).items():
                counts[f"{name}: {'refused' if reason else 'agrees'}"] += 1
                refusals[name, reason] += bool(reason)
        except NoReferenceError:
            counts["no reference"] += 1
        except (Exception, RecursionError):
            counts["WRONG"] += 1
            print(f"--- seed {slice_seed}\n{made!r}\n{traceback.format_exc(limit=-3)}", flush=True)

    for slice_seed in range(start, start + -(-count // size)):
        config = settings(CONFIG, derandomize=False, max_examples=size)
        seed(slice_seed)(config(given(programs)(one)))()
        jax64().clear_caches()
        print(f"{time.time() - began:.0f} s, seed {slice_seed}: {dict(counts)}", flush=True)
    print(sorted(steps.items()))
    for (name, reason), times in sorted(refusals.items()):
        if times:
            print(f"{times} x {name} refused: {reason}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3]), *sys.argv[3:])
