"""Compiled functions: calls, pickling, and the fallback for unexpected arguments.

No string that a user chose reaches Python's compiler.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cache, lru_cache, partial
from numbers import Integral, Number
from threading import RLock
from types import CodeType, MethodType, ModuleType
from typing import Any, Protocol

import numpy as np
from sympy import Expr, Integer

from ..core import (
    ShapeError,
    TensorError,
    UnsupportedError,
    collector_paused,
    deferred,
    postorder,
    tuning,
)
from ..expressions import MatrixPower, shape_of
from .backends import BACKENDS, Backend
from .emit.modules import Line, SourceModule, kernel_module
from .emit.printer import indented
from .emit.writer import Body
from .ir.code import name, quote, subscript
from .ir.plans import Cost, Plan, plan_cost
from .program import Compilation, Request
from .runtime.argument_checks import check_shapes
from .semirings.backends import positions_in

_kernels = deferred("compiler.kernel_calls", "Kernels")
_compressed = deferred("compiler.compressed_arrays", "CompressedArray")
_block_array = deferred("compiler.block_arrays", "BlockArray")
_sparse_factors = deferred("compiler.sparse_systems", "SparseSystem")

# The import line that isn't executed: the namespace has NumPy already.
IMPORT_NUMPY = "import numpy as np"
# Threads that meet new axis lengths wait for each other: most want the same plan.
PLANNING = RLock()
# A child forked while another thread holds the lock would deadlock.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=PLANNING.acquire, after_in_parent=PLANNING.release, after_in_child=PLANNING.release
    )
# Functions called by the checks in generated code.
CHECKING = {"check_shapes": check_shapes, "ShapeError": ShapeError}


def _called(program: Compilation) -> dict[str, object]:
    """Return the functions that generated code calls besides its library's."""
    own = {"compressed": _compressed, "block_array": _block_array}
    sparse = {"sparse": program.sparse_matrices, "sparse_factors": _sparse_factors}
    return {**CHECKING, **own, **sparse}


class CompiledFunction(Protocol):
    """A function of arrays, with the text that computes the same and an estimate of its cost."""

    source: str

    @property
    def cost(self) -> Callable[[Mapping[Expr | str, int]], Cost]:
        """Arithmetic operations and bytes of memory, given the axis lengths."""
        ...

    def __call__(self, *values: object) -> Any: ...


class Compiled:
    """The owner of a compiled function, which is its method: that costs no time, and pickles by way
    of the object, which is compiled again where it is loaded."""

    function: CompiledFunction

    def __init__(self, request: Request):
        self.request = request
        with collector_paused():
            self._compile()

    def _compile(self) -> None:
        request = self.request
        program = Compilation(request)
        plan = program.plan()
        deciding = program.deciding(plan.contractions)
        checks = program.checks("ShapeError") if request.check else []
        body = program.body(plan)
        source = program.source(body)
        program.backend.require(source.imports)
        if deciding:
            lines, namespace = _choosing(program, deciding, checks)
        else:
            lines, namespace = _computing(program, plan, body, checks)
        quick = program.for_float64()
        if quick is not None:
            general = program, lines, namespace
            if deciding:
                lines, namespace = _choosing_quickly(quick, deciding)
            else:
                lines, namespace = [_call("_first", quick)], {}
                namespace["_first"] = _FastPath(quick, plan, self, namespace)
            namespace["fallback"] = _LazilyCompiled(*general, namespace)
            program = quick
        function = _run(program.module("function", lines, ["_"]), namespace, program.backend)
        function.source = source.text
        function.cost = _cost_by_order(program, deciding) if deciding else _cost_of(plan)
        function.cost.__qualname__ = "cost"
        arguments = "\n".join(program.signature.documented())
        function.__doc__ = (
            f"Generated from {len(program.exprs)} expression(s).\n\n{arguments}\n\n{source.text}"
        )
        bound: Any = MethodType(function, self)
        self.function = bound

    def __repr__(self) -> str:
        return shown(self.request)

    def __reduce__(self) -> tuple[type[Compiled], tuple[Request]]:
        return Compiled, (self.request,)

    def __deepcopy__(self, memo: Mapping[int, object]) -> Compiled:
        return self


def shown(request: Request) -> str:
    """Describe a request as it was made, shortened, with the shapes of its arguments.

    >>> from sympy_einsum import TensorSymbol
    >>> x = TensorSymbol("x", 3)
    >>> shown(Request(x, x @ x))
    "lambdify(x, x @ x, backend='numpy') of x (3,)"
    """
    args, exprs = f"{request.args!s:.60}", f"{request.exprs!s:.80}"
    symbols = request.args if isinstance(request.args, (list, tuple)) else [request.args]
    told = ", ".join([f"{s} {shape_of(s)}" if shape_of(s) else str(s) for s in symbols])
    call = f"lambdify({args}, {exprs}, backend={request.backend!r})"
    return f"{call} of {told:.200}" if told else call


def _cost_of(plan: Plan) -> Callable[[Mapping[Expr | str, int]], Cost]:
    def cost(lengths: Mapping[Expr | str, int]) -> Cost:
        """Return arithmetic operations and bytes of memory read and written, estimated for axis
        lengths: a mapping from their symbols to numbers."""
        return plan_cost(plan, lengths)

    return cost


def _cost_by_order(
    program: Compilation, deciding: Sequence[Expr]
) -> Callable[[Mapping[Expr | str, int]], Cost]:
    def cost(lengths: Mapping[Expr | str, int]) -> Cost:
        """Return arithmetic operations and bytes of memory read and written, estimated for axis
        lengths (a mapping from their symbols to numbers), in the orders that a call with these
        takes."""
        given = {str(symbol): Integer(n) for symbol, n in lengths.items()}
        known = {s: given[str(s)] for s in deciding if str(s) in given}
        return plan_cost(program.plan(known), lengths)

    return cost


def _computing(
    program: Compilation, plan: Plan, body: Body, checks: Sequence[Line] = ()
) -> tuple[list[Line], dict[str, object]]:
    """Return the lines that compute a plan, and the names in them; errors lead to the fallback."""
    if body.kernel is not None:
        return _calling(program, plan, body, checks)
    lines = [
        *(checks or body.reads),
        "try:",
        *body.block(1),
        "except (TypeError, ArithmeticError, IndexError, AttributeError):",
        f"    {_call('fallback', program)}",
    ]
    return lines, {**body.constants, **_called(program), "fallback": _Deoptimised(program, plan)}


def _calling(
    program: Compilation, plan: Plan, body: Body, checks: Sequence[Line]
) -> tuple[list[Line], dict[str, object]]:
    """Return the lines that call a kernel, and their names: it checks lengths itself, and takes
    arrays only."""
    assert body.kernel is not None
    signature, kernel = program.signature, body.kernel

    def run(text: str, path: str, namespace: dict[str, Any]) -> None:
        _exec([compile(text, path, "exec")], namespace, program.backend)

    backends = program.backend.by_type
    kernels = _kernels(
        kernel,
        {kind: partial(kernel_module, backend(), kernel) for kind, backend in backends.items()},
        run,
        program.backend.is_complex,
    )
    arrays = [own for own, is_array in kernel.numbers(signature) if is_array]
    kind = quote("{0}.dtype", name(arrays[0])) if arrays else name("kind")
    function = subscript(name("compute"), [kind])
    types = (kind, quote("{0}.type", kind))
    calling = kernel.calling(signature, program.layout, function, types)
    fallback = f"    {_call('fallback', program)}"
    # A kernel would round what isn't an integer.
    integers = [f"type({own}) is not int" for own in kernel.integers(signature)]
    lines: list[Line] = [
        # Arrays of zeros are made before the kernel compares lengths.
        *(checks if signature.given else ()),
        f"if {' or '.join(['compute.converts', *integers])}:",
        fallback,
        "try:",
        *indented(calling),
        "except (TypeError, ValueError, IndexError, AttributeError):",
        fallback,
    ]
    retry: list[Line] = [*checks, *kernel.calling(signature, program.layout, name("converted"))]
    namespace = {**kernel.constants, **_called(program), "kind": np.dtype(float), "np": np}
    second = {**namespace, "converted": kernels.converted}
    converting = _Converting(program, retry, second)
    return lines, {**namespace, "compute": kernels, "fallback": converting}


def _computing_quickly(program: Compilation, plan: Plan) -> tuple[list[Line], dict[str, object]]:
    """Return the lines of the float64 fast path of a plan, for few rows where there may be many."""
    body = program.body(plan, in_blocks=False)
    lines = _checked_quickly(program, body.block(2), body.names, program.few_rows(plan))
    return lines, {**_called(program), **body.constants, **program.backend.namespace}


def _choosing_quickly(
    program: Compilation, deciding: Sequence[Expr]
) -> tuple[list[Line], dict[str, object]]:
    """Return the lines of the float64 fast path that dispatch to a function for the actual axis
    lengths."""
    signature = program.signature
    used = {*signature.arguments, *[signature.names[s] for s in deciding]}
    line = f"        {_call_of_variant(program, deciding)}"
    namespace = {**_called(program), "variants": _Variants(program, deciding)}
    lines = _checked_quickly(program, [line], used)
    return lines, {**namespace, **program.backend.namespace}


def _checked_quickly(
    program: Compilation, lines: Sequence[Line], used: Collection[str], few: Sequence[str] = ()
) -> list[Line]:
    """Return lines, which use some variables, for arguments of doubles; other arguments and errors
    are left to the fallback, under the name ``fallback``."""
    reads, tests = program.quick_checks(used)
    return [
        "try:",
        *indented(reads),
        f"    if {' and '.join([*tests, *few])}:",
        *lines,
        "except (AttributeError, ArithmeticError, IndexError, TypeError, ValueError):",
        "    pass",
        _call("fallback", program),
    ]


def _call(function: str, program: Compilation) -> str:
    """Return the line that leaves the arguments to a function."""
    return f"return {function}({', '.join(program.signature.arguments)})"


def _choosing(
    program: Compilation, deciding: Sequence[Expr], checks: Sequence[Line]
) -> tuple[list[Line], dict[str, object]]:
    """Return the lines that dispatch to a function compiled for the actual axis lengths."""
    signature = program.signature
    lines: list[Line] = [*(checks or signature.read_lengths(deciding))]
    lines.append(_call_of_variant(program, deciding))
    return lines, {**CHECKING, "variants": _Variants(program, deciding)}


def _call_of_variant(program: Compilation, deciding: Sequence[Expr]) -> str:
    names = ", ".join([program.signature.names[s] for s in deciding])
    return _call(f"variants[{names}]", program)


def _run(module: SourceModule, namespace: dict[str, object], backend: Backend) -> Any:
    """Return the function that a module defines."""
    imports = module.imports
    if backend.pickles_functions:
        namespace["__name__"] = "<sympy_einsum>"
    if backend.xp == "np" and not backend.is_compiled:
        imports = [line for line in imports if line != IMPORT_NUMPY]
        namespace["np"] = _numpy()
    compiled = _compiled.__wrapped__ if backend.keeps_code else _compiled
    above = [compiled(text) for text in [*imports, *module.functions]]
    _exec([*above, compile(module.own, "<sympy_einsum>", "exec")], namespace, backend)
    function: Any = namespace["function"]
    return function


@cache
def _numpy() -> ModuleType:
    """Return NumPy's namespace without ``__getattr__``: Python finds an attribute of a module in
    half the time where that has none."""
    found = ModuleType("numpy")
    vars(found).update(vars(np), linalg=np.linalg, fft=np.fft)
    del found.__getattr__
    return found


@lru_cache(maxsize=1024)
def _compiled(text: str) -> CodeType:
    """Return the code of import lines and helper functions, which many functions have in common."""
    return compile(text, "<sympy_einsum>", "exec")


def _exec(codes: Iterable[CodeType], namespace: dict[str, Any], backend: Backend) -> None:
    try:
        for code in codes:
            exec(code, namespace)
    except ImportError as error:
        if not error.name:  # what is missing is a library of the system, such as one of CUDA
            raise UnsupportedError(f"{backend.name} can't be loaded: {error}") from error
        package = (error.name or "").partition(".")[0]
        raise UnsupportedError(f"{backend.how_to_install(package)} ({error})") from error


class _Variants(dict[int | tuple[int, ...], CompiledFunction]):
    """The functions for the axis lengths seen so far, where the best orders of contraction depend
    on them."""

    def __init__(self, program: Compilation, lengths: Sequence[Expr]):
        super().__init__()
        self.program = program
        self.lengths = lengths
        self.compiled: dict[str, CompiledFunction] = {}
        self.planned: list[tuple[Plan, CompiledFunction]] = []

    def __missing__(self, key: int | tuple[int, ...]) -> CompiledFunction:
        with PLANNING, collector_paused():
            return self.get(key) or self._planned(key)

    def _planned(self, key: int | tuple[int, ...]) -> CompiledFunction:
        sizes = key if isinstance(key, tuple) else (key,)
        if len(self) >= tuning.MAX_VARIANTS:
            self.clear()
            self.compiled.clear()
            self.planned.clear()
        # A lazy array may not know its lengths.
        known = [(s, n) for s, n in zip(self.lengths, sizes, strict=True) if n == n]
        program = self.program
        plan = program.plan({s: Integer(n) for s, n in known})
        function = next((own for planned, own in self.planned if planned is plan), None)
        if function is None:
            function = self._compiled(plan)
            del self.planned[tuning.MAX_PLANS - 1 :]
            self.planned.append((plan, function))
        self[key] = function
        return function

    def _compiled(self, plan: Plan) -> CompiledFunction:
        program = self.program
        body = program.body(plan)
        source = program.source(body)
        if source.text not in self.compiled:
            if program.backend.is_of_float64:
                lines, namespace = (
                    [*body.reads, *body.block()],
                    {**body.constants, **_called(program)},
                )
            else:
                lines, namespace = _computing(program, plan, body)
            module = program.module("function", lines)
            self.compiled[source.text] = _run(module, namespace, program.backend)
        return self.compiled[source.text]


class _Deoptimised:
    """The fallback of a function that has failed. Operands of several types can't be overwritten,
    and Python's numbers can't be divided by zero: then code without these optimisations, compiled
    when it is first needed, computes the result. Any other error is raised, with an explanation if
    an argument is the cause."""

    def __init__(self, program: Compilation, plan: Plan):
        self.program = program
        self.plan = plan
        self.functions: dict[bool, CompiledFunction] = {}

    def __call__(self, *values: object) -> Any:
        error: Any = sys.exc_info()[1]
        for careful in (False, True):
            if isinstance(error, ArithmeticError if careful else TypeError):
                try:
                    return self._function(careful)(*values)
                except (TypeError, ArithmeticError, IndexError) as next_error:
                    error = next_error
        raise _explained(error, self.program, values)

    def _function(self, careful: bool) -> CompiledFunction:
        if careful not in self.functions:
            body = self.program.body(self.plan, reuse=False, careful=careful)
            module = self.program.source(body)
            self.functions[careful] = _run(
                module, {**body.constants, **_called(self.program)}, self.program.backend
            )
        return self.functions[careful]


class _FastPath:
    """The float64 fast path, compiled at the first call: it takes the place of the code that made
    that call, so that later calls lead straight to it."""

    def __init__(
        self, program: Compilation, plan: Plan, owner: Compiled, namespace: dict[str, object]
    ):
        self.program = program
        self.plan = plan
        self.owner = owner
        self.namespace = namespace

    def __call__(self, *values: object) -> Any:
        with PLANNING, collector_paused():
            lines, found = _computing_quickly(self.program, self.plan)
            self.namespace.update(found)
            module = self.program.module("function", lines, ["_"])
            function = _run(module, self.namespace, self.program.backend)
        bound: Any = self.owner.function
        bound.__func__.__code__ = function.__code__
        return bound(*values)


class _LazilyCompiled:
    """The fallback of the float64 fast path: a function that is compiled when it is first called,
    and then takes the name ``fallback`` itself."""

    def __init__(
        self,
        program: Compilation,
        lines: Sequence[Line],
        namespace: dict[str, object],
        users: dict[str, object],
    ):
        self.program = program
        self.lines = lines
        self.namespace = namespace
        self.users = users

    def __call__(self, *values: object) -> Any:
        module = self.program.module("function", self.lines)
        # Threads that need it at once compile it each for itself.
        function = _run(module, dict(self.namespace), self.program.backend)
        self.users["fallback"] = function
        return function(*values)


class _Converting:
    """The fallback of a kernel that hasn't taken the arguments, or those of the call before: checks
    and converts them first. Any other error is raised, with an explanation if an argument is the
    cause."""

    def __init__(self, program: Compilation, lines: Sequence[Line], namespace: dict[str, object]):
        self.program = program
        self.lines = lines
        self.namespace = namespace
        self.function: CompiledFunction | None = None

    def __call__(self, *values: object) -> Any:
        if self.function is None:
            module = self.program.module("function", self.lines)
            self.function = _run(module, dict(self.namespace), self.program.backend)
        try:
            return self.function(*values)
        except (TypeError, IndexError) as error:
            raise _explained(error, self.program, values) from error


def _explained(error: Exception, program: Compilation, values: Sequence[object]) -> Exception:
    """Return an error that explains what is wrong with the arguments; else the error itself."""
    if isinstance(error, IndexError | TypeError) and not _has_integers(program, values):
        return TensorError(f"positions and exponents of matrices must be integers: {error}")
    if isinstance(error, IndexError):
        own = None if program.request.check else _shape_error(program, values)
        return own or ShapeError(f"a position is outside of its axis: {error}")
    for symbol, value in zip(program.signature.symbols, values, strict=True):
        kind = getattr(getattr(value, "dtype", None), "kind", "")
        if not hasattr(value, "dtype") and not isinstance(value, Number):
            return TensorError(f"argument {symbol.name} must be a number, not {value!r:.80}")
        if kind in tuple("OUSMmVbc") or (kind == "f" and value.dtype.itemsize not in (4, 8)):
            return UnsupportedError(
                f"no code for argument {symbol.name}, of type {value.dtype}: {error}; convert it, "
                "such as with .astype(float)"
            )
        if shape_of(symbol) and not _is_of(type(value), program.backend):
            library = program.backend.packages[0]
            return TensorError(
                f"argument {symbol.name} is a {type(value).__name__}, but the backend "
                f"{program.backend.name!r} takes arrays of {library}: convert it, or use "
                f"backend='auto' ({error})"
            )
    if program.backend.is_complex and isinstance(error, TypeError):
        return UnsupportedError(f"no code for the complex numbers in these expressions: {error}")
    return error


def _has_integers(program: Compilation, values: Sequence[object]) -> bool:
    """Tell whether the positions and the exponents of matrices are integers, as far as they can be
    computed alone."""
    powers = [node for node in postorder(program.exprs) if isinstance(node, MatrixPower)]
    integers = [*positions_in(program.exprs), *dict.fromkeys([node.exponent for node in powers])]
    if not integers:
        return True
    request = program.request._replace(exprs=integers, semiring=None, structured=False, sparse=None)
    if program.backend.is_compiled:
        request = request._replace(backend="numpy")
    try:
        found = Compiled(request).function(*values)
    except (TensorError, TypeError, ArithmeticError, IndexError):
        return True
    return all(isinstance(own, Integral) or "int" in _type_name(own) for own in found)


def _type_name(value: object) -> str:
    return str(getattr(value, "dtype", ""))


def _shape_error(program: Compilation, values: Sequence[object]) -> ShapeError | None:
    """Return the error of the arguments' orders and axis lengths, if they don't fit."""
    module = program.module("function", [*program.checks("ShapeError"), "return None"])
    try:
        _run(module, dict(CHECKING), program.backend)(*values)
    except ShapeError as error:
        return error
    return None


def _is_of(kind: type, backend: Backend | type[Backend]) -> bool:
    """Tell whether a library's arrays are of a type, as far as its package tells."""
    return not backend.packages or kind.__module__.partition(".")[0] in backend.packages


class ByArguments:
    """Computes with the array library that the arguments of a call belong to: compiled for each
    when it is first met; where there are no arrays of any, with NumPy."""

    def __init__(self, request: Request):
        self.request = request
        # By the name of a backend, and by the types of arguments that were seen.
        self.compiled: dict[str, CompiledFunction] = {}
        self.chosen: dict[tuple[type, ...], CompiledFunction] = {}
        function = self._compiled("numpy")
        self.source, self.cost = function.source, function.cost

    def __call__(self, *values: object) -> Any:
        kinds = tuple(map(type, values))
        function = self.chosen.get(kinds)
        if function is None:
            function = self.chosen[kinds] = self._compiled(_library(kinds))
        return function(*values)

    def __repr__(self) -> str:
        return shown(self.request)

    def __reduce__(self) -> tuple[type[ByArguments], tuple[Request]]:
        return ByArguments, (self.request,)

    def _compiled(self, name: str) -> CompiledFunction:
        if name not in self.compiled:
            self.compiled[name] = Compiled(self.request._replace(backend=name)).function
        return self.compiled[name]


def _library(kinds: Sequence[type]) -> str:
    """Choose the backend by the packages of the arrays' types; NumPy's mix with all."""
    own = {name: backend for name, backend in BACKENDS.items() if backend.packages}
    found = sorted(name for name in own if any(_is_of(kind, own[name]) for kind in kinds))
    if len(found) > 1:
        raise TensorError(
            f"the arguments are arrays of {' and '.join(found)}; convert them to one library"
        )
    return found[0] if found else "numpy"
