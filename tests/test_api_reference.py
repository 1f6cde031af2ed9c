"""Docstrings of public names: purpose, parameters, errors, a running example, and the page of the
reference."""

from __future__ import annotations

import doctest
import importlib.util
import inspect
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FunctionType

import sympy_einsum as se
import sympy_einsum.numpy as snp
from sympy_einsum.calculus.linear_maps import LinearMap
from sympy_einsum.expressions.interning import Node

ROOT = Path(__file__).parent.parent
x = se.TensorSymbol("x", 3)
# Tables, modules and SymPy's own.
VALUES = {"se.THEOREMS", "se.ExprCondPair", "snp.linalg", "snp.fft"}
# They take whatever shapes there are.
TAKE_ANY = {
    *("se.kron", "se.outer", "snp.kron", "snp.outer", "snp.linalg.outer"),
    *("snp.array_equal", "snp.ediff1d", "snp.atleast_1d", "snp.atleast_2d", "snp.atleast_3d"),
}
# They take any number of tensors, or of lengths, or pass on what they are given.
TAKE_SEVERAL = {
    *("se.tensors", "se.einsum", "se.diff", "se.elementwise", "se.expm", "se.reshape"),
    "se.matrix_power",
    *("se.Max", "se.Min"),
    *("snp.einsum", "snp.piecewise", "snp.broadcast_arrays", "snp.broadcast_shapes"),
    *("snp.atleast_1d", "snp.atleast_2d", "snp.atleast_3d", "snp.gradient", "snp.meshgrid"),
    *("x.atoms", "x.broadcast_to", "x.diff", "x.expand", "x.has", "x.has_free"),
    *("x.is_constant", "x.item", "x.reshape", "x.subs", "x.transpose"),
}
AXES = {"axis", "axes", "axis1", "axis2"}


def members(space: str, kind: type, names: list[str]) -> Iterator[tuple[str, object]]:
    """Return the methods and properties of a class that a package of ours defines."""
    for name in names:
        owner = next((own for own in kind.__mro__ if name in vars(own)), object)
        member = getattr(kind, name, None)
        if name.startswith("_") or not owner.__module__.startswith("sympy_einsum"):
            continue
        if isinstance(member, (FunctionType, property)):
            yield f"{space}.{name}", member


def public_names() -> dict[str, object]:
    """Return each name with its namespace, and the object."""
    found = {f"se.{name}": getattr(se, name) for name in (*se.__all__, "sum", "max", "min")}
    found |= {f"snp.{name}": getattr(snp, name) for name in snp.__all__}
    for space in ("linalg", "fft"):
        package = getattr(snp, space)
        names = [name for name in dir(package) if not name.startswith("_")]
        found |= {f"snp.{space}.{name}": getattr(package, name) for name in names}
    found |= members("x", se.TensorExpr, dir(x))
    found |= members("ComplexTensor", se.ComplexTensor, dir(se.ComplexTensor))
    found |= members("LinearMap", LinearMap, dir(LinearMap))
    return found


NAMES = public_names()
CALLABLES = {
    name: value
    for name, value in NAMES.items()
    if name not in VALUES and (callable(value) or isinstance(value, property))
}


def parameters(value: object) -> list[inspect.Parameter]:
    """Return the parameters of a function; errors and nodes, which other functions build, have
    none."""
    if not callable(value) or (isinstance(value, type) and issubclass(value, Exception | Node)):
        return []
    return list(inspect.signature(value).parameters.values())


def test_values_are_few():
    values = [name for name in NAMES if name not in CALLABLES]
    constants = [f"snp.{name}" for name in ("newaxis", "pi", "e", "inf", "euler_gamma", "nan")]
    assert sorted(values) == sorted([*VALUES, *constants])


def test_each_has_a_summary():
    summaries = {
        name: (inspect.getdoc(value) or "").partition("\n\n")[0]
        for name, value in CALLABLES.items()
    }
    assert [
        name for name, text in summaries.items() if not re.search(r"\w+ .*\w+\W*[.:]$", text, re.S)
    ] == []


def test_each_says_its_name():
    """Or, for an alias, another public name of the same function."""
    spaces = {"se": se, "snp": snp, "snp.linalg": snp.linalg, "snp.fft": snp.fft}
    strange = []
    for name, value in CALLABLES.items():
        space, _, own = name.rpartition(".")
        said = getattr(value, "__qualname__", value.__name__) if space in spaces else own
        if said != own and getattr(spaces[space], said, None) is not value:
            strange.append((name, said))
    assert strange == []


def test_each_has_an_example():
    assert [name for name, value in CALLABLES.items() if ">>> " not in inspect.getdoc(value)] == []


def test_each_documents_its_errors():
    """For functions of several tensors, or with an axis."""
    silent = []
    for name, value in CALLABLES.items():
        found = parameters(value)
        tensors = [p for p in found if re.search("TensorLike|ComplexLike", str(p.annotation))]
        can_clash = len(tensors) > 1 or any(p.kind is p.VAR_POSITIONAL for p in tensors)
        can_clash |= any(p.name in AXES for p in found)
        text = inspect.getdoc(value)
        if can_clash and name not in TAKE_ANY and not re.search(r"Error|[Ee]rrors", text):
            silent.append(name)
    assert silent == []


def test_parameters_have_names():
    several = {inspect.Parameter.VAR_POSITIONAL}
    nameless = {
        name for name, value in CALLABLES.items() if several & {p.kind for p in parameters(value)}
    }
    assert nameless == TAKE_SEVERAL


def is_generated(value: object) -> bool:
    """Tell whether a docstring is in no file, where pytest would find its examples."""
    code = getattr(inspect.unwrap(value), "__code__", None) if callable(value) else None
    if isinstance(value, type | property):
        return False
    return code is None or value.__doc__ not in code.co_consts


def examples_run(value: Callable[..., object], name: str) -> bool:
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    runner.run(doctest.DocTestParser().get_doctest(value.__doc__, {}, name, None, None))
    return not runner.failures


def test_examples_that_are_generated_run():
    generated = {name: value for name, value in NAMES.items() if is_generated(value)}
    of_numpy = {name: value for name, value in generated.items() if name.startswith("snp.")}
    of_numpy = {name: value for name, value in of_numpy.items() if name in CALLABLES}
    assert len(of_numpy) > 80
    assert [name for name, value in of_numpy.items() if not examples_run(value, name)] == []


def extension_of(name):
    """Return one of our extensions of Sphinx."""
    path = ROOT / "docs" / "extensions" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_each_name_is_on_one_page():
    """Complex tensors and linear maps with all of their members."""
    spaces = {"se": "sympy_einsum", "snp": "sympy_einsum.numpy", "x": "sympy_einsum.TensorExpr"}
    parts = [name.partition(".") for name in NAMES]
    names = [f"{spaces[space]}.{own}" for space, _, own in parts if space in spaces]
    pages = extension_of("reference").pages()
    listed = [entry.name for _, _, entries in pages.values() for entry in entries]
    assert [name for name in names if listed.count(name) != 1] == []
    assert set(listed) == set(names)


def test_each_page_is_in_the_contents():
    text = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    assert sorted(re.findall("^api/(.*)$", text, re.M)) == sorted(extension_of("reference").pages())


def test_completion_shows_nothing_internal():
    for_passes = {
        "memory",
        "data",
        "rearranges",
        "is_built",
        "is_affine_selector",
        "as_entry_power",
    }
    assert not for_passes & set(dir(x))
    assert {"shape", "order", "operands", "sum", "T", "is_symmetric"} <= set(dir(x))
    assert set(dir(snp)) == set(snp.__all__)
    assert not {"of", "instead"} & set(dir(se.ComplexTensor(x)))
    # Of SymPy's hundreds what users call.
    assert not {"as_coeff_Add", "is_Poly", "getO", "fps"} & set(dir(x))
    assert {"subs", "xreplace", "free_symbols", "doit", "series"} <= set(dir(x))
    assert len([name for name in dir(x @ x) if name[0] != "_"]) < 180


def test_help_of_a_node_is_short():
    """Without the hundreds of names of SymPy's classes."""
    assert dir(se.Einsum) == ["_build", "_own_symbols", "lengths", "output", "subscripts"]
    assert "sum" in dir(se.TensorExpr)


def test_every_public_function_has_a_docstring():
    for name, value in vars(se).items():
        if not name.startswith("_") and isinstance(value, FunctionType):
            assert value.__doc__, name


def test_parameters_are_described():
    """On the pages each signature has a section on its parameters."""
    extension = extension_of("parameters")
    for name, value in CALLABLES.items():
        found = extension.signature_of(value)
        text = inspect.getdoc(value)
        if isinstance(value, type) or found is None or not found.parameters.keys() - {"self"}:
            continue
        if "\nParameters\n" not in text:
            lines = extension.with_parameters(text.splitlines(), value)
            assert " : " in lines[lines.index("Parameters") + 3], name
    assert extension.described("TensorLike | None") == "a tensor, a scalar, or an array, or None"


def test_searches_lead_to_names():
    pages = extension_of("reference").pages()
    (solve,) = [e for e in pages["linear-algebra"][2] if e.name == "sympy_einsum.solve"]
    assert "! single: solve linear system\n" in solve.directive
    assert solve.directive.endswith("\n.. autofunction:: sympy_einsum.solve")
