"""From expressions to a Python function: plan, source text, compiled function, argument checks.

No string that a user chose reaches the compiler.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from numbers import Number
from typing import Any

from sympy import Integer, Symbol

from ..core import (
    ShapeError,
    TensorError,
    UnsupportedError,
    check_optimizer,
    deciding_lengths,
    nominal_length,
)
from ..expressions import TensorSymbol, as_operand, free_leaves, shape_of
from ..rules import cost, stable, tidy
from .argument_checks import check_shapes
from .backends import BACKENDS
from .index_bounds import position_bounds
from .lowering import make_plan
from .overwriting import overwritten
from .plans import Plan, plan_cost, proven
from .signature import Signature, plain_names
from .writing import Body, function_body, module_text

# So many sets of axis lengths are remembered.
MAX_VARIANTS = 1000
# The backend for arrays by the package of their type; NumPy's mix with all of them.
LIBRARIES = {package: name for name, backend in BACKENDS.items() for package in backend.packages}
# What the checks in generated code call.
CHECKING = {"check_shapes": check_shapes, "ShapeError": ShapeError}


def lambdify(
    args: Any,
    exprs: Any,
    backend: str = "numpy",
    *,
    check: bool = True,
    cse: bool = True,
    optimize: Any = "auto",
) -> Any:
    """A Python function that evaluates expressions on arrays.

    Parameters
    ==========

    args : a symbol or a list of them, tensor symbols and ordinary symbols
    exprs : an expression, or a (nested) list or tuple of them; the function returns the same
        structure
    backend : ``"numpy"``, ``"cupy"``, ``"jax"``, ``"torch"``, ``"dask"``, or ``"auto"`` for the one
        that the arguments of a call belong to
    check : whether each call verifies orders and lengths of the arguments
    cse : whether subexpressions that several expressions share are computed once
    optimize : how the orders of contractions are found: ``"auto"``, or whatever opt_einsum's
        ``contract_path`` takes, such as ``"greedy"`` or an optimizer of opt_einsum or cotengra.
        Expressions that aren't too long are simplified together before; ``False`` computes them as
        they are written.

    Returns
    =======

    A function with the attributes ``source``, readable Python that computes the same (constant
    arrays of more than 1000 entries are named there, not written out), and ``cost``: given a
    mapping from length symbols to numbers, ``cost(lengths)`` estimates arithmetic operations and
    bytes of memory read and written.

    Where the best order of contractions depends on the axis lengths, the first call with a new
    set of lengths plans for them and later calls use that plan; ``source`` shows the program for
    lengths that are all equal.

    Raises
    ======

    TensorError : an expression has a free symbol that is no argument
    UnsupportedError : a function has no numerical code, the backend or optimizer doesn't exist, or
        a library isn't installed; the message names the extra to install
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
    """
    if isinstance(backend, str) and backend == "auto":
        return _by_arguments(
            partial(lambdify, args, exprs, check=check, cse=cse, optimize=optimize)
        )
    program = _Program(args, exprs, backend, cse, optimize)
    plan = program.plan()
    deciding = deciding_lengths(plan.contractions, optimize)
    checks = program.checks("ShapeError") if check else []
    body = program.body(plan)
    source = program.source(body)
    program.backend.require(source)
    if deciding:
        names = [program.signature.names[s] for s in deciding]
        call = f"return variants[{', '.join(names)}]({', '.join(program.signature.arguments)})"
        reads = checks or program.signature.read_lengths(deciding, program.backend)
        text = program.text("function", [*reads, call])
        function = _compiled(
            text, {"variants": _Variants(program, deciding), **CHECKING}, program.backend
        )
    else:
        function = program.compiled(plan, body, checks)
    function.source = source
    function.cost = partial(plan_cost, plan)
    function.__doc__ = f"Generated from {len(program.exprs)} expression(s).\n\n{source}"
    return function


def codegen(args: Any, exprs: Any, backend: str = "numpy", *, name: str = "function") -> str:
    """The text of a Python function that evaluates expressions on arrays, for a file of its own.

    Parameters
    ==========

    args, exprs, backend : as for :func:`lambdify`
    name : the function's name

    Returns
    =======

    A module as text: imports, supporting functions, and the function with a docstring and checks
    of its arguments. It needs nothing but the array library.

    Raises
    ======

    TensorError : the name is no identifier, or an expression has a free symbol that is no argument
    UnsupportedError : a function has no numerical code, or the backend doesn't exist

    Examples
    ========

    >>> import sympy_einsum as se
    >>> from sympy import symbols
    >>> n = symbols("n", integer=True, positive=True)
    >>> x = se.TensorSymbol("x", (n,))
    >>> text = se.codegen(x, se.gradient((x**2).sum(), x), name="slope")
    >>> print(text[text.index("def slope"):].partition("    try")[0])
    def slope(x):
        \"\"\"Generated by sympy_einsum.
    <BLANKLINE>
        x : array of shape (n,)
        \"\"\"
    <BLANKLINE>
    """
    _check_name(name, backend)
    program = _Program(args, exprs, backend, True, "auto", reserved=[name])
    body = program.body(program.plan())
    if body.constants:
        raise UnsupportedError("a constant array is too large to be written out: pass it instead")
    arguments = program.signature.documented(program.backend)
    documented = ['"""Generated by sympy_einsum.', "", *arguments, '"""']
    checks = program.checks("ValueError")
    text = program.text(name, documented + checks + body.lines)
    if checks:
        text = text.replace(f"def {name}(", f"{inspect.getsource(check_shapes)}\n\ndef {name}(", 1)
    return text


def _check_name(name: Any, backend: str) -> None:
    reserved = BACKENDS[_known(backend)].reserved()
    if name == "function" or (
        isinstance(name, str) and plain_names([Symbol(name)], reserved) == [name]
    ):
        return
    raise TensorError(f"the name of a function must be an identifier, not {name!r}")


def _for_lengths(missing: Iterable[Any]) -> str:
    """What helps where lengths are missing, whose tensors have gone: the sum of x.mean() by x."""
    if not any(isinstance(s, Symbol) and s.is_integer for s in missing):
        return ""
    return "; for the length of an axis that no argument has, add the symbol or a tensor with it"


def _known(backend: Any) -> str:
    """The name of a backend that exists."""
    if not isinstance(backend, str) or backend not in BACKENDS:
        shown = str(backend)[:80]
        raise UnsupportedError(f"no backend {shown!r}; there are {', '.join(BACKENDS)}")
    return backend


class _Program:
    """What is to be computed, and from what."""

    def __init__(
        self,
        args: Any,
        exprs: Any,
        backend: str,
        cse: bool,
        optimize: Any,
        reserved: Sequence[str] = (),
    ):
        _known(backend)
        check_optimizer(optimize)
        symbols = _arguments(args)
        self.exprs: list[Any] = []
        self.layout = _layout(exprs, self.exprs)
        self.shapes = [shape_of(expr) for expr in self.exprs]
        self.backend = BACKENDS[backend]()
        self.signature = Signature(symbols, {*self.backend.reserved(), *reserved})
        self.cse = cse
        self.optimize = optimize
        if optimize is not False:
            # One form for all of them shares most.
            tidied, _ = tidy(self.exprs, None, ())
            if cost(tidied) <= cost(self.exprs):
                self.exprs = list(tidied)
            self.exprs, _ = stable(self.exprs, numeric=True)
        missing = free_leaves(*self.exprs) - set(self.signature.names)
        if missing:
            shown = ", ".join(sorted(str(symbol) for symbol in missing))
            raise TensorError(
                f"{shown} occurs in the expressions, but is neither an argument nor an axis length "
                f"of one; add it to the arguments{_for_lengths(missing)}"
            )

    def plan(self, size: Callable[[Any], int] = nominal_length) -> Plan:
        """The plan for axis lengths of some sizes."""
        plan = make_plan(self.exprs, size, self.optimize, self.cse)
        passed = plan
        for own_pass in self.backend.passes:
            passed = own_pass(passed)
        return proven(passed, self.shapes)._replace(contractions=plan.contractions)

    def text(self, name: str, lines: Sequence[str]) -> str:
        """The source of a function with a body."""
        return module_text(self.backend, name, self.signature.arguments, lines)

    def body(self, plan: Plan, reuse: bool = True, careful: bool = False) -> Body:
        """The body of the function that computes a plan."""
        reused = overwritten(plan) if reuse and self.backend.overwrites else {}
        return function_body(self.signature, plan, self.layout, self.backend, reused, careful)

    def checks(self, error: str) -> list[str]:
        """The lines that check the arguments."""
        return self.signature.checks(self.backend, error, position_bounds(self.exprs))

    def source(self, body: Body) -> str:
        """The source of a function with a body."""
        return self.text("function", body.reads + body.lines)

    def compiled(self, plan: Plan, body: Body, checks: Sequence[str] = ()) -> Any:
        """The function that computes a plan; after an error it looks for another way."""
        lines = [
            "try:",
            *[f"    {line}" for line in body.lines],
            "except (TypeError, ArithmeticError, IndexError):",
            f"    return again({', '.join(self.signature.arguments)})",
        ]
        namespace = {**body.constants, **CHECKING, "again": _SecondTry(self, plan)}
        text = self.text("function", [*(checks or body.reads), *lines])
        return _compiled(text, namespace, self.backend)


class _SecondTry:
    """Called where a function has failed. Operands of several types can't be overwritten, and
    Python's numbers can't be divided by zero: then other code, compiled when it is first needed,
    computes the same. What is left is an error; it is explained if an argument is the cause."""

    def __init__(self, program: _Program, plan: Plan):
        self.program = program
        self.plan = plan
        self.functions: dict[bool, Any] = {}

    def __call__(self, *values: Any) -> Any:
        error: Any = sys.exc_info()[1]
        for careful in (False, True):
            if isinstance(error, ArithmeticError if careful else TypeError):
                try:
                    return self._function(careful)(*values)
                except (TypeError, ArithmeticError, IndexError) as next_error:
                    error = next_error
        raise _explained(error, self.program.signature.symbols, values)

    def _function(self, careful: bool) -> Any:
        if careful not in self.functions:
            body = self.program.body(self.plan, reuse=False, careful=careful)
            text = self.program.source(body)
            self.functions[careful] = _compiled(text, dict(body.constants), self.program.backend)
        return self.functions[careful]


def _explained(error: Exception, symbols: Sequence[Any], values: Sequence[Any]) -> Exception:
    """What is wrong with the arguments; else the error itself."""
    if isinstance(error, IndexError):
        return ShapeError(f"a position is outside of its axis: {error}")
    for symbol, value in zip(symbols, values, strict=True):
        kind = getattr(getattr(value, "dtype", None), "kind", "")
        if not hasattr(value, "dtype") and not isinstance(value, Number):
            return TensorError(f"argument {symbol.name} must be a number, not {value!r:.80}")
        if kind in tuple("OUSMmVbc") or (kind == "f" and value.dtype.itemsize not in (4, 8)):
            return UnsupportedError(
                f"no code for argument {symbol.name}, of type {value.dtype}: {error}; convert it, "
                "such as with .astype(float)"
            )
    return error


class _Variants(dict[Any, Any]):
    """The functions for the axis lengths seen so far, where the best orders of contraction depend
    on them."""

    def __init__(self, program: _Program, lengths: Sequence[Any]):
        super().__init__()
        self.program = program
        self.lengths = lengths
        self.compiled: dict[str, Any] = {}

    def __missing__(self, key: Any) -> Any:
        sizes = key if isinstance(key, tuple) else (key,)
        # A lazy array may not know its lengths.
        known = [(s, n) for s, n in zip(self.lengths, sizes, strict=True) if n == n]
        values = {s: Integer(n) for s, n in known}

        def size(length: Any) -> int:
            return nominal_length(length.xreplace(values))

        plan = self.program.plan(size)
        body = self.program.body(plan)
        text = self.program.source(body)
        if text not in self.compiled:
            self.compiled[text] = self.program.compiled(plan, body)
        if len(self) >= MAX_VARIANTS:
            self.clear()
        self[key] = self.compiled[text]
        return self[key]


def _by_arguments(compiled: Callable[[str], Any]) -> Any:
    """A function that compiles itself for the array library that its arguments belong to."""
    functions = {"numpy": compiled("numpy")}

    def function(*values: Any) -> Any:
        roots = {type(value).__module__.partition(".")[0] for value in values}
        found = sorted({LIBRARIES[root] for root in roots if root in LIBRARIES}) or ["numpy"]
        if len(found) > 1:
            raise TensorError(
                f"the arguments are arrays of {' and '.join(found)}; convert them to one library"
            )
        if found[0] not in functions:
            functions[found[0]] = compiled(found[0])
        return functions[found[0]](*values)

    function.source = functions["numpy"].source  # type: ignore[attr-defined]
    function.cost = functions["numpy"].cost  # type: ignore[attr-defined]
    return function


def _compiled(text: str, namespace: dict[str, Any], backend: Any) -> Any:
    try:
        exec(compile(text, "<sympy_einsum>", "exec"), namespace)
    except ImportError as error:
        package = (error.name or "").partition(".")[0]
        raise UnsupportedError(f"{backend.how_to_install(package)} ({error})") from error
    return namespace["function"]


def _arguments(args: Any) -> list[Any]:
    symbols = list(args) if isinstance(args, (list, tuple)) else [args]
    for symbol in symbols:
        if not isinstance(symbol, (TensorSymbol, Symbol)):
            raise TensorError(f"an argument is a TensorSymbol or a Symbol, not {symbol!r}")
    if len(set(symbols)) != len(symbols):
        raise TensorError("an argument is given twice")
    return symbols


def _layout(exprs: Any, leaves: list[Any]) -> Callable[[Sequence[str]], str]:
    """Collect the expressions of a nested list; returns how to write it from their texts."""
    if isinstance(exprs, (list, tuple)):
        parts = [_layout(part, leaves) for part in exprs]
        left, right = "[]" if isinstance(exprs, list) else ("(", ",)" if len(exprs) == 1 else ")")
        return lambda texts: left + ", ".join(part(texts) for part in parts) + right
    position = len(leaves)
    leaves.append(as_operand(exprs))
    return lambda texts: texts[position]
