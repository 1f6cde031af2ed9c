"""Parse text in any of the languages."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Literal, overload

from ..core import ParseError, with_time_limit
from ..expressions import Operand
from .caddie.parser import is_program
from .caddie.program import CaddieProgram, caddie_expression, read_functions
from .einsum_text import einsum_expression
from .geno.program import read_problem
from .lippmann.program import (
    Declarations as OrderDeclarations,
    TensorProgram,
    read_expression,
    read_program,
)
from .matrixcalculus.declarations import Declarations, kind_by_name, read_declarations
from .matrixcalculus.parser import read
from .matrixcalculus.program import Interpreter, variable_names
from .python_text import python_names, read_python
from .ricci.program import read_ricci
from .token_streams import Token, tokens_of


@overload
def parse(text: str, declarations: None = None, *, syntax: Literal["geno"]) -> Any: ...


@overload
def parse(
    text: str, declarations: Declarations | OrderDeclarations = None, *, syntax: str = "auto"
) -> Operand: ...


def parse(
    text: str, declarations: Declarations | OrderDeclarations = None, *, syntax: str = "auto"
) -> Operand:
    """Parse an expression.

    Parameters
    ==========

    text : str
    declarations : the variables, by name or in the words of the language
    syntax : the language, guessed by default

        ``"matrixcalculus"``, that of MatrixCalculus.org [1]. Names that start with a capital
        letter are matrices, with h to z vectors, with a to g scalars, unless declared otherwise.
        Vectors are columns, ``x'`` is a row. There are

        * ``+ - * /`` and the power ``^`` of a scalar or (with an integer) a square matrix;
          ``.* ./ .^`` entry by entry; ``'`` for the transpose, which after a power transposes the
          power, as in MATLAB;
        * elementwise functions, ``exp``, ``log``, ``relu`` and all others with a name for this
          language in the table of scalar functions;
        * ``sum``, ``norm1``, ``norm2`` or ``normF`` (Euclidean or Frobenius), ``tr``, ``det``,
          ``logdet``, ``inv``, ``adj``, and ``diag`` from a vector to a matrix or back;
        * ``max`` and ``min`` of all entries or of two values entry by entry, ``softmax``,
          ``logsumexp``; as in MATLAB, ``sum(X, 1)``, ``softmax(X, 1)`` and ``logsumexp(X, 1)`` go
          down the columns, with 2 along the rows;
        * ``vec(X)``, the columns stacked, and ``kron(X, Y)``;
        * ``vector(c)`` and ``matrix(c)``, the scalar c repeated, ``eye``, the identity, ``pi``.

        Declarations are texts such as ``"K symmetric matrix; b, c vector(n)"``, several such
        texts, or a mapping from names to ``"positive vector"`` and the like or to symbols of your
        own. The words are ``symmetric``, ``diagonal``, ``psd``, ``pd``, ``positive``,
        ``nonnegative``.

        ``"lippmann"``, that of Lippmann's tensor calculus [2], for tensors of any order. There are

        * ``A *(ij,j->i) b``, the product with index strings; ``A *(ij->ji)`` of one operand, a
          transpose, sum or diagonal; ``+ - /`` of tensors of one order, entry by entry; ``^`` with
          a scalar exponent;
        * elementwise functions, by the thesis' names and by ours, and ``inv``, ``det``, ``adj``;
        * numbers, which are broadcast to the order that the context needs; ``delta(n)``, the delta
          tensor of order 2 n; ``[m, n]`` after either or after an expression states its axis
          lengths.

        Declarations are the orders, ``"A 2 b 1"``, or a mapping from names to orders, to tuples of
        axis lengths, or to symbols of your own. They may be part of the text: ``declare A 2 b 1
        expression A *(ij,j->i) b``; programs with derivatives are for :func:`parse_program`.

        ``"ricci"``, Ricci calculus [3]: tensors with upper and lower indices, ``A^i_j x^j``. An
        index that is upper and lower in a term is summed over; otherwise it is free, and repeating
        it multiplies entry by entry: ``x^i y^i``. Terms of a sum have the same indices. There are
        ``+ - *``, also products without a sign, ``/`` by a divisor whose indices all occur in the
        dividend, powers ``(x^i)^2``, the functions of Lippmann's language, ``δ^i_j``,
        ``0^i`` and ``1^i``. The axes follow the alphabet, as for ``numpy.einsum``, or the left
        side, ``C^i_k = A^i_j B^j_k``. Declarations are a mapping from names to symbols.

        Axis lengths are inferred; those that stay free become symbols ``n, m, k, …``. Names that
        are declared and don't occur do no harm.

        ``"einsum"``, that of Wenig and others, as for :func:`read_einsum`:
        ``#(ij,jk,k->i; A, B, v)``. Declarations are those of Lippmann's tensor calculus.

        ``"caddie"``, that of Caddie [5]: ``fun f x = ln (sin x)``, functions of one argument, which
        may be a tuple; the value of the last one is returned, a tuple of numbers as a vector. Or an
        expression without ``fun``. There are

        * ``let x = … in …``, with or without ``end``; tuples ``(x, y)`` and their components
          ``#1 p``; numbers; ``pi``; comments ``(* … *)``;
        * ``+ -``, component by component, ``*`` of numbers, ``c *> p`` for a number and a tuple,
          ``~`` for the negative; ``pow 2.0 x``; ``ln sin cos exp tan abs``; earlier functions;
        * ``dprod (p, q)`` and ``dprod3``, the scalar product, ``cprod3`` and ``cross``, the cross
          product, ``sprod (c, p)``, ``norm2sq (x, y)``, x² + y²;
        * arrays ``[x, y]``, ``iota 5`` and ``map (fn x => …) xs``.

        Types are inferred. Declarations are a mapping from names to symbols.

        ``"geno"``, that of GENO [4], for optimization problems: ``parameters`` and ``variables``
        with their declarations, ``Matrix K symmetric``, ``Vector b, c``, ``Scalar t``; ``min`` or
        ``max`` with an expression of MatrixCalculus.org's language; ``st`` with constraints, which
        commas, semicolons or ends of lines separate. Comments start with ``#``.

        ``"python"``, one expression of Python, as :func:`parse_python` reads it, never executed:
        ``np.sum((A @ x - y)**2)``. Kinds follow from first letters, declarations are as for
        ``"matrixcalculus"``.

    Returns
    =======

    A tensor expression of order 0 for a scalar, 1 for a column or a row, 2 for a matrix and so on.
    Its variables are in ``free_symbols``: real symbols for scalars, else tensor symbols. For
    ``"geno"`` a :class:`Problem`.

    Raises
    ======

    ParseError : the text isn't in the language, or its shapes don't match; names the position and
        the expected continuation

    Examples
    ========

    >>> import sympy_einsum as se
    >>> from sympy_einsum.languages.parsing import parse
    >>> f = parse("x'*A*x")
    >>> sorted((s.name, s.shape) for s in f.free_symbols if isinstance(s, se.TensorSymbol))
    [('A', (n, n)), ('x', (n,))]
    >>> parse("a'*X*b", "a, b vector").order
    0
    >>> w = se.TensorSymbol("w", (3,))
    >>> parse("w'*w", {"w": w}) == w @ w
    True
    >>> parse("x*y")
    Traceback (most recent call last):
    ...
    sympy_einsum.ParseError: * can't multiply the column vector x with the column \
    vector y; write x.*y for the elementwise or x'*y for the inner product; x is a vector by its \
    first letter: declare "x matrix" if it is one, at position 1:
      x*y
       ^
    >>> parse("A *(ij,j->i) sin(w) + 1", {"A": 2, "w": w})
    A @ sin(w) + 1
    >>> parse("fun f x = let y = sin x in ln y end")
    log(sin(x))
    >>> parse("parameters Matrix A Vector b variables Vector x min norm2(A*x - b)^2 st x >= 0")
    minimise ((A @ x - b)**2).sum() over x subject to x >= 0

    References
    ==========

    .. [1] https://www.matrixcalculus.org/documentation
    .. [2] F. Lippmann, "Designing and Implementing a Tensor Calculus", 2022, §2
    .. [3] S. Laue, M. Mitterreiter, J. Giesen, "Computing Higher Order Derivatives of Matrix and
       Tensor Expressions", NeurIPS 2018, §2
    .. [4] S. Laue, M. Mitterreiter, J. Giesen, "GENO – GENeric Optimization for Classical Machine
       Learning", NeurIPS 2019
    .. [5] K. L. Hansen, "Application of Combinatory Automatic Differentiation in a Python Context",
       2025, §2.4
    """
    if checked_syntax(text, syntax) == PROBLEMS:
        if declarations is not None:
            raise ParseError("a problem has its declarations in the text; give no others")
        return read_problem(text)
    return parse_with_variables(text, declarations, syntax)[0]


@overload
def parse_program(
    text: str, declarations: OrderDeclarations = None, *, syntax: Literal["caddie"]
) -> CaddieProgram: ...


# Type checkers take a program whose language is guessed for one in Lippmann's.
@overload
def parse_program(
    text: str,
    declarations: OrderDeclarations = None,
    *,
    syntax: Literal["auto", "lippmann"] = "auto",
) -> TensorProgram: ...


@overload
def parse_program(text: str, declarations: OrderDeclarations = None, *, syntax: str) -> Any: ...


@with_time_limit
def parse_program(
    text: str, declarations: OrderDeclarations = None, *, syntax: str = "auto"
) -> TensorProgram | CaddieProgram:
    """Parse a program: in Lippmann's language with the derivatives that it requests, or the
    functions of one in Caddie's.

    Parameters
    ==========

    text : any number of ``declare A 2 b 1``, ``expression A *(ij,j->i) b`` and ``derivative wrt
        b``, in any order with declarations before uses. A derivative is that of the preceding
        expression; ``wrt`` may be followed by several names, for one derivative each. Or functions
        ``fun f x = …``, as for :func:`parse`
    declarations : of further variables, as for :func:`parse`
    syntax : ``"lippmann"`` or ``"caddie"``, by default guessed from the first word

    Returns
    =======

    For Lippmann's language an object with ``symbols``, a dictionary by name; ``expressions``, a
    list; ``derivatives``, a list of triples ``(expression, variable, derivative)``.

    For Caddie's an object with ``functions``, a dictionary by name. Each has ``argument``,
    ``value``, ``symbols``, ``expr`` for a value that is one tensor, and ``point_free``, the program
    as a composition of combinators, which can be called and has a ``trace``. An expression without
    ``fun`` is a function ``expr`` of its free variables.

    Raises
    ======

    ParseError : as for :func:`parse`

    Examples
    ========

    >>> import sympy_einsum as se
    >>> program = se.parse_program(
    ...     "declare A 2 b 1 c 0 expression A *(ij,j->i) b + sin(b) derivative wrt b"
    ... )
    >>> program.symbols["A"].shape
    (n, n)
    >>> program.derivatives[0].derivative
    A + diag(cos(b))
    >>> f = se.parse_program("fun f x = ln (#1 x * cos (#2 x))").functions["f"]
    >>> f.point_free
    ln ∘ * ∘ (π 1 × cos ∘ π 2) ∘ Δ
    >>> f.point_free((2, 0))
    log(2)
    """
    if not isinstance(syntax, str) or syntax not in ("auto", "lippmann", "caddie"):
        raise ParseError(f"unknown syntax {syntax!r:.80}; programs are in lippmann or caddie")
    is_functions = isinstance(text, str) and is_program(text)
    if syntax == "caddie" or (syntax == "auto" and is_functions):
        return read_functions(text, declarations)
    return read_program(text, declarations)


@with_time_limit
def tokens(text: str, syntax: str = "auto") -> list[Token]:
    """Split a text in a language into its tokens.

    Parameters
    ==========

    text : str
    syntax : ``"matrixcalculus"``, ``"lippmann"``, ``"ricci"``, ``"caddie"`` or ``"geno"``, guessed
        by default

    Returns
    =======

    A list of triples ``(kind, text, position)``. Kinds are the terminals of the grammar; for
    Lippmann's language the descriptors of the thesis (§3.1.1): ``ALPHANUM``, ``LOWERCASE_ALPHA``
    for names of small letters, ``CONSTANT``, ``ELEMENTWISE_FUNCTION``, ``SPECIAL_FUNCTION``,
    ``PLUS``, ``LRBRACKET``, …

    Raises
    ======

    ParseError : a character belongs to no token, or the language has no tokens

    Examples
    ========

    >>> import sympy_einsum as se
    >>> [tuple(token)[:2] for token in se.tokens("A + sin(b)", "lippmann")][:3]
    [('ALPHANUM', 'A'), ('PLUS', '+'), ('ELEMENTWISE_FUNCTION', 'sin')]
    >>> [token.text for token in se.tokens("x'*A*x")]
    ['x', "'", '*', 'A', '*', 'x']
    """
    return tokens_of(text, checked_syntax(text, syntax))


@with_time_limit
def parse_with_variables(
    text: str, declarations: Declarations | OrderDeclarations = None, syntax: str = "auto"
) -> tuple[Operand, dict[str, Operand]]:
    """Parse a text; return its expression and its variables by name in order of appearance.

    >>> expr, variables = parse_with_variables("sum(a*x - a*x)")
    >>> expr, list(variables)
    (0, ['a', 'x'])
    """
    name = checked_syntax(text, syntax)
    if name == PROBLEMS:
        raise ParseError(
            "the text is a problem of optimization, not an expression; parse reads it, and "
            '"sympy-einsum solve" solves it'
        )
    return SYNTAXES[name](text, declarations)


@with_time_limit
def variable_kinds(text: str, syntax: str = "auto") -> dict[str, str]:
    """Return the kinds that the names of the variables of a text suggest, in the languages where
    names do that; raises ParseError for a text that isn't in the language.

    >>> [variable_kinds(text) for text in ("A*x - b", "np.sum(x**2)", "fun f x = x")]
    [{'A': 'matrix', 'x': 'vector', 'b': 'scalar'}, {'x': 'vector'}, {}]
    """
    names_in = _NAMED.get(checked_syntax(text, syntax))
    return {} if names_in is None else {name: kind_by_name(name) for name in names_in(text)}


def checked_syntax(text: str, syntax: str = "auto") -> str:
    """Return the name of a language; for ``"auto"`` guess it from the text.

    >>> checked_syntax("A *(ij,j->i) b"), checked_syntax("A*b"), checked_syntax("A^i_j b^j")
    ('lippmann', 'matrixcalculus', 'ricci')
    """
    if not isinstance(syntax, str) or syntax not in ("auto", PROBLEMS, *SYNTAXES):
        names = ", ".join(["auto", *SYNTAXES, PROBLEMS])
        raise ParseError(f"unknown syntax {syntax!r:.80}; choose from {names}")
    if syntax == "auto" and isinstance(text, str):
        found = (name for name, mark in _MARKS.items() if re.search(mark, text))
        return next(found, "matrixcalculus")
    return syntax if syntax != "auto" else "matrixcalculus"


def _matrix_expression(text: str, declarations: Declarations) -> tuple[Operand, dict[str, Operand]]:
    program = Interpreter(text, read_declarations(declarations))
    root = read(text)
    try:
        program.infer(root)
        return program.build(root), dict(program.symbols)
    except RecursionError:
        raise ParseError("the expression is nested too deeply for SymPy") from None


def _tensor_expression(
    text: str, declarations: OrderDeclarations
) -> tuple[Operand, dict[str, Operand]]:
    program = read_expression(text, declarations)
    (expression,) = program.expressions
    return expression, program.symbols


# The parsers by name: from a text and declarations to an expression and its variables.
SYNTAXES: dict[str, Callable[[str, Any], tuple[Operand, dict[str, Operand]]]] = {
    "matrixcalculus": _matrix_expression,
    "einsum": einsum_expression,
    "lippmann": _tensor_expression,
    "ricci": read_ricci,
    "caddie": caddie_expression,
    "python": read_python,
}
# Functions that list the variables of a text whose kinds follow from their names.
_NAMED: dict[str, Callable[[str], list[str]]] = {
    "matrixcalculus": lambda text: variable_names(read(text)),
    "python": python_names,
}
# The language whose texts are problems, not expressions.
PROBLEMS = "geno"
# Patterns specific to one language.
_MARKS = {
    PROBLEMS: r"(?i)^\s*(#[^\n]*\n\s*)*(parameters?|variables?)\s+[a-z]",
    "caddie": r"^\s*(\(\*([^*]|\*+[^*)])*\*+\)\s*)*fun\s+\w+\s+\w+\s*=",
    "einsum": r"#\s*\(",
    "lippmann": r"\*\s*_?\s*\([^()]*(-\s*>|→|>)|^\s*(declare|expression)\s",
    # Two adjacent tensors with indices, several indices in braces, or a delta tensor.
    "ricci": r"[\^_][a-z]+\s+[A-Za-z]\w*[\^_][a-z]|[\^_]\{|δ",
    "python": r"\b(np|jnp|math)\.|\*\*|@|\.T\b",
}
