"""No output depends on the hash seed of a process. ``python tests/test_hash_seeds.py`` prints the
digests of all problems and of some hundred random programs, also to compare versions of Python.

``python tests/test_hash_seeds.py`` prints the digests of all problems and of some hundred random
programs, to be compared between versions of Python too.
"""

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import sympy
from corpus import CORPUS, run, symbols_of, wrt_names
from hypothesis import given, seed, settings

import sympy_einsum as se
import sympy_einsum.numpy as snp
from sympy_einsum import testing
from sympy_einsum.compiler.backends import BACKENDS

EVERY, PROGRAMS = 5, 240
SEEDS = ("0", "1", "271828")


def outputs(arguments, function, derivative):
    """Return every text made of a function and its derivative."""
    for e in (function, derivative):
        yield str(e)
        yield sympy.srepr(e)
        for notation in ("auto", "index", "einsum"):
            yield se.latex(e, notation=notation)
        yield se.pretty(e)
        yield sympy.latex(e)
        yield se.to_dot(e) if isinstance(e, se.TensorExpr) else ""
    for name in BACKENDS:
        try:
            yield se.lambdify(arguments, [function, derivative], name).source
        except (se.UnsupportedError, ImportError) as error:
            yield str(error)
    yield se.codegen(arguments, derivative)


def digests(every):
    """Return a digest for each problem."""
    found = {}
    for problem in CORPUS[::every]:
        variables = symbols_of(problem)
        try:
            function = run(problem["code"], snp, variables)
        except TypeError:  # one of SciPy's functions of a stock scalar
            continue
        derivative = se.diff(function, *[variables[name] for name in wrt_names(problem)])
        found[problem["name"]] = digest(variables.values(), function, derivative)
    return found


def digest(arguments, function, derivative):
    text = "\n".join(outputs(list(arguments), function, derivative))
    return hashlib.sha256(text.encode()).hexdigest()


def digests_of_programs():
    """Return digests of random programs, by their text, and their gradients."""
    found = {}

    @seed(0)
    @settings(testing.SETTINGS, max_examples=PROGRAMS, database=None)
    @given(testing.programs())
    def draw(made):
        total = sum([snp.mean(value) for value in made.values[len(made.tensors) :]], sympy.S.Zero)
        derivative = se.gradient(total, made.tensors[0])
        found[repr(made)] = digest(made.tensors, made.result, derivative)

    draw()
    return found


@pytest.mark.slow
def test_hashes_change_no_character():
    here = Path(__file__)
    processes = [
        subprocess.Popen(
            [sys.executable, here, str(EVERY)],
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": f"{here.parent.parent}"},
        )
        for seed in SEEDS
    ]
    first, *others = [json.loads(process.communicate(timeout=250)[0]) for process in processes]
    assert len(first) >= 10
    for other in others:
        assert other == first


if __name__ == "__main__":
    every = [int(argument) for argument in sys.argv[1:]]
    found = digests(*every) if every else {**digests(1), **digests_of_programs()}
    json.dump(found, sys.stdout, indent=1)
