"""The description of an array library by a backend: packages, names, functions that it lacks or
spells otherwise."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterable, Mapping
from importlib.util import find_spec
from typing import Any, ClassVar

from ...core import UnsupportedError
from ..ir.code import (
    Code,
    Template,
    call,
    dotted,
    dotted_name,
    nodes,
    number_of,
    rewritten,
    syntax,
    template_of,
)
from ..runtime.shared_helpers import FOURIER, RUNNING, STABLE_FUNCTIONS, shared
from ..runtime.sources import Helper, HelperText
from ..runtime.sparse_arrays import SparseMatrices


class Library:
    """The spelling of NumPy's names in a library, and the imports that it needs.

    A backend declares all of this for its own.
    """

    name: ClassVar[str] = ""
    # Packages that code may import; the first is the library itself. ``np`` is spelled ``xp``.
    imports: ClassVar[tuple[str, ...]] = ()
    xp: ClassVar[str] = "np"
    # The packages that its arrays come from, if they don't mix with those of all others.
    packages: ClassVar[tuple[str, ...]] = ()
    # The extra of ours that installs a package, where that isn't the package's name.
    extras: ClassVar[Mapping[str, str]] = {}
    # The text of a function that converts other values to arrays, if they are converted.
    asarray: ClassVar[str] = "None"
    # Whether an array holds numbers that computing with them keeps.
    is_wide: ClassVar[str] = '{0}.dtype.char in "ilqefdgFDG"'

    # Whether a whole plan is one function of loops, compiled when it is first called.
    is_compiled: ClassVar[bool] = False

    # The instructions that are fastest along the last axis; elsewhere rows are best added up.
    by_rows: ClassVar[frozenset[str]] = frozenset()

    # Functions that the source brings along; ``xp`` in them is the library's own namespace.
    support: ClassVar[Mapping[str, Helper]] = shared(
        *(
            "cofactors",
            "derivative_along",
            "max_shift",
            "log_total",
            "logsumexp",
            "softmax",
            *RUNNING,
        ),
        *("share", "last_equal", "one_hot", "windows", "correlate", *FOURIER, *STABLE_FUNCTIONS),
    )
    # Further names in a function: builtins, and names of its own.
    words: ClassVar[set[str]] = {"bool", "len"}
    # Functions by their SymPy name that are spelled otherwise than in their rows, and Piecewise.
    spellings: ClassVar[Mapping[str, str]] = {}
    # Names of NumPy that the library spells otherwise, and SciPy's special functions of an order:
    # ``{"np.arccos": "xp.acos", "special.jv(0, ": "special.j0("}``.
    renamed: ClassVar[Mapping[str, str]] = {}
    # Functions of stacks of matrices that are more than the call of one in ``np.linalg``.
    stacks: ClassVar[Mapping[str, str]] = {
        "svd": "np.linalg.svd({0}, full_matrices=False)",
        "svdvals": "np.linalg.svd({0}, compute_uv=False)",
        "solve": "np.linalg.solve({0}, {1})",
        "qr_r": "np.linalg.qr({0}, mode='r')",
    }
    # The argument that makes argsort stable, if it isn't.
    stably: ClassVar[str] = ', kind="stable"'
    # The function that gives the exponentials of matrices.
    exponential: ClassVar[str] = ""
    # The special functions that it has, where it lacks many.
    special: ClassVar[Collection[str] | None] = None
    # The import line of its sparse matrices in CSR format, if it has any.
    sparse: ClassVar[str] = ""
    # The functions that it lacks, which code is refused for: special ones by their names, NumPy's
    # as ``np.maximum.accumulate``.
    lacking: ClassVar[Collection[str]] = ()

    # The templates of its code that were parsed, and whether they have functions of an order.
    _templates: ClassVar[dict[str, tuple[Template, bool]]] = {}

    # The texts of helper functions in its names.
    _helpers: ClassVar[dict[str, HelperText]] = {}

    def __init_subclass__(cls) -> None:
        cls._templates, cls._helpers = {}, {}

    @classmethod
    def reserved(cls) -> set[str]:
        """Return the names that mean something in a function of this backend."""
        return {*(line.split()[-1] for line in cls.imports), *cls.support, *cls.words}

    @classmethod
    def require(cls, imports: Iterable[str]) -> None:
        """Raise UnsupportedError where a package that import lines need isn't installed."""
        for line in dict.fromkeys([*cls.imports[:1], *imports]):
            package = line.split()[1].partition(".")[0]
            if find_spec(package) is None:
                raise UnsupportedError(cls.how_to_install(package))

    @classmethod
    def how_to_install(cls, package: str) -> str:
        """Return the error message for a missing package."""
        extra = cls.extras.get(package, package)
        return (
            f"code for the backend {cls.name!r} needs {package}, which isn't installed: "
            f"pip install 'sympy_einsum[{extra}]'"
        )

    @classmethod
    def sparse_matrices(cls) -> Callable[..., Any]:
        """Return what makes its sparse matrices; UnsupportedError without any."""
        if not cls.sparse:
            raise UnsupportedError(
                f"backend {cls.name!r} makes no sparse matrices; leave sparse out, or take the "
                "backend 'numpy', 'jax' or 'cupy'"
            )
        cls.require([cls.sparse])
        _, module, _, matrix = cls.sparse.split()
        return SparseMatrices(cls.imports[0].split()[1], module, matrix)

    @classmethod
    def used_imports(cls, names: Collection[str]) -> list[str]:
        """Return the import lines for the names of modules among some names."""
        return [line for line in cls.imports if line.split()[-1] in names]

    @classmethod
    def used_support(cls, names: Iterable[str]) -> list[str]:
        """Return the helper functions among some names, and those that these need."""
        found: set[str] = set()
        pending = [*names]
        while pending:
            name = pending.pop()
            if name in cls.support and name not in found:
                found.add(name)
                pending += cls.helper(name).names
        return [name for name in cls.support if name in found] if found else []

    @classmethod
    def helper(cls, name: str) -> HelperText:
        """Return a helper function in the names of the library."""
        if name not in cls._helpers:

            def spelled(own: str) -> str | None:
                # The library's function of that name, which the helper calls, is no helper.
                return None if own == f"special.{name}" else cls._helper_spelling(own)

            cls._helpers[name] = cls.support[name].written(name, spelled)
        return cls._helpers[name]

    @classmethod
    def lacks(cls, function: str) -> UnsupportedError:
        """Return the error for a function that the library lacks."""
        return UnsupportedError(f"backend {cls.name!r} has no function {function}")

    @classmethod
    def _helper_spelling(cls, name: str) -> str | None:
        space, _, own = name.partition(".")
        if space == "special" and own:
            return cls._name(space, own)
        if space != "xp" or not own:
            return None
        if f"np.{own}" in cls.lacking:
            raise cls.lacks(f"np.{own}")
        return cls.renamed.get(f"np.{own}", None if "." in own else f"{cls.xp}.{own}")

    def code(self, template: str, *fields: Any) -> Code:
        """Return code from a template in NumPy's names, in those of the library."""
        found = self._templates.get(template)
        if found is None:
            tree = rewritten(syntax(template), self._spelled)
            has_orders = any(map(self._function_of_order, nodes(tree)))
            found = self._templates[template] = template_of(tree), has_orders
        build, has_orders = found
        tree = build(fields)
        return rewritten(tree, self._spelled_with_order) if has_orders else tree

    @classmethod
    def _spelled(cls, node: Any) -> Code | None:
        if not isinstance(node, ast.Attribute):
            return None
        if cls.lacking and dotted_name(node) in cls.lacking:
            raise cls.lacks(dotted_name(node))
        if not isinstance(node.value, ast.Name):
            return None
        space, name = node.value.id, node.attr
        if space not in ("np", "special") or cls._function_of_order(node):
            return None
        return dotted(cls._name(space, name))

    @classmethod
    def _name(cls, space: str, name: str) -> str:
        own = cls.renamed.get(f"{space}.{name}")
        if own is not None:
            return own
        if name in cls.support:
            return name
        if space == "np":
            return f"{cls.xp}.{name}"
        if name in cls.lacking or (cls.special is not None and name not in cls.special):
            raise cls.lacks(name)
        return f"{space}.{name}"

    @classmethod
    def _function_of_order(cls, node: Any) -> bool:
        """Tell whether a node is a special function that has another name for some orders."""
        start = f"{dotted_name(node)}("
        return start.startswith("special.") and any(key.startswith(start) for key in cls.renamed)

    @classmethod
    def _spelled_with_order(cls, node: Any) -> Code | None:
        if not isinstance(node, ast.Call) or not cls._function_of_order(node.func):
            return None
        function, arguments = (
            dotted_name(node.func),
            [rewritten(argument, cls._spelled_with_order) for argument in node.args],
        )
        own = cls.renamed.get(f"{function}({number_of(arguments[0])}, ")
        if own is not None:
            return call(own.removesuffix("("), *arguments[1:])
        return call(cls._name(*function.split(".")), *arguments)
