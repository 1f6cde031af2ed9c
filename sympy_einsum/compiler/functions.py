"""Public functions that compile expressions, or write them as source text."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING

from sympy import Basic, Symbol

from ..contraction_order import Optimizer
from ..core import TensorError, UnsupportedError, as_flag, deferred, with_hints
from ..expressions import Operand, as_operand
from .backends import BACKENDS
from .calls import ByArguments, Compiled, CompiledFunction
from .emit.modules import SourceModule
from .emit.signature import plain_names
from .program import Arguments, Compilation, Request, backend_class
from .runtime.argument_checks import check_shapes, checked_array, checked_integer
from .semirings.algebras import semiring_of

if TYPE_CHECKING:
    from .emit.language import Language

_language_of = deferred("compiler.emit.languages", "language_of")
_typed_text = deferred("compiler.emit.languages", "typed_text")


@with_hints
def lambdify(
    args: Arguments,
    exprs: object,
    backend: str = "numpy",
    *,
    check: bool = True,
    cse: bool = True,
    optimize: Optimizer = "auto",
    semiring: object = None,
    functions: Mapping[str, Callable[..., object]] | None = None,
    structured: bool = False,
    sparse: bool | Arguments = False,
) -> CompiledFunction:
    """Compile expressions to a Python function of arrays.

    Parameters
    ==========

    args : a symbol or a list of them, tensor symbols and ordinary symbols; also unknown functions
        at a point and their derivatives, for which arrays are given then
    exprs : an expression, a matrix in blocks as :func:`sympy_einsum.pack` makes, or a (nested) list
        or tuple of some; the function returns the same structure
    backend : one of BACKENDS, or ``"auto"`` for the one that the arguments of a call belong to
    check : whether each call verifies orders and lengths of the arguments
    cse : whether subexpressions that several expressions share are computed once
    optimize : how the orders of contractions are found: ``"auto"``, or whatever opt_einsum's
        ``contract_path`` takes, such as ``"greedy"`` or an optimizer of opt_einsum or cotengra.
        Expressions that aren't too long are simplified together before; ``False`` computes them as
        they are written.
    semiring : ``"max-plus"``, ``"min-plus"``, ``"max-times"``, ``"or-and"``, ``"log"``,
        ``"count"``, or an object with two functions of arrays, ``add`` and ``multiply``, and their
        neutral elements ``zero`` and ``one``: sums and products are those of that commutative
        semiring [W, def. 4.2], deltas, ones and zeros have its elements. A whole number k stands
        for the sum of k ones, an axis length too, and x**k for the product of k factors; other
        elements are arguments. ``"max-times"`` is one on numbers that aren't negative, ``"count"``
        on integers, which as Python's in arrays of objects may be of any size. What has no
        meaning there is refused by name; what cancels when it is built, as A - A, is 0.
    functions : what computes functions that have no code of their own, ``sympy.Function("f")`` and
        its derivatives: functions of the backend's arrays that work entry by entry, by their
        names, ``{"f": np.sin, "f'": np.cos}``, for several arguments ``"f^(1,0)"``. SymPy's
        ``implemented_function`` brings its own
    structured : whether an output that :func:`sympy_einsum.compress` finds structure in comes back
        compressed: only its ``core`` is computed, ``pattern`` says how its entries are placed in
        ``shape``, and ``to_dense()``, ``to_scipy()``, ``matvec(v)``, ``solve(b)``, ``diagonal()``
        and ``logdet()`` compute with arrays. In the source that is ``compressed(core, pattern,
        shape)``. An output whose first and last axes are alike, and whose entries stand on several
        diagonals or where gathers say, comes back as a matrix of one sparse block, solved by its
        band if that is narrow (NumPy). A matrix in blocks comes back as blocks each with its
        structure, with the same methods (NumPy and Numba)
    sparse : whether derivatives that are matrices, or of higher order, come back as sparse
        matrices, SciPy's ``csr_array``, CuPy's ``csr_matrix`` or JAX's ``BCOO``: the axes of the
        function are the rows and those of the variable, the last ones, the columns, in C order.
        Deltas, slices, gathers, triangles and Kronecker products say which entries are stored;
        no dense matrix is computed. Which axes are the variable's is known by the arguments'
        shapes; where several fit, give the variable, or a list of some, in place of True. Results
        of order 0 or 1 and gradients are arrays. In the source that is
        ``sparse(rows, columns, positions, terms)``: arrays of positions with the lengths of their
        axes, and for each term its entries, the lengths of their axes, and where they stand

    Returns
    =======

    A function with the attributes ``source``, readable Python that computes the same (constant
    arrays of more than 1000 entries are named there, not written out), and ``cost``: given a
    mapping from length symbols to numbers, ``cost(lengths)`` estimates arithmetic operations and
    bytes of memory read and written. It can be pickled, and is compiled again where it is loaded.

    Where the best order of contractions depends on the axis lengths, the first call with a new
    set of lengths plans for them, unless the orders of an earlier plan are within a tenth of the
    best for these too; ``source`` shows the program for lengths that are all equal.

    Raises
    ======

    TensorError : an expression has a free symbol that is no argument
    UnsupportedError : a function has no numerical code, the backend, optimizer or semiring doesn't
        exist, something has no meaning in the semiring, or a library isn't installed; the message
        names the extra to install. Or with ``sparse`` a derivative has a dense term
    ShapeError : (when called) an argument doesn't fit; the message names it, its axis and lengths

    Examples
    ========

    >>> import numpy as np
    >>> from sympy import symbols
    >>> import sympy_einsum as se
    >>> m, n = symbols("m n", integer=True, positive=True)
    >>> A, x = se.TensorSymbol("A", (m, n)), se.TensorSymbol("x", (n,))
    >>> f = se.lambdify([A, x], se.gradient(((A @ x)**2).sum(), x))
    >>> f(np.array([[1.0, 2.0], [0.0, 1.0]]), np.array([1.0, 1.0]))
    array([ 6., 14.])

    A function that is only known by its values, and those of its derivative:

    >>> from sympy import Function
    >>> gradient = se.gradient(Function("f")(x).sum(), x)
    >>> gradient
    f'(x)
    >>> se.lambdify(x, gradient, functions={"f'": np.cos})([0.0])
    array([1.])

    Shortest ways over one point between:

    >>> D = se.TensorSymbol("D", (n, n))
    >>> distances = np.array([[0, 1, 9], [1, 0, 2], [9, 2, 0]])
    >>> se.lambdify([D], D @ D, semiring="min-plus")(distances)
    array([[0., 1., 3.],
           [1., 0., 2.],
           [3., 2., 0.]])

    References
    ==========

    [W] M. Wenig, P. Rump, M. Blacher, J. Giesen, "The Syntax and Semantics of einsum", 2025.
    """
    structured = as_flag(structured, "structured")
    if structured and semiring is not None:
        raise UnsupportedError(
            f"structured=True isn't there in semiring {semiring_of(semiring).name!r}; leave it out"
        )
    variables = _variables_of(sparse, args)
    if variables is not None and (structured or semiring is not None):
        other = "structured=True" if structured else f"semiring {semiring_of(semiring).name!r}"
        raise UnsupportedError(f"sparse doesn't go with {other}; leave one of them out")
    request = Request(
        *(args, exprs, backend, check, cse, optimize, semiring, functions, structured, variables)
    )
    by_arguments = isinstance(backend, str) and backend == "auto"
    return ByArguments(request) if by_arguments else Compiled(request).function


def _variables_of(sparse: object, args: Arguments) -> tuple[Operand, ...] | None:
    """Return the variables whose axes may be columns, None where no sparse matrices are wanted."""
    if sparse is False:
        return None
    given = args if sparse is True else sparse
    listed = given if isinstance(given, (list, tuple)) else [given]
    if sparse is not True and not all(isinstance(own, Basic) for own in listed):
        raise TensorError(f"sparse is True, a variable or a list of some, not {sparse!r:.80}")
    return tuple(map(as_operand, listed))


def module_texts(request: Request, name: str, in_place: bool = True) -> tuple[str, SourceModule]:
    """Return the text of a module with one function, and the module without its checks;
    ``in_place`` says whether arrays are written over; a text where they aren't is one that can be
    read again.

    Raises
    ======

    TensorError : the name is no identifier, or an expression has a free symbol that is no argument
    UnsupportedError : a function has no numerical code, the backend doesn't exist, something has no
        meaning in the semiring, or that isn't given by its name
    """
    _check_name(name, backend_class(request.backend).reserved())
    if request.semiring is not None and not isinstance(request.semiring, str):
        raise UnsupportedError("one's own operations can't be written out: name a semiring")
    program = Compilation(request, [name])
    program.backend.is_read_back = not in_place
    body = program.body(program.plan(), reuse=in_place)
    if program.backend.functions.used:
        name = next(iter(program.backend.functions.used))
        raise UnsupportedError(
            f"the function {name} is one of Python's, which isn't written out: make it by "
            f'function({name!r}, code="..."), with its text'
        )
    if body.constants:
        raise UnsupportedError("a constant array is too large to be written out: pass it instead")
    arguments = program.signature.documented()
    documented = ['"""Generated by sympy_einsum.', "", *arguments, '"""']
    checks = program.checks("ValueError") if request.check else body.reads
    module = program.module(name, [*documented, *checks, *body.block()], kernel=body.kernel)
    if checks and request.check:
        module = module._replace(functions=[*module.functions, checking_text()])
    return module.text, program.source(body)


def typed_function(request: Request, name: str, language: str) -> str:
    """Return the text of a function of another language: a plan for Numba, its loop nests printed.

    Raises
    ======

    TensorError : the name is no identifier, or an expression has a free symbol that is no argument
    UnsupportedError : the language doesn't exist, or it lacks a function, or something has no
        helper functions
    """
    own = _language_of(language)
    if name == "function" and name in own.reserved:
        name = "computed"
    _check_name(name, {*own.reserved, *own.parts()}, own)
    program = Compilation(request._replace(backend="numba"))
    if program.backend.is_complex:
        raise UnsupportedError(
            "code in C, Fortran or Julia computes with real numbers: take language='python'"
        )
    text: str = _typed_text(own, program.signature, program.plan(), program.bounds, name)
    return text


def checking_text() -> str:
    """Return the functions that check arguments, as they stand in written code."""
    return "\n\n".join(
        [inspect.getsource(f) for f in (checked_array, checked_integer, check_shapes)]
    )


def _check_name(name: object, reserved: Collection[str], language: Language | None = None) -> None:
    is_plain = isinstance(name, str) and plain_names([Symbol(name)], reserved) == [name]
    if language and isinstance(name, str):
        is_plain = is_plain and language.allows(name) and language.folded(name) not in reserved
    if name != "function" and not is_plain:
        raise TensorError(f"the name of a function must be an identifier, not {name!r}")


lambdify.__doc__ = inspect.cleandoc(lambdify.__doc__ or "").replace(
    "one of BACKENDS", ", ".join([f'``"{name}"``' for name in BACKENDS])
)
