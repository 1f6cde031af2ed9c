"""Write ``str`` and ``srepr``, texts that evaluate back.

Texts are built bottom-up over the graph, each node once. ``str`` uses operators, and
``einsum(...)`` where there are none; its text evaluates to an equal expression, that of ``srepr``
to the identical object. In a long expression ``str`` assigns shared nodes to names, and ``srepr``
lists the graph.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from sympy import Basic, Expr, S, Symbol
from sympy.printing.printer import Printer

from ..core import NodeTable, children, index_letter, postorder, tuning
from ..expressions import (
    AxesFunction,
    Binder,
    Constant,
    Delta,
    Einsum,
    Elementwise,
    Extremum,
    Fourier,
    HalfPower,
    LeviCivita,
    MatrixFunction,
    MatrixPower,
    OneHot,
    Ones,
    Operand,
    Positions,
    Reshape,
    RunningFunction,
    Scan,
    Selection,
    Softmax,
    Solution,
    StackFunction,
    TensorAdd,
    TensorExpr,
    TensorSymbol,
    Triangle,
    Unevaluated,
    Unit,
    Unknown,
    View,
    Zeros,
    flatten,
    order_of,
)
from .chains import OperatorText, is_distinct, matrix_text
from .code import CodeForm, texts_of
from .cross_products import is_alone, with_cross_products
from .field_derivatives import FieldDerivative, field_derivative, field_derivative_of
from .gathers import Gather, as_gather, merge_gathers
from .joined import Call, find_call, group_entries
from .naming import Abbreviation, is_long_text, length_names, names, shown_names
from .norms import normed
from .recurrences import scan_code, solution_code
from .slices import (
    Cut,
    Factors,
    Range,
    as_slice,
    index_of_selector,
    labelled_factors,
    rearranged_product,
    typed_range,
)
from .texts import ATOM, CHAIN, POWER, PRODUCT, QUOTIENT, SUM, Text, Texts

# --- one node ------------------------------------------------------------------------------------


def _fill_text(node: Zeros | Ones, below: Texts, form: CodeForm) -> Text:
    return form.call(type(node).__name__, form.lengths(node.shape))


def _constant_text(node: Constant, below: Texts, form: CodeForm) -> Text:
    if not node.is_exact:
        return form.call("Constant", repr(node.array.tolist()))
    return form.call("Constant", _nested(node.entries, form))


def _nested(entries: np.ndarray, form: CodeForm) -> str:
    """Write SymPy's numbers as nested lists."""
    if not entries.ndim:
        return form.stock(entries.item()).shown
    return f"[{', '.join([_nested(np.asarray(part), form) for part in entries])}]"


def _selector_text(node: Unit | Selection, below: Texts, form: CodeForm) -> Text:
    if isinstance(node, Selection) and typed_range(node) is None:
        return form.call(
            "Selection", form.lengths([node.length, node.start, node.step, node.count])
        )
    identity = form.call("Delta", form.lengths((node.length,))).shown
    return Text(f"{identity}[{_index_text(index_of_selector(node), form)}]")


def _triangle_text(node: Triangle, below: Texts, form: CodeForm) -> Text:
    rows, columns = node.shape
    if node.offset.is_zero and rows == columns:
        return form.call("Triangle", form.lengths([rows]))
    return form.call("Triangle", form.lengths(node.data))


def _fourier_text(node: Fourier, below: Texts, form: CodeForm) -> Text:
    n, *counts = node.data[:3]
    if node.weighted:
        return form.call("Fourier", form.lengths(node.data[:3]), "weighted=True")
    return form.call("Fourier", form.lengths([n] if counts == [n, n] else [n, *counts]))


def _windows_text(node: Positions, below: Texts, form: CodeForm) -> Text:
    steps, counts = (f"({form.lengths(numbers)})" for numbers in (node.steps, node.counts))
    return form.call("Positions", form.lengths(node.data[:2]), steps, counts)


def _index_text(index: Cut, form: CodeForm) -> str:
    if index is None:
        return ":"
    if not isinstance(index, Range):
        return form.lengths([index])
    low, high = ("" if end is None else form.lengths([end]) for end in (index.start, index.stop))
    return f"{low}:{high}" + (f":{form.lengths([index.step])}" if index.step != 1 else "")


def _matrix_function_text(node: MatrixFunction, below: Texts, form: CodeForm) -> Text:
    static = map(str, node.data)
    return form.call(type(node).__name__.lower(), below[node.operands[0]].shown, *static)


def _stack_function_text(node: StackFunction, below: Texts, form: CodeForm) -> Text:
    operands = [below[operand].shown for operand in node.operands]
    called = form.call(node.function, *operands, *node.options, *map(str, node.data))
    return called if node.part is None else Text(f"{called.shown}[{node.part}]")


def _matrix_power_text(node: MatrixPower, below: Texts, form: CodeForm) -> Text:
    matrices, *directions = [below[operand].shown for operand in node.operands]
    return form.call(node.function, matrices, form.lengths([node.exponent]), *directions)


def _axes_function_text(node: AxesFunction, below: Texts, form: CodeForm) -> Text:
    operand = node.operands[0]
    axes = node.axes[0] if len(node.axes) == 1 else node.axes
    axis = None if len(node.axes) == operand.order else axes
    name, inside = node.name, below[operand].shown
    is_scaled = isinstance(operand, View) and operand.scalars
    if isinstance(node, Softmax) and operand.order == 2 and axis is not None and not is_scaled:
        # softmax(A, axis=0).T is written softmax(A.T, axis=1), which is the same node.
        transposed = below.transpose(operand).shown
        if len(transposed) <= len(inside):
            below.transposes[node] = form.call(name, transposed, f"axis={1 - node.axes[0]}")
    given = [] if operand.order == 1 else [f"axis={axis}"]
    if isinstance(node, Extremum):
        # Built-in functions of Python.
        return Text(f"{below[operand].within(ATOM)}.{name}({', '.join(given)})")
    return form.call(name, inside, *given)


def _one_hot_text(node: OneHot, below: Texts, form: CodeForm) -> Text:
    return form.call("one_hot", below[node.indices].shown, form.lengths([node.length]))


def _running_text(node: RunningFunction, below: Texts, form: CodeForm) -> Text:
    operand = node.operands[0]
    axis = [] if operand.order == 1 else [f"axis={operand.order - 1}"]
    return form.call(node.called, below[operand].shown, *axis)


def _unknown_text(node: Unknown, below: Texts, form: CodeForm) -> Text:
    if not form.operators:
        return Text(flat_repr(node, form.exact))
    inside = below[node.argument].shown
    if not node.degree:
        return form.call(node.name, inside)
    if isinstance(node.argument, Symbol):
        count = [] if node.degree == 1 else [str(node.degree)]
        return form.call("diff", f"{node.name}({inside})", inside, *count)
    words = {1: f"grad({node.name})", 2: f"hess({node.name})"}
    return form.call(words.get(node.degree, f"grad({node.name}, {node.degree})"), inside)


def _unevaluated_text(node: Unevaluated, below: Texts, form: CodeForm) -> Text:
    if not form.operators:
        return Text(flat_repr(node, form.exact))
    variables, limits = node.variables, []
    for variable, *others in node.limits:
        name = str(variable) if isinstance(variable, Symbol) else _written(variable, form)
        if others in ([], [1]) and node.kind != "Sum":
            limits.append(name)
        else:
            limits.append(f"({', '.join([name, *[_written(o, form) for o in others]])})")
    text = form.call(node.kind, _body_text(node, node.expr, form), *limits)
    if node.kind != "Derivative" or node.given == variables:
        return text
    points = zip(variables, node.given, strict=True)
    pairs = [f"({_written(old, form)}, {_written(new, form)})" for old, new in points if old != new]
    return Text(f"{text.shown}.subs([{', '.join(pairs)}])")


def _written(expr: Operand, form: CodeForm) -> str:
    """Return the text of an expression that need not be an operand."""
    for own in postorder([expr], lambda n: () if n in form.texts else children(n)):
        _write(own, form)
    return form.texts[expr].shown if expr in form.texts else form.stock(expr).shown


def _reshape_text(node: Reshape, below: Texts, form: CodeForm) -> Text:
    operand = below[node.operands[0]].within(ATOM)
    return Text(f"{operand}.reshape({form.lengths(node.shape)})")


def _body_text(node: Binder, expr: Operand, form: CodeForm) -> str:
    """Return the text of an expression in the body of a node; a long one has names of its own."""
    if is_long_text(expr):
        outside = form.texts, form.sums, form.replaced
        form.replaced = {**form.replaced}
        form.texts = Texts()
        form.texts.update({own: t for own, t in outside[0].items() if t.shown.isidentifier()})
        text = _with_assignments(expr, form, "b" * (node.level + 1)).shown
        form.texts, form.sums, form.replaced = outside
        return text
    return _written(expr, form)


def _solution_text(node: Solution, below: Texts, form: CodeForm) -> Text:
    if not form.operators:
        return Text(flat_repr(node, form.exact))
    start = below[node.start].shown
    return Text(solution_code(node, start, lambda expr: _body_text(node, expr, form)))


def _scan_text(node: Scan, below: Texts, form: CodeForm) -> Text:
    operands = [below[operand].shown for operand in node.operands]
    length = form.lengths([node.length])
    if not form.operators:
        return Text(flat_repr(node, form.exact))
    return Text(scan_code(node, operands, lambda expr: _body_text(node, expr, form), length))


def _elementwise_text(node: Elementwise, below: Texts, form: CodeForm) -> Text:
    tensors = [operand for operand in node.operands if order_of(operand)] if form.operators else []
    short = _broadcast_terms(tensors, below, form) if tensors else {}
    return form.elementwise(node.body, [short.get(own) or below[own] for own in node.operands])


def _sum_text(node: TensorAdd, below: Texts, form: CodeForm) -> Text:
    call = find_call(node) if form.operators and node not in form.sums else None
    if call is not None:
        return _call_text(call, form)
    terms = form.sums.get(node, node.operands)
    if not form.operators:
        texts = [_term_text(operand, below, form) for operand in terms]
    else:
        short = _broadcast_terms(terms, below, form)
        groups = [] if short else group_entries(terms)
        texts = [short.get(own) or _term_text(own, below, form) for own in terms if short]
        texts += [_group_text(*group, below, form) for group in groups]
        # Minus signs last, plain symbols after products.
        texts.sort(key=_term_rank)
    result = ""
    for text in texts:
        bare = form.operators or text.shown[:1] == "-"
        term = text.shown if bare else text.within(PRODUCT)
        result += term if not result else f" - {term[1:]}" if term[:1] == "-" else f" + {term}"
    return Text(result, SUM)


def _group_text(factor: Expr, total: Operand, below: Texts, form: CodeForm) -> Text:
    """Write a term of a sum, or several that are a stack times a number."""
    if isinstance(total, TensorAdd) and total not in form.texts:
        form.texts[total] = _sum_text(total, below, form)
    if factor is S.One:
        return _term_text(total, below, form)
    return Text(form.scaled(factor, [form.texts[total].within(PRODUCT)]), PRODUCT)


def _call_text(call: Call, form: CodeForm) -> Text:
    """Write the call equal to a sum; its arguments need not be nodes of the sum."""
    for node in postorder(call.tensors, lambda n: () if n in form.texts else children(n)):
        _write(node, form)
    for own in call.tensors:
        if own not in form.texts:
            form.texts[own] = form.stock(own)
    tensors = ", ".join([_with_units(own, form.texts) for own in call.tensors])
    if call.shift is None:
        axis = [f"axis={call.axis}"] if call.axis else []
        return form.call(call.name, f"[{tensors}]", *axis)
    axis = [f"axis={call.axis}"] if call.tensors[0].order > 1 else []
    return form.call(call.name, tensors, str(call.shift), *axis)


def _with_units(tensor: TensorExpr, texts: Texts) -> str:
    """Return the text of a tensor; new axes of length 1 are written as None."""
    found = _with_new_axes(tensor, texts)
    if found is None or (isinstance(tensor, View) and tensor.scalars):
        return texts[tensor].shown
    shown, axes = found
    are_units = all(own or n is S.One for n, own in zip(tensor.shape, axes, strict=True))
    return shown.shown if are_units else texts[tensor].shown


def _with_new_axes(tensor: TensorExpr, texts: Texts) -> tuple[Text, list[bool]] | None:
    """Return the text of a view without its factors, of length 1 along new axes, and which axes
    aren't new; None if none is, or others are rearranged."""
    if not isinstance(tensor, View) or tensor.core is None:
        return None
    product = labelled_factors(tensor)
    axes = [i in product.terms[-1] for i in product.output]
    kept = tuple([i for i in product.output if i in product.terms[-1]])
    if all(axes) or kept != product.terms[-1] or not is_distinct(product.output):
        return None
    indices = ", ".join([":" if own else "None" for own in axes])
    return Text(f"{texts[tensor.core].within(ATOM)}[{indices}]"), axes


def _broadcast_terms(
    terms: Sequence[TensorExpr], below: Texts, form: CodeForm
) -> dict[TensorExpr, Text]:
    """Return texts of terms without the axes along which other terms stretch them: of
    ``x[:, None] - x[None, :]``."""
    found: dict[TensorExpr, Text] = {}
    spanned = set[int]()
    for own in terms:
        short = _with_new_axes(own, below)
        if short is not None and isinstance(own, View):
            text, axes = short
            found[own] = _scaled_text(own, text, below, form) if own.scalars else text
            spanned.update([k for k, is_kept in enumerate(axes) if is_kept])
        elif not getattr(own, "is_constant_fill", False):
            spanned.update(range(own.order))
    return found if len(spanned) == terms[0].order else {}


def _term_rank(text: Text) -> tuple[bool, bool, bool]:
    return text.shown[:1] == "-", text.level == ATOM, text.shown.isdigit()


def _term_text(operand: TensorExpr, below: Texts, form: CodeForm) -> Text:
    """Write a term; a tensor filled with an integer is that integer."""
    if form.operators and isinstance(operand, View) and operand.is_constant_fill:
        number = operand.coefficient
        if number.is_Integer and len(operand.operands) == (number is not S.One):
            return Text(str(number))
    return below[operand]


def _view_text(node: View, below: Texts, form: CodeForm) -> Text:
    core = node.core
    if core is not None and node.output == node.subscripts[-1] and is_distinct(node.output):
        body = below[core]
    elif node.is_constant_fill:
        body = form.call("Ones", form.lengths(node.shape))
    elif core is None and node.output == tuple(range(node.order // 2)) * 2:
        body = form.call("Delta", form.lengths(node.shape[: node.order // 2]))
    else:
        body = _rearranged_text(node, below, form)
    if not node.scalars:
        return body
    found = field_derivative_of(core) if form.operators else None
    if found is not None and found.sign < 0:
        return _scaled_text(node, _field_text(found, form), below, form, -1)
    if node in below.transposes:
        below.transposes[node] = _scaled_text(node, below.transposes[node], below, form)
    return _scaled_text(node, body, below, form)


def _scaled_text(node: View, body: Text, below: Texts, form: CodeForm, sign: int = 1) -> Text:
    """Multiply a text by the scalar factors of a view, and by a sign."""
    others = node.scalars[1:] if node.scalars[0].is_Number else node.scalars
    # SymPy distributes a number over a sum at once, so sums follow the tensor.
    sums = [s for s in others if s.is_Add or (s.is_Mul and any(arg.is_Add for arg in s.args))]
    factors = [s for s in others if s not in sums]
    divisors = [below[s].shown.removeprefix("1") for s in factors if below[s].level == QUOTIENT]
    before = [
        below[s].within(POWER if isinstance(s, TensorExpr) else PRODUCT)
        for s in factors
        if below[s].level != QUOTIENT
    ]
    after = [below[scalar].within(PRODUCT) for scalar in sums]
    parts = [*before, body.within(POWER if after else CHAIN), *after]
    number = sign * node.coefficient
    is_beside = bool(divisors or after) and not before and number is not S.One
    if form.operators and isinstance(node.core, TensorAdd) and is_beside:
        # SymPy would distribute a number in front of the sum.
        first, line, last = form.scaled(number, []).partition("/")
        if divisors:
            parts.insert(0, f"{first if first.strip('-') else first + '1'}{''.join(divisors)}")
            return Text("*".join(parts) + line + last, PRODUCT)
        if number.is_negative or not number.is_Rational:
            return Text("*".join([*parts, form.stock(number).within(PRODUCT)]), PRODUCT)
        return Text("*".join([*parts, first] if first else parts) + line + last, PRODUCT)
    return Text(form.scaled(number, parts) + "".join(divisors), PRODUCT)


def _rearranged_text(node: View, below: Texts, form: CodeForm) -> Text:
    """Write a view without its scalar factors; a rearranged product is one product."""
    core = node.core
    if form.operators and core is not None and core.order <= 2 and node.output == (0, 0):
        is_vector = node.subscripts[-1] == (0,)
        vector = below[core].shown if is_vector else f"{below[core].within(ATOM)}.diagonal()"
        return Text(f"diag({vector})")
    is_named = core in below and below[core].shown.isidentifier()
    if type(core) is Einsum and is_distinct(node.subscripts[-1]) and not is_named:
        return _slice_or_product_text(node, rearranged_product(node), below, form)
    return _slice_or_product_text(node, labelled_factors(node), below, form)


def _product_text(node: Einsum, below: Texts, form: CodeForm) -> Text:
    return _slice_or_product_text(node, labelled_factors(node), below, form)


def _slice_or_product_text(node: Einsum, product: Factors, below: Texts, form: CodeForm) -> Text:
    indexed = as_slice(product)
    if indexed is not None and all(
        not isinstance(selector, Selection) or typed_range(selector)
        for selector in product.operands
    ):
        items = [_index_text(index, form) for index in indexed.indices]
        text = _indexed_text(node, indexed.tensor, items, indexed.axes, below, form)
        if text is not None:
            return text
    if form.operators and any(isinstance(own, OneHot) for own in product.operands):
        text = _gather_text(node, product, below, form)
        if text is not None:
            return text
        product = _with_gather_texts(product, form)
    field = field_derivative(product) if form.operators else None
    if field is not None:
        text = _field_text(field, form)
        return text if field.sign > 0 else Text(f"-{text.shown}", PRODUCT)
    if form.operators and any(isinstance(own, LeviCivita) for own in product.operands):
        product = _with_cross_texts(product, form)
        if is_alone(product):
            return below[product.operands[0]]
    if form.operators:
        return _operator_text(node, product, below, form) or _einsum_call(product, below, form)
    if product.output == (1, 0) and product.terms == ((0, 1),):
        return Text(f"{below[product.operands[0]].within(ATOM)}.T")
    return _einsum_call(product, below, form)


def _gather_text(node: Einsum, product: Factors, below: Texts, form: CodeForm) -> Text | None:
    """Write a tensor indexed by arrays of positions."""
    found = as_gather(product)
    if found is None:
        return None
    items = [
        (str(index.numbers) if index.numbers else below[index.positions].shown)
        if isinstance(index, Gather)
        else _index_text(index, form)
        for index in found.indices
    ]
    while items[-1] == ":" and not below[found.tensor].shown.endswith(".T"):
        items.pop()
    return _indexed_text(node, found.tensor, items, found.axes, below, form)


def _indexed_text(
    node: Einsum,
    tensor: TensorExpr,
    items: list[str],
    axes: tuple[int, ...] | None,
    below: Texts,
    form: CodeForm,
) -> Text | None:
    """Write a tensor with items in brackets, and the permutation of the axes of that; return None
    if there is no operator for it."""
    if not form.operators and axes is not None:
        return None
    text, is_transposed = below[tensor], axes == (1, 0)
    if form.operators and len(items) == 2 and text.shown.endswith(".T"):
        # Index a matrix rather than its transpose.
        text, items = below.transpose(tensor), items[::-1]
        is_transposed ^= node.order == 2
    text = Text(f"{text.within(ATOM)}[{', '.join(items)}]")
    if is_transposed:
        below.transposes[node] = text
        return Text(f"{text.shown}.T")
    if axes is None or axes == (1, 0):
        return text
    return Text(f"{text.shown}.transpose({', '.join(map(str, axes))})")


def _with_gather_texts(product: Factors, form: CodeForm) -> Factors:
    """Write the indexed tensors in a product; return the product of these and the others."""
    product = merge_gathers(product)
    for node in postorder(product.operands, lambda n: () if n in form.texts else children(n)):
        _write(node, form)
    return product


def _field_text(found: FieldDerivative, form: CodeForm) -> Text:
    """Write the call of a derivative of an unknown field, without the sign."""
    point = found.field.argument.name
    return form.call(found.name, f"{found.field.name}({point})", point)


def _with_cross_texts(product: Factors, form: CodeForm) -> Factors:
    """Write the cross products in a product; return the product of these and the other factors."""
    product, found = with_cross_products(product)
    for symbol, *pair in found:
        for node in postorder(pair, lambda n: () if n in form.texts else children(n)):
            _write(node, form)
        form.texts[symbol] = form.call("cross", *[form.texts[vector].shown for vector in pair])
    return product


def _operator_text(node: Einsum, product: Factors, below: Texts, form: CodeForm) -> Text | None:
    """Write a product with operators and methods; return None if that isn't possible."""
    short = OperatorText(product, below).text()
    if short is None and (len(product.operands) > 1 or product.absent):
        short = matrix_text(product, below, form.lengths)
        output = product.output[::-1]
        transposed = matrix_text(product._replace(output=output), below, form.lengths)
        if transposed is not None and len(output) == 2:
            below.transposes[node] = transposed
    return short


def _einsum_call(product: Factors, below: Texts, form: CodeForm) -> Text:
    texts = [below[operand].shown for operand in product.operands]
    terms = [*product.terms, *[(label,) for label in product.absent]]
    for label in product.absent:
        texts.append(form.call("Ones", form.lengths([product.lengths[label]])).shown)
    number: dict[int, str] = {}
    for label in [label for term in terms for label in term]:
        number.setdefault(label, index_letter(len(number)))
    inputs = ",".join("".join(number[label] for label in term) for term in terms)
    output = "".join(number[label] for label in product.output)
    return form.call("einsum", repr(f"{inputs}->{output}"), *texts)


TEXTS: NodeTable[Callable[..., Text]] = NodeTable(
    "the text",
    {
        TensorSymbol: lambda node, below, form: Text(form.symbol(node)),
        Zeros: _fill_text,
        Ones: _fill_text,
        Delta: lambda node, below, form: form.call(
            "Delta", form.lengths(node.shape[: node.order // 2])
        ),
        Constant: _constant_text,
        Unit: _selector_text,
        Selection: _selector_text,
        LeviCivita: lambda node, below, form: form.call("LeviCivita", str(node.length)),
        Positions: _windows_text,
        Triangle: _triangle_text,
        Fourier: _fourier_text,
        View: _view_text,
        Einsum: _product_text,
        TensorAdd: _sum_text,
        Elementwise: _elementwise_text,
        MatrixFunction: _matrix_function_text,
        StackFunction: _stack_function_text,
        MatrixPower: _matrix_power_text,
        AxesFunction: _axes_function_text,
        RunningFunction: _running_text,
        OneHot: _one_hot_text,
        Reshape: _reshape_text,
        Scan: _scan_text,
        Solution: _solution_text,
        Unevaluated: _unevaluated_text,
        Unknown: _unknown_text,
    },
)


# --- graphs --------------------------------------------------------------------------------------


def render(root: TensorExpr, form: CodeForm, nested: bool = False) -> Text:
    """Return the text of a graph.

    In a long one, shared nodes are assigned to names: ``(h_1 := tanh(A @ x), h_1*h_1)[-1]``.
    ``nested`` says that SymPy's printer inserts it into another text.
    """
    texts = form.texts
    if root not in texts:
        if is_long_text(root):
            form.texts = Texts()
            # The names around a nested text aren't known, so choose unusual ones.
            return _with_assignments(root, form, f"h{root._digest % 10**6}" if nested else "h")
        # Include tensors inside stock scalars, so that SymPy's recursive printer finds their
        # texts ready.
        for node in postorder([root], lambda n: () if n in texts else children(n)):
            _write(node, form)
    return texts[root]


def _write(node: Basic, form: CodeForm) -> None:
    """Add the text of a node to those of its children."""
    texts = form.texts
    if node in texts or not isinstance(node, TensorExpr):
        return
    for operand in node.operands:
        if operand not in texts:
            texts[operand] = form.stock(operand)
    texts[node] = TEXTS[type(node)](node, texts, form)


def _with_assignments(root: Operand, form: CodeForm, stem: str) -> Text:
    """Write a long graph as text that begins with local assignments to names with a stem."""
    texts = form.texts
    known = {*texts}
    nodes = postorder([root], lambda n: () if n in known else children(n))
    fresh = names(shown_names(nodes) | length_names(nodes), stem)
    shortening = Abbreviation(root, nodes, known)
    form.sums = shortening.sums
    assignments = []
    levels: dict[Basic, int] = {}
    for node in nodes:
        is_tensor = isinstance(node, TensorExpr)
        _write(node, form)
        is_leaf = is_tensor or node in known
        levels[node] = 0 if is_leaf else 1 + max([levels[arg] for arg in node.args], default=0)
        is_big = (
            len(texts[node].shown) > tuning.LONG_TEXT
            if is_tensor
            else levels[node] > tuning.DEEP_PART
        )
        if shortening.names(node, is_big):
            name, levels[node] = next(fresh), 0
            text = texts.get(node) or form.stock(node)
            assignments.append(f"{name} := {text.shown}")
            texts.name(node, name)
            if not is_tensor:
                form.replaced[node] = Symbol(name, real=node.is_real)
    last = texts.get(root) or form.stock(root)
    return Text(f"({', '.join([*assignments, last.shown])},)[-1]")


def power_text(power: HalfPower, printer: Printer, *args: object) -> str:
    """Write a power of a norm, or another square root."""
    tensor = normed(power)
    known = texts_of(printer).get(power.base)
    # Named nodes appear by their names.
    if tensor is None or (known is not None and known.shown.isidentifier()):
        return printer._print_Pow(power)
    norm = Symbol(f"norm({render(tensor, CodeForm(printer), printer._print_level > 1).shown})")
    return printer._print(norm ** (2 * power.exp))


def flat_repr(root: TensorExpr, printer: Printer) -> str:
    """Return the graph, node by node."""
    parts = []
    for item in flatten(root):
        if isinstance(item, tuple):
            kind, below, data = item
            parts.append(f"({kind.__name__}, {below!r}, {_data_repr(data, printer)})")
        else:
            parts.append(printer._print(item))
    return f"unflatten([{', '.join(parts)}])"


def _data_repr(data: object, printer: Printer) -> str:
    if isinstance(data, tuple):
        return "(" + "".join(f"{_data_repr(part, printer)}, " for part in data) + ")"
    return printer._print(data) if isinstance(data, Basic) else repr(data)
