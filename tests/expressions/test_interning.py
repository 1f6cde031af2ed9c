"""One object for equal nodes: built twice, copied, pickled, or built by another process."""

import copy
import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest
import sympy
from node_samples import SAMPLES, A, X, inside, sample, v, x
from oracles import m, n

import sympy_einsum as se


def test_same_node_same_object():
    assert se.TensorSymbol("x", (n,)) is x
    assert (X @ v) is (X @ v)
    assert se.einsum("ij,j->i", X, v) is se.einsum("ab,b->a", X, v)
    assert se.einsum("ij,j->i", X, v) is se.einsum("j,ij->i", v, X)
    assert se.TensorSymbol("x", (m,)) is not x
    assert se.TensorSymbol("x", (m,)) != x
    assert se.TensorSymbol("x", (n,), positive=True) != x
    assert se.Ones(n) is se.Ones(n)


@sample
def test_copies(name):
    e = SAMPLES[name]
    for duplicate in (copy.copy(e), copy.deepcopy(e), copy.deepcopy([e])[0]):
        assert duplicate == e
        if isinstance(e, se.TensorExpr):
            assert duplicate is e
    assert copy.deepcopy(inside(name)) == inside(name)
    assert copy.copy(inside(name)) == inside(name)


@sample
@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_pickle(name, protocol):
    e = SAMPLES[name]
    back = pickle.loads(pickle.dumps(e, protocol))
    assert back == e
    if isinstance(e, se.TensorExpr):
        assert back is e
    stock = pickle.loads(pickle.dumps(inside(name), protocol))
    assert stock == inside(name)
    assert hash(stock) == hash(inside(name))
    assert stock - inside(name) == 0


SCRIPT = """
import pickle, sys
from sympy import symbols
import sympy, sympy_einsum as se
n, m = symbols("n m", integer=True, positive=True)
A, x, v = se.TensorSymbol("A", (n, n)), se.TensorSymbol("x", (n,)), se.TensorSymbol("v", (n,))
t = sympy.Symbol("t")
f = x @ A @ x + (se.exp(A @ v) * x).sum()
exprs = [f, se.hessian(sympy.sin(f) * t + f**2, x), sympy.sin(f) * t + f**2]
sys.stdout.buffer.write(pickle.dumps((exprs, [sympy.srepr(e) for e in exprs])))
"""


def run_with_hash_seed(seed):
    root = str(Path(se.__file__).parent.parent)
    path = os.pathsep.join([root, *filter(None, [os.environ.get("PYTHONPATH")])])
    env = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": path}
    done = subprocess.run([sys.executable, "-c", SCRIPT], env=env, capture_output=True, check=True)
    return pickle.loads(done.stdout)


def test_expressions_from_other_processes_are_the_same_objects():
    """Canonical order doesn't depend on the hash seed, and unpickling finds existing nodes."""
    (first, first_texts), (second, second_texts) = map(run_with_hash_seed, ("1", "2"))
    assert first_texts == second_texts
    assert first == second
    assert first[1] is second[1]
    f = x @ A @ x + (se.exp(A @ se.TensorSymbol("v", (n,))) * x).sum()
    assert first[0] == f
    assert [sympy.srepr(e) for e in first] == first_texts
