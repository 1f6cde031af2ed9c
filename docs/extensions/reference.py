"""Write the pages of the API reference from the public names before Sphinx reads sources."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

from parameters import is_built_by_functions

import sympy_einsum as se
import sympy_einsum.numpy as snp
from sympy_einsum.expressions import Node
from sympy_einsum.numpy._namespace import FAMILIES, PACKAGES
from sympy_einsum.numpy._refused import OPTIONS, REASONS
from sympy_einsum.operations import FUNCTIONS

if TYPE_CHECKING:
    from sphinx.application import Sphinx


class Page(NamedTuple):
    """Define a page: its title, the names on it, and the introduction."""

    title: str
    names: str
    about: str


# Names of sympy_einsum by theme; nodes and scalar functions have pages of their own.
OF_US = {
    "tensors": Page(
        "Tensors",
        "TensorSymbol tensors Constant Ones Zeros Delta eye tri one_hot Unit LeviCivita unknown",
        "Symbols with axis lengths, and tensors whose entries are known.",
    ),
    "products": Page(
        "Products",
        "einsum matmul dot inner outer tensordot kron matrix_power trace diag diagonal vec conv "
        "convolve correlate cross",
        "Sums of products of entries.",
    ),
    "shapes": Page(
        "Shapes and pieces",
        "reshape ravel squeeze expand_dims broadcast_to transpose swapaxes moveaxis concatenate "
        "stack unstack block split tile repeat pad flip roll take take_along_axis tril triu "
        "windows sliding_window_view",
        "Rearranging axes and entries. Entries, slices and gathers are written as "
        "``x[1:, None]``, as in NumPy.",
    ),
    "reductions": Page(
        "Sums, norms, statistics",
        "sum mean var std prod norm logsumexp softmax median quantile percentile count_nonzero",
        "Reductions over axes, and normalisation along them.",
    ),
    "orders": Page(
        "Maxima and orders",
        "max min max_share min_share ptp argmax argmin sort argsort cummax cummin argcummax "
        "argcummin",
        "Functions that depend on the order of entries. Entries that tie share the derivative.",
    ),
    "running": Page(
        "Running sums and products",
        "cumsum cumprod logcumsumexp running_softmax interval_products scan unroll",
        "Running values along an axis, and [loops](../loops.md); derivatives take linear time too.",
    ),
    "linear-algebra": Page(
        "Linear algebra",
        "inv det logdet slogdet adj cofactors pinv solve lstsq cholesky eigh eigvalsh svd svdvals "
        "qr expm",
        "Functions of matrices, and of stacks of them along the last two axes.",
    ),
    "functions-of-entries": Page(
        "Functions by entry, choices, complex numbers",
        "elementwise function where clip around isclose real imag ComplexTensor",
        "The [scalar functions](scalar-functions.md) have a page of their own.",
    ),
    "derivatives": Page(
        "Derivatives",
        "diff gradient jacobian hessian curl divergence laplacian jvp vjp hvp linearize "
        "identity_map zero_map projection_map batch solution minimizer stationary check_derivative",
        "The derivative of y with respect to x has the shape of y, then that of x.",
    ),
    "rewriting-expressions": Page(
        "Simplifying and comparing",
        "simplify expand factor equal counterexample Counterexample written commute nest denest "
        "index_graph split_deltas merge_deltas remove_ones add_ones vectorize_constants "
        "substitute_deltas THEOREMS",
        "[Rewriting](../rewriting.md) lists the rules.",
    ),
    "properties": Page(
        "Bounds, definiteness, convexity",
        "bounds is_definite convexity",
        "Properties of an expression that hold for all values of its symbols; "
        "[Convexity](../convexity.md) shows it at work.",
    ),
    "formulas": Page(
        "Formulas and pictures",
        "latex pretty to_text to_kronecker to_dot draw",
        "[Reading results](../reading.md) shows them at work.",
    ),
    "conversion": Page(
        "From and to SymPy",
        "from_matrix to_matrix from_array to_array from_indexed to_indexed unflatten",
        "SymPy's matrix expressions, array expressions and sums over entries.",
    ),
    "compiling-functions": Page(
        "Compiling",
        "lambdify codegen evaluate compress in_semiring",
        "[Compiling](../compiling.md) describes backends, costs and checks.",
    ),
    "problems": Page(
        "Optimization problems",
        "Problem pack",
        "[Solving problems](../solving.md) shows them at work.",
    ),
    "moments": Page(
        "Expectations",
        "Gaussian expectation variance covariance",
        "[Expectations](../expectations.md) shows them at work.",
    ),
    "power-series": Page(
        "Power series and limits",
        "series taylor limit",
        "[Series](../expectations.md#power-series) shows them at work.",
    ),
    "texts": Page(
        "Parsing texts",
        "parse parse_program tokens read_einsum parse_python from_function",
        "The [languages](../languages.md) have a page of their own.",
    ),
    "errors": Page(
        "Errors", "TensorError ShapeError UnsupportedError ParseError", "Each is a ``ValueError``."
    ),
}
# Classes of results, on the pages of the functions that return them.
RESULTS = {
    "derivatives": ("calculus.linear_maps.LinearMap", "calculus.derivation_tables.Trace"),
    "compiling-functions": (
        "compiler.calls.CompiledFunction",
        "compiler.ir.plans.Cost",
        "rules.compressed.Compressed",
        "rules.blocks.Blocks",
        "compiler.compressed_arrays.CompressedArray",
        "compiler.block_arrays.BlockArray",
    ),
    "properties": (
        "certificates.curvature.Convexity",
        "certificates.curvature.CertificateStep",
    ),
    "problems": (
        "optimization.packing.Packed",
        "optimization.results.Result",
        "optimization.results.Iteration",
        "optimization.relations.Constraint",
        "optimization.problem.OptimalityConditions",
    ),
    "texts": (
        "languages.lippmann.program.TensorProgram",
        "programs.python_functions.PythonFunction",
    ),
}
# What people search for, by the name that it leads to.
SEARCHED = {
    "solve": "solve; solve linear system; solve a linear system; linear system; linear solve",
    "inv": "matrix inverse; inverse of a matrix",
    "det": "determinant",
    "gradient": "gradient; derivative of a scalar",
    "hessian": "hessian; second derivative; hessian matrix",
    "jacobian": "jacobian; sparse jacobian",
    "TensorSymbol": "symmetric matrix; tensor symbol; variable; positive definite matrix",
    "lambdify": "compile; generate code; numpy code",
    "codegen": "export c code; c code; write python code",
    "batch": "vmap; batch",
    "windows": "max pooling; convolution; sliding window",
    "scan": "for loop; recurrence; recurrent network",
    "Problem": "constraints; minimize; minimise; optimization; least squares",
    "convexity": "convex; is it convex; convex function",
    "check_derivative": "check gradient; finite differences; numerical check",
    "latex": "latex; typeset formula",
    "expectation": "expected value; gaussian expectation",
    "parse": "parse text; matrixcalculus",
}
PAGES_OF_PACKAGES = {f"numpy-{package}": package for package in PACKAGES}


class Entry(NamedTuple):
    """Hold a public name on a page: its directive, or the name of which it is an alias."""

    name: str
    directive: str
    is_same: bool = False


def pages() -> dict[str, tuple[str, str, list[Entry]]]:
    """Return for each page its title, its introduction, and its entries."""
    found = {
        page: (own.title, own.about, [_entry("sympy_einsum", name) for name in own.names.split()])
        for page, own in OF_US.items()
    }
    placed = {name for own in OF_US.values() for name in own.names.split()}
    functions = [name for name in sorted(FUNCTIONS, key=str.lower) if name in se.__all__]
    found["scalar-functions"] = (
        "Scalar functions",
        "Functions of numbers, applied entry by entry.",
        [_entry("sympy_einsum", name) for name in functions],
    )
    found["methods"] = (
        "Methods of tensor expressions",
        "Operators are Python's: ``+ - * / **`` entry by entry, ``@`` for the matrix product, "
        "comparisons for conditions.",
        [_entry("sympy_einsum", "TensorExpr"), *_members("sympy_einsum.TensorExpr", se.TensorExpr)],
    )
    nodes = sorted({*se.__all__} - placed - {*functions, "TensorExpr"})
    found["nodes"] = (
        "Nodes",
        "The classes of nodes in expressions, for ``isinstance``. Functions build nodes.",
        [_entry("sympy_einsum", name) for name in nodes],
    )
    return {**found, **_of_numpy()}


def _entry(space: str, name: str) -> Entry:
    """Return the entry of a name."""
    package: Any = snp if space == "sympy_einsum.numpy" else se
    value = getattr(package, name)
    kind = "data"
    if isinstance(value, type):
        kind = "exception" if issubclass(value, Exception) else "class"
    elif callable(value):
        kind = "function"
    lines = []
    if space == "sympy_einsum" and name in SEARCHED:
        # With "!" an entry comes before other results of a search.
        entries = [f"   ! single: {words}" for words in SEARCHED[name].split("; ")]
        lines = [".. index::", *entries, ""]
    lines.append(f".. auto{kind}:: {space}.{name}")
    if kind == "class" and not issubclass(value, Node | tuple):
        lines += ["   :members:"] * (value in (se.ComplexTensor, se.Problem))
    return Entry(f"{space}.{name}", "\n".join(lines))


def _members(space: str, kind: type) -> Iterator[Entry]:
    """Return entries of the methods and properties that our packages define on a class."""
    for name in sorted(dir(kind), key=str.lower):
        owner = next((own for own in kind.__mro__ if name in vars(own)), object)
        member = getattr(kind, name, None)
        if name.startswith("_") or not owner.__module__.startswith("sympy_einsum"):
            continue
        if name in dir(se.TensorSymbol("x")) and isinstance(member, FunctionType | property):
            what = "method" if isinstance(member, FunctionType) else "property"
            yield Entry(f"{space}.{name}", f".. auto{what}:: {space}.{name}")


def _of_numpy() -> dict[str, tuple[str, str, list[Entry]]]:
    """Return the pages of NumPy's names; aliases are listed on the first."""
    same: list[Entry] = []
    titles = {f"numpy-{key}": f"NumPy: {family.title}" for key, family in FAMILIES.items()}
    titles |= {f"numpy-{key}": family.title for key, family in PACKAGES.items()}
    listed: dict[str, list[Entry]] = {page: [] for page in titles}
    known = {id(getattr(se, name)): f"sympy_einsum.{name}" for name in se.__all__}
    for page, space, name, value in _numpy_names():
        full = f"{space}.{name}"
        if isinstance(value, ModuleType):
            listed[page].append(Entry(full, f".. automodule:: {full}"))
        elif not callable(value):
            same.append(Entry(full, f"``{value}``", True))
        elif id(value) in known:
            same.append(Entry(full, f":any:`{known[id(value)]}`", True))
        else:
            known[id(value)] = full
            kind = "class" if isinstance(value, type) else "function"
            listed[page].append(Entry(full, f".. auto{kind}:: {full}"))
    found = {page: (titles[page], "", sorted(entries)) for page, entries in listed.items()}
    about = "``import sympy_einsum.numpy as snp``\n\n"
    about += inspect.getdoc(snp).partition("Examples")[0] + _refused()
    return {"numpy": ("NumPy's namespace", about, sorted(same)), **found}


def _refused() -> str:
    """Format tables of NumPy's functions and options that are refused, with the reasons."""
    options: dict[str, str] = {}
    for option, reason in _refused_options():
        options[reason] = f"{options.get(reason, '')} {option}"
    return (
        "These names raise an error that gives the reason:\n\n"
        f"{_reasons(REASONS)}\n\n"
        "So do these options; the docstring of each function names those that it refuses:\n\n"
        f"{_reasons(options)}"
    )


def _refused_options() -> Iterator[tuple[str, str]]:
    """Return the options that are refused with the reasons, first those of many functions."""
    yield from OPTIONS.items()
    for family in (*FAMILIES.values(), *PACKAGES.values()):
        for row in family.rows:
            yield from ((f"{row.name}({own}=)", reason) for own, reason in row.refused.items())


def _reasons(names: Mapping[str, str]) -> str:
    """Format a table of names, separated by blanks, by the reasons why they are refused."""
    rows = [
        f"| {', '.join(f'`{name}`' for name in own.split())} | {reason} |"
        for reason, own in names.items()
    ]
    return "\n".join(["| refused | reason |", "| --- | --- |", *rows])


def _numpy_names() -> Iterator[tuple[str, str, str, Any]]:
    page_of = {package: page for page, package in PAGES_OF_PACKAGES.items()}
    page_of["SlogdetResult"] = page_of["linalg"]
    for key, family in FAMILIES.items():
        page_of |= dict.fromkeys(family.names, f"numpy-{key}")
    names = {name: getattr(snp, name) for name in sorted(snp.__all__, key=str.lower)}
    # A function's own name comes before its aliases; those without a row are scalar functions.
    own_first = sorted(names, key=lambda name: getattr(names[name], "__name__", name) != name)
    for name in own_first:
        page = page_of.get(name, "numpy-entrywise")
        yield page, "sympy_einsum.numpy", name, names[name]
    for page, name in PAGES_OF_PACKAGES.items():
        package = getattr(snp, name)
        for own in sorted(dir(package), key=str.lower):
            if not own.startswith("_"):
                yield page, f"sympy_einsum.numpy.{name}", own, getattr(package, own)


def text_of(page: str, title: str, about: str, entries: list[Entry]) -> str:
    """Format a page."""
    documented = [entry.directive for entry in entries if not entry.is_same]
    documented += map(_of_result, RESULTS.get(page, ()))
    rows = [
        f"   * - ``{e.name.removeprefix('sympy_einsum.numpy.')}``\n     - {e.directive}"
        for e in entries
        if e.is_same
    ]
    if rows:
        documented.append("\n".join([".. list-table::\n   :header-rows: 1\n", *_HEAD, *rows]))
    body = "\n\n".join(documented)
    return f"# {title}\n\n{about}\n\n```{{eval-rst}}\n{body}\n```\n"


_HEAD = ["   * - name\n     - the same as"]


def _of_result(name: str) -> str:
    """Return the directive of a class; its docstring describes the fields of a named tuple."""
    module, _, own = f"sympy_einsum.{name}".rpartition(".")
    fields = getattr(getattr(import_module(module), own), "_fields", ())
    lines = [f".. autoclass:: {module}.{own}", "   :members:"]
    return "\n".join(lines + [f"   :exclude-members: {', '.join(fields)}"] * bool(fields))


def write_pages(app: Sphinx) -> None:
    """Write the pages to a folder that git ignores."""
    folder = Path(app.srcdir) / "api"
    folder.mkdir(exist_ok=True)
    for page, (title, about, entries) in pages().items():
        path, text = folder / f"{page}.md", text_of(page, title, about, entries)
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


# An entry of a section, ``name : description``, as in SymPy's docstrings.
_TOLD = re.compile(r"([\w*, ]+) : (.*)")
_CITED = re.compile(r"\[([A-Z]+\d*)[,\]]")


def as_numpydoc(
    app: Sphinx, what: str, name: str, value: object, options: object, lines: list[str]
) -> None:
    """Convert sections for Napoleon, and add references from the docstring of the module."""
    lines[:] = _with_sources(_indented(lines), value)


def _indented(lines: list[str]) -> Iterator[str]:
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        told = _TOLD.fullmatch(line)
        if line == "Returns" and following.startswith("==="):
            # A section of prose, where Napoleon expects types.
            yield "Result"
        elif told:
            yield from (told[1], f"    {told[2]}")
        else:
            yield line


def _with_sources(lines: Iterable[str], value: object) -> list[str]:
    lines = list(lines)
    module = inspect.getmodule(value)
    cited = {key for line in lines for key in _CITED.findall(line)}
    known = {key for line in lines for key in re.findall(r"^(?:\.\. )?\[(\w+)\] ", line)}
    sources = re.findall(r"^\[(\w+)\] (.*(?:\n .*)*)", inspect.getdoc(module) or "", re.M)
    named = [f"[{key}] {text}" for key, text in sources if key in cited - known]
    return [*lines, "", *[line for text in named for line in (*text.split("\n"), "")]]


def without_arguments(
    app: Sphinx, what: str, name: str, value: object, options: object, text: str, returned: str
) -> tuple[str, str] | None:
    """Hide the arguments of node classes and of results, which functions build."""
    return ("", "") if is_built_by_functions(value) else None


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("builder-inited", write_pages)
    app.connect("autodoc-process-docstring", as_numpydoc, priority=400)
    app.connect("autodoc-process-signature", without_arguments)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
