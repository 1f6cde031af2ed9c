"""Einsum expressions as written. Nodes are canonical, so they don't distinguish ``#(ij,jk->ik; A,
B)`` from ``#(jk,ij->ik; B, A)``, nor a delta tensor from the index into which it merges.

References
==========

[W] M. Wenig, P. Rump, M. Blacher, J. Giesen, "The Syntax and Semantics of einsum", 2025.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar, TypeAlias
from weakref import WeakValueDictionary

from sympy import Add, Expr

from ..core import ShapeError, TensorError, UnsupportedError, index_letter, postorder, tuning
from ..expressions import (
    Einsum,
    Ones,
    Operand,
    TensorAdd,
    TensorExpr,
    View,
    as_operand,
    shape_of,
    tensor_sum,
    written_size,
)
from .checked import contract_checked

# The indices of a tensor, one symbol per axis.
IndexString: TypeAlias = "tuple[str, ...]"
Argument: TypeAlias = "Written | Operand"


class Written:
    """An einsum product or an elementwise sum as written. Equal ones are the same object.

    ``str`` returns its text, ``expr`` the expression, to which SymPy converts it.
    """

    __slots__ = ("__weakref__", "arguments", "data")

    _interned: ClassVar[WeakValueDictionary[tuple[Any, ...], Written]] = WeakValueDictionary()

    arguments: tuple[Argument, ...]
    data: tuple[Any, ...]

    @classmethod
    def _of(cls, arguments: Iterable[Argument], *data: Any) -> Any:
        key = (cls, tuple(arguments), *data)
        found = cls._interned.get(key)
        if found is None:
            found = cls._interned[key] = object.__new__(cls)
            found.arguments, found.data = key[1], data
        return found

    def on(self, arguments: Iterable[Argument]) -> Written:
        """Return this form with other arguments."""
        raise NotImplementedError

    @property
    def expr(self) -> Operand:
        """The expression, in canonical form."""
        return fold(self, lambda node, below: node._evaluated(below), lambda leaf: leaf)

    def __str__(self) -> str:
        size = fold(self, lambda node, below: 1 + sum(below), written_size)
        if size > tuning.MAX_WRITTEN_TREE:
            raise UnsupportedError(
                f"the text would write out every shared argument, {size:.0e} in all, and at most "
                f"{tuning.MAX_WRITTEN_TREE} are written; use str of the expression, which writes "
                "each once, or cse of SymPy's scalars"
            )
        return fold(self, lambda node, below: node._text(below), str)

    __repr__ = __str__

    def _sympy_(self) -> Operand:
        return self.expr

    def __reduce__(self) -> tuple[Callable[..., Written], tuple[Any, ...]]:
        return type(self)._of, (self.arguments, *self.data)

    def _evaluated(self, below: Sequence[Operand]) -> Operand:
        raise NotImplementedError

    def _text(self, below: Sequence[str]) -> str:
        raise NotImplementedError


class WrittenProduct(Written):
    """``#(I1,...,In->I; T1,...,Tn)`` [W, section 3].

    Attributes
    ==========

    inputs, output : the index strings, tuples of symbols
    arguments : expressions or written forms
    """

    __slots__ = ()

    def __new__(
        cls, inputs: Iterable[Iterable[str]], output: Iterable[str], arguments: Iterable[Any]
    ) -> WrittenProduct:
        result: WrittenProduct = cls._of(
            map(_argument, arguments), tuple([tuple(term) for term in inputs]), tuple(output)
        )
        if len(result.inputs) != len(result.arguments):
            raise TensorError(
                f"{result.format} has {len(result.inputs)} index strings for "
                f"{len(result.arguments)} arguments"
            )
        missing = [i for i in result.output if i not in result.symbols]
        if missing:
            raise TensorError(f"the output index {missing[0]!r} of {result.format} has no axis")
        return result

    def on(self, arguments: Iterable[Argument]) -> Written:
        """Return the product of other arguments."""
        return WrittenProduct(self.inputs, self.output, arguments)

    @property
    def inputs(self) -> tuple[IndexString, ...]:
        """The index strings of the arguments."""
        return self.data[0]

    @property
    def output(self) -> IndexString:
        """The index string of the result."""
        return self.data[1]

    @property
    def symbols(self) -> dict[str, None]:
        """The index symbols in order of appearance."""
        return dict.fromkeys(i for term in self.inputs for i in term)

    @property
    def format(self) -> str:
        """The index strings: ``ij,jk->ik``."""
        terms = ["".join(map(_symbol_text, term)) for term in (*self.inputs, self.output)]
        return f"{','.join(terms[:-1])}->{terms[-1]}"

    def _evaluated(self, below: Sequence[Operand]) -> Operand:
        for argument, term in zip(below, self.inputs, strict=True):
            if len(shape_of(argument)) != len(term):
                raise ShapeError(
                    f"{str(argument)[:80]} has order {len(shape_of(argument))}, but an index "
                    f"string of {len(term)} in {self.format}"
                )
        return contract_checked(below, self.inputs, self.output, self.format)

    def _text(self, below: Sequence[str]) -> str:
        return f"#({self.format}; {', '.join(below)})"


class WrittenSum(Written):
    """The elementwise sum of its arguments [W, def. 4.3]."""

    __slots__ = ()

    def __new__(cls, terms: Iterable[Any]) -> Any:
        flat: list[Argument] = []
        for term in map(_argument, terms):
            flat += term.arguments if isinstance(term, WrittenSum) else [term]
        if len(flat) == 1 and isinstance(flat[0], WrittenProduct):
            return flat[0]
        return cls._of(flat)

    def on(self, arguments: Iterable[Argument]) -> Written:
        """Return the sum of other arguments."""
        return WrittenSum(arguments)

    def _evaluated(self, below: Sequence[Operand]) -> Operand:
        shapes = [shape_of(term) for term in below]
        for place, shape in enumerate(shapes):
            if shape != shapes[0]:
                raise ShapeError(f"terms 1 and {place + 1} have shapes {shapes[0]} and {shape}")
        return tensor_sum(below) if shapes[0] else Add(*below)

    def _text(self, below: Sequence[str]) -> str:
        return " + ".join(below)


def fold(
    root: Argument, visit: Callable[[Any, list[Any]], Any], leaf: Callable[[Operand], Any]
) -> Any:
    """Compute the value of a written form bottom-up from those of its arguments."""
    values: dict[Any, Any] = {}
    for node in postorder([root], lambda n: n.arguments if isinstance(n, Written) else ()):
        if isinstance(node, Written):
            values[node] = visit(node, [values[argument] for argument in node.arguments])
        else:
            values[node] = leaf(node)
    return values[root]


def _argument(value: Any) -> Argument:
    """Convert an argument; a sum of one term to the term."""
    if isinstance(value, WrittenSum) and len(value.arguments) == 1:
        return value.arguments[0]
    return value if isinstance(value, Written) else as_operand(value)


def _symbol_text(symbol: str) -> str:
    """Write an index symbol; one of several characters in braces."""
    return symbol if len(symbol) == 1 else f"{{{symbol}}}"


def written(expr: Argument) -> Written:
    """Return an expression as written: nested products and sums with index strings.

    Parameters
    ==========

    expr : a tensor expression, a SymPy scalar, or a written form

    Returns
    =======

    Sums and products, whose arguments other functions, such as exp(x), remain. Axes of ones are
    products with vectors of ones [W, cor. 7.11], deltas are ``#(i->ii; Ones(n))`` [W, lemma 7.7].

    Examples
    ========

    >>> import sympy_einsum as se
    >>> A, B, v = se.TensorSymbol("A", 2, 3), se.TensorSymbol("B", 3, 4), se.TensorSymbol("v", 4)
    >>> se.written(A @ (B @ v))
    #(ij,j->i; A, #(ij,j->i; B, v))
    >>> se.written(A @ B).expr == A @ B
    True
    """
    if isinstance(expr, Written):
        return expr
    root = as_operand(expr)
    values: dict[Operand, Argument] = {}
    for node in postorder([root], _terms):
        values[node] = _written_node(node, [values[term] for term in _terms(node)])
    found = values[root]
    if isinstance(found, Written):
        return found
    letters = tuple(map(index_letter, range(len(shape_of(found)))))
    return WrittenProduct((letters,), letters, (found,))


def _terms(node: Operand) -> Sequence[Operand]:
    if isinstance(node, TensorExpr):
        plain = isinstance(node, View) and node.is_constant_fill and not node.scalars
        is_written = isinstance(node, (Einsum, TensorAdd)) and not (plain and node.order == 1)
        return node.operands if is_written else ()
    return node.args if isinstance(node, Expr) and (node.is_Add or node.is_Mul) else ()


def _written_node(node: Operand, below: Sequence[Argument]) -> Argument:
    if isinstance(node, Einsum) and not (below == [] and node.order == 1):
        inputs = [tuple(map(index_letter, term)) for term in node.subscripts]
        arguments = list(below)
        found = {i for term in node.subscripts for i in term}
        for i in dict.fromkeys(node.output):
            if i not in found:
                inputs.append((index_letter(i),))
                arguments.append(Ones(node.lengths[i]))
        return WrittenProduct(inputs, map(index_letter, node.output), arguments)
    if not below:
        return node
    if isinstance(node, TensorAdd) or node.is_Add:
        return WrittenSum(below)
    return WrittenProduct([()] * len(below), (), below)
