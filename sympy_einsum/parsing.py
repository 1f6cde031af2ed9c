"""Text in the language of MatrixCalculus.org: reading it, inferring lengths, building expressions.

May import: errors, traversal, and the tensor language up to operations; not the calculus.

Three steps. The grammar (matrixcalculus.lark) turns text into nodes. Inference gives every node a
:class:`Type`, in which a vector is a column or a row as it is in the text, and merges the unknown
axis lengths that an operation forces to be equal. Building, when all lengths are known, makes the
expression, in which a vector is a tensor of order 1. One row per operation says how to do both
steps (``OPERATORS``, ``FUNCTIONS``, ``ELEMENTWISE``).

Text is never evaluated as Python or by SymPy: names become symbols, and numbers are read here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import cache, partial
from itertools import chain, count
from math import isinf
from typing import Any, NamedTuple

import lark
import sympy
from sympy import Expr, Float, Integer, Rational, Symbol

from . import operations
from .einsum import Delta, View
from .elementwise import elementwise
from .errors import ParseError, TensorError
from .functions import relu, sigmoid, softplus
from .lengths import same_length
from .linalg import adj, det, inv, logdet
from .nodes import TensorExpr
from .tensors import ASSUMPTIONS, TensorSymbol
from .traversal import transform

# Bounds that keep hostile or mistaken text from taking forever.
MAX_TEXT = 10_000
MAX_EXPONENT = 10_000
MAX_MATRIX_POWER = 64
MAX_SCALAR_DEPTH = 64
MAX_NUMBER = 10**308

# --- from text to nodes --------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, slots=True)
class Node:
    """One operation, number or name of the text."""

    kind: str  # number, variable, call, prefix, postfix or binary
    name: str  # the number, the name or the operator as it is written
    children: tuple[Node, ...]
    position: int  # where errors point to
    start: int
    end: int
    in_parentheses: bool = False


class _ToNodes(lark.Transformer):
    """Turns each finished rule of the grammar into a node, while lark reads the text."""

    def number(self, parts: list[Any]) -> Node:
        return _leaf("number", parts[0])

    def variable(self, parts: list[Any]) -> Node:
        return _leaf("variable", parts[0])

    def arguments(self, parts: list[Any]) -> list[Node]:
        return parts[::2]

    def call(self, parts: list[Any]) -> Node:
        arguments = parts[2] if len(parts) == 4 else []
        return replace(_leaf("call", parts[0]), children=tuple(arguments), end=_end(parts[-1]))

    def group(self, parts: list[Any]) -> Node:
        left, node, right = parts
        return replace(node, start=left.start_pos, end=_end(right), in_parentheses=True)

    def prefix(self, parts: list[Any]) -> Node:
        sign, node = parts
        return Node("prefix", str(sign), (node,), sign.start_pos, sign.start_pos, node.end)

    def postfix(self, parts: list[Any]) -> Node:
        node, prime = parts
        return Node("postfix", str(prime), (node,), prime.start_pos, node.start, _end(prime))

    def binary(self, parts: list[Any]) -> Node:
        left, operator, right = parts
        return Node(
            "binary", str(operator), (left, right), operator.start_pos, left.start, right.end
        )


def _leaf(kind: str, token: Any) -> Node:
    return Node(kind, str(token), (), token.start_pos, token.start_pos, _end(token))


def _end(token: Any) -> int:
    return token.start_pos + len(token)


@cache
def _parser() -> lark.Lark:
    return lark.Lark.open_from_package(
        __package__,
        "matrixcalculus.lark",
        parser="lalr",
        lexer="basic",
        start="sum",
        transformer=_ToNodes(),
    )


def _read(text: str) -> Node:
    """The root node of a text; raises ParseError where the text leaves the grammar."""
    if not isinstance(text, str):
        raise ParseError(f"parse reads text, not {type(text).__name__}")
    if len(text) > MAX_TEXT:
        raise ParseError(f"the text has {len(text)} characters; at most {MAX_TEXT} are read")
    if not text.strip():
        raise ParseError("the text is empty; expected an expression such as x'*A*x")
    try:
        return _parser().parse(text)  # type: ignore[return-value]
    except lark.exceptions.UnexpectedCharacters as error:
        raise _wrong_character(text, error.pos_in_stream or 0) from None
    except lark.exceptions.UnexpectedToken as error:
        raise _wrong_token(text, error) from None


# What people write in other languages, and how it is written in this one.
_INSTEAD = {
    "@": "the product of matrices is written A*B",
    "[": "there is no indexing, and brackets are written ( )",
    "{": "brackets are written ( )",
    "=": "expected one expression, without an equation",
    ".": "the transpose is written A'",
    "·": "the product is written *",
    "×": "the product is written *",
    "⊙": "the elementwise product is written .*",
    "−": "the minus sign is written -",
    "–": "the minus sign is written -",
    "’": "the transpose is written with a straight prime, A'",
    "′": "the transpose is written with a straight prime, A'",
    "ᵀ": "the transpose is written A'",
    "⊤": "the transpose is written A'",
    "²": "the square is written ^2",
}
_OPERAND = "a number, a variable, a function call or '('"


def _wrong_character(text: str, position: int) -> ParseError:
    character = text[position]
    hint = _INSTEAD.get(character)
    if hint is None and character.isalpha():
        hint = "names are made of the letters a-z and A-Z, digits and '_'"
    hint = hint or f"expected {_OPERAND}, or one of + - * / ^ .* ./ .^ '"
    return ParseError(f"unexpected character {character!r}: {hint}", text, position)


def _wrong_token(text: str, error: lark.exceptions.UnexpectedToken) -> ParseError:
    token = error.token
    at_end = token.type == "$END"
    position = len(text.rstrip()) if at_end else token.start_pos
    found = "the end of the text" if at_end else repr(str(token))
    opened = _open_parentheses(text[:position])
    before = text[:position].rstrip()
    if "NUMBER" in error.expected:
        after = f" after {before[-1]!r}" if before else ""
        message = f"expected {_OPERAND}{after}, but found {found}"
        if before.endswith("*") and str(token) == "*":
            message += "; a power is written ^"
    elif at_end and opened:
        message, position = "this '(' is never closed; expected ')'", opened[-1]
    elif token.type == "RIGHT":
        message = "this ')' has no '(' before it; expected an operator or the end of the text"
    elif token.type == "COMMA":
        message = "commas separate the arguments of a function; expected an operator here"
    else:
        message = f"expected an operator before {found}; a product is written with *"
    return ParseError(message, text, position)


def _open_parentheses(text: str) -> list[int]:
    """The positions of the parentheses that are not closed in the text, the innermost last."""
    opened: list[int] = []
    for position, character in enumerate(text):
        if character == "(":
            opened.append(position)
        elif character == ")" and opened:
            opened.pop()
    return opened


# --- declarations --------------------------------------------------------------------------------


class Declaration(NamedTuple):
    """What is known about a variable before its text is read."""

    kind: str  # scalar, vector or matrix
    lengths: tuple[Expr, ...] = ()  # empty: to be inferred
    assumptions: tuple[str, ...] = ()
    symbol: Any = None  # the symbol to use, if the user has one

    @property
    def square(self) -> bool:
        """Whether the assumptions make a matrix square."""
        return bool({"symmetric", "diagonal", "psd"} & set(self.assumptions))


_KINDS = {"scalar": 0, "vector": 1, "matrix": 2}
_NAME = r"[A-Za-z][A-Za-z0-9_]*"
_AS = r"\s*(?P<words>(?:[A-Za-z]+\s+)*)(?P<kind>[A-Za-z]+)\s*(?:\((?P<lengths>[^()]*)\))?\s*"
_DECLARED_AS = re.compile(_AS)
_DECLARATION = re.compile(rf"\s*(?P<names>{_NAME}(?:\s*,\s*{_NAME})*)(?:\s*:|\s){_AS}")
_FORM = 'write "K symmetric matrix", "x, y vector(n)" or "alpha positive scalar"'


def read_declarations(declarations: Any) -> dict[str, Declaration]:
    """Declarations by name, from any form that :func:`parse` accepts.

    >>> read_declarations("K symmetric matrix; a, b vector(3)")["b"]
    Declaration(kind='vector', lengths=(3,), assumptions=(), symbol=None)
    """
    if declarations is None:
        return {}
    if isinstance(declarations, str):
        declarations = [part for part in declarations.split(";") if part.strip()]
    if isinstance(declarations, Mapping):
        return {_checked_name(k): _declared_as(k, value) for k, value in declarations.items()}
    if not isinstance(declarations, Iterable):
        raise ParseError(f"can't read the declaration {declarations!r}; {_FORM}")
    known: dict[str, Declaration] = {}
    for text in declarations:
        match = _DECLARATION.fullmatch(text) if isinstance(text, str) else None
        if match is None:
            raise ParseError(f"can't read the declaration {text!r}; {_FORM}")
        for name in re.split(r"\s*,\s*", match["names"]):
            declaration = _declaration(name, match)
            if known.setdefault(name, declaration) != declaration:
                raise ParseError(f"{name!r} is declared twice, in different ways")
    return known


def _checked_name(name: Any) -> str:
    if not isinstance(name, str) or not re.fullmatch(_NAME, name):
        raise ParseError(
            f"can't declare {name!r}: a name is a letter, then letters, digits and '_'"
        )
    return name


def _declared_as(name: str, value: Any) -> Declaration:
    """The declaration that a mapping gives: a symbol, or text such as ``"symmetric matrix"``."""
    if isinstance(value, (Symbol, TensorSymbol)):
        shape = getattr(value, "shape", ())
        if len(shape) > 2:
            raise ParseError(f"{name!r} has order {len(shape)}; this language has at most order 2")
        return Declaration(list(_KINDS)[len(shape)], tuple(shape), (), value)
    match = _DECLARED_AS.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        raise ParseError(
            f"can't declare {name!r} as {value!r}; "
            'give a symbol, or text such as "symmetric matrix" or "vector(n)"'
        )
    return _declaration(name, match)


def _declaration(name: str, match: re.Match[str]) -> Declaration:
    kind, assumptions = match["kind"].lower(), tuple(sorted(match["words"].lower().split()))
    if kind not in _KINDS:
        raise ParseError(f"{name!r} can't be a {kind!r}: expected {', '.join(_KINDS)}")
    possible = ASSUMPTIONS if kind == "matrix" else {"positive", "nonnegative"}
    for word in assumptions:
        if word not in possible:
            raise ParseError(f"a {kind} can't be {word!r}: expected {', '.join(sorted(possible))}")
    given = [] if match["lengths"] is None else match["lengths"].split(",")
    lengths = tuple([_read_length(name, part.strip()) for part in given])
    if given and len(given) != _KINDS[kind]:
        raise ParseError(f"{name!r} is a {kind}; expected {_KINDS[kind]} lengths in parentheses")
    declaration = Declaration(kind, lengths, assumptions)
    if declaration.square and len(set(lengths)) == 2:
        raise ParseError(f"{name!r} must be square, not {lengths[0]} by {lengths[1]}")
    return declaration


def _read_length(name: str, text: str) -> Expr:
    if re.fullmatch(r"[0-9]{1,9}", text) and int(text) > 0:
        return Integer(int(text))
    if re.fullmatch(_NAME, text):
        return length_symbol(text)
    raise ParseError(f"{text!r} is no length for {name!r}: expected a name or a positive integer")


def length_symbol(name: str) -> Symbol:
    """The symbol that stands for an axis length."""
    return Symbol(name, integer=True, positive=True)


# --- types and inference -------------------------------------------------------------------------


@dataclass(eq=False, slots=True)
class Length:
    """An axis length that may turn out to be another's: a node of a union-find forest."""

    value: Expr | None = None
    parent: Length | None = None

    def root(self) -> Length:
        """The representative of all lengths that are equal to this one."""
        root = self
        while root.parent is not None:
            root = root.parent
        while self.parent is not None:
            self.parent, self = root, self.parent
        return root

    def merge(self, other: Length) -> bool:
        """Make two lengths equal; False if they are known to differ."""
        a, b = self.root(), other.root()
        if a is b:
            return True
        if a.value is not None and b.value is not None and not same_length(a.value, b.value):
            return False
        if a.value is None:
            a, b = b, a
        b.parent = a
        return True

    def __str__(self) -> str:
        return str(self.root().value)


class Type(NamedTuple):
    """The rows and columns of a value; None for an axis that it doesn't have."""

    rows: Length | None = None
    columns: Length | None = None

    @property
    def noun(self) -> str:
        """How messages call a value of this type."""
        if self.rows is None:
            return "scalar" if self.columns is None else "row vector"
        return "column vector" if self.columns is None else "matrix"

    @property
    def lengths(self) -> tuple[Any, ...]:
        """The shape as SymPy expressions, when inference is over."""
        return tuple([axis.root().value for axis in self if axis is not None])


SCALAR = Type()


class Site(NamedTuple):
    """The place where an operation stands, for the rule that infers its type."""

    text: str
    node: Node
    fresh: Callable[[], Length]

    def error(self, message: str) -> ParseError:
        """An error that points to the operation."""
        return ParseError(message, self.text, self.node.position)

    def quote(self, k: int) -> str:
        """Operand number k as it is written, shortened."""
        child = self.node.children[k]
        quoted = " ".join(self.text[child.start : child.end].split())
        return quoted if len(quoted) <= 40 else f"{quoted[:37]}..."

    def show(self, k: int, type_: Type) -> str:
        """Operand number k in words."""
        return f"the {type_.noun} {self.quote(k)}"

    def square(self, k: int, type_: Type) -> Type:
        """The type of operand k, which must be a square matrix or a scalar."""
        if type_.rows is None and type_.columns is None:
            return type_
        if type_.rows is None or type_.columns is None:
            raise self.error(f"{self.node.name} needs a square matrix, not {self.show(k, type_)}")
        if not type_.rows.merge(type_.columns):
            raise self.error(
                f"{self.node.name} needs a square matrix, but {self.quote(k)} is "
                f"{type_.rows} by {type_.columns}"
            )
        return type_


class Rule(NamedTuple):
    """One operation: the type of its value, and the expression once all lengths are known.

    ``infer(site, *types)`` gives the type and merges lengths. ``build(*values)`` gives the
    expression; with ``needs_type``, ``build(type, *values)`` does.
    """

    infer: Callable[..., Type]
    build: Callable[..., Any]
    needs_type: bool = False


def _infer_same_shape(site: Site, left: Type, right: Type) -> Type:
    """Sums, differences and elementwise operations of two tensors."""
    if left.noun != right.noun:
        raise site.error(_mismatch(site, left, right))
    for axis, a, b in zip(("rows", "columns"), left, right, strict=True):
        if a is not None and b is not None and not a.merge(b):
            raise site.error(f"{site.quote(0)} has {a} {axis}, but {site.quote(1)} has {b} {axis}")
    return left


def _mismatch(site: Site, left: Type, right: Type) -> str:
    name = site.node.name
    message = f"{name} can't combine {site.show(0, left)} with {site.show(1, right)}"
    for k, (type_, other) in enumerate([(left, right), (right, left)]):
        if type_.noun == "scalar":
            maker = {"column vector": "vector({})", "row vector": "vector({})'"}
            made = maker.get(other.noun, "matrix({})").format(site.quote(k))
            return f"{message}; to repeat the scalar write {made}"
    if "matrix" not in (left.noun, right.noun):
        return f"{message}; transpose one of them with '"
    return message


def _infer_elementwise(site: Site, left: Type, right: Type) -> Type:
    """Elementwise operators, with which a scalar goes with anything."""
    if SCALAR in (left, right):
        return right if left == SCALAR else left
    return _infer_same_shape(site, left, right)


def _build_difference(left: Any, right: Any) -> Any:
    return operations.add(left, operations.multiply(-1, right))


def _infer_product(site: Site, left: Type, right: Type) -> Type:
    if SCALAR in (left, right):
        return right if left == SCALAR else left
    inner, other = left.columns, right.rows
    if inner is not None and other is not None and not inner.merge(other):
        raise site.error(
            f"{site.quote(0)} has {inner} columns, but {site.quote(1)} has {other} rows"
        )
    if (inner is None) != (other is None):
        raise site.error(
            f"* can't multiply {site.show(0, left)} with {site.show(1, right)}; "
            + _product_hint(site, left, right)
        )
    return Type(left.rows, right.columns)


def _product_hint(site: Site, left: Type, right: Type) -> str:
    x, y = (
        quoted if re.fullmatch(r"\w+'*|\w*\([^()]*\)", quoted) else f"({quoted})"
        for quoted in (site.quote(0), site.quote(1))
    )
    if left.noun == right.noun:
        inner = f"{x}'*{y}" if left.columns is None else f"{x}*{y}'"
        return f"write {x}.*{y} for the elementwise or {inner} for the inner product"
    if left.noun == "matrix":
        return f"a matrix stands left of a column vector, such as {_transposed(y)}"
    return f"a matrix stands right of a row vector, such as {_transposed(x)}"


def _transposed(quoted: str) -> str:
    return quoted[:-1] if quoted.endswith("'") else f"{quoted}'"


def _build_product(type_: Type, left: Any, right: Any) -> Any:
    orders = operations.order_of(left), operations.order_of(right)
    if 0 in orders:
        return operations.multiply(left, right)
    is_outer = orders == (1, 1) and type_ != SCALAR
    return (operations.outer if is_outer else operations.matmul)(left, right)


def _infer_quotient(site: Site, left: Type, right: Type) -> Type:
    if right != SCALAR:
        hint = "./ for the elementwise quotient"
        if right.noun == "matrix":
            hint += f", or inv({site.quote(1)}) in a product"
        raise site.error(f"/ can't divide by {site.show(1, right)}; write {hint}")
    return left


def _build_quotient(left: Any, right: Any) -> Any:
    if right == 0:
        raise TensorError("division by zero")
    return operations.divide(left, right)


def _infer_power(site: Site, base: Type, exponent: Type) -> Type:
    below, above = site.node.children
    if below.kind == "binary" and below.name == "^" and not below.in_parentheses:
        a, b, c = (site.text[n.start : n.end] for n in (*below.children, above))
        raise site.error(f"repeated ^ is ambiguous; write ({a}^{b})^{c} or {a}^({b}^{c})")
    if exponent != SCALAR:
        raise site.error(
            f"^ needs a scalar exponent, not {site.show(1, exponent)}; "
            "the elementwise power is written .^"
        )
    if base == SCALAR:
        return base
    if base.noun != "matrix":
        raise site.error(
            f"^ is the power of a scalar or a square matrix, not of {site.show(0, base)}; "
            "the elementwise power is written .^"
        )
    value = _literal_integer(above)
    if value is None or abs(value) > MAX_MATRIX_POWER:
        raise site.error(
            f"^ of a matrix needs an integer exponent between {-MAX_MATRIX_POWER} and "
            f"{MAX_MATRIX_POWER}, not {site.quote(1)}; the elementwise power is written .^"
        )
    return site.square(0, base)


def _literal_integer(node: Node) -> int | None:
    sign = 1
    while node.kind == "prefix":
        sign = -sign if node.name == "-" else sign
        node = node.children[0]
    is_integer = node.kind == "number" and node.name.isdigit() and len(node.name) < 10
    return sign * int(node.name) if is_integer else None


def _build_power(base: Any, exponent: Any) -> Any:
    if operations.order_of(base):
        return operations.matrix_power(base, exponent)
    return _build_elementwise_power(base, exponent)


def _build_elementwise_power(base: Any, exponent: Any) -> Any:
    if _exceeds(exponent, MAX_EXPONENT):
        raise TensorError(f"the exponent is too large; at most {MAX_EXPONENT} is possible")
    return operations.power(base, exponent)


def _exceeds(value: Any, bound: int) -> bool:
    """Whether a value is a number, or filled with one, of a magnitude above the bound."""
    if isinstance(value, View) and value.is_constant_fill:
        value = value.coefficient
    return bool(getattr(value, "is_Number", False) and abs(value) > bound)


def _infer_transpose(site: Site, type_: Type) -> Type:
    return Type(type_.columns, type_.rows)


def _unchanged(site: Site, type_: Type) -> Type:
    return type_


OPERATORS: dict[tuple[str, str], Rule] = {
    ("binary", "+"): Rule(_infer_same_shape, operations.add),
    ("binary", "-"): Rule(_infer_same_shape, _build_difference),
    ("binary", "*"): Rule(_infer_product, _build_product, needs_type=True),
    ("binary", "/"): Rule(_infer_quotient, _build_quotient),
    ("binary", "^"): Rule(_infer_power, _build_power),
    ("binary", ".*"): Rule(_infer_elementwise, operations.multiply),
    ("binary", "./"): Rule(_infer_elementwise, _build_quotient),
    ("binary", ".^"): Rule(_infer_elementwise, _build_elementwise_power),
    ("prefix", "-"): Rule(_unchanged, partial(operations.multiply, -1)),
    ("prefix", "+"): Rule(_unchanged, operations.add),
    ("postfix", "'"): Rule(_infer_transpose, operations.transpose),
}

# --- functions -----------------------------------------------------------------------------------

ELEMENTWISE: dict[str, Callable[..., Any]] = {
    "exp": sympy.exp,
    "log": sympy.log,
    "sqrt": sympy.sqrt,
    "abs": sympy.Abs,
    "sign": sympy.sign,
    "sin": sympy.sin,
    "cos": sympy.cos,
    "tan": sympy.tan,
    "asin": sympy.asin,
    "acos": sympy.acos,
    "atan": sympy.atan,
    "arcsin": sympy.asin,
    "arccos": sympy.acos,
    "arctan": sympy.atan,
    "sinh": sympy.sinh,
    "cosh": sympy.cosh,
    "tanh": sympy.tanh,
    "asinh": sympy.asinh,
    "acosh": sympy.acosh,
    "atanh": sympy.atanh,
    "erf": sympy.erf,
    "erfc": sympy.erfc,
    "gamma": sympy.gamma,
    "gammaln": sympy.loggamma,
    "digamma": sympy.digamma,
    "relu": relu,
    "sigmoid": sigmoid,
    "softplus": softplus,
}

# SymPy computes these exactly at integers, which takes forever at large ones.
_EXACT_AT_INTEGERS = {"gamma", "gammaln", "digamma"}
MAX_EXACT_ARGUMENT = 170


def _elementwise_rule(name: str) -> Rule:
    def build(value: Any) -> Any:
        if name in _EXACT_AT_INTEGERS and _exceeds(value, MAX_EXACT_ARGUMENT):
            raise TensorError(f"the argument of {name} is too large")
        return elementwise(ELEMENTWISE[name], value)

    return Rule(_unchanged, build)


def _infer_scalar(site: Site, type_: Type) -> Type:
    return SCALAR


def _infer_square(site: Site, type_: Type) -> Type:
    return site.square(0, type_)


def _infer_of_square(site: Site, type_: Type) -> Type:
    site.square(0, type_)
    return SCALAR


def _infer_diag(site: Site, type_: Type) -> Type:
    if type_ == SCALAR:
        raise site.error(f"diag needs a vector or a square matrix, not {site.show(0, type_)}")
    if type_.noun == "matrix":
        return Type(site.square(0, type_).rows)
    length = type_.rows or type_.columns
    return Type(length, length)


def _infer_filled(axes: int) -> Callable[..., Type]:
    """vector(c) and matrix(c): a scalar repeated as often as the context asks for."""

    def infer(site: Site, type_: Type) -> Type:
        if type_ != SCALAR:
            raise site.error(f"{site.node.name} repeats a scalar, not {site.show(0, type_)}")
        return Type(*[site.fresh() for _ in range(axes)])

    return infer


def _build_filled(type_: Type, value: Any) -> Any:
    return operations.filled(value, type_.lengths)


def _infer_identity(site: Site) -> Type:
    length = site.fresh()
    return Type(length, length)


def _build_identity(type_: Type) -> Any:
    return Delta(type_.lengths[0])


def _of_tensor(on_tensor: Callable[..., Any], on_scalar: Callable[..., Any]) -> Callable[..., Any]:
    """A function that takes a scalar for a vector or matrix with one entry."""

    def build(value: Any) -> Any:
        return on_tensor(value) if operations.order_of(value) else on_scalar(value)

    return build


def _itself(value: Any) -> Any:
    return value


def _norm1(value: Any) -> Any:
    return operations.sum_(elementwise(sympy.Abs, value))


FUNCTIONS: dict[str, Rule] = {
    **{name: _elementwise_rule(name) for name in ELEMENTWISE},
    "sum": Rule(_infer_scalar, _of_tensor(operations.sum_, _itself)),
    "norm1": Rule(_infer_scalar, _of_tensor(_norm1, sympy.Abs)),
    "norm2": Rule(_infer_scalar, _of_tensor(operations.norm, sympy.Abs)),
    "tr": Rule(_infer_of_square, _of_tensor(operations.trace, _itself)),
    "det": Rule(_infer_of_square, _of_tensor(det, _itself)),
    "logdet": Rule(_infer_of_square, _of_tensor(logdet, lambda a: sympy.log(sympy.Abs(a)))),
    "inv": Rule(_infer_square, _of_tensor(inv, lambda a: 1 / a)),
    "adj": Rule(_infer_square, _of_tensor(adj, lambda a: Integer(1))),
    "diag": Rule(_infer_diag, operations.diag),
    "vector": Rule(_infer_filled(1), _build_filled, needs_type=True),
    "matrix": Rule(_infer_filled(2), _build_filled, needs_type=True),
    "eye": Rule(_infer_identity, _build_identity, needs_type=True),
}
_NO_ARGUMENTS = {"eye"}


# --- the two passes ------------------------------------------------------------------------------


@dataclass
class Program:
    """A text on its way to an expression: what is known of its variables, lengths and types."""

    text: str
    declarations: Mapping[str, Declaration]
    lengths: list[Length] = field(default_factory=list)
    variables: dict[str, Type] = field(default_factory=dict)
    types: dict[Node, Type] = field(default_factory=dict)
    depths: dict[Node, int] = field(default_factory=dict)
    symbols: dict[str, Any] = field(default_factory=dict)
    constants: set[Node] = field(default_factory=set)

    def fresh(self, value: Expr | None = None) -> Length:
        """A new length, to be inferred if no value is given."""
        length = Length(value)
        self.lengths.append(length)
        return length

    def infer(self, root: Node) -> None:
        """Give every node its type and name the lengths that stay unknown."""
        transform([root], self._infer_node, _children)
        names = self._length_names()
        for length in self.lengths:
            if length.root().value is None:
                length.root().value = length_symbol(next(names))
        for name, type_ in self.variables.items():
            self.symbols[name] = self._symbol(name, type_)
        self._check_names()

    def _check_names(self) -> None:
        """A declared length may have a variable's name only if it is that variable."""
        for length in chain.from_iterable(type_.lengths for type_ in self.variables.values()):
            for symbol in length.free_symbols:
                if self.symbols.get(symbol.name, symbol) != symbol:
                    raise ParseError(
                        f"{symbol.name!r} is both a variable of the text and a declared length; "
                        "rename one of them"
                    )

    def build(self, root: Node) -> Any:
        """The expression."""
        return transform([root], self._build_node, _children)[0]

    def _infer_node(self, node: Node, types: tuple[Type, ...]) -> Type:
        if node.kind == "variable" and self._is_variable(node):
            type_ = self._infer_variable(node)
        elif node.kind in ("number", "variable"):
            type_ = self._infer_constant(node)
        else:
            rule = self._rule(node)
            type_ = rule.infer(Site(self.text, node, self.fresh), *types)
            if node.children and all(child in self.constants for child in node.children):
                self.constants.add(node)
        self.types[node] = type_
        self.depths[node] = self._depth(node, type_)
        return type_

    def _depth(self, node: Node, type_: Type) -> int:
        """How deep scalar functions are nested; SymPy's time grows with the fourth power."""
        depth = max((self.depths[child] for child in node.children), default=0)
        if type_ == SCALAR and (node.kind == "call" or node.name == "^"):
            depth += 1
        if depth > MAX_SCALAR_DEPTH:
            message = f"scalar functions are nested more than {MAX_SCALAR_DEPTH} deep"
            raise ParseError(message, self.text, node.position)
        return depth

    def _is_variable(self, node: Node) -> bool:
        return node.name in self.declarations or node.name not in ("pi", *FUNCTIONS)

    def _infer_variable(self, node: Node) -> Type:
        if node.name not in self.variables:
            self.variables[node.name] = self._declared_type(node.name)
        return self.variables[node.name]

    def _declared_type(self, name: str) -> Type:
        declared = self.declarations.get(name)
        if declared is None:
            declared = Declaration("matrix" if name[0].isupper() else _vector_or_scalar(name))
        axes = _KINDS[declared.kind]
        if declared.square and not declared.lengths:
            length = self.fresh()
            return Type(length, length)
        given: tuple[Any, ...] = declared.lengths or (None,) * axes
        # Columns first, so that the first matrix is m by n as in a textbook.
        columns_first = [self.fresh(value) for value in reversed(given)]
        return Type(*reversed(columns_first))

    def _infer_constant(self, node: Node) -> Type:
        """A number, pi or eye."""
        if node.name == "eye":
            return _infer_identity(Site(self.text, node, self.fresh))
        if node.name in FUNCTIONS:
            raise ParseError(
                f"{node.name} is a function; write {node.name}(...), or declare a variable with "
                "this name",
                self.text,
                node.position,
            )
        self.constants.add(node)
        return SCALAR

    def _rule(self, node: Node) -> Rule:
        if node.kind != "call":
            return OPERATORS[node.kind, node.name]
        rule = FUNCTIONS.get(node.name)
        if rule is None:
            raise ParseError(self._unknown_function(node), self.text, node.position)
        wanted = 0 if node.name in _NO_ARGUMENTS else 1
        if len(node.children) != wanted:
            takes = "one argument" if wanted else "no argument, its size is inferred"
            message = f"{node.name} takes {takes}; expected {node.name}({'...' * wanted})"
            raise ParseError(message, self.text, node.position)
        return rule

    def _unknown_function(self, node: Node) -> str:
        message = f"there is no function {node.name!r}"
        if node.name in self.variables or node.name in self.declarations or len(node.name) == 1:
            return f"{message}; a product is written {node.name}*(...)"
        close = get_close_matches(node.name.lower(), FUNCTIONS, n=1)
        if close:
            return f"{message}; perhaps {close[0]!r} is meant"
        return f"{message}; expected one of {', '.join(sorted(FUNCTIONS))}"

    def _length_names(self) -> Any:
        """Names for lengths, in order of preference, that nothing else in the text has."""
        lengths = chain.from_iterable(d.lengths for d in self.declarations.values())
        taken = {symbol.name for length in lengths for symbol in length.free_symbols}
        taken |= self.variables.keys() | self.declarations.keys()
        names = chain("nmkpqrsd", (f"n{i}" for i in count(1)))
        return (name for name in names if name not in taken)

    def _symbol(self, name: str, type_: Type) -> Any:
        declared = self.declarations.get(name, Declaration("scalar"))
        if declared.symbol is not None:
            return declared.symbol
        assumptions = dict.fromkeys(declared.assumptions, True)
        if type_ == SCALAR:
            return Symbol(name, real=True, **assumptions)
        return TensorSymbol(name, type_.lengths, **assumptions)

    def _build_node(self, node: Node, values: tuple[Any, ...]) -> Any:
        try:
            value = self._value(node, values)
            self._check_number(value, node in self.constants)
        except ParseError:
            raise
        except (OverflowError, MemoryError):
            raise ParseError("the number is too large", self.text, node.position) from None
        except TensorError as error:
            raise ParseError(str(error), self.text, node.position) from error
        return value

    def _value(self, node: Node, values: tuple[Any, ...]) -> Any:
        if node.kind == "number":
            return _number(node.name)
        if node.kind == "variable" and node.name in self.symbols:
            return self.symbols[node.name]
        if node.name == "pi":
            return sympy.pi
        rule = FUNCTIONS["eye"] if node.kind == "variable" else self._rule(node)
        return rule.build(self.types[node], *values) if rule.needs_type else rule.build(*values)

    def _check_number(self, value: Any, is_constant: bool) -> None:
        """Refuse what has no place among real numbers, before it grows or spreads."""
        if isinstance(value, TensorExpr):
            is_real = not (is_constant and value.has(sympy.I))
        else:
            known = is_constant or value.is_Atom
            is_real = not (known and (value.is_finite is False or value.is_real is False))
        if not is_real:
            raise TensorError("the value is not a real number")
        number = value.coefficient if isinstance(value, View) else value.as_coeff_Mul()[0]
        if abs(number) > MAX_NUMBER or (number.is_Rational and number.q > MAX_NUMBER):
            raise TensorError("the number is too large")


def _children(node: Node) -> tuple[Node, ...]:
    return node.children


def _vector_or_scalar(name: str) -> str:
    return "scalar" if name[0] in "abcdefg" else "vector"


def _number(text: str) -> Expr:
    """A number: exact, unless it is written with an exponent or with very many digits."""
    value = float(text)
    if isinf(value) or (value == 0 and re.search("[1-9]", re.split("[eE]", text)[0])):
        raise TensorError("the number is out of the range of double precision")
    if text.isdigit():
        return Integer(int(text))
    digits, _, decimals = text.partition(".")
    if "e" in text.lower() or len(text) > 16:
        return Float(value)
    return Rational(int(digits + decimals or "0"), 10 ** len(decimals))


# --- public --------------------------------------------------------------------------------------


def parse(text: str, declarations: Any = None) -> Any:
    """Read an expression in the language of MatrixCalculus.org [1].

    Names that start with a capital letter are matrices, with h to z vectors, with a to g scalars.
    Vectors are columns, ``x'`` is a row. There are

    * ``+ - * /`` and the power ``^`` of a scalar or (with an integer) a square matrix;
      ``.* ./ .^`` entry by entry; ``'`` for the transpose, which after a power transposes the
      power, as in MATLAB;
    * the elementwise functions in ``parsing.ELEMENTWISE``, such as ``exp``, ``log``, ``relu``;
    * ``sum``, ``norm1``, ``norm2`` (Euclidean or Frobenius), ``tr``, ``det``, ``logdet``, ``inv``,
      ``adj``, and ``diag`` from a vector to a matrix or back;
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
    >>> from sympy_einsum.parsing import parse
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
    sympy_einsum.errors.ParseError: * can't multiply the column vector x with the column vector y; \
    write x.*y for the elementwise or x'*y for the inner product, at position 1:
      x*y
       ^

    References
    ==========

    .. [1] https://www.matrixcalculus.org/documentation
    """
    return parse_with_variables(text, declarations)[0]


def parse_with_variables(text: str, declarations: Any = None) -> tuple[Any, dict[str, Any]]:
    """The expression of a text, and its variables by name in order of appearance.

    >>> expr, variables = parse_with_variables("sum(a*x - a*x)")
    >>> expr, list(variables)
    (0, ['a', 'x'])
    """
    declared = read_declarations(declarations)
    root = _read(text)
    program = Program(text, declared)
    try:
        program.infer(root)
        return program.build(root), dict(program.symbols)
    except RecursionError:
        raise ParseError("the expression is nested too deeply for SymPy") from None
