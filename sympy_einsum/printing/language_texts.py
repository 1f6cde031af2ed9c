"""Write expressions in the languages that ``parse`` reads."""

from __future__ import annotations

from collections.abc import Callable

from ..core import TensorError
from ..expressions import Operand, TensorLike, as_operand
from .caddie_text import caddie_text
from .ricci_text import ricci_text
from .star_text import star_text

SYNTAXES: dict[str, Callable[[Operand], str]] = {
    "lippmann": star_text,
    "ricci": ricci_text,
    "caddie": caddie_text,
}


def to_text(e: TensorLike, syntax: str) -> str:
    """Write an expression in a language; ``parse`` with the same ``syntax``, given the symbols by
    name, returns the same expression.

    Parameters
    ==========

    syntax : ``"lippmann"``: products ``A *(ij,j->i) b`` [L]; ``"ricci"``: upper and lower indices
        ``A^i_j b^j`` [LMG18], only for axis lengths that the symbols determine; ``"caddie"``:
        scalar expressions of numbers and entries of vectors, ``x * sin (#2 p)`` [H]

    Raises
    ======

    UnsupportedError : the language has no such function, name or axis length
    TensorError : there is no such language

    References
    ==========

    [L] F. Lippmann, "Designing and Implementing a Tensor Calculus", 2022, §2.
    [LMG18] S. Laue, M. Mitterreiter, J. Giesen, "Computing Higher Order Derivatives of Matrix and
    Tensor Expressions", NeurIPS 2018, §2.
    [H] K. L. Hansen, "Application of Combinatory Automatic Differentiation in a Python Context",
    2025, §2.4.

    Examples
    ========

    >>> import sympy_einsum as se
    >>> A, b = se.TensorSymbol("A", (3, 3)), se.TensorSymbol("b", 3)
    >>> e = A @ se.sin(b) - 2 * b
    >>> print(se.to_text(e, "lippmann"))
    -2 *(,i->i) b + A *(ij,j->i) sin(b)
    >>> print(se.to_text(e, "ricci"))
    -2 b^i + A^i_j sin(b^j)
    >>> f = se.parse_python("def f(x): return x[0] * sin(x[1])").outputs
    >>> print(se.to_text(f, "caddie"))
    #1 x * sin (#2 x)
    >>> se.parse_program("fun f x = " + se.to_text(f, "caddie")).functions["f"].point_free
    * ∘ (π 1 × sin ∘ π 2) ∘ Δ
    >>> se.parse(se.to_text(e, "lippmann"), {"A": A, "b": b}, syntax="lippmann") == e
    True
    """
    if not isinstance(syntax, str) or syntax not in SYNTAXES:
        raise TensorError(f"unknown syntax {syntax!r:.80}; choose from {', '.join(SYNTAXES)}")
    return SYNTAXES[syntax](as_operand(e))
