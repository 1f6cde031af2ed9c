"""NumPy in a single expression, as ``sympy.lambdify`` and ``sympy.pycode`` write: helper functions
are inlined, writes are calls."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from functools import cache
from itertools import permutations
from typing import ClassVar

from sympy import Expr
from sympy.combinatorics import Permutation

from ..ir.code import (
    Code,
    call,
    called_name,
    dotted,
    name,
    quote,
    renamed,
    rewritten,
    subscript,
    total,
    with_keywords,
)
from ..runtime.sources import helpers
from .base import Backend
from .numpy_backend import NumpyBackend
from .spelling import ALL_ENTRIES, NEW_AXIS, Codes, Destination, bracketed

_INLINED = helpers(
    ".expression_helpers",
    *("sums", "weighted_gram", "windows", "_padded", "lagged_cumsum", "mirrored", "_times_upper"),
    *("running_products", "recurrence", "running_weights", "logcumsumexp", "running_mean"),
    *("share", "last_equal", "scatter", "one_hot", "max_shift", "logsumexp", "log_total"),
    *("softmax", "_one_sided_weights", "spectrum", "from_spectrum"),
)
# The names of modules and values in SymPy's code.
_NAMES = {
    "np": dotted("numpy"),
    "special": dotted("scipy.special"),
    "scipy_linalg": dotted("scipy.linalg"),
    "dtype": name("float"),
}


class SingleExpression(NumpyBackend):
    """Spells a program as one expression."""

    words: ClassVar = {*NumpyBackend.words, "numpy", "scipy"}
    is_read_back = True
    spellings: ClassVar = {}
    support: ClassVar = {**NumpyBackend.support, **_INLINED}
    add_transposed = Backend.add_transposed
    scatters = Backend.scatters

    def elementwise(self, operands: Codes, expr: Expr) -> Code:
        """Spell a SymPy scalar expression in slots, applied to every entry of arrays."""
        return self.scalar(operands, expr)

    def write(self, place: Destination, value: Code, order: int, sign: int) -> ast.stmt:
        """Spell writing into a diagonal or a part as a call."""
        part = bracketed(place.array, place.slices)
        if not place.is_diagonal:
            entries = part.slice if isinstance(part, ast.Subscript) else None
            where = quote("...") if entries is None else ast.Subscript(dotted("np.s_"), entries)
            if sign:
                value = total(part, [(sign < 0, value)])
            return ast.Expr(quote("{0}.__setitem__({1}, {2})", place.array, where, value))
        view = quote("np.einsum({0}, {1})", place.subscripts, part)
        if not sign:
            return ast.Expr(quote("np.copyto({0}, {1})", view, value))
        function = "np.add" if sign > 0 else "np.subtract"
        return ast.Expr(with_keywords(call(function, view, value), out=view))

    def cofactors(self, operands: Codes, order: int) -> Code:
        """Spell a derivative of det, as in the function ``cofactors``, all permutations written
        out."""
        rows, columns, values = (letters[:order] for letters in ("ijklmn", "IJKLMN", "abcdef"))
        pairs = list(map("".join, zip(rows, columns, strict=True)))
        free = order + 1 - len(operands)
        bases = [quote("_u[0].conj()")] * order + [quote("_u[2].conj()")] * order
        terms = []
        for turn in permutations(range(order)):
            left = [f"{i}{a}" for i, a in zip(rows, values, strict=True)]
            right = [f"{a}{columns[k]}" for a, k in zip(values, turn, strict=True)]
            terms_of = [*left, *right, values, *pairs[free:]]
            inputs = ",".join(f"...{term}" for term in terms_of)
            subscripts = f"{inputs}->...{''.join(pairs[:free])}"
            factors = [*bases, name("_r"), *operands[1:]]
            code = quote("np.einsum({0}, {*1}, optimize=True)", subscripts, factors)
            terms.append((Permutation(turn).is_odd, code))
        (_, first), *rest = terms
        one = quote("np.eye({0}.shape[-1])", operands[0])
        places = [
            [NEW_AXIS] * k + [ALL_ENTRIES.code] + [NEW_AXIS] * (order - 1 - k) for k in range(order)
        ]
        chosen = [subscript(one, [*place, ALL_ENTRIES.code]) for place in places]
        new = [NEW_AXIS] * order
        return quote(
            "(lambda _u: (lambda _r: {0})("
            "(np.linalg.det(_u[0]) * np.linalg.det(_u[2]))[(..., {*1})]"
            " * np.where({2} > 0, 1, _u[1][(..., {*1}, slice(None))]).prod(-1)))"
            "(np.linalg.svd({3}))",
            *(total(first, rest), new, total(chosen[0], [(False, own) for own in chosen[1:]])),
            operands[0],
        )

    def along(self, function: Callable[[Code], Code], operands: Codes) -> Code:
        """Spell a function of each matrix, or its derivative, as in the function
        ``derivative_along``."""
        X, *directions = operands
        matrix = X
        for k, direction in enumerate(directions):
            for _ in range(k):
                direction = quote("np.block([[{0}, 0 * {0}], [0 * {0}, {0}]])", direction)
            matrix = quote("np.block([[{0}, {1}], [0 * {0}, {0}]])", matrix, direction)
        value = function(matrix)
        if not directions:
            return value
        return quote("{0}[..., :{1}.shape[-1], -{1}.shape[-1]:]", value, X)

    def joined(self, parts: Sequence[Code]) -> Code:
        """Return the last of several values, in SymPy's names, with helper functions inlined."""
        return renamed(rewritten(quote("({*0},)[-1]", parts), self._inlined), _NAMES)

    @classmethod
    def _inlined(cls, node: object) -> Code | None:
        """Return the body of a helper function with the arguments of a call of it."""
        helper = called_name(node)
        if not isinstance(node, ast.Call) or helper not in _INLINED:
            return None
        function = cls._definition(helper)
        own = function.args
        parameters = [parameter.arg for parameter in own.args]
        values = dict(zip(reversed(parameters), reversed(own.defaults), strict=False))
        values |= zip(parameters, node.args, strict=False)
        values |= {keyword.arg: keyword.value for keyword in node.keywords if keyword.arg}
        if own.vararg:
            values[own.vararg.arg] = ast.Tuple(node.args[len(parameters) :])
        body = function.body[-1]
        assert isinstance(body, ast.Return)
        assert body.value is not None
        chosen = rewritten(renamed(body.value, values), _branch)
        return rewritten(chosen, cls._inlined)

    @classmethod
    @cache
    def _definition(cls, helper: str) -> ast.FunctionDef:
        (function,) = ast.parse(cls.helper(helper).text).body
        assert isinstance(function, ast.FunctionDef)
        return function


def _branch(node: object) -> Code | None:
    """Return the branch of a choice that is known."""
    if not isinstance(node, ast.IfExp) or not isinstance(node.test, ast.Constant):
        return None
    branch = node.body if node.test.value else node.orelse
    return rewritten(branch, _branch)
