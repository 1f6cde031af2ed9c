"""Which module may import which, and what the package must never do."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "sympy_einsum"
SOURCES = sorted(PACKAGE.rglob("*.py"))

# From the ground up: a module imports only what stands before it.
LAYERS = [
    "errors",
    "traversal",
    "indices",
    "lengths",
    "ordering",
    "contraction",
    "piecewise",
    "special_functions",
    "functions",
    "nodes",
    "tensors",
    "einsum",
    "elementwise",
    "conditions",
    "choices",
    "linalg",
    "reshape",
    "softmax",
    "indexing",
    "operations",
    "pairs",
    "scalar_functions",
    "cost_model",
    "products",
    "properties",
    "diagonals",
    "rules.matrices",
    "rules.nesting",
    "rules.inverses",
    "rules.powers",
    "rules.softmax",
    "rules.stable_table",
    "rules.stable",
    "rules.signs",
    "rules.symmetry",
    "rules.distribution",
    "rules.entries",
    "rules.sums",
    "rules",
    "simplify",
    "differentiation",
    "expansion",
    "explicit",
    "convert.trees",
    "convert.matrices",
    "convert.indexed",
    "convert.arrays",
    "convert",
    "methods",
    "numpy",
    "matrixcalculus.reading",
    "matrixcalculus.declarations",
    "matrixcalculus.types",
    "matrixcalculus.operators",
    "matrixcalculus.functions",
    "matrixcalculus.program",
    "matrixcalculus",
    "parsing",
    "printing.forms",
    "printing.algebra",
    "printing.matrices",
    "printing.slices",
    "printing.norms",
    "printing.functions",
    "printing.entries",
    "printing.naming",
    "printing.notation",
    "printing.rendering",
    "printing.latex",
    "printing.pretty",
    "printing.mathml",
    "printing.chains",
    "printing.code",
    "printing",
    "drawing",
    "factoring",
    "instructions",
    "reuse",
    "fusion",
    "splitting",
    "pairwise",
    "plan",
    "backends.scalars",
    "backends.special",
    "backends.base",
    "backends.numpy_backend",
    "backends.jax_backend",
    "backends.cupy_backend",
    "backends.torch_backend",
    "backends.dask_backend",
    "backends",
    "signature",
    "source",
    "stock",
    "bounds",
    "checks",
    "lambdify",
    "verification",
    "",
    "__main__",
]
# What knows nothing of what, although the order would allow it.
STRANGERS = [
    ("rules", {"operations", "reshape", "simplify"}),
    ("simplify", {"operations"}),
    ("backends", {"plan", "nodes", "tensors", "einsum", "elementwise", "operations"}),
    ("pairwise", {"plan", "backends", "operations", "differentiation"}),
    ("plan", {"backends", "printing", "parsing", "numpy", "differentiation"}),
    ("lambdify", {"printing", "parsing", "numpy", "differentiation"}),
    ("printing", {"differentiation", "operations", "methods", "numpy"}),
    ("drawing", {"differentiation", "operations", "methods", "numpy", "printing"}),
    ("convert", {"differentiation", "simplify", "printing", "parsing", "plan", "lambdify"}),
    ("matrixcalculus", {"differentiation", "methods", "numpy", "parsing"}),
    ("numpy", {"differentiation", "methods"}),
]


def name_of(path):
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(part for part in parts if part != "__init__")


def imported(path):
    """The modules of the package that a file imports, as names within the package."""
    module = name_of(path)
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level:
            parts = package.split(".") if package else []
            base = parts[: len(parts) - (node.level - 1)]
            if node.module:
                found.add(".".join([*base, *node.module.split(".")]))
            else:
                found.update(".".join([*base, alias.name]) for alias in node.names)
    return found


@pytest.mark.parametrize("path", SOURCES, ids=name_of)
def test_imports_point_down(path):
    place = LAYERS.index(name_of(path))
    above = {module for module in imported(path) if LAYERS.index(module) >= place}
    assert not above


@pytest.mark.parametrize(("module", "strangers"), STRANGERS, ids=[m for m, _ in STRANGERS])
def test_passes_do_not_know_each_other(module, strangers):
    for path in SOURCES:
        if name_of(path).split(".")[0] == module:
            assert not strangers & {found.split(".")[0] for found in imported(path)}


@pytest.mark.parametrize("path", SOURCES, ids=name_of)
def test_imports_stand_at_the_top(path):
    """Local imports are how cycles are hidden."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    inner = [
        node
        for function in ast.walk(tree)
        if isinstance(function, (ast.FunctionDef, ast.ClassDef))
        for node in ast.walk(function)
        if isinstance(node, (ast.Import, ast.ImportFrom))
    ]
    assert not inner


def test_text_is_run_in_one_place_only():
    calls = [
        name_of(path)
        for path in SOURCES
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in {"eval", "exec", "__import__"}
    ]
    assert calls == ["lambdify"]


def test_optional_libraries_are_not_loaded():
    code = (
        "import sys, sympy_einsum as se\n"
        "x = se.TensorSymbol('x', (3,))\n"
        "se.lambdify([x], se.gradient(se.sigmoid(x).sum(), x))\n"
        "print(sorted({'scipy', 'jax', 'torch', 'cupy', 'dask', 'sklearn'} & set(sys.modules)))"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=PACKAGE.parent
    )
    assert run.stdout.strip() == "[]"
