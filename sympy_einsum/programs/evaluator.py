"""Evaluate Python expressions symbolically."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

import numpy as np
import sympy
from sympy import Expr

from ..core import TensorError, tuning
from ..expressions import TensorExpr, as_operand
from .loops import read_comprehension
from .names import Module, attribute, bare, items
from .scopes import Closure, Scope
from .source import Source
from .steps import SteppedArray, StepTrace, as_steps
from .values import (
    BINARY,
    COMPARISONS,
    UNARY,
    DType,
    NamedFunction,
    Value,
    array,
    checked,
    choose_value,
    connect_conditions,
    is_operand,
    is_symbolic,
    number,
    part,
    plain,
    truth,
)

# Errors of a call whose arguments don't match the function.
WRONG = (ArithmeticError, AttributeError, LookupError, MemoryError, NotImplementedError)
WRONG = (*WRONG, TypeError, ValueError)  # type: ignore[assignment]
# Where strings are allowed: as these options, and as arguments at these positions.
_TEXT_OPTIONS = {"axes", "indexing", "kind", "mode", "method", "order", "ord", "side", "subscripts"}
_TEXT_PLACES = {"einsum": 0, "norm": 1, "pad": 2}


class ExpressionEvaluator(Source):
    """Evaluate expressions symbolically; a subclass implements calls of functions of the text."""

    # The current depth of calls of functions of the text, and of branches on arguments.
    depth = branches = 0

    def __init__(self, text: str):
        super().__init__(text)
        # The steps of loops that are being read, and entries and slices of what loops gave.
        self.traces: list[StepTrace] = []
        self.known: dict[Value, dict[Value, Value]] = {}
        # Names of lists that loops have stacked to tensors.
        self.stacked: dict[str, Value] = {}

    def check_may_change(self, node: ast.AST) -> None:
        """Raise ParseError for modifying a list under a condition on arguments."""
        if self.branches:
            self.fail(node, "no list may change under a condition on arguments; use a if c else b")

    def call(self, closure: Closure, node: ast.AST, args: Sequence[Value],
             options: Mapping[str, Value]) -> Value:  # fmt: skip
        """Call a function of the text."""
        raise NotImplementedError

    def value(self, node: ast.expr, scope: Scope) -> Value:
        """Evaluate an expression."""
        self.tick(node)
        read = _READ.get(type(node))
        if read is None:
            self.fail(node, _INSTEAD.get(type(node), _UNREAD).format(type(node).__name__))
        return read(self, node, scope)

    def operand(self, node: ast.expr, scope: Scope) -> Value:
        """Evaluate an operand of a computation, which doesn't alias arrays."""
        if isinstance(node, ast.Name):
            owner = scope.owner(node.id)
            if owner is not None:
                return owner.names[node.id]
        return self.value(node, scope)

    def trying(self, node: ast.AST, function: Callable[..., Value], *args: Value) -> Value:
        """Return the checked result of a function; convert its errors to ParseErrors at a node."""
        try:
            return checked(function(*args))
        except RecursionError:
            self.fail(node, "the expression is nested too deeply for SymPy")
        except WRONG as error:
            self.fail(node, _said(error), error)

    # --- one method for each type of node

    def _constant(self, node: ast.Constant, scope: Scope) -> Value:
        if isinstance(node.value, (str, bytes)):
            self.fail(node, "strings aren't supported in functions of numbers")
        if node.value is None or node.value is ...:
            return node.value
        return self.trying(node, number, node.value)

    def _name(self, node: ast.Name, scope: Scope) -> Value:
        owner = scope.owner(node.id)
        if owner is not None:
            value = owner.names[node.id]
            if not isinstance(value, SteppedArray):
                owner.fresh.discard(node.id)
            return value
        try:
            return bare(node.id)
        except KeyError:
            self.fail(
                node,
                f"nothing is known of {node.id!r}: it is neither an argument, nor assigned, nor "
                "imported, nor a function of math",
            )

    def _attribute(self, node: ast.Attribute, scope: Scope) -> Value:
        base = self.value(node.value, scope)
        if isinstance(base, Module):
            return self.trying(node, base.__getitem__, node.attr)
        if isinstance(base, DType) and node.attr == "type":
            return NamedFunction("a number of a type", plain)
        if isinstance(base, SteppedArray):
            return self._attribute_of_stepped(node, base, scope)
        if isinstance(base, list) and node.attr == "append":
            self.check_may_change(node)
            return NamedFunction("append", base.append, takes_lists=True)
        if isinstance(base, NamedFunction) and node.attr == "accumulate" and base.name in _RUNNING:
            return self.trying(node, Module("numpy").__getitem__, _RUNNING[base.name])
        if isinstance(base, tuple) and hasattr(base, "_fields") and node.attr in base._fields:
            return getattr(base, node.attr)
        if (isinstance(base, (list, tuple)) and not base) or not is_operand(base):
            self.fail(node, f"there is no attribute {node.attr!r} of this")
        return self.trying(node, lambda: plain(attribute(base, node.attr)))

    def _attribute_of_stepped(self, node: ast.Attribute, base: SteppedArray, scope: Scope) -> Value:
        if not base.is_list:
            return self.trying(node, attribute, base.base, node.attr)
        owner = scope.owner(base.name)
        if node.attr != "append" or owner is None:
            self.fail(node, f"there is no attribute {node.attr!r} of this")
        self.check_may_change(node)

        def append(value: Value) -> None:
            owner.names[base.name] = base.appended(value)

        return NamedFunction("append", append, takes_lists=True)

    def _binary(self, node: ast.BinOp, scope: Scope) -> Value:
        # Iterate, because long sums are nested on the left.
        spine = [node]
        while isinstance(spine[-1].left, ast.BinOp):
            spine.append(spine[-1].left)
        total = self._array_operand(spine[-1].left, scope)
        for step in reversed(spine):
            self.tick(step)
            right = self._array_operand(step.right, scope)
            apply = BINARY.get(type(step.op))
            if apply is None:
                self.fail(step, f"the operator {type(step.op).__name__} isn't read")
            total = self.trying(step, self._numbers(step, apply), total, right)
        return total

    def _array_operand(self, node: ast.expr, scope: Scope) -> Value:
        """Evaluate an operand of arithmetic, which is no list that a loop has stacked."""
        value = self.operand(node, scope)
        is_stacked = isinstance(node, ast.Name) and self.stacked.get(node.id) is value
        if isinstance(value, TensorExpr) and (is_stacked or isinstance(node, ast.ListComp)):
            self.fail(node, "this is a list, of one entry for each step: use np.array of it")
        return value

    def _numbers(self, node: ast.AST, apply: Callable[..., Value]) -> Callable[..., Value]:
        """Wrap an operator to check that its operands are numbers, arrays or lists."""

        def applied(*values: Value) -> Value:
            for value in values:
                if not is_operand(value) and not isinstance(value, (list, tuple)):
                    raise TensorError(f"there is no arithmetic with {_kind(value)}")
            return apply(*values)

        return applied

    def _unary(self, node: ast.UnaryOp, scope: Scope) -> Value:
        operand = self.operand(node.operand, scope)
        return self.trying(node, self._numbers(node, UNARY[type(node.op)]), operand)

    def _compare(self, node: ast.Compare, scope: Scope) -> Value:
        left = self.operand(node.left, scope)
        results = []
        for op, right_node in zip(node.ops, node.comparators, strict=True):
            right = self.operand(right_node, scope)
            if type(op) not in COMPARISONS:
                self.fail(node, "`in` isn't read; compare with == and `or`")
            if not isinstance(op, (ast.Is, ast.IsNot)) and None in (left, right):
                self.fail(node, "None is compared by `is`")
            results.append(self.trying(node, COMPARISONS[type(op)], left, right))
            left = right
        return results[0] if len(results) == 1 else self._connected(node, sympy.And, results)

    def _connected(
        self, node: ast.AST, connective: sympy.core.function.FunctionClass, values: list[Value]
    ) -> Value:
        """Combine known or symbolic conditions by ``and`` or ``or``, with short-circuiting."""
        decides = connective is sympy.Or
        known = [self.trying(node, truth, value) for value in values]
        if decides in known:
            return decides
        left = [value for value, is_true in zip(values, known, strict=True) if is_true is None]
        if len(left) < 2:
            return left[0] if left else not decides
        return self.trying(node, connect_conditions, connective, *left)

    def _boolean(self, node: ast.BoolOp, scope: Scope) -> Value:
        connective = sympy.And if isinstance(node.op, ast.And) else sympy.Or
        values: list[Value] = []
        for part_node in node.values:
            value = self.value(part_node, scope)
            if not isinstance(value, (bool, sympy.logic.boolalg.Boolean)):
                self.fail(part_node, "`and` and `or` combine conditions such as x > 0")
            values.append(value)
            if value is (connective is sympy.Or):
                break
        return self._connected(node, connective, values)

    def _conditional(self, node: ast.IfExp, scope: Scope) -> Value:
        if any(isinstance(part, ast.Attribute) and part.attr == "kind" for part in ast.walk(node)):
            # Generated code tests the kind of a dtype only to choose another dtype.
            kinds = [self.value(part, scope) for part in (node.body, node.orelse)]
            if all(isinstance(kind, DType) for kind in kinds):
                return kinds[1]
        condition = self.value(node.test, scope)
        known = self.trying(node.test, truth, condition)
        if known is not None:
            return self.value(node.body if known else node.orelse, scope)
        a, b = self.value(node.body, scope), self.value(node.orelse, scope)
        return self.trying(node, choose_value, condition, a, b)

    def _tuple(self, node: ast.Tuple, scope: Scope) -> Value:
        return tuple(self._parts(node.elts, scope))

    def _list(self, node: ast.List, scope: Scope) -> Value:
        return self._parts(node.elts, scope)

    def _parts(self, nodes: Sequence[ast.expr], scope: Scope) -> list[Value]:
        parts: list[Value] = []
        for node in nodes:
            if isinstance(node, ast.Starred):
                parts += self.trying(node, items, self.value(node.value, scope))
            else:
                parts.append(self.value(node, scope))
        return parts

    def _comprehension(self, node: ast.ListComp | ast.GeneratorExp, scope: Scope) -> Value:
        first, *rest = node.generators
        if not rest and not first.ifs:
            steps = as_steps(self.value(first.iter, scope))
            if steps is not None and not steps.length.is_Integer:

                def value(item: Value) -> Value:
                    inner = Scope({}, scope)
                    self.bind(first.target, item, inner)
                    return self.value(node.elt, inner)

                return read_comprehension(self, node, steps, value)
        return [self.value(node.elt, inner) for inner in self._scopes(node.generators, scope)]

    def _scopes(self, loops: Sequence[ast.comprehension], scope: Scope) -> Iterator[Scope]:
        if not loops:
            yield scope
            return
        loop = loops[0]
        for item in self.trying(loop.iter, items, self.value(loop.iter, scope)):
            inner = Scope({}, scope)
            self.bind(loop.target, item, inner)
            if all(self.known_truth(test, inner) for test in loop.ifs):
                yield from self._scopes(loops[1:], inner)

    def known_truth(self, node: ast.expr, scope: Scope) -> bool:
        """Evaluate a condition that must not depend on arguments."""
        known = self.trying(node, truth, self.value(node, scope))
        if known is None:
            self.fail(node, "the number of steps depends on this condition on the arguments")
        return known

    def _subscript(self, node: ast.Subscript, scope: Scope) -> Value:
        base = self.operand(node.value, scope)
        index = self.index(node.slice, scope)
        if isinstance(base, SteppedArray):
            return self.trying(node, base.view, index)
        entry = self.trying(node, self.entry, base, index)
        if isinstance(entry, TensorExpr) and entry.order:
            self.value(node.value, scope)  # a slice is a view
        return entry

    def entry(self, base: Value, index: Value) -> Value:
        """Return ``base[index]``; in loops, entries that go with the steps are inputs."""
        if isinstance(base, TensorExpr) and base.order:
            known = self.known.get(base, {})
            cut = isinstance(index, slice)
            key = (index.start, index.stop, index.step) if cut else index
            if known and isinstance(key, (int, Expr, tuple)) and key in known:
                return known[key]
            traces = self.traces
            positions = index if isinstance(index, tuple) else (index,)
            try:
                for count in range(len(traces) - 1, -1, -1):
                    self.traces = traces[:count]
                    found = traces[count].entry(base, index, self.entry)
                    if found is not None:
                        return found
                    if any(map(traces[count].owns, [base, *positions])):
                        break
            finally:
                self.traces = traces
        return part(base, index)

    def index(self, node: ast.expr, scope: Scope) -> Value:
        """Evaluate a subscript."""
        if isinstance(node, ast.Tuple):
            return tuple([self.index(entry, scope) for entry in node.elts])
        if isinstance(node, ast.Slice):
            bounds = (node.lower, node.upper, node.step)
            return slice(*[None if b is None else self.value(b, scope) for b in bounds])
        value = self.value(node, scope)
        if isinstance(value, list):
            return _integers(value) if _are_whole(value) else array(value)
        return value

    def _walrus(self, node: ast.NamedExpr, scope: Scope) -> Value:
        value = self.value(node.value, scope)
        self.bind(node.target, value, scope)
        return value

    def _lambda(self, node: ast.Lambda, scope: Scope) -> Value:
        return self.closure(node, scope)

    def closure(self, node: ast.FunctionDef | ast.Lambda, scope: Scope) -> Closure:
        """Make a function of the text, evaluating its defaults."""
        spec = node.args
        if spec.vararg or spec.kwarg:
            self.fail(node, "functions with *args or **kwargs aren't read: name the parameters")
        given = [*spec.defaults, *[d for d in spec.kw_defaults if d is not None]]
        return Closure(node, scope, [self.value(default, scope) for default in given])

    def bind(self, target: ast.expr, value: Value, scope: Scope) -> None:
        """Execute ``target = value`` for names and nested tuples of names."""
        if isinstance(target, ast.Name):
            scope.names[target.id] = value
            scope.fresh.discard(target.id)
            self.stacked.pop(target.id, None)
            return
        if not isinstance(target, (ast.Tuple, ast.List)):
            self.fail(target, "this can't be assigned to here")
        parts = self.trying(target, items, value)
        stars = [k for k, t in enumerate(target.elts) if isinstance(t, ast.Starred)]
        if len(stars) == 1 and len(parts) >= len(target.elts) - 1:
            (k,), extra = stars, len(parts) - len(target.elts) + 1
            parts[k : k + extra] = [parts[k : k + extra]]
        if len(parts) != len(target.elts):
            self.fail(target, f"there are {len(parts)} values for {len(target.elts)} names")
        for inner, item in zip(target.elts, parts, strict=True):
            self.bind(inner.value if isinstance(inner, ast.Starred) else inner, item, scope)

    # --- calls

    def _call(self, node: ast.Call, scope: Scope) -> Value:
        function = self.value(node.func, scope)
        name = function.name if isinstance(function, (NamedFunction, Closure)) else ""
        args: list[Value] = []
        for place, arg in enumerate(node.args):
            if isinstance(arg, ast.Constant) and isinstance(arg.value, str):
                args.append(self._text(arg, _TEXT_PLACES.get(name) == place))
            elif isinstance(arg, ast.Starred):
                args += self.trying(arg, items, self.value(arg.value, scope))
            elif isinstance(function, NamedFunction) and function.is_entrywise:
                args.append(self.operand(arg, scope))
            else:
                args.append(self.value(arg, scope))
        options: dict[str, Value] = {}
        for option in node.keywords:
            if option.arg is None:
                self.fail(node, "**options aren't read: write them out")
            if isinstance(option.value, ast.Constant) and isinstance(option.value.value, str):
                options[option.arg] = self._text(option.value, option.arg in _TEXT_OPTIONS)
            else:
                options[option.arg] = self.value(option.value, scope)
        return self.applied(function, node, args, options)

    def _text(self, node: ast.Constant, is_expected: bool) -> str:
        if not is_expected:
            self.fail(node, "strings aren't supported in functions of numbers")
        return str(node.value)

    def applied(
        self, function: Value, node: ast.AST, args: Sequence[Value], options: Mapping[str, Value]
    ) -> Value:
        """Call a function."""
        if isinstance(function, NamedFunction) and function.name == "array" and _are_whole(args):
            return _integers(args[0])
        for value in (function, *args, *options.values()):
            if (isinstance(value, DType) and not value.is_real) or (
                isinstance(value, NamedFunction)
                and value.name in ("int", "bool")
                and value is not function
            ):
                self.fail(node, "entries are real numbers: leave their type out, or use np.floor")
        if isinstance(function, DType) and len(args) == 1:
            return args[0]
        if isinstance(function, Closure):
            return self.call(function, node, args, options)
        if not isinstance(function, NamedFunction):
            self.fail(node, f"{_kind(function)} can't be called")
        args = [self._argument(function, node, a) for a in args if not isinstance(a, DType)]
        options = {
            name: self._argument(function, node, value)
            for name, value in options.items()
            if not isinstance(value, DType) and (name, value) != ("dtype", None)
        }
        return self.trying(node, partial(function.apply, **options), *args)

    def _argument(self, function: NamedFunction, node: ast.AST, value: Value) -> Value:
        """Convert an argument for a library function: lists of expressions to arrays."""
        if isinstance(value, (Closure, NamedFunction)):
            return lambda *args: self.applied(value, node, args, {})
        if isinstance(value, Module):
            self.fail(node, f"{_kind(value)} is no argument")
        if isinstance(value, bool) or function.is_any_size:
            return value
        if (
            isinstance(value, int)
            and abs(value) > tuning.MAX_PROGRAM_LENGTH
            and not function.is_entrywise
        ):
            self.fail(
                node, f"a length or position is at most {tuning.MAX_PROGRAM_LENGTH}, not {value}"
            )
        if not function.takes_lists and isinstance(value, list) and is_symbolic(value):
            return self.trying(node, array, value)
        return value


def _are_whole(values: Value) -> bool:
    """Tell whether a value is an integer or a nonempty nested list of integers."""
    if isinstance(values, (list, tuple)):
        return bool(values) and all(map(_are_whole, values))
    return isinstance(values, (int, sympy.Integer)) and not isinstance(values, bool)


def _integers(values: Value) -> Value:
    """Convert a list of integers to a constant, which may index."""
    return as_operand(np.array(values, dtype=int))


def _kind(value: Value) -> str:
    if isinstance(value, (Closure, NamedFunction)):
        return f"the function {value.name}"
    return f"the module {value.name}" if isinstance(value, Module) else f"a {type(value).__name__}"


def _said(error: BaseException) -> str:
    if isinstance(error, KeyError):
        return f"there is no {error}"
    return str(error).split("\n")[0] if str(error) else type(error).__name__


_UNREAD = "{} isn't read: a function is made of assignments, arithmetic, calls, loops and if"
_INSTEAD: dict[type[ast.AST], str] = {
    ast.JoinedStr: "strings aren't supported in functions of numbers",
    ast.Dict: "dictionaries aren't read; use tuples",
    ast.Set: "sets aren't read; use tuples",
    ast.DictComp: "dictionaries aren't read; use tuples",
    ast.SetComp: "sets aren't read; use lists",
    ast.Await: "functions that wait aren't read",
    ast.Yield: "generators aren't read; return a tuple",
    ast.YieldFrom: "generators aren't read; return a tuple",
}
_RUNNING = {"maximum": "maximum.accumulate", "minimum": "minimum.accumulate"}

# The method for each type of node.
_READ: dict[type[ast.expr], Callable[..., Value]] = {
    ast.Constant: ExpressionEvaluator._constant,
    ast.Name: ExpressionEvaluator._name,
    ast.Attribute: ExpressionEvaluator._attribute,
    ast.BinOp: ExpressionEvaluator._binary,
    ast.UnaryOp: ExpressionEvaluator._unary,
    ast.Compare: ExpressionEvaluator._compare,
    ast.BoolOp: ExpressionEvaluator._boolean,
    ast.IfExp: ExpressionEvaluator._conditional,
    ast.Tuple: ExpressionEvaluator._tuple,
    ast.List: ExpressionEvaluator._list,
    ast.ListComp: ExpressionEvaluator._comprehension,
    ast.GeneratorExp: ExpressionEvaluator._comprehension,
    ast.Subscript: ExpressionEvaluator._subscript,
    ast.NamedExpr: ExpressionEvaluator._walrus,
    ast.Lambda: ExpressionEvaluator._lambda,
    ast.Call: ExpressionEvaluator._call,
}
