"""Static types: of typical calls, and errors that type checkers report."""

from __future__ import annotations

import os
import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import stubs

import sympy_einsum as se

ROOT = Path(__file__).parent.parent
OPENING = """\
import numpy as np
import sympy
import sympy_einsum as se
import sympy_einsum.numpy as snp

A = se.TensorSymbol("A", (3, 3))
x = se.TensorSymbol("x", (3,))
f = x @ A @ x
"""
TENSOR = "TensorExpr | Any"
CALLS = {
    "A": "TensorSymbol",
    "A.order": "int",
    "A.sum(axis=0)": TENSOR,
    "A @ A": TENSOR,
    "A * 2 - 1": TENSOR,
    "2 * A": TENSOR,
    "1 - A @ A": TENSOR,
    "A.shape": "tuple[Any, ...]",
    "A.T": TENSOR,
    "A[0, 1:]": TENSOR,
    "A > 0": TENSOR,
    "A.inv()": TENSOR,
    "A.trace()": TENSOR,
    "A.diff(A)": TENSOR,
    "A.diff(A, trace=True)": f"tuple[{TENSOR}, Trace]",
    "A.transpose(1, 0)": TENSOR,
    "A.reshape(9)": TENSOR,
    "A.norm()": TENSOR,
    "se.einsum('ij,j->i', A, x)": TENSOR,
    "se.sin(A)": TENSOR,
    "se.exp(A)": TENSOR,
    "se.softmax(x)": TENSOR,
    "se.inv(A)": TENSOR,
    "se.where(x > 0, x, 0)": TENSOR,
    "se.gradient(f, x)": TENSOR,
    "se.gradient(f, [x, A])": f"list[{TENSOR}]",
    "se.gradient(f, x, trace=True)": f"tuple[{TENSOR}, Trace]",
    "se.hessian(f, x)": TENSOR,
    "se.hessian(f, [x, A])": f"list[list[{TENSOR}]]",
    "se.jacobian(A @ x, x)": TENSOR,
    "se.diff(f, x, 2)": TENSOR,
    "se.diff(f, x, trace=True)": f"tuple[{TENSOR}, Trace]",
    "se.hvp(f, x, x)": TENSOR,
    "se.vjp(A @ x, [x, A], x)": f"list[{TENSOR}]",
    "se.linearize(A @ x, x)": "LinearMap",
    "se.simplify(f)": TENSOR,
    "se.simplify([A, x])": f"Sequence[{TENSOR}]",
    "se.equal(A, A.T)": "bool | None",
    "se.compress(A)": "Compressed",
    "se.lambdify([A, x], A @ x)": "CompiledFunction",
    "se.lambdify([A, x], A @ x).source": "str",
    "se.lambdify([A, x], A @ x).cost({}).flops": "int",
    "se.parse('x+y')": TENSOR,
    "se.Problem(f, x, [x >= 0])": "Problem",
    "se.pack([A, x])": "Packed",
    "se.pack([A, x]).hessian(f)": "Blocks",
    "se.Problem(f, x).solve({A: [[1.0]]}, method='SLSQP').value": "float",
    "se.parse_program('declare x 1 expression x').symbols": f"dict[str, {TENSOR}]",
    "se.parse_python('def f(x): return x').args": "tuple[TensorSymbol | Any, ...]",
    "se.written(A @ x)": "Written",
    "se.svd(A).U": TENSOR,
    "snp.exp(A)": TENSOR,
    "snp.greater(A, 0)": TENSOR,
    "snp.abs(A)": TENSOR,
    "snp.linalg.inv(A)": TENSOR,
    "snp.fft.rfft(x)": "ComplexTensor",
    "abs(snp.fft.rfft(x))": TENSOR,
    "se.codegen([A, x], A @ x)": "str",
    "se.latex(A)": "str",
    "se.to_dot(A)": "str",
    "se.from_matrix(sympy.MatrixSymbol('M', 3, 3))": TENSOR,
    "snp.sum(A, axis=0)": TENSOR,
    "snp.concatenate([x, x])": TENSOR,
    "snp.linalg.solve(A, x)": TENSOR,
    "snp.max(A, axis=1)": TENSOR,
}
WRONG = [
    "A.sum(axes=0)",
    "A.swapaxes(0)",
    "A.inv(2)",
    "A.transpose('0')",
    "A.diff(A, mod='reverse')",
    "A.order()",
    "se.TensorSymbol((3, 3), 'A')",
    "se.gradient(f)",
    "se.hessian(f, x, order=2)",
    "se.vjp(A @ x, x)",
    "se.hvp(f, x)",
    "se.diff(f, x, trace='yes')",
    "se.simplify(A, trace='yes')",
    "se.equal(A)",
    "se.softmax(x, '0')",
    "se.lambdify([A], A, bakend='jax')",
    "se.lambdify([A], A, backend=1)",
    "se.codegen([A], A, name=3)",
    "se.parse(3)",
    "se.parse('x', declarations=3)",
    "se.lambdify([A], A).costs",
    "snp.linalg.inv(A, 2)",
    "snp.linalg.inverse(A)",
    "snp.summ(A)",
    "se.to_dot(A, knd='network')",
    "se.einsumm('ij->ji', A)",
    "snp.sum(A, axis='0')",
    "snp.concatenate([x], axis='0')",
]


SCRIPTS = sorted((ROOT / "tests" / "data" / "scripts").glob("*.py"))


def by_mypy(*scripts: Path, strict: bool = False) -> str:
    pytest.importorskip("mypy")
    command = [sys.executable, "-m", "mypy", "--config-file=", "--ignore-missing-imports", *scripts]
    if strict:
        command += ["--strict", "--follow-imports=silent"]
    environment = {"MYPYPATH": str(ROOT), "PATH": ""}
    run = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=environment)
    return run.stdout


def by_pyright(*scripts: Path, strict: bool = False) -> str:
    if not shutil.which("pyright"):
        pytest.skip("pyright isn't installed")
    # On Python's own path, as an installed package is: names that it doesn't export are reported.
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = ["pyright", "--pythonpath", sys.executable, *(script.name for script in scripts)]
    folder = scripts[0].parent
    run = subprocess.run(command, capture_output=True, text=True, cwd=folder, env=environment)
    return run.stdout


def short(text: str) -> str:
    """Return a type with short names."""
    text = re.sub(r"\b(?:\w+\.)+(\w+)", r"\1", text.replace("typing.", ""))
    return re.sub(r"Union\[(\w+), (\w+)\]", r"\1 | \2", text)


CHECKERS = pytest.mark.parametrize("check", [by_mypy, by_pyright])


@pytest.mark.slow
@CHECKERS
def test_types_of_calls(check, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(OPENING + "".join(f"reveal_type({call})\n" for call in CALLS))
    lines = [line for line in check(script).splitlines() if re.search("Revealed|Type of", line)]
    found = [re.search(r'(?:is|Revealed type is) "([^"]*)"$', line)[1] for line in lines]
    assert dict(zip(CALLS, map(short, found), strict=True)) == CALLS


@pytest.mark.slow
@CHECKERS
def test_wrong_calls_are_flagged(check, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(OPENING + "".join(f"{call}\n" for call in WRONG))
    flagged = {int(k) for k in re.findall(r"script\.py:(\d+):.* error:", check(script))}
    first = OPENING.count("\n") + 1
    assert [call for k, call in enumerate(WRONG, first) if k not in flagged] == []


@pytest.mark.slow
@CHECKERS
def test_ordinary_scripts_pass_strict_checks(check, tmp_path):
    """Every script of tests/data/scripts type-checks, apart from SymPy's missing types."""
    for script in SCRIPTS:
        shutil.copy(script, tmp_path)
    found = check(*(tmp_path / script.name for script in SCRIPTS), strict=True)
    assert [line for line in found.splitlines() if "error" in line and ".py:" in line] == []


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_ordinary_scripts_run(script):
    runpy.run_path(str(script))


@pytest.mark.parametrize("path", stubs.stubs(), ids=lambda path: path.name)
def test_stubs_are_made_from_the_rows(path):
    assert path.read_text(encoding="utf-8") == stubs.stubs()[path], "run python tests/stubs.py"


def test_completion_shows_public_names():
    assert set(dir(se)) == {*se.__all__, "max", "min", "numpy", "sum", "__version__"}
    assert re.match(r"\d+\.\d+", se.__version__)
