"""Random programs of all operations, as hypothesis strategies."""

import os
from types import SimpleNamespace

import numpy as np
from hypothesis import HealthCheck, Phase, settings, strategies as st
from sympy import symbols

import sympy_einsum as se
import sympy_einsum.numpy as snp

LENGTHS = dict(zip(symbols("n m k", integer=True, positive=True), (3, 5, 7), strict=True))


NUMBER = {str(length): number for length, number in LENGTHS.items()}
NUMBER |= {f"{name}-1": number - 1 for name, number in list(NUMBER.items())} | {"1": 1}


SYMBOLIC = {str(length): length for length in LENGTHS}


LETTERS = "abcdefghijklmnopqrst"


MAX_ORDER = 4


def square_plus_identity(np, einsum, value):
    """Symmetric and well conditioned: v v' / 20 + 2 I."""
    gram = einsum("ij,kj->ik", value, value)
    return gram / 20 + 2 * np.eye(value.shape[0])


UNARY = {
    "sin": lambda np, sp, v: np.sin(v),
    "cos": lambda np, sp, v: np.cos(v),
    "tanh": lambda np, sp, v: np.tanh(v),
    "exp": lambda np, sp, v: np.exp(np.tanh(v)),
    "log": lambda np, sp, v: np.log(2 + v * v),
    "sqrt": lambda np, sp, v: np.sqrt(1 + v**2),
    "square": lambda np, sp, v: np.square(v) / 2,
    "cube": lambda np, sp, v: v**3 / 4,
    "power": lambda np, sp, v: (1 + v**2) ** -1.5,
    "arctan": lambda np, sp, v: np.arctan(v),
    "reciprocal": lambda np, sp, v: 1 / (2 + np.sin(v)),
    "erf": lambda np, sp, v: sp.erf(v),
    "expit": lambda np, sp, v: sp.expit(v),
    "softplus": lambda np, sp, v: np.log(1 + np.exp(v)),
    "logistic": lambda np, sp, v: 1 / (1 + np.exp(-v)),
    "log1p": lambda np, sp, v: np.log1p(np.exp(-v)) + np.expm1(np.tanh(v)),
    "affine": lambda np, sp, v: 0.5 * v - 1,
    "negative": lambda np, sp, v: -v,
    "rational": lambda np, sp, v: v * np.sin(v) ** 2 + 1 / (1 + v * v),
}


BINARY = {
    "add": lambda np, a, b: a + b,
    "subtract": lambda np, a, b: a - 2 * b,
    "multiply": lambda np, a, b: a * b,
    "divide": lambda np, a, b: a / (1.5 + b * b),
    "power": lambda np, a, b: (1 + a * a) ** np.tanh(b),
    "maximum": lambda np, a, b: np.maximum(a, b),
    "logaddexp": lambda np, a, b: np.logaddexp(a, b),
}


def run(program, leaves, np, sp, einsum):
    """All values of a program: the leaves, then one per instruction."""
    values = list(leaves)
    for kind, *parts in program:
        if kind == "unary":
            values.append(UNARY[parts[0]](np, sp, values[parts[1]]))
        elif kind == "binary":
            name, a, b, stretch = parts
            a, b = values[a], values[b]
            if stretch is not None:
                b = np.expand_dims(np.mean(b, axis=stretch), stretch)
            values.append(BINARY[name](np, a, b))
        elif kind == "einsum":
            subscripts, operands, scale = parts
            values.append(einsum(subscripts, *[values[k] for k in operands]) / scale)
        elif kind in ("sum", "mean", "var"):
            operand, axis, keepdims = parts
            values.append(getattr(np, kind)(values[operand], axis=axis, keepdims=keepdims))
        elif kind == "index":
            operand, index = parts
            values.append(values[operand][index])
        elif kind == "transpose":
            operand, axes = parts
            values.append(np.transpose(values[operand], axes))
        elif kind == "linalg":
            name, operand = parts
            matrix = square_plus_identity(np, einsum, values[operand])
            values.append(
                np.log(np.linalg.det(matrix)) if name == "logdet" else np.linalg.inv(matrix)
            )
        else:
            assert kind == "matmul", kind
            a, b = parts
            values.append(values[a] @ values[b])
    return values


def reduced(shape, axis, keepdims):
    if axis is None:
        return ("1",) * len(shape) if keepdims else ()
    kept = ("1",) if keepdims else ()
    return shape[:axis] + kept + shape[axis + 1 :]


@st.composite
def einsums(draw, shapes):
    usable = [k for k, shape in enumerate(shapes) if len(shape) <= 3]
    operands = draw(st.lists(st.sampled_from(usable), min_size=1, max_size=3))
    letters = {}
    terms, sizes = [], {}
    for operand in operands:
        term = ""
        for axis in shapes[operand]:
            pair = letters.setdefault(axis, LETTERS[2 * len(letters) : 2 * len(letters) + 2])
            letter = draw(st.sampled_from(pair))
            sizes[letter] = axis
            term += letter
        terms.append(term)
    output = ""
    if sizes:
        output = "".join(draw(st.lists(st.sampled_from(sorted(sizes)), max_size=3)))
    summed = [NUMBER[axis] for letter, axis in sizes.items() if letter not in output]
    instruction = ("einsum", ",".join(terms) + "->" + output, operands, float(np.prod(summed)))
    return instruction, tuple(sizes[letter] for letter in output)


@st.composite
def instructions(draw, shapes):
    kinds = ["unary", "unary", "binary", "binary", "einsum", "einsum", "einsum"]
    with_axes = [k for k, shape in enumerate(shapes) if shape]
    matrices = [k for k in with_axes if len(shapes[k]) == 2]
    chains = [
        (a, b)
        for a in with_axes
        for b in with_axes
        if len(shapes[a]) <= 2
        and len(shapes[b]) <= 2
        and shapes[a][-1] == shapes[b][max(len(shapes[b]) - 2, 0)]
    ]
    if with_axes:
        kinds += ["reduce", "index", "transpose"]
    if matrices:
        kinds.append("linalg")
    if chains:
        kinds.append("matmul")
    kind = draw(st.sampled_from(kinds))
    some = st.integers(0, len(shapes) - 1)
    if kind == "unary":
        operand = draw(some)
        return ("unary", draw(st.sampled_from(sorted(UNARY))), operand), shapes[operand]
    if kind == "binary":
        a = draw(some)
        partners = [k for k, s in enumerate(shapes) if s in (shapes[a], ())]
        b = draw(st.sampled_from(partners))
        order = len(shapes[b])
        stretch = draw(st.none() | st.integers(0, order - 1)) if order else None
        name = draw(st.sampled_from(sorted(BINARY)))
        return ("binary", name, a, b, stretch), shapes[a]
    if kind == "einsum":
        return draw(einsums(shapes))
    if kind == "matmul":
        a, b = draw(st.sampled_from(chains))
        return ("matmul", a, b), shapes[a][:-1] + shapes[b][:-2] + shapes[b][1:][-1:]
    if kind == "linalg":
        operand = draw(st.sampled_from(matrices))
        name = draw(st.sampled_from(["inv", "logdet"]))
        return ("linalg", name, operand), () if name == "logdet" else (shapes[operand][0],) * 2
    operand = draw(st.sampled_from(with_axes))
    shape = shapes[operand]
    axis = draw(st.integers(0, len(shape) - 1))
    if kind == "reduce":
        name = draw(st.sampled_from(["sum", "mean", "var"]))
        axis = draw(st.sampled_from([axis, None]))
        keepdims = draw(st.booleans())
        return (name, operand, axis, keepdims), reduced(shape, axis, keepdims)
    if kind == "transpose":
        axes = draw(st.permutations(range(len(shape))))
        return ("transpose", operand, tuple(axes)), tuple(shape[k] for k in axes)
    choices = [0, -1]
    if len(shape) < MAX_ORDER:
        choices.append(None)
    if shape[axis] in SYMBOLIC:
        choices += [slice(1, None), slice(None, -1)]
    choice = draw(st.sampled_from(choices))
    index = (slice(None),) * axis + (choice,)
    if choice is None:
        return ("index", operand, index), (*shape[:axis], "1", *shape[axis:])
    if isinstance(choice, slice):
        return ("index", operand, index), (*shape[:axis], f"{shape[axis]}-1", *shape[axis + 1 :])
    return ("index", operand, index), shape[:axis] + shape[axis + 1 :]


@st.composite
def programs(draw, size=8, variable_order=2):
    """Shapes of the leaves, the first being the variable, and instructions."""
    axes = st.sampled_from(sorted(SYMBOLIC))
    variable = tuple(draw(st.lists(axes, max_size=variable_order)))
    others = draw(st.lists(st.lists(axes, max_size=3), min_size=1, max_size=2))
    leaves = [variable, *map(tuple, others)]
    shapes, program = list(leaves), []
    for _ in range(draw(st.integers(2, size))):
        instruction, shape = draw(instructions(shapes))
        program.append(instruction)
        shapes.append(shape)
    return leaves, program, shapes


def names_of(leaves):
    return ["x", "a", "b"][: len(leaves)]


def symbols_for(leaves):
    return [
        se.TensorSymbol(name, tuple(SYMBOLIC[axis] for axis in shape))
        for name, shape in zip(names_of(leaves), leaves, strict=True)
    ]


# scipy.special can't dispatch on stock scalars, which have no hook for it.
SPECIAL = SimpleNamespace(erf=se.erf, expit=se.sigmoid)


def symbolic_values(leaves, program):
    return run(program, symbols_for(leaves), snp, SPECIAL, se.einsum)


# Shrinking a failure can take minutes: it is switched on by hand.
CONFIG = settings(
    derandomize=True,
    deadline=None,
    database=None,
    report_multiple_bugs=False,
    phases=[Phase.explicit, Phase.generate, *([Phase.shrink] if "SHRINK" in os.environ else [])],
    suppress_health_check=list(HealthCheck),
)
