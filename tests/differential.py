"""Random programs of the whole language against JAX: values, Jacobians in both modes, gradients and
Hessians, on every backend.

``python tests/differential.py COUNT [SEED]`` runs many and counts what came out.
"""

from __future__ import annotations

import sys
import time
import traceback
import warnings
from collections import Counter

import numpy as np
from hypothesis import given, seed, settings
from libraries import EVERY
from oracles import assert_close, jax64
from random_settings import CONFIG

import sympy_einsum as se
import sympy_einsum.numpy as snp
from sympy_einsum import testing

TOLERANCE = 1e-7
# Each program is compiled by JAX and run once. With these options XLA is quick and sometimes wrong:
# what doesn't agree is compiled once more without.
QUICKLY = {"xla_backend_optimization_level": 0, "xla_cpu_use_fusion_emitters": False}
NAMES = ("value", "Jacobian, reverse", "Jacobian, forward", "gradient", "Hessian")


class NoReferenceError(Exception):
    """JAX's values aren't finite."""


def references(made, options=QUICKLY):
    """The same as ``expressions_of``, by JAX."""
    jax = jax64()
    xp = testing.Namespace(jax.numpy, jax.scipy.special)
    x, *rest = made.arrays()
    count = len(made.tensors)

    def last(x, rest):
        return made.run(xp, [x, *rest])[-1]

    def total(x, rest):
        return sum(xp.mean(value) for value in made.run(xp, [x, *rest])[count:])

    def everything(x, rest):
        slope, slopes = jax.grad(total), jax.jacrev(last)
        return last(x, rest), slopes(x, rest), slope(x, rest), jax.jacfwd(slope)(x, rest)

    compiled = jax.jit(everything).lower(x, rest).compile(compiler_options=options)
    value, jacobian, gradient, hessian = map(np.asarray, compiled(x, rest))
    if not all(np.all(np.isfinite(own)) for own in (value, jacobian, gradient, hessian)):
        raise NoReferenceError
    return value, jacobian, jacobian, gradient, hessian


def expressions_of(made):
    """A program's value and derivatives by its first tensor."""
    x, count = made.tensors[0], len(made.tensors)
    total = sum(snp.mean(value) for value in made.values[count:])
    return [
        made.result,
        se.jacobian(made.result, x, mode="reverse"),
        se.jacobian(made.result, x, mode="forward"),
        se.gradient(total, x),
        se.hessian(total, x),
    ]


def check(made, backends=("numpy",)):
    """What each backend did: it agreed, or refused by name; a wrong value fails."""
    try:
        return compare(made, backends, references(made))
    except AssertionError:
        return compare(made, backends, references(made, {}))


def compare(made, backends, expected):
    """What each backend did, compared with references."""
    exprs = expressions_of(made)
    found = {}
    for name in backends:
        library = EVERY[name]()
        try:
            function = se.lambdify(made.tensors, exprs, name)
            results = function(*map(library.into, made.arrays()))
        except se.UnsupportedError as error:
            found[name] = str(error)
            continue
        for label, one, other in zip(NAMES, results, expected, strict=True):
            assert_close(library.back(one), other, TOLERANCE, f"{name}, {label} of {made!r}")
        found[name] = ""
    return found


def backends_for(number):
    """NumPy and PyTorch always, what takes longer less often."""
    every = {"jax": 20, "dask": 10, "numba": 200}
    return ["numpy", "torch", *(name for name, often in every.items() if number % often == 0)]


def main(count, start=0):
    """Run so many, in slices with a seed each."""
    warnings.simplefilter("ignore")
    counts, steps, refusals, size = Counter(), Counter(), Counter(), 100
    began = time.time()

    def one(made):
        counts["programs"] += 1
        steps.update(step.name for step in made.steps)
        refusals.update(made.refused)
        try:
            for name, reason in check(made, backends_for(counts["programs"])).items():
                counts[f"{name}: {'refused' if reason else 'agrees'}"] += 1
                refusals[name, reason] += bool(reason)
        except NoReferenceError:
            counts["no reference"] += 1
        except (Exception, RecursionError):
            counts["WRONG"] += 1
            print(f"--- seed {slice_seed}\n{made!r}\n{traceback.format_exc(limit=-3)}", flush=True)

    for slice_seed in range(start, start + -(-count // size)):
        config = settings(CONFIG, derandomize=False, max_examples=size)
        seed(slice_seed)(config(given(testing.programs())(one)))()
        print(f"{time.time() - began:.0f} s, seed {slice_seed}: {dict(counts)}", flush=True)
    print(sorted(steps.items()))
    for (name, reason), times in sorted(refusals.items()):
        if times:
            print(f"{times} x {name} refused: {reason}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
