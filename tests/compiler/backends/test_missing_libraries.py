"""An environment with the requirements only: missing libraries are reported early."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import sympy_einsum as se
from sympy_einsum.compiler.backends import BACKENDS

REQUIREMENTS = ("numpy", "numpy.libs", "sympy", "mpmath", "opt_einsum", "lark")
CODE = """
import json, sys
import sympy, sympy_einsum as se
from sympy_einsum.compiler.backends import BACKENDS
x = se.TensorSymbol("x", (3,))
found = {}
for backend in BACKENDS:
    for name, expr in (("plain", 2 * x), ("special", se.erf(x))):
        try:
            se.lambdify([x], expr, backend)
            found[f"{backend} {name}"] = "fine"
        except se.UnsupportedError as error:
            found[f"{backend} {name}"] = str(error)
for name, call in (("stock", lambda: sympy.lambdify([x], se.erf(x), "numpy")),
                   ("codegen", lambda: se.codegen([x], se.erf(x), "torch")),
                   ("auto", lambda: se.lambdify([x], 2 * x, "auto"))):
    try:
        call()
        found[name] = "fine"
    except se.UnsupportedError as error:
        found[name] = str(error)
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """Return the message of lambdify where only the requirements are installed."""
    packages = tmp_path_factory.mktemp("packages")
    here = Path(se.__file__).parent
    (packages / "sympy_einsum").symlink_to(here)
    for name in REQUIREMENTS:
        if name == "numpy.libs":
            origin = Path(importlib.util.find_spec("numpy").origin).parent.parent / name
            if not origin.exists():
                continue
        else:
            origin = Path(importlib.util.find_spec(name).origin).parent
        (packages / name).symlink_to(origin)
    run = subprocess.run(
        [sys.executable, "-S", "-c", CODE],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(packages)},
        cwd=packages,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


# By backend the package that it needs, and the extra that installs it.
PACKAGES = {name: BACKENDS[name].imports[0].split()[1].partition(".")[0] for name in BACKENDS}
EXTRAS = {
    name: (package, BACKENDS[name].extras.get(package, package))
    for name, package in PACKAGES.items()
    if name != "numpy"
}


@pytest.mark.parametrize("backend", EXTRAS)
@pytest.mark.parametrize("kind", ["plain", "special"])
def test_a_missing_library_is_named_with_its_extra(found, backend, kind):
    package, extra = EXTRAS[backend]
    assert f"needs {package}, which isn't installed" in found[f"{backend} {kind}"]
    assert f"pip install 'sympy_einsum[{extra}]'" in found[f"{backend} {kind}"]


def test_numpy_needs_scipy_for_special_functions_only(found):
    assert found["numpy plain"] == "fine"
    assert "needs scipy" in found["numpy special"]
    assert "pip install 'sympy_einsum[scipy]'" in found["numpy special"]


def test_code_for_elsewhere_needs_nothing(found):
    assert found["codegen"] == "fine"
    assert found["auto"] == "fine"


def test_the_extras_exist():
    tomllib = pytest.importorskip("tomllib")
    project = Path(se.__file__).parent.parent / "pyproject.toml"
    extras = set(tomllib.loads(project.read_text())["project"]["optional-dependencies"])
    assert {*(extra for _, extra in EXTRAS.values()), "scipy"} <= extras


def test_a_library_that_cannot_be_imported(monkeypatch):
    """The library is installed, but broken."""
    monkeypatch.setitem(sys.modules, "dask.array", None)
    x = se.TensorSymbol("x", (3,))
    with pytest.raises(se.UnsupportedError, match=r"sympy_einsum\[dask\]"):
        se.lambdify([x], se.exp(x), "dask")


def test_a_library_that_does_not_load(tmp_path, monkeypatch):
    """... since one of the system's that it needs is missing."""
    (tmp_path / "cupy.py").write_text("raise ImportError('no libcublas')")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "cupy", raising=False)
    x = se.TensorSymbol("x", (3,))
    with pytest.raises(se.UnsupportedError, match="cupy can't be loaded: no libcublas"):
        se.lambdify([x], se.sin(2 * x) + 1, "cupy")
