"""No character of any output depends on the hashes of a process.

``python tests/test_hash_seeds.py`` prints the digests of all problems, to be compared between
versions of Python too.
"""

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import sympy
from corpus import CORPUS, run, symbols_of, wrt_names

import sympy_einsum as se
import sympy_einsum.numpy as snp
from sympy_einsum.compiler.backends import BACKENDS

EVERY = 5
SEEDS = ("0", "1", "271828")


def outputs(problem):
    """Every text that is made of a problem."""
    variables = symbols_of(problem)
    function = run(problem["code"], snp, variables)
    derivative = se.diff(function, *[variables[name] for name in wrt_names(problem)])
    arguments = list(variables.values())
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
    """A digest for each problem."""
    found = {}
    for problem in CORPUS[::every]:
        try:
            text = "\n".join(outputs(problem))
        except TypeError:  # one of SciPy's functions of a stock scalar
            continue
        found[problem["name"]] = hashlib.sha256(text.encode()).hexdigest()
    return found


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
    json.dump(digests(int((sys.argv[1:] or ["1"])[0])), sys.stdout, indent=1)
