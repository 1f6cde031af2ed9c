"""Theorems about einsum as operations on what is written. They need no more than a commutative
semiring: ``lambdify(…, semiring=…)`` has the same value before and after in each.

References
==========

[W] M. Wenig, P. Rump, M. Blacher, J. Giesen, "The Syntax and Semantics of einsum", 2025.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import count
from numbers import Integral
from typing import Any, NamedTuple, TypeAlias

from ..core import TensorError, as_list, index_letter
from ..expressions import Delta, Ones, Operand, shape_of
from .written_forms import Argument, IndexString, Written, WrittenProduct, fold, written


class Theorem(NamedTuple):
    """A rule between expressions that are written differently and have one value.

    name : the function that applies it
    source : where it is proven
    algebra : what it holds in, a commutative semiring or a commutative ring
    before, after : an example
    """

    name: str
    source: str
    algebra: str
    before: str
    after: str


# A symbol outside, or one inside in brackets.
Symbol: TypeAlias = "str | tuple[str]"
SEMIRING, RING = "commutative semiring", "commutative ring"
THEOREMS = (
    Theorem("commute", "[W, thm 5.1]", SEMIRING, "#(ij,j->i; A, x)", "#(j,ij->i; x, A)"),
    Theorem(
        "nest",
        "[W, thm 6.1], with associativity [W, thm 5.3] as its case of three",
        SEMIRING,
        "#(ij,jk,k->i; A, B, v)",
        "#(ij,j->i; A, #(jk,k->j; B, v))",
    ),
    Theorem(
        "denest", "[W, thm 6.5]", SEMIRING, "#(ik,kj->ij; A, #(i->ii; v))", "#(ik,k->ik; A, v)"
    ),
    Theorem("split_deltas", "[W, thm 6.7]", SEMIRING, "#(ii->i; S)", "#(ij,ij->i; S, Delta(n))"),
    Theorem("merge_deltas", "[W, thm 6.7]", SEMIRING, "#(ij,j->i; Delta(n), x)", "#(i->i; x)"),
    Theorem(
        "expand",
        "[W, thm 5.4], from right to left",
        SEMIRING,
        "#(i,i->; x, y + z)",
        "#(i,i->; x, y) + #(i,i->; x, z)",
    ),
    Theorem(
        "factor",
        "[W, thm 5.4], from left to right; numbers with a common divisor need a ring",
        RING,
        "#(i,i->; x, y) + #(i,i->; x, z)",
        "#(i,i->; x, y + z)",
    ),
)


def commute(expr: Argument, order: Sequence[int] | None = None) -> Written:
    """Permute the factors of a product, each with its index string [W, thm 5.1].

    Valid in any commutative semiring.

    Parameters
    ==========

    expr : what is written, or an expression, of which the outermost product is meant
    order : the places of the factors; by default they are reversed

    Raises
    ======

    TensorError : it is no product, or the order isn't one of all factors

    Examples
    ========

    >>> import sympy_einsum as se
    >>> A, x = se.TensorSymbol("A", 2, 3), se.TensorSymbol("x", 3)
    >>> se.commute(A @ x)
    #(j,ij->i; x, A)
    """
    product = _checked_product(expr)
    places = range(len(product.arguments))
    chosen = [*places[::-1]] if order is None else _as_positions(order)
    if sorted(chosen) != [*places]:
        raise TensorError(f"{order} isn't an order of the {len(places)} factors, counted from 0")
    return WrittenProduct(
        [product.inputs[k] for k in chosen], product.output, [product.arguments[k] for k in chosen]
    )


def nest(expr: Argument, order: Sequence[int] | Sequence[Sequence[int]]) -> Written:
    """Factors of a product multiplied first, as a product inside [W, thm 6.1].

    Valid in any commutative semiring.

    Parameters
    ==========

    expr : what is written, or an expression, of which the outermost product is meant
    order : the places of the factors that are multiplied first; or several such groups one after
        the other, as opt_einsum's ``contract_path`` gives them: what is taken leaves the list, and
        the product inside comes to its end

    Raises
    ======

    TensorError : it is no product, or has no such factors

    Examples
    ========

    >>> import sympy_einsum as se
    >>> A, B, v = se.TensorSymbol("A", 2, 3), se.TensorSymbol("B", 3, 4), se.TensorSymbol("v", 4)
    >>> flat = se.einsum("ij,jk,k->i", A, B, v)
    >>> se.nest(flat, (1, 2))
    #(ij,j->i; A, #(jk,k->j; B, v))
    >>> se.nest(flat, [(0, 1), (0, 1)])
    #(k,ik->i; v, #(ij,jk->ik; A, B))
    """
    product = _checked_product(expr)
    groups = as_list(order, "places of factors")
    for group in groups if groups and not isinstance(groups[0], Integral) else [groups]:
        places = sorted(_as_positions(group))
        if len({*places}) < len(places) or not {*places} <= {*range(len(product.arguments))}:
            raise TensorError(f"{tuple(places)} are no factors of {str(product)[:200]}")
        if len(places) < len(product.arguments):
            product = _nested(product, places)
    return product


def _nested(product: WrittenProduct, places: Sequence[int]) -> WrittenProduct:
    rest = [k for k in range(len(product.arguments)) if k not in places]
    outside = {i for k in rest for i in product.inputs[k]}.union(product.output)
    inner_inputs = [product.inputs[k] for k in places]
    kept = [i for i in dict.fromkeys(i for term in inner_inputs for i in term) if i in outside]
    inner = WrittenProduct(inner_inputs, kept, [product.arguments[k] for k in places])
    inputs = [*[product.inputs[k] for k in rest], tuple(kept)]
    arguments = [*[product.arguments[k] for k in rest], inner]
    return WrittenProduct(inputs, product.output, arguments)


def denest(expr: Argument, path: Sequence[int] | None = None) -> Written:
    """Products inside of products as one product [W, thm 6.5]: indices that stand for one axis
    are merged, which are the components of the index symbol graph [W, def. 6.4]; the others inside
    get names of their own.

    Valid in any commutative semiring.

    Parameters
    ==========

    expr : what is written, or an expression
    path : the places that lead to the product that is opened: ``(1, 0)`` is the first argument of
        the second one; by default all are opened

    Raises
    ======

    TensorError : the path doesn't lead to a product inside of a product

    Examples
    ========

    >>> import sympy_einsum as se
    >>> A, B, v = se.TensorSymbol("A", 2, 3), se.TensorSymbol("B", 3, 4), se.TensorSymbol("v", 4)
    >>> A @ (B @ v), se.denest(A @ (B @ v))
    (A @ (B @ v), #(ij,jk,k->i; A, B, v))
    """
    root = written(expr)
    if path is None:
        result: Written = fold(root, _with_all_products_inlined, lambda leaf: leaf)
        return result
    places = _as_positions(path)
    above: list[Written] = []
    node: Argument = root
    for place in places:
        if not isinstance(node, Written) or not 0 <= place < len(node.arguments):
            raise TensorError(f"there is no argument at {tuple(places)} of {str(root)[:200]}")
        above.append(node)
        node = node.arguments[place]
    if not above or not all(isinstance(n, WrittenProduct) for n in (node, above[-1])):
        raise TensorError(f"at {tuple(places)} of {str(root)[:200]} is no product in a product")
    result = _with_product_inlined(above.pop(), places.pop())
    while above:
        outer, place = above.pop(), places.pop()
        result = outer.on([*outer.arguments[:place], result, *outer.arguments[place + 1 :]])
    return result


def _with_all_products_inlined(node: Written, below: Sequence[Argument]) -> Written:
    result = node.on(below)
    for place in reversed(range(len(below))):
        if isinstance(node, WrittenProduct) and isinstance(below[place], WrittenProduct):
            result = _with_product_inlined(result, place)
    return result


def _with_product_inlined(outer: Any, place: int) -> WrittenProduct:
    inner = outer.arguments[place]
    # The symbols inside are apart from equal ones outside.
    merged: dict[Symbol, Symbol] = {}
    for one, other in zip(outer.inputs[place], inner.output, strict=True):
        first, second = _root(merged, one), _root(merged, (other,))
        if first != second:
            # Of two symbols outside the one that was met first stays.
            merged.update({first: second} if isinstance(second, str) else {second: first})
    fresh = _fresh({*outer.symbols, *inner.symbols})
    for i in inner.symbols:
        if _root(merged, (i,)) == (i,):
            merged[i,] = next(fresh) if i in outer.symbols else i

    def renamed(term: Iterable[Symbol]) -> IndexString:
        return tuple([str(_root(merged, i)) for i in term])

    inside = [renamed([(i,) for i in term]) for term in inner.inputs]
    before, after = outer.inputs[:place], outer.inputs[place + 1 :]
    return WrittenProduct(
        [*map(renamed, before), *inside, *map(renamed, after)],
        renamed(outer.output),
        [*outer.arguments[:place], *inner.arguments, *outer.arguments[place + 1 :]],
    )


def split_deltas(expr: Argument, symbol: str | None = None) -> Written:
    """Indices split in two, with a delta tensor that says they are equal [W, def. 6.6, thm 6.7]:
    afterwards no index string has a symbol twice.

    Valid in any commutative semiring.

    Parameters
    ==========

    expr : what is written, or an expression, of which the outermost product is meant
    symbol : an index symbol of which each occurrence gets a symbol of its own

    Raises
    ======

    TensorError : it is no product, or has no such index

    Examples
    ========

    >>> import sympy_einsum as se
    >>> v = se.TensorSymbol("v", 3)
    >>> se.split_deltas(se.diag(v))
    #(i,ij->ij; v, Delta(3))
    >>> se.split_deltas(v @ v, "i")
    #(i,j,ij->; v, v, Delta(3))
    """
    product = _checked_product(expr)
    if symbol is not None and not (isinstance(symbol, str) and symbol in product.symbols):
        raise TensorError(f"{str(product)[:200]} has no index {symbol!r:.80}")
    lengths = _lengths(product)
    fresh = _fresh(product.symbols)
    deltas: list[IndexString] = []
    terms = []
    seen: set[str] = set()
    for term in (*product.inputs, product.output):
        seen = seen if symbol is not None else set()
        new = []
        for i in term:
            again = i in seen and symbol in (None, i)
            seen.add(i)
            if again:
                deltas.append((i, next(fresh)))
            new.append(deltas[-1][1] if again else i)
        terms.append(new)
    arguments = [*product.arguments, *[Delta(lengths[i]) for i, _ in deltas]]
    return WrittenProduct([*terms[:-1], *deltas], terms[-1], arguments)


def merge_deltas(expr: Argument) -> Written:
    """A product without the delta tensors among its arguments: their indices become one [W, thm
    6.7]. An index that nothing else has gets a vector of ones [W, cor. 7.11].

    Valid in any commutative semiring.

    Parameters
    ==========

    expr : what is written, or an expression, of which the outermost product is meant

    Raises
    ======

    TensorError : it is no product

    Examples
    ========

    >>> import sympy_einsum as se
    >>> x = se.TensorSymbol("x", 3)
    >>> split = se.split_deltas(se.diag(x))
    >>> split, se.merge_deltas(split)
    (#(i,ij->ij; x, Delta(3)), #(i->ii; x))
    """
    product = _checked_product(expr)
    lengths = _lengths(product)
    merged: dict[Symbol, Symbol] = {}
    inputs, arguments = [], []
    for term, argument in zip(product.inputs, product.arguments, strict=True):
        half = len(term) // 2
        if term and not isinstance(argument, Written) and argument == _delta(argument):
            for one, other in zip(term[:half], term[half:], strict=True):
                first, second = _root(merged, one), _root(merged, other)
                if first != second:
                    merged[second] = first
        else:
            inputs.append(term)
            arguments.append(argument)
    terms = [[_root(merged, i) for i in term] for term in (*inputs, product.output)]
    found = {i for term in terms[:-1] for i in term}
    alone = [i for i in product.symbols if i not in merged and i not in found]
    ones = [Ones(lengths[i]) for i in alone]
    return WrittenProduct([*terms[:-1], *[(i,) for i in alone]], terms[-1], [*arguments, *ones])


def _delta(argument: Operand) -> Operand | None:
    shape = shape_of(argument)
    return None if len(shape) % 2 else Delta(*shape[: len(shape) // 2])


def _as_positions(given: Any) -> list[int]:
    places = as_list(given, "places")
    if not all(isinstance(place, Integral) for place in places):
        raise TensorError(f"places are whole numbers, not {given!r:.80}")
    return [int(place) for place in places]


def _checked_product(expr: Argument) -> WrittenProduct:
    found = written(expr)
    if not isinstance(found, WrittenProduct):
        raise TensorError(f"{str(found)[:200]} is no product; take one of its arguments")
    return found


def _lengths(product: WrittenProduct) -> dict[str, Any]:
    """Return the length of each index."""
    shapes = [shape_of(a.expr if isinstance(a, Written) else a) for a in product.arguments]
    pairs = zip(product.inputs, shapes, strict=True)
    return {i: n for term, shape in pairs for i, n in zip(term, shape, strict=True)}


def _fresh(taken: Collection[str]) -> Iterator[str]:
    return (letter for letter in map(index_letter, count()) if letter not in taken)


def _root(merged: Mapping[Symbol, Symbol], symbol: Symbol) -> Any:
    while symbol in merged:
        symbol = merged[symbol]
    return symbol
