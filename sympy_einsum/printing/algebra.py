"""Simplify matrix forms so that a formula reads as if written by hand.

Products flatten, a transpose moves into a product, a scalar product gets the orientation with the
fewest transposes, a trace the best rotation, equal factors become powers.
"""

from __future__ import annotations

from collections.abc import Sequence

from sympy import Basic, Expr, I, Mul, S

from ..core import Shape
from .forms import ATOM, PRODUCT, ROW, SUM, Form, call, identity, stock


def ones(shape: Shape) -> Form:
    """Return ones of a shape; the matrix of ones is 1 1ᵀ."""
    if len(shape) == 2:
        return product([ones(shape[:1]), transpose(ones(shape[1:]))])
    return Form("ones", (), tuple(shape), len(shape)) if shape else stock(S.One)


# --- products ------------------------------------------------------------------------------------


def _open(parts: Sequence[Form]) -> int:
    """Return the axes of a chain of factors."""
    left, right = parts[0].axes in (1, 2), parts[-1].axes in (ROW, 2)
    return 2 if left and right else 1 if left else ROW if right else 0


def _chain(form: Form) -> tuple[bool, list[Form], list[Form]]:
    """Split a form into sign, scalar factors and factors with axes; a sum yields its content."""
    if form.kind == "sum" and form.axes:
        return _content(form)
    if form.kind != "product":
        return (False, [form], []) if not form.axes else (False, [], [form])
    count = form.data[1]
    return form.data[0], list(form.parts[:count]), list(form.parts[count:])


def _content(form: Form) -> tuple[bool, list[Form], list[Form]]:
    """Split a sum into the common numeric factor of its terms and the rest."""
    split = [_numeric_factor(term) for term in form.parts]
    size = split[0][1]
    if any(other != size for _, other, _ in split[1:]):
        return False, [], [form]
    negative = all(sign for sign, _, _ in split)
    if size == 1 and not negative:
        return False, [], [form]
    terms = [negated(rest) if sign and not negative else rest for sign, _, rest in split]
    return negative, [] if size == 1 else [stock(size)], [total(terms, form.axes)]


def _numeric_factor(form: Form) -> tuple[bool, Expr, Form]:
    """Split a term into sign, positive number and the rest."""
    if form.kind != "product":
        return False, S.One, form
    negative, count = form.data
    scalars, chain = form.parts[:count], form.parts[count:]
    number, rest = S.One, list(scalars)
    if rest and rest[0].kind == "stock":
        number, factor = rest[0].data.as_coeff_Mul()
        rest[:1] = [] if factor is S.One else [stock(factor)]
    return negative, number, product([*rest, *chain])


def product(factors: Sequence[Form]) -> Form:
    """Multiply factors; a scalar chain such as xᵀ y is kept whole unless it is the only factor."""
    if len(factors) == 1:
        return factors[0]
    negative, scalars, chain = False, [], []
    for form in factors:
        sign, below, inner = _chain(form)
        scalars.extend(below)
        if form.kind != "product" or form.axes:
            chain.extend(inner)
        elif inner:
            scalars.append(form if not below and not sign else Form("product", inner, (False, 0)))
        negative ^= sign
    alone = [form for form in scalars if form.kind == "product"]
    if len(alone) == 1 and not chain:
        scalars.remove(alone[0])
        chain = list(alone[0].parts)
    sign, scalars = _merge_stock(scalars)
    negative ^= sign
    chain = _merge_powers(chain)
    if not scalars and not chain:
        scalars = [stock(S.One)]
    if not negative and len(scalars) + len(chain) == 1:
        return (scalars + chain)[0]
    axes = _open(chain) if chain else 0
    return Form(
        "product", [*scalars, *chain], (negative, len(scalars)), axes, SUM if negative else PRODUCT
    )


def _merge_stock(scalars: list[Form]) -> tuple[bool, list[Form]]:
    """Merge numbers and other SymPy factors into one, and extract its sign."""
    factor: Expr = Mul(*[form.data for form in scalars if form.kind == "stock"])
    rest = [form for form in scalars if form.kind != "stock"]
    first = factor.args[0] if factor.is_Mul else factor
    negative = bool(first.is_Number and first.is_extended_negative)
    if negative:
        factor = -factor
    return negative, rest if factor is S.One else [stock(factor), *rest]


def _merge_powers(chain: list[Form]) -> list[Form]:
    """Merge equal neighbours into powers and drop identities."""
    if len(chain) > 1:
        chain = [form for form in chain if form.kind != "identity"] or chain[:1]
    merged: list[Form] = []
    for form in chain:
        base, count = (form.parts[0], form.data) if form.kind == "power" else (form, 1)
        if merged and form.kind == merged[-1].kind == "diag":
            both = hadamard([merged.pop().parts[0], form.parts[0]])
            merged.extend(_chain(diagonal_matrix(both))[2])
            continue
        if merged and base.axes == 2:
            last = merged[-1]
            below, known = (last.parts[0], last.data) if last.kind == "power" else (last, 1)
            are_known = isinstance(count, int) and isinstance(known, int)
            if below is base and are_known and count > 0 and known > 0:
                merged[-1] = Form("power", [base], known + count, 2)
                continue
        merged.append(form)
    return merged


def negated(form: Form) -> Form:
    """Negate a form."""
    return product([stock(S.NegativeOne), form])


def transpose(form: Form) -> Form:
    """Return the transpose, pushed down to the leaves: (A B)ᵀ is Bᵀ Aᵀ."""
    if form.transpose is None:
        form.transpose = _transposed(form)
    return form.transpose


def _transposed(form: Form) -> Form:
    if form.axes == 0 or form.kind in ("identity", "diag"):
        return form
    if form.kind == "transpose":
        return form.parts[0]
    if form.kind == "block" and form.axes != 2:
        # Adjacent vectors.
        rows, columns = form.data
        axes = ROW if form.axes == 1 else 1
        return Form("block", [transpose(part) for part in form.parts], (columns, rows), axes)
    if form.kind == "triangle":
        offset, is_lower = form.data
        return Form("triangle", form.parts, (offset, not is_lower), 2)
    if form.kind == "product":
        sign, scalars, chain = _chain(form)
        transposed = [*scalars, *[transpose(part) for part in reversed(chain)]]
        return negated(product(transposed)) if sign else product(transposed)
    if form.axes == 2 and _is_symmetric(form):
        return form
    pushed = _pushed(form) if form.axes == 2 else None
    if pushed is not None and pushed.transposes <= form.transposes:
        return pushed
    axes = {1: ROW, ROW: 1}.get(form.axes, form.axes)
    return Form("transpose", [form], None, axes)


def _pushed(form: Form) -> Form | None:
    """Push a transpose down to the parts of a matrix; return None for a leaf."""
    if form.kind not in ("sum", "hadamard", "quotient", "hadamard_power", "applied", "power"):
        is_softmax = form.kind == "call" and form.data[0] == "softmax"
        if not is_softmax or form.data[1] is None:
            return None
    parts = [transpose(part) if part.axes == 2 else part for part in form.parts]
    if any(part.axes not in (0, 2) for part in parts):
        return None
    if form.kind == "sum":
        return total(parts, 2)
    data = form.data
    if form.kind == "call":
        data = (data[0], tuple(sorted(1 - axis for axis in data[1])))
    return Form(form.kind, parts, data, 2, form.level)


def _is_symmetric(form: Form) -> bool:
    if form.kind == "symbol":
        return form.data[1]
    inside = form.parts if form.kind in ("power", "sum", "hadamard", "hadamard_power") else ()
    return bool(inside) and all(transpose(part) is part for part in inside)


def _transpose_count(parts: Sequence[Form]) -> int:
    """Count the transposed matrices in a chain of factors."""
    return sum(1 for part in parts if part.axes == 2 and _is_transposed(part))


def _is_transposed(form: Form) -> bool:
    base = form.parts[0] if form.kind == "power" else form
    return base.kind == "transpose"


def dot(x: Form, y: Form) -> Form:
    """Return xᵀ y or yᵀ x, whichever has fewer transposes: aᵀ X b, not bᵀ Xᵀ a."""
    for one, other in ((x, y), (y, x)):
        if _is_ones(one) and other.kind == "hadamard_power" and other.data == 2:
            return dot(other.parts[0], other.parts[0])
        if not _is_ones(one) or other.kind != "product" or other.data != (False, 0):
            continue
        square = _bare(other.parts[0])
        squares = square.kind == "hadamard_power" and square.data == 2
        if squares and len(other.parts) == 2 and _is_ones(other.parts[1]):
            base = min(square.parts[0], transpose(square.parts[0]), key=_factors_rank)
            if _is_real(base):
                return Form("norm", [base])
            return trace(product([transpose(base), base]))
    candidates = [product([transpose(x), y]), product([transpose(y), x])]
    return min(candidates, key=_dot_rank)


def _bare(form: Form) -> Form:
    return form.parts[0] if form.kind == "transpose" else form


def _dot_rank(form: Form) -> tuple[int, int, int]:
    _, _, chain = _chain(form)
    first = chain[0].parts[0] if chain and chain[0].kind == "transpose" else None
    awkward = first is not None and first.level < ATOM
    return _transpose_count(chain), int(bool(chain) and chain[-1].kind == "ones"), int(awkward)


def trace(form: Form) -> Form:
    """Return tr(form) in the cyclic order with the fewest transposes; tr(x yᵀ) is yᵀ x."""
    negative, scalars, chain = _chain(form)
    for k in range(len(chain)):
        if chain[k].axes == 1 and chain[(k + 1) % len(chain)].axes == ROW:
            rotated = chain[k + 1 :] + chain[: k + 1]
            result = dot(transpose(product(rotated[:-1])), rotated[-1])
            break
    else:
        result = _norm_or_trace(_best_rotation(chain))
    whole = product([*scalars, result])
    return negated(whole) if negative else whole


def _norm_or_trace(form: Form) -> Form:
    """Return tr(form); a trace of X Xᵀ becomes a squared norm."""
    if form.kind == "product" and len(form.parts) == 2:
        one, two = form.parts
        if two.kind != "transpose" and one is transpose(two) and _is_real(two):
            return Form("norm", [two])
    return call("tr", form)


def _is_real(form: Form) -> bool:
    """Tell whether a form contains no complex constant; symbols are real."""
    if form.kind == "array" or (isinstance(form.data, Basic) and form.data.has(I)):
        return False
    return all(map(_is_real, form.parts))


def _best_rotation(chain: list[Form]) -> Form:
    back = _chain(transpose(product(chain)))[2]
    rotations = [
        factors[k:] + factors[:k] for factors in (chain, back) for k in range(len(factors))
    ]
    return product(min(rotations, key=_rotation_rank))


def _factors_rank(form: Form) -> tuple[int, list[str], list[bool]]:
    return _rotation_rank(_chain(form)[2])


def _rotation_rank(chain: Sequence[Form]) -> tuple[int, list[str], list[bool]]:
    names = [_first_name(part) for part in chain]
    return _transpose_count(chain), names, [not _is_transposed(part) for part in chain]


def _first_name(form: Form) -> str:
    while form.parts and form.kind != "symbol":
        form = form.parts[0]
    return form.data[0].name if form.kind == "symbol" else "~"


# --- entry by entry ------------------------------------------------------------------------------


def diagonal_matrix(vector: Form) -> Form:
    """Return the matrix diag(v); diag(1) is the identity."""
    if vector.kind == "ones":
        return identity(vector.data[0])
    if vector.kind == "product":
        negative, scalars, chain = _chain(vector)
        if scalars or negative:
            inside = diagonal_matrix(product(chain))
            whole = product([*scalars, inside])
            return negated(whole) if negative else whole
    return Form("diag", [vector], ("diag", None), 2)


def diagonal(matrix: Form) -> Form:
    """Return the diagonal of a matrix as a vector; that of x yᵀ is x ⊙ y."""
    negative, scalars, chain = _chain(matrix)
    joints = [k for k in range(len(chain) - 1) if chain[k].axes == 1 and chain[k + 1].axes == ROW]
    if len(joints) == 1:
        left, right = product(chain[: joints[0] + 1]), product(chain[joints[0] + 1 :])
        result = hadamard([left, transpose(right)])
    elif len(chain) == 1 and chain[0].kind == "diag":
        result = chain[0].parts[0]
    elif len(chain) == 1 and chain[0].kind == "identity":
        result = ones((chain[0].data,))
    else:
        result = call("diag", product(chain), axes=1)
    whole = product([*scalars, result])
    return negated(whole) if negative else whole


def _is_ones(form: Form) -> bool:
    form = _bare(form)
    if form.kind == "product" and form.data == (False, 0):
        return all(_is_ones(part) for part in form.parts)
    return form.kind == "ones"


def hadamard(factors: Sequence[Form]) -> Form:
    """Multiply entry by entry; extract numbers, merge equal factors into powers."""
    outside: list[Form] = []
    bases: list[tuple[Form, Expr]] = []
    for form in factors:
        negative, scalars, chain = _chain(form)
        outside.extend(scalars)
        if negative:
            outside.append(stock(S.NegativeOne))
        if chain:
            inner = product(chain)
            bases.extend(
                _powers(part) for part in (inner.parts if inner.kind == "hadamard" else [inner])
            )
    counted: dict[Form, Expr] = {}
    for base, exponent in bases:
        counted[base] = counted.get(base, 0) + exponent
    # A power with exponent 0 vanishes, unless no other factor shows the shape.
    counts = [pair for pair in counted.items() if pair[1] != 0] or bases
    above = [hadamard_power(b, e) for b, e in counts if not _is_ones(b) and not _is_negative(e)]
    below = [(base, exponent) for base, exponent in counts if _is_negative(exponent)]
    kept = above if above or below else [base for base, _ in counts[:1]]
    # Sums last: σ ⊙ (1 - σ).
    kept.sort(key=lambda form: form.level == SUM)
    if len(kept) > 1:
        kept = [Form("hadamard", kept, None, kept[0].axes)]
    if below and kept:
        divisor = hadamard([hadamard_power(base, -exponent) for base, exponent in below])
        kept = [Form("quotient", [kept[0], divisor], None, divisor.axes)]
    elif below:
        powers = [hadamard_power(base, exponent) for base, exponent in below]
        axes = powers[0].axes
        kept = powers if len(powers) == 1 else [Form("hadamard", powers, None, axes)]
    return product([*outside, *kept])


def _is_negative(exponent: Expr) -> bool:
    return bool(exponent.is_extended_negative)


def _powers(form: Form) -> tuple[Form, Expr]:
    if form.kind == "hadamard_power":
        return form.parts[0], form.data
    return form, S.One


def hadamard_power(base: Form, exponent: Expr) -> Form:
    """Raise to a power entry by entry; a scalar gets an ordinary power."""
    if exponent == 1:
        return base
    return Form("hadamard_power", [base], exponent, base.axes)


# --- sums ----------------------------------------------------------------------------------------


def total(terms: Sequence[Form], axes: int) -> Form:
    """Add terms, ordered: identity and ones, long products, the rest; negative terms last."""
    flat = [inner for term in terms for inner in (term.parts if term.kind == "sum" else [term])]
    if len(flat) == 1:
        return flat[0]
    return Form("sum", sorted(flat, key=_term_rank), None, axes)


def _term_rank(term: Form) -> tuple[bool, bool, int, int, bool]:
    negative, scalars, chain = _chain(term)
    neutral = not scalars and all(part.kind == "identity" or _is_ones(part) for part in chain)
    return negative, not neutral, -len(chain), _transpose_count(chain), term.kind == "stock"


# --- superscripts --------------------------------------------------------------------------------


def inverse(form: Form) -> Form:
    """Return the inverse; that of a transpose is X^{-ᵀ}."""
    if form.kind == "transpose":
        return transpose(inverse(form.parts[0]))
    return Form("power", [form], -1, 2)
