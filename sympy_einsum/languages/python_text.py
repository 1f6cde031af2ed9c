"""Read an expression written in Python, as ``np.sum((A @ x - b)**2)``.

Kinds of variables are declared, or follow from first letters, as in MatrixCalculus.org's language.
Lengths are unified as far as they are seen here; ``programs`` reads the expression with them, and
has the last word about shapes.
"""

from __future__ import annotations

import ast
import warnings
from itertools import zip_longest

import numpy as np
from sympy import Integer

from ..core import ParseError, deferred
from ..expressions import Operand, as_operand
from .lengths import Length
from .matrixcalculus.declarations import Declarations, read_declarations
from .matrixcalculus.program import Interpreter
from .nodes import check_text

_parse_python = deferred("programs", "parse_python")
# Names that are no variables unless they are declared.
_KNOWN = {"math", "numpy", "np", "jnp", "special", "pi"}
_REDUCTIONS = {"sum", "mean", "prod", "max", "min", "std", "var", "norm", "logsumexp"}
_OF_SQUARE = {"trace", "det", "slogdet", "inv", "cholesky", "expm", "matrix_power", "solve"}

# The lengths of an array's axes; None where they aren't inferred.
_Shape = tuple[Length, ...] | None


def read_python(text: str, declarations: Declarations) -> tuple[Operand, dict[str, Operand]]:
    """Parse an expression, which is never executed; return it and its variables by name.

    >>> expr, variables = read_python("np.sum((A @ x - y)**2)", None)
    >>> print(expr, *[x.shape for x in variables.values()])
    ((A @ x - y)**2).sum() (m, n) (n,) (m,)
    """
    source = text.strip()
    shapes = _read_shapes(source, declarations)
    symbols = shapes.symbols()
    head = f"def function({', '.join(symbols)}): return (\n"
    try:
        read = _parse_python(f"{head}{source}\n)", shapes=symbols)
    except ParseError as error:
        if error.position is None:
            raise
        message = str(error).rpartition(", at line ")[0]
        raise ParseError(message, source, max(error.position - len(head), 0)) from None
    if isinstance(read.outputs, tuple):
        raise ParseError("this is a tuple; one expression is read")
    return as_operand(read.outputs), symbols


def python_names(text: str) -> list[str]:
    """Return the names of undeclared variables in order of appearance."""
    return list(_read_shapes(text, None).interpreter.variables)


def _read_shapes(text: str, declarations: Declarations) -> _Shapes:
    if not isinstance(text, str):
        raise ParseError(f"an expression is read from text, not from {type(text).__name__}")
    check_text(text, "the text has")
    source = text.strip()
    if not source:
        raise ParseError("the text is empty; expected an expression such as np.sum(x**2)")
    shapes = _Shapes(source, declarations)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)
            tree = ast.parse(f"(\n{source}\n)", mode="eval")
        shapes.visit(tree.body)
    except SyntaxError as error:
        lines = source.splitlines(keepends=True)
        line = min(max((error.lineno or 2) - 2, 0), len(lines))
        position = sum(map(len, lines[:line])) + max((error.offset or 1) - 1, 0)
        message = f"this is no expression of Python: {error.msg}"
        raise ParseError(message, source, min(position, len(source))) from None
    except (RecursionError, MemoryError, ValueError):
        raise ParseError("this is no expression of Python, or it is nested too deeply") from None
    return shapes


class _Shapes(ast.NodeVisitor):
    """Unify the lengths of the variables of an expression; ``visit`` returns a shape."""

    def __init__(self, text: str, declarations: Declarations):
        self.text = text
        self.interpreter = Interpreter(text, read_declarations(declarations))

    def symbols(self) -> dict[str, Operand]:
        """Return the variables in order of appearance."""
        self.interpreter.infer()
        return self.interpreter.symbols

    def generic_visit(self, node: ast.AST) -> _Shape:
        super().generic_visit(node)
        return None

    def visit_Constant(self, node: ast.Constant) -> _Shape:
        return ()

    def visit_Name(self, node: ast.Name) -> _Shape:
        known, name = self.interpreter, node.id
        if name in _KNOWN - known.declarations.keys():
            return None
        if name not in known.variables:
            known.variables[name] = known.declared_type(name)
        return tuple(axis for axis in known.variables[name] if axis is not None)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> _Shape:
        return self.visit(node.operand)

    def visit_BinOp(self, node: ast.BinOp) -> _Shape:
        a, b = self.visit(node.left), self.visit(node.right)
        return _product(a, b) if isinstance(node.op, ast.MatMult) else _stretched(a, b)

    def visit_Compare(self, node: ast.Compare) -> _Shape:
        return _stretched(*map(self.visit, [node.left, *node.comparators]))

    def visit_Attribute(self, node: ast.Attribute) -> _Shape:
        shape = self.visit(node.value)
        return shape[::-1] if shape is not None and node.attr == "T" else None

    def visit_Subscript(self, node: ast.Subscript) -> _Shape:
        shape = self.visit(node.value)
        items = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if shape is None:
            return self.generic_visit(node.slice)
        axes, found = iter(shape), list[Length]()
        for item in items:
            if isinstance(item, ast.Constant) and item.value is None:
                found.append(Length(Integer(1)))
            elif isinstance(item, ast.Slice) and not (item.lower or item.upper or item.step):
                found += [axis for axis in [next(axes, None)] if axis is not None]
            elif isinstance(item, ast.Constant) and isinstance(item.value, int):
                next(axes, None)
            else:
                return self.generic_visit(node.slice)
        return (*found, *axes)

    def visit_Call(self, node: ast.Call) -> _Shape:
        function, arguments = node.func, list(node.args)
        name = function.attr if isinstance(function, ast.Attribute) else ""
        if isinstance(function, ast.Name):
            name = function.id
        elif isinstance(function, ast.Attribute) and not self._is_module(function.value):
            arguments.insert(0, function.value)
        shapes = [self.visit(argument) for argument in arguments]
        options = {option.arg: option.value for option in node.keywords}
        if not shapes or options.keys() - {"axis"}:
            return self.generic_visit(ast.Tuple([*options.values()], ast.Load()))
        first = shapes[0]
        if name in _REDUCTIONS and first is not None:
            axis = options.get("axis", arguments[1] if len(arguments) > 1 else None)
            return _without(first, axis)
        if name in ("matmul", "dot") and len(shapes) == 2:
            return _product(*shapes)
        if name in _OF_SQUARE and first is not None and len(first) == 2:
            first[0].merge(first[1])
            if name in ("trace", "det", "slogdet"):
                return ()
            return _product(first, shapes[1]) if name == "solve" and len(shapes) == 2 else first
        if name == "transpose" and len(shapes) == 1 and first is not None:
            return first[::-1]
        is_elementwise = isinstance(getattr(np, name, None), np.ufunc)
        return _stretched(*shapes) if is_elementwise else None

    def _is_module(self, node: ast.expr) -> bool:
        while isinstance(node, ast.Attribute):
            node = node.value
        known = _KNOWN - self.interpreter.declarations.keys()
        return isinstance(node, ast.Name) and node.id in known


def _product(a: _Shape, b: _Shape) -> _Shape:
    """Return the shape of a matrix product of vectors and matrices."""
    if a is None or b is None or not 0 < len(a) < 3 or not 0 < len(b) < 3:
        return None
    a[-1].merge(b[0])
    return (*a[:-1], *b[1:])


def _stretched(*shapes: _Shape) -> _Shape:
    """Return the shape of an elementwise result, whose axes of length 1 are stretched."""
    if any(shape is None for shape in shapes):
        return None
    found = list[Length]()
    for axes in zip_longest(*[reversed(shape) for shape in shapes if shape is not None]):
        own = [axis for axis in axes if axis is not None]
        long = [axis for axis in own if axis.known() != 1] or own
        for axis in long[1:]:
            long[0].merge(axis)
        found.append(long[0])
    return tuple(reversed(found))


def _without(shape: tuple[Length, ...], axis: ast.expr | None) -> _Shape:
    """Return a shape without an axis, or without all of them."""
    if axis is None:
        return ()
    try:
        number = ast.literal_eval(axis)
    except ValueError:
        return None
    if not isinstance(number, int) or not -len(shape) <= number < len(shape):
        return None
    rest = list(shape)
    del rest[number]
    return tuple(rest)
