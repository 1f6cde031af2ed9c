"""The page on other libraries: both sides of its tables have equal values."""

from __future__ import annotations

import math
import re
from pathlib import Path

import jax
import numpy as np
import pytest
import scipy.linalg
import scipy.special
from jax import numpy as jnp
from oracles import assert_close

import sympy_einsum as se
import sympy_einsum.numpy
from sympy_einsum.core import other_names

PAGE = Path(__file__).parent.parent / "docs" / "coming-from.md"
*SECTIONS, NAMES = PAGE.read_text(encoding="utf-8").split("\n## ")[1:]
ROWS = [
    pytest.param(section.split("\n")[0], *cells, id=" = ".join(cells))
    for section in SECTIONS
    for cells in re.findall(r"^\| `([^`]+)` \| `([^`]+)` \|$", section, re.M)
]
OF_MATHEMATICA = [
    pytest.param(*cells, id=cells[0])
    for section in SECTIONS
    for cells in re.findall(r"^\| `([^`]+)` \| `([^`]+)` \| `([^`]+)` \|$", section, re.M)
    if section.startswith("Mathematica")
]
SHAPES = {"A": (2, 3), "B": (2, 3), "S": (3, 3), "x": (3,), "y": (3,), "v": (3,), "u": (2,)}
SYMBOLS = {name: se.TensorSymbol(name, shape) for name, shape in SHAPES.items()}
rng = np.random.default_rng(0)
DATA = {name: rng.uniform(0.1, 1, shape) for name, shape in SHAPES.items()}
DATA["S"] = DATA["S"] @ DATA["S"].T + np.eye(3)
DECLARED = "A matrix, B matrix, S matrix, x vector, y vector, eye matrix"


def names(values):
    """Return the names of the page: data of some kind, and the functions of it."""
    return {**values, "f": lambda x: (x**3).sum(), "g": lambda x: values["A"] @ x**2}


def there(library, text):
    if library == "JAX":
        with jax.enable_x64(True):
            arrays = {name: jnp.asarray(value) for name, value in DATA.items()}
            return eval(text, {"jax": jax, "jnp": jnp, **names(arrays)})
    if library == "PyTorch":
        torch = pytest.importorskip("torch")
        tensors = {name: torch.from_numpy(value) for name, value in DATA.items()}
        return eval(text, {"torch": torch, **names(tensors)})
    if library == "MatrixCalculus.org":
        return valued(se.parse(text, SYMBOLS) if text != "eye" else se.Delta(3))
    return eval(text, {"np": np, "scipy": scipy, "math": math, **names(DATA)})


def valued(e):
    return se.lambdify([*SYMBOLS.values()], e)(*DATA.values())


@pytest.mark.parametrize(("library", "before", "after"), ROWS)
def test_both_sides_are_the_same(library, before, after):
    expected = there(library, before)
    found = valued(eval(after, {"se": se, "np": np, **names(SYMBOLS)}))
    if not isinstance(expected, tuple | list):
        expected, found = [expected], [found]
    assert len(expected) == len(found)
    for one, other in zip(expected, found, strict=True):
        assert_close(np.asarray(other), np.asarray(one))
        assert np.shape(other) == np.shape(one)


@pytest.mark.parametrize(("theirs", "here", "expected"), OF_MATHEMATICA)
def test_mathematica_by_numpy(theirs, here, expected):
    """The first column can't be run; the other two have one value."""
    scope = {"np": np, "scipy": scipy, **names(DATA)}
    scope_here = {"se": se, "np": np, "sympy_einsum": sympy_einsum, **names(SYMBOLS)}
    assert_close(np.asarray(valued(eval(here, scope_here))), np.asarray(eval(expected, scope)))
    assert np.shape(valued(eval(here, scope_here))) == np.shape(eval(expected, scope))


def test_mathematicas_names_are_in_the_table():
    """Each function of the table that isn't a name here has an error that says what to write."""
    heads = {
        word for row in OF_MATHEMATICA for word in re.findall(r"([A-Z]\w+|D)\[", row.values[0])
    }
    known = {*other_names.FUNCTIONS_ELSEWHERE, *dir(se)}
    assert heads <= known
    assert len(OF_MATHEMATICA) > 55


def test_every_library_has_its_table():
    assert {row.values[0] for row in ROWS} == {"NumPy", "JAX", "PyTorch", "MatrixCalculus.org"}
    assert len(ROWS) > 60


ABSENT = [
    *[(f"se.{name}", instead) for name, instead in other_names.FUNCTIONS_ELSEWHERE.items()],
    *[(f"A.{name}", instead) for name, instead in other_names.METHODS_ELSEWHERE.items()],
    *[(f"se.{f}({name}=)", instead) for (f, name), instead in other_names.KEYWORDS.items()],
]


def test_the_page_lists_the_names_of_the_table():
    rule_tables = pytest.importorskip("rule_tables", reason="Sphinx isn't installed")
    assert "```{names-elsewhere}\n```" in NAMES
    assert [*rule_tables.names_elsewhere()] == ABSENT


@pytest.mark.parametrize(("absent", "instead"), ABSENT, ids=[row[0] for row in ABSENT])
def test_an_absent_name_names_its_replacement(absent, instead):
    """The error names the replacement, and says that the object is an expression."""
    x = SYMBOLS["x"]
    scope = {"se": se, "sympy_einsum": sympy_einsum, **SYMBOLS, "f": (x**3).sum()}
    call = re.fullmatch(r"se\.(\w+)\((\w+)=\)", absent)
    with pytest.raises(TypeError if call else AttributeError) as caught:
        eval(f"se.{call[1]}(f, {call[2]}=x)" if call else absent, scope)
    assert str(caught.value).endswith(f"; write {instead}")
    if '"torch"' in instead:
        pytest.importorskip("torch")
    assert eval(instead, scope) is not None


def test_other_missing_attributes_are_pythons_own():
    with pytest.raises(AttributeError, match=r"'TensorSymbol' object has no attribute 'spam'$"):
        _ = SYMBOLS["A"].spam
    with pytest.raises(AttributeError, match=r"has no attribute 'spam'$"):
        _ = se.spam
    assert not hasattr(SYMBOLS["A"], "dtype")


def test_declarations_of_the_page():
    (text, declared) = re.search(r'se\.parse\("([^"]+)", "([^"]+)"\)', PAGE.read_text()).groups()
    assert str(se.parse(text, declared)) == "((A @ x - b)**2).sum()"
