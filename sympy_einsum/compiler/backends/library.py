"""The description of an array library by a backend: packages, names, functions that it lacks or
spells otherwise."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from importlib.util import find_spec
from typing import ClassVar

from ...core import UnsupportedError
from ..runtime.array_helpers import FOURIER, RUNNING, shared
from ..runtime.stable_functions import STABLE_FUNCTIONS
from .spelling import Texts, along


class Library:
    """How NumPy's names are spelled in a library, and what has to be imported for them.

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
    support: ClassVar[Mapping[str, str]] = shared(
        *("cofactors", "derivative_along", "peak", "log_total", "logsumexp", "softmax", *RUNNING),
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
    # How argsort is asked to keep equal entries in order, if that isn't what it does.
    stably: ClassVar[str] = ', kind="stable"'
    # The function that gives the exponentials of matrices.
    exponential: ClassVar[str] = ""
    # The special functions that it has, where it lacks many, or lacks.
    special: ClassVar[Collection[str] | None] = None
    lacking: ClassVar[Collection[str]] = ()

    @classmethod
    def reserved(cls) -> set[str]:
        """The names that mean something in a function of this backend."""
        return {*(line.split()[-1] for line in cls.imports), *cls.support, *cls.words}

    @classmethod
    def require(cls, body: str) -> None:
        """Raise UnsupportedError where a package that a body of source needs isn't installed."""
        for line in dict.fromkeys([*cls.imports[:1], *cls.used_imports(body)]):
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
    def used_imports(cls, body: str) -> list[str]:
        """The import lines that a body of source needs."""
        names = [line.split()[-1] for line in cls.imports]
        pairs = zip(cls.imports, names, strict=True)
        near = [(line, name) for line, name in pairs if f"{name}." in body]
        return [line for line, name in near if re.search(rf"\b{name}\.", body)]

    @classmethod
    def used_support(cls, body: str) -> str:
        """The functions that a body of source needs, and those that they need."""
        used: set[str] = set()
        texts = [body]
        for text in texts:
            # Most names occur nowhere in a long text, which is found much faster without patterns.
            near = [name for name in cls.support if name not in used and name in text]
            found = {name for name in near if re.search(rf"(?<![\w.]){name}\b", text)}
            used |= found
            texts += [cls.support[name] for name in found]
        functions = "\n".join([text for name, text in cls.support.items() if name in used])
        return re.sub(r"\bxp\.(\w+)", lambda found: cls._plain_name(found[1]), functions)

    @classmethod
    def _plain_name(cls, name: str) -> str:
        return cls.renamed.get(f"np.{name}", f"{cls.xp}.{name}")

    def spell(self, text: str) -> str:
        """Code in NumPy's names in those of the library."""
        return re.sub(r"\b(np|special)\.(\w+)(\(\d, )?", self._name, text)

    def matrix_power(self, operands: Texts, exponent: str) -> str:
        """A power of each matrix, or its derivative in the directions that follow."""
        return self.spell(along(f"np.linalg.matrix_power({{0}}, {exponent})", operands))

    def _name(self, found: re.Match[str]) -> str:
        space, name, order = found[1], found[2], found[3] or ""
        if found[0] in self.renamed:
            return self.renamed[found[0]]
        if name in self.support:
            return f"{name}{order}"
        if space == "np":
            return f"{self._plain_name(name)}{order}"
        if name in self.lacking or (self.special is not None and name not in self.special):
            raise UnsupportedError(f"backend {self.name!r} has no function {name}")
        return found[0]
