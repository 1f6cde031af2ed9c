"""All LaTeX is rendered by KaTeX, in strict mode and trusting no command.

``.ci/run`` installs KaTeX and says where with NODE_MODULES; by hand, ``npm ci`` in ``.ci/node``
does. Without either the test is skipped.
"""

import json
import os
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import sympy
from corpus import CORPUS, run, symbols_of, wrt_names
from hostile import NAMES
from hypothesis import given, settings
from random_settings import CONFIG
from sympy import Matrix

import sympy_einsum as se
import sympy_einsum.numpy as snp
from sympy_einsum import testing

KATEX = Path(__file__).parents[2] / ".ci" / "node"
MODULES = Path(os.environ.get("NODE_MODULES", KATEX / "node_modules"))
# Where the place is given, KaTeX has to be there.
needs_katex = pytest.mark.skipif(
    "NODE_MODULES" not in os.environ
    and not (shutil.which("node") and (MODULES / "katex").is_dir()),
    reason="KaTeX isn't installed; see .ci/node",
)
NOTATIONS = ("auto", "matrix", "index", "einsum", "star")


def refused(formulas):
    """Return KaTeX's messages about formulas it can't render, all in one process."""
    process = subprocess.run(
        ["node", KATEX / "check.mjs"],
        input=json.dumps([{"name": name, "latex": latex} for name, latex in formulas]),
        capture_output=True,
        encoding="utf-8",
        env={**os.environ, "NODE_MODULES": str(MODULES)},
    )
    assert process.returncode in (0, 1), process.stderr
    assert process.stdout.splitlines()[-1].startswith(f"{len(formulas)} formulas")
    return process.stdout if process.returncode else ""


def formulas_of(name, e):
    """Return the LaTeX of an expression in each notation."""
    for notation in NOTATIONS:
        try:
            yield f"{name}, {notation}", se.latex(e, notation=notation)
        except se.UnsupportedError:
            assert notation == "matrix"
    yield f"{name}, stock", sympy.latex(e)


def problems():
    for problem in CORPUS:
        variables = symbols_of(problem)
        function = run(problem["code"], snp, variables)
        derivative = se.diff(function, *[variables[name] for name in wrt_names(problem)])
        for label, e in (("function", function), ("derivative", derivative)):
            yield from formulas_of(f"{problem['name']}, {label}", e)


def random_programs():
    made = []

    @given(testing.programs())
    @settings(CONFIG, max_examples=60)
    def collect(program):
        made.append(program)

    collect()
    for number, program in enumerate(made):
        yield from formulas_of(f"program {number}", program.result)
        derivative = se.diff(program.result, program.tensors[0])
        yield from formulas_of(f"program {number}, derivative", derivative)


def named(templates):
    """Return names of tensors; SymPy's own symbols are printed by SymPy, which escapes nothing."""
    for number, template in enumerate(templates):
        A = se.TensorSymbol(template.replace("{{", "{").replace("}}", "}"), (3, 3))
        made = [A, 2 * se.exp(A) * A**2, se.inv(A).T, A @ A, A[0, 1], A.trace() ** 2, se.logdet(A)]
        made += [se.einsum("ij,jk,ki->k", A, A, A), se.diff(A @ A, A), A.sum(axis=0)]
        for place, e in enumerate(made):
            yield from formulas_of(f"name {number}, expression {place}", e)


def hostile_names():
    return named(NAMES)


def containers():
    A, x = se.TensorSymbol("A", (3, 3)), se.TensorSymbol("x", 3)
    f = x @ A @ x
    for number, e in enumerate(
        ([f, A @ x], (f,), {x: se.diff(f, x)}, Matrix([[f, 1], [1 / f, sympy.sin(f)]]), [[A, x]])
    ):
        yield from formulas_of(f"container {number}", e)


def joined():
    x, y = se.tensors("x y", 3)
    A = se.TensorSymbol("A", (3, 3))
    made = [np.concatenate([x, y]), np.vstack([A, A.T]), np.stack([x, A @ y], axis=1)]
    made += [np.roll(x, 1), np.roll(A, 1, axis=1), np.cross(x, y) @ x, np.block([[A, A.T], [A, A]])]
    for number, e in enumerate(made):
        yield from formulas_of(f"joined {number}", e)


@pytest.mark.slow
@needs_katex
@pytest.mark.parametrize(
    "source",
    [
        joined,
        problems,
        random_programs,
        hostile_names,
        containers,
    ],
)
def test_katex_renders(source):
    formulas = list(source())
    assert max(Counter(name for name, _ in formulas).values()) == 1
    found = refused(formulas)
    assert not found, found


@needs_katex
def test_katex_is_strict():
    bad = [
        ("untrusted", r"\href{javascript:alert(1)}{x}"),
        ("image", r"\includegraphics{x}"),
        ("double subscript", "x_1_2"),
        ("unknown", r"\nosuchcommand"),
        ("unbalanced", r"\left(x"),
        ("comment", "a % b"),
    ]
    found = refused([*bad, ("good", r"A^{\top} x")])
    assert [line for line in found.splitlines() if line.endswith(" failures")] == [
        f"{len(bad) + 1} formulas, {len(bad)} failures"
    ]
