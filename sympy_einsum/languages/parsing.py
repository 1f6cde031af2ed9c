"""Text as input: the public side of the language in ``matrixcalculus``."""

from __future__ import annotations

from ..core import ParseError
from ..expressions import Operand
from .matrixcalculus.declarations import Declarations, read_declarations
from .matrixcalculus.program import Program
from .matrixcalculus.reading import read


def parse(text: str, declarations: Declarations = None) -> Operand:
    """Read an expression in the language of MatrixCalculus.org [1].

    Names that start with a capital letter are matrices, with h to z vectors, with a to g scalars.
    Vectors are columns, ``x'`` is a row. There are

    * ``+ - * /`` and the power ``^`` of a scalar or (with an integer) a square matrix;
      ``.* ./ .^`` entry by entry; ``'`` for the transpose, which after a power transposes the
      power, as in MATLAB;
    * the elementwise functions ``exp``, ``log``, ``relu`` and so on, all that have a name there in
      the table of scalar functions;
    * ``sum``, ``norm1``, ``norm2`` or ``normF`` (Euclidean or Frobenius), ``tr``, ``det``,
      ``logdet``, ``inv``, ``adj``, and ``diag`` from a vector to a matrix or back;
    * ``max`` and ``min`` of all entries or of two values entry by entry, ``softmax``,
      ``logsumexp``; as in MATLAB, ``sum(X, 1)``, ``softmax(X, 1)`` and ``logsumexp(X, 1)`` go
      down the columns, with 2 along the rows;
    * ``vec(X)``, the columns below each other, and ``kron(X, Y)``;
    * ``vector(c)`` and ``matrix(c)``, the scalar c repeated, ``eye``, the identity, and ``pi``.

    Axis lengths are inferred; those that stay free become symbols ``n, m, k, …``.

    Parameters
    ==========

    text : str
    declarations : variables that the rule of the first letter is wrong for, or of which more is
        known. Text such as ``"K symmetric matrix; b, c vector(n)"``, several such texts, or a
        mapping from names to ``"positive vector"`` and the like or to symbols of your own. The
        words are ``symmetric``, ``diagonal``, ``psd``, ``positive`` and ``nonnegative``. Names
        that don't occur in the text do no harm.

    Returns
    =======

    A tensor expression of order 0 for a scalar, 1 for a column or a row, 2 for a matrix. Its
    variables are in ``free_symbols``: real symbols for scalars, else tensor symbols.

    Raises
    ======

    ParseError : the text is not in the language, or its shapes don't fit; with the position, an
        excerpt and what was expected

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

    References
    ==========

    .. [1] https://www.matrixcalculus.org/documentation
    """
    return parse_with_variables(text, declarations)[0]


def parse_with_variables(
    text: str, declarations: Declarations = None
) -> tuple[Operand, dict[str, Operand]]:
    """The expression of a text, and its variables by name in order of appearance.

    >>> expr, variables = parse_with_variables("sum(a*x - a*x)")
    >>> expr, list(variables)
    (0, ['a', 'x'])
    """
    declared = read_declarations(declarations)
    root = read(text)
    program = Program(text, declared)
    try:
        program.infer(root)
        return program.build(root), dict(program.symbols)
    except RecursionError:
        raise ParseError("the expression is nested too deeply for SymPy") from None
