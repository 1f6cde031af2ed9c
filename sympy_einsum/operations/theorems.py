"""Theorems about einsum as operations on written forms. They hold in every commutative semiring:
``lambdify(…, semiring=…)`` has the same value before and after each.

References
==========

[W] M. Wenig, P. Rump, M. Blacher, J. Giesen, "The Syntax and Semantics of einsum", 2025.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import count
from numbers import Integral
from typing import Any, NamedTuple, TypeAlias

from sympy import Mul, S

from ..core import TensorError, as_list, index_letter
from ..expressions import Delta, Ones, Operand, View, representative, shape_of, unite
from .written_forms import Argument, IndexString, Written, WrittenProduct, fold, written


class Theorem(NamedTuple):
    """An identity between written forms of one value.

    name : the function that applies it
    source : the reference of its proof
    algebra : where it holds, in a commutative semiring or a commutative ring
    before, after : an example
    """

    name: str
    source: str
    algebra: str
    before: str
    after: str


# An index symbol of the outer product, or a 1-tuple of one of the inner product.
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
        "remove_ones",
        "[W, lemma 7.3], neutral combination",
        SEMIRING,
        "#(ij,i,j->i; A, Ones(n), x)",
        "#(ij,j->i; A, x)",
    ),
    Theorem(
        "add_ones",
        "[W, lemma 7.3], neutral combination, from right to left",
        SEMIRING,
        "#(ij,j->i; A, x)",
        "#(ij,j,i->i; A, x, Ones(n))",
    ),
    Theorem(
        "vectorize_constants",
        "[W, lemma 7.5], constant vectorization",
        SEMIRING,
        "#(ij,j->i; Ones(n, n), x)",
        "#(i,j,j->i; Ones(n), Ones(n), x)",
    ),
    Theorem(
        "substitute_deltas",
        "[W, lemma 7.7], delta substitution",
        SEMIRING,
        "#(ij,j->i; Delta(n), x)",
        "#(ij,j->i; #(i->ii; Ones(n)), x)",
    ),
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
    """Permute the factors of a product with their index strings [W, thm 5.1].

    Valid in any commutative semiring.

    Parameters
    ==========

    expr : a written form or an expression; its outermost product is transformed
    order : the permutation of the factors; by default they are reversed

    Raises
    ======

    TensorError : it isn't a product, or the order isn't a permutation

    Examples
    ========

    >>> import sympy_einsum as se
    >>> A, x = se.TensorSymbol("A", 2, 3), se.TensorSymbol("x", 3)
    >>> se.commute(A @ x)
    #(j,ij->i; x, A)
    """
    product = _checked_product(expr)
    count = len(product.arguments)
    permutation = [*range(count)[::-1]] if order is None else _as_numbers(order)
    if sorted(permutation) != [*range(count)]:
        raise TensorError(f"{order} isn't an order of the {count} factors, counted from 0")
    return WrittenProduct(
        [product.inputs[k] for k in permutation],
        product.output,
        [product.arguments[k] for k in permutation],
    )


def nest(expr: Argument, order: Sequence[int] | Sequence[Sequence[int]]) -> Written:
    """Multiply some factors of a product first, as a product inside it [W, thm 6.1].

    Valid in any commutative semiring.

    Parameters
    ==========

    expr : a written form or an expression; its outermost product is transformed
    order : the numbers of the factors that are multiplied first, or a sequence of such groups, as
        opt_einsum's ``contract_path`` returns it: the group is removed from the list of factors,
        and its product appended

    Raises
    ======

    TensorError : it isn't a product, or has no such factors

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
        numbers = sorted(_as_numbers(group))
        if len({*numbers}) < len(numbers) or not {*numbers} <= {*range(len(product.arguments))}:
            raise TensorError(f"{tuple(numbers)} are no factors of {str(product)[:200]}")
        if len(numbers) < len(product.arguments):
            product = _nested(product, numbers)
    return product


def _nested(product: WrittenProduct, numbers: Sequence[int]) -> WrittenProduct:
    rest = [k for k in range(len(product.arguments)) if k not in numbers]
    outside = {i for k in rest for i in product.inputs[k]}.union(product.output)
    inner_inputs = [product.inputs[k] for k in numbers]
    output = [i for i in dict.fromkeys(i for term in inner_inputs for i in term) if i in outside]
    inner = WrittenProduct(inner_inputs, output, [product.arguments[k] for k in numbers])
    inputs = [*[product.inputs[k] for k in rest], tuple(output)]
    arguments = [*[product.arguments[k] for k in rest], inner]
    return WrittenProduct(inputs, product.output, arguments)


def denest(expr: Argument, path: Sequence[int] | None = None) -> Written:
    """Inline products inside of products [W, thm 6.5]: indices of one axis are merged, which are
    the connected components of the index symbol graph [W, def. 6.4]; other inner indices get fresh
    names.

    Valid in any commutative semiring.

    Parameters
    ==========

    expr : a written form or an expression
    path : the argument numbers that lead to the product that is inlined: ``(1, 0)`` is the first
        argument of the second one; by default all products are inlined

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
    above, numbers = product_at(root, path)
    result = _with_product_inlined(above.pop(), numbers.pop())
    while above:
        outer, number = above.pop(), numbers.pop()
        result = outer.on([*outer.arguments[:number], result, *outer.arguments[number + 1 :]])
    return result


def product_at(root: Written, path: Sequence[int]) -> tuple[list[Written], list[int]]:
    """Return the forms above the product in a product to which a path leads, the outermost first,
    and the path."""
    numbers = _as_numbers(path)
    above: list[Written] = []
    node: Argument = root
    for number in numbers:
        if not isinstance(node, Written) or not 0 <= number < len(node.arguments):
            raise TensorError(f"there is no argument at {tuple(numbers)} of {str(root)[:200]}")
        above.append(node)
        node = node.arguments[number]
    if not above or not all(isinstance(n, WrittenProduct) for n in (node, above[-1])):
        raise TensorError(f"at {tuple(numbers)} of {str(root)[:200]} is no product in a product")
    return above, numbers


def _with_all_products_inlined(node: Written, below: Sequence[Argument]) -> Written:
    result = node.on(below)
    for number in reversed(range(len(below))):
        if isinstance(node, WrittenProduct) and isinstance(below[number], WrittenProduct):
            result = _with_product_inlined(result, number)
    return result


def _with_product_inlined(outer: Any, number: int) -> WrittenProduct:
    inner = outer.arguments[number]
    # A symbol of the inner product isn't the equal one of the outer product.
    merged: dict[Symbol, Symbol] = {}
    for one, other in zip(outer.inputs[number], inner.output, strict=True):
        first, second = representative(merged, one), representative(merged, (other,))
        if first != second:
            # Of two symbols of the outer product the first one is the representative.
            merged.update({first: second} if isinstance(second, str) else {second: first})
    fresh = _fresh({*outer.symbols, *inner.symbols})
    for i in inner.symbols:
        if representative(merged, (i,)) == (i,):
            merged[i,] = next(fresh) if i in outer.symbols else i

    def renamed(term: Iterable[Symbol]) -> IndexString:
        return tuple([str(representative(merged, i)) for i in term])

    inside = [renamed([(i,) for i in term]) for term in inner.inputs]
    before, after = outer.inputs[:number], outer.inputs[number + 1 :]
    return WrittenProduct(
        [*map(renamed, before), *inside, *map(renamed, after)],
        renamed(outer.output),
        [*outer.arguments[:number], *inner.arguments, *outer.arguments[number + 1 :]],
    )


def split_deltas(
    expr: Argument, symbol: str | None = None, occurrences: Sequence[int] | None = None
) -> Written:
    """Split indices in two with a delta tensor [W, def. 6.6, thm 6.7], so that no index string has
    a symbol twice.

    Valid in any commutative semiring.

    Parameters
    ==========

    expr : a written form or an expression; its outermost product is transformed
    symbol : an index symbol, each occurrence of which gets another symbol
    occurrences : the occurrences of ``symbol`` that get a new symbol, one for all of them, as the
        definition has it: counted from 0 through the index strings, that of the result last

    Raises
    ======

    TensorError : it isn't a product, or has no such index or occurrence

    Examples
    ========

    >>> import sympy_einsum as se
    >>> v = se.TensorSymbol("v", 3)
    >>> se.split_deltas(se.diag(v))
    #(i,ij->ij; v, Delta(3))
    >>> se.split_deltas(v @ v, "i")
    #(i,j,ij->; v, v, Delta(3))
    >>> se.split_deltas(se.diag(v), "i", [1])
    #(i,ij->ji; v, Delta(3))
    """
    product = _checked_product(expr)
    if symbol is not None and not (isinstance(symbol, str) and symbol in product.symbols):
        raise TensorError(f"{str(product)[:200]} has no index {symbol!r:.80}")
    lengths = _lengths(product)
    fresh = _fresh(product.symbols)
    if occurrences is not None:
        return _split_occurrences(product, symbol, occurrences, next(fresh), lengths)
    deltas: list[IndexString] = []
    terms = []
    seen: set[str] = set()
    for term in (*product.inputs, product.output):
        seen = seen if symbol is not None else set()
        new = []
        for i in term:
            is_repeated = i in seen and symbol in (None, i)
            seen.add(i)
            if is_repeated:
                deltas.append((i, next(fresh)))
            new.append(deltas[-1][1] if is_repeated else i)
        terms.append(new)
    arguments = [*product.arguments, *[Delta(lengths[i]) for i, _ in deltas]]
    return WrittenProduct([*terms[:-1], *deltas], terms[-1], arguments)


def _split_occurrences(
    product: WrittenProduct,
    symbol: str | None,
    occurrences: Sequence[int],
    new: str,
    lengths: Mapping[str, Any],
) -> Written:
    """Replace some occurrences of a symbol by a new one, which a delta tensor equates to it."""
    if symbol is None:
        raise TensorError("occurrences are those of an index; give symbol=, such as 'i'")
    numbers = {*_as_numbers(occurrences)}
    terms = (*product.inputs, product.output)
    total = sum(term.count(symbol) for term in terms)
    if not numbers <= {*range(total)}:
        raise TensorError(
            f"index {symbol!r} occurs {total} times in {str(product)[:200]}; occurrences are "
            f"numbers from 0 to {total - 1}, not {sorted(numbers)}"
        )
    counter = count()
    split = [
        [new if i == symbol and next(counter) in numbers else i for i in term] for term in terms
    ]
    arguments = [*product.arguments, Delta(lengths[symbol])]
    return WrittenProduct([*split[:-1], (symbol, new)], split[-1], arguments)


def merge_deltas(expr: Argument) -> Written:
    """Remove the delta tensors among the arguments of a product by merging their indices [W, thm
    6.7]. An index without another argument gets a vector of ones [W, cor. 7.11].

    Valid in any commutative semiring.

    Parameters
    ==========

    expr : a written form or an expression; its outermost product is transformed

    Raises
    ======

    TensorError : it isn't a product

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
    merged: dict[str, str] = {}
    inputs, arguments = [], []
    for term, argument in zip(product.inputs, product.arguments, strict=True):
        half = len(term) // 2
        if term and not isinstance(argument, Written) and argument == _delta(argument):
            for one, other in zip(term[:half], term[half:], strict=True):
                unite(merged, one, other)
        else:
            inputs.append(term)
            arguments.append(argument)
    terms = [[representative(merged, i) for i in term] for term in (*inputs, product.output)]
    found = {i for term in terms[:-1] for i in term}
    alone = [i for i in product.symbols if i not in merged and i not in found]
    ones = [Ones(lengths[i]) for i in alone]
    return WrittenProduct([*terms[:-1], *[(i,) for i in alone]], terms[-1], [*arguments, *ones])


def remove_ones(expr: Argument) -> Written:
    """Remove tensors of ones all of whose indices other arguments have [W, lemma 7.3].

    Others are kept: ones with an index of their own are summed over.

    Valid in any commutative semiring.

    Parameters
    ==========

    expr : a written form or an expression; its outermost product is transformed

    Raises
    ======

    TensorError : it isn't a product

    Examples
    ========

    >>> import sympy_einsum as se
    >>> se.remove_ones(se.read_einsum("#(i,ij,jk,k->i; Ones(n), A, B, v)"))
    #(ij,jk,k->i; A, B, v)
    >>> se.remove_ones(se.read_einsum("#(i,j->i; x, Ones(m))"))
    #(i,j->i; x, Ones(m))
    """
    product = _checked_product(expr)
    users = Counter(i for term in product.inputs for i in {*term})
    kept = []
    for term, argument in zip(product.inputs, product.arguments, strict=True):
        is_one = _is_ones(argument)
        if is_one and all(users[i] > 1 for i in term):
            users.subtract({*term})
        else:
            kept.append((term, argument))
    return WrittenProduct([t for t, _ in kept], product.output, [a for _, a in kept])


def add_ones(expr: Argument, indices: Sequence[str] | None = None) -> Written:
    """Append a tensor of ones with indices that the product has [W, lemma 7.3], so that these
    belong to no other argument alone: the derivative by that argument keeps them.

    Valid in any commutative semiring.

    Parameters
    ==========

    expr : a written form or an expression; its outermost product is transformed
    indices : a string or sequence of index symbols, by default those of the result

    Raises
    ======

    TensorError : it isn't a product, or has no such index

    Examples
    ========

    >>> import sympy_einsum as se
    >>> A, x = se.TensorSymbol("A", 2, 3), se.TensorSymbol("x", 3)
    >>> se.add_ones(A @ x), se.add_ones(A @ x, "ij")
    (#(ij,j,i->i; A, x, Ones(2)), #(ij,j,ij->i; A, x, Ones(2, 3)))
    """
    product = _checked_product(expr)
    given = product.output if indices is None else indices
    given = [*given] if isinstance(given, str) else as_list(given, "index symbols")
    missing = [i for i in given if not isinstance(i, str) or i not in product.symbols]
    if missing:
        raise TensorError(f"{str(product)[:200]} has no index {missing[0]!r:.80}")
    lengths = _lengths(product)
    ones = Ones(*[lengths[i] for i in given])
    return WrittenProduct(
        [*product.inputs, given], product.output, [*product.arguments, ones if given else S.One]
    )


def vectorize_constants(expr: Argument) -> Written:
    """Write each tensor of equal entries as its entry and vectors of ones [W, lemma 7.5].

    The entry 1 is omitted. A vector of ones stays as it is.

    Valid in any commutative semiring.

    Parameters
    ==========

    expr : a written form or an expression; its outermost product is transformed

    Raises
    ======

    TensorError : it isn't a product

    Examples
    ========

    >>> import sympy_einsum as se
    >>> se.vectorize_constants(se.read_einsum("#(ij,jk->ik; A, Ones(3, 4))"))
    #(ij,j,k->ik; A, Ones(3), Ones(4))
    """
    product = _checked_product(expr)
    inputs: list[IndexString] = []
    arguments: list[Argument] = []
    for term, argument in zip(product.inputs, product.arguments, strict=True):
        if not isinstance(argument, View) or not argument.is_constant_fill:
            inputs.append(term)
            arguments.append(argument)
            continue
        if argument.scalars:
            inputs.append(())
            arguments.append(Mul(*argument.scalars))
        inputs += [(i,) for i in term]
        arguments += [Ones(length) for length in shape_of(argument)]
    return WrittenProduct(inputs, product.output, arguments)


def substitute_deltas(expr: Argument) -> Written:
    """Write each delta tensor as a product ``#(I->II; Ones)`` of ones, whose index string is
    repeated [W, lemma 7.7].

    ``denest`` merges these products into the one around them.

    Valid in any commutative semiring.

    Parameters
    ==========

    expr : a written form or an expression; its outermost product is transformed

    Raises
    ======

    TensorError : it isn't a product

    Examples
    ========

    >>> import sympy_einsum as se
    >>> e = se.substitute_deltas(se.read_einsum("#(ij,j->i; Delta(3), x)"))
    >>> e, se.denest(e), se.remove_ones(se.denest(e))
    (#(ij,j->i; #(i->ii; Ones(3)), x), #(i,i->i; Ones(3), x), #(i->i; x))
    """
    product = _checked_product(expr)
    return product.on([_as_repeated_ones(argument) for argument in product.arguments])


def _as_repeated_ones(argument: Argument) -> Argument:
    if isinstance(argument, Written) or not shape_of(argument) or argument != _delta(argument):
        return argument
    half = len(shape_of(argument)) // 2
    letters = [index_letter(k) for k in range(half)]
    return WrittenProduct([letters], [*letters, *letters], [Ones(*shape_of(argument)[:half])])


def _is_ones(argument: Argument) -> bool:
    return argument is S.One or (
        isinstance(argument, View) and argument == Ones(*shape_of(argument))
    )


def _delta(argument: Operand) -> Operand | None:
    shape = shape_of(argument)
    return None if len(shape) % 2 else Delta(*shape[: len(shape) // 2])


def _as_numbers(values: Any) -> list[int]:
    numbers = as_list(values, "places")
    if not all(isinstance(number, Integral) for number in numbers):
        raise TensorError(f"places are whole numbers, not {values!r:.80}")
    return [int(number) for number in numbers]


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
