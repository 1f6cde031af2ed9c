"""Common calls raise no warning under ``-W error``."""

import subprocess
import sys
from pathlib import Path

import pytest
from libraries import EVERY

START = """
import numpy as np, sympy
from sympy import symbols
import sympy_einsum as se, sympy_einsum.numpy as snp
m, n = symbols("m n", integer=True, positive=True)
A, x = se.TensorSymbol("A", (m, n)), se.TensorSymbol("x", n)
f = (se.tanh(A @ x) ** 2).sum() + se.logsumexp(x) + (x[1:] * x[:-1]).sum()
g = se.gradient(f, x)
given = np.ones((3, 2)), np.ones(2)
"""
SESSIONS = {
    "derivatives": """
se.hessian(f, x), se.jacobian(A @ x, x), se.jvp(f, x, x), se.vjp(A @ x, x, se.TensorSymbol("u", m))
sympy.diff(sympy.sin(f), x), sympy.simplify(f), se.simplify(g), se.equal(f, f + 1)
assert se.check_derivative(f, x) < 1e-5
""",
    "texts": """
for e in (f, g, se.hessian(f, x)):
    str(e), repr(e), sympy.srepr(e), se.pretty(e), sympy.latex(e), sympy.pretty(e)
    sympy.mathml(e, printer="presentation"), se.to_dot(g), g._repr_latex_()
    for notation in ("auto", "index", "einsum"):
        se.latex(e, notation=notation)
""",
    "languages": """
se.parse("x'*A*x"), se.parse("#(ij,j->i;A,x)")
se.parse_program("declare A 2 b 1 expression A *(ij,j->i) sin(b) derivative wrt b")
read = se.parse_python("def f(x, y):\\n    return x * np.sin(y)", shapes={"x": (), "y": (3,)})
se.codegen(read, kind="jvp")
""",
    "codegen": """
for name in ("numpy", "jax", "torch", "dask", "cupy"):
    se.codegen([A, x], g, backend=name)
""",
    "conversions": """
B = se.TensorSymbol("B", (n, n))
se.to_matrix(B @ x), se.to_array(B @ x), se.to_indexed(B @ x)
g.subs({m: 2, n: 2}).as_explicit()
M = sympy.MatrixSymbol("M", n, n)
se.from_matrix(sympy.Trace(M * M)), se.from_indexed(se.to_indexed(B @ x))
""",
    "NumPy's names": """
for e in (np.sum(np.exp(x)), np.linalg.norm(x), np.sort(x), np.cumsum(x), np.fft.rfft(x).real,
          np.where(np.greater(x, 0), x, 1), np.concatenate([x, x]), np.einsum("ij,j->i", A, x),
          np.max(A, axis=0), np.median(x), snp.pad(x, 1), np.convolve(x, x)):
    se.lambdify([A, x], e)(*given)
""",
    "what isn't chosen, and one over what overflows": """
z = np.array([-1.0, 0.0, 2.0, 800.0])
for e in (np.where(x > 0, np.sqrt(x), 0), np.where(np.equal(x, 0), 1, np.sin(x) / x),
          np.where(x < 700, np.exp(x), 0), np.log(1 - np.exp(-1 - x**2)),
          1 / (np.exp(x - 0.5) - 1)):
    g = se.gradient(e.sum(), x)
    for value in se.lambdify([x], [e, g, se.gradient(g.sum(), x)])(z):
        assert not np.isnan(value[[0, 2, 3]]).any()
""",
    "stock lambdify": "sympy.lambdify([A, x], f)(*given), sympy.lambdify([A, x], g, cse=True)",
    "pickle": "import pickle, copy; pickle.loads(pickle.dumps([f, g])), copy.deepcopy(f)",
    "semirings": 'se.lambdify(A, A @ A.T, semiring="min-plus")(given[0])',
    "testing": """
from hypothesis import given, settings
from sympy_einsum import testing
given(testing.expressions())(settings(testing.SETTINGS, max_examples=3)(lambda e: None))()
""",
    "the magic": """
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
shell.run_line_magic("load_ext", "sympy_einsum")
shell.run_cell_magic("einsum", "--wrt x", "x'*A*x")
""",
    "the command line": """
from sympy_einsum.commandline import main
main(["derive", "x'*A*x", "--wrt", "x", "--check"])
""",
}


def quiet(code):
    """Run in a process in which each warning is an error."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", START + code],
        capture_output=True,
        text=True,
        timeout=250,
        cwd=Path(__file__).parent.parent,
    )
    assert not done.returncode, done.stderr[-3000:]
    assert "Warning" not in done.stderr, done.stderr[-3000:]


@pytest.mark.slow
def test_a_session():
    """All of them in one session."""
    quiet("\n".join(SESSIONS.values()))


IN_THEIR_ARRAYS = {
    "torch": "import torch; given = tuple(map(torch.from_numpy, given))",
    "cupy": "import cupy; given = tuple(map(cupy.asarray, given))",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", EVERY)
def test_backends(name):
    EVERY[name]()
    call = f"print(se.lambdify([A, x], [f, g], {name!r})(*given))"
    quiet(f"{IN_THEIR_ARRAYS.get(name, '')}\n{call}")
