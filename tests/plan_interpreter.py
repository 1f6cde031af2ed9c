"""An interpreter of plans in NumPy, one instruction after the other; random plans; compiled
plans."""

import ast
import random
from functools import reduce

import numpy as np
from sympy import Integer, S, cos, exp, lambdify, sin, symbols, tanh

import sympy_einsum as se
from sympy_einsum.compiler.backends import BACKENDS
from sympy_einsum.compiler.emit.modules import module_of
from sympy_einsum.compiler.emit.signature import Signature
from sympy_einsum.compiler.emit.writer import function_body
from sympy_einsum.compiler.ir.instruction_rules import Instruction, Slice
from sympy_einsum.compiler.ir.plans import result_shape, without_dead_code
from sympy_einsum.expressions import slot

LENGTHS = dict(zip(symbols("k l m n", integer=True, positive=True), (1, 2, 3, 4), strict=True))


def number(length):
    return int(length.xreplace({s: Integer(v) for s, v in LENGTHS.items()}))


def body_value(operands, body):
    function = lambdify([slot(k) for k in range(len(operands))], body, "numpy")
    return np.asarray(function(*operands)) * 1.0


def indexed(operands, entries):
    names = {":": slice(None), "None": None, "...": Ellipsis}
    return operands[0][tuple(names[e] if e in names else int(e) for e in entries)]


def positions(cut):
    if not isinstance(cut, Slice):
        return slice(None) if cut is None else number(S(cut))
    first, step, count = (number(S(part)) for part in cut)
    stop = first + step * count
    return slice(first, None if stop < 0 else stop, step)


def cut(operands, cuts):
    return operands[0][tuple(map(positions, cuts))]


def written(operands, cuts, subscripts, sign):
    target, value = operands
    diagonal = np.einsum(subscripts, target[tuple(map(positions, cuts))])
    diagonal[...] = diagonal + sign * value if sign else value
    return target


def cofactors(operands, order):
    """Return the derivative by definition: complex steps are exact up to order 2."""
    (X,) = operands
    assert order == 1
    step = 1e-30
    entries = [
        np.linalg.det(X + 1j * step * np.eye(X.size)[k].reshape(X.shape)).imag / step
        for k in range(X.size)
    ]
    return np.array(entries).reshape(X.shape)


def over(axes, function, keepdims=False):
    return lambda x: function(x, axis=axes, keepdims=keepdims)


def log_sum(x, axis, keepdims=False):
    return np.log(np.exp(x).sum(axis=axis, keepdims=keepdims))


def added(operands, signs):
    return sum(sign * own for sign, own in zip(signs, operands, strict=True))


def running(x, axis, backwards, lag, count):
    """Return by definition the sums of all entries up to a position, or from one on."""
    x = np.moveaxis(x, axis, 0)
    i, j = np.arange(len(x)), np.arange(count)[:, None]
    ones = j + lag <= i if backwards else i + lag <= j
    return np.moveaxis(np.tensordot(ones, x, 1), 0, axis)


REDUCED = {"svd": {"full_matrices": False}}


def intervals(x):
    """Return the products of all entries between two positions."""
    count = x.shape[-1] + 1
    entries = [[x[..., i:j].prod(-1) * (i <= j) for j in range(count)] for i in range(count)]
    return np.moveaxis(np.array(entries), (0, 1), (-2, -1))


def along(b, matrix, backwards):
    """Multiply rows by matrices, or by their transposes."""
    return np.einsum("...j,...ij->...i" if backwards else "...i,...ij->...j", b, matrix)


def scattered(v, lengths, once):
    value, *positions = v
    shape = value.shape[np.broadcast(*positions).ndim :]
    total = np.zeros((*[number(length) for length in lengths], *shape))
    np.add.at(total, tuple(positions), value)
    return total


def scattered_together(v, lengths):
    width = 1 + len(lengths)
    return sum(scattered(v[k : k + width], lengths, False) for k in range(0, len(v), width))


PICKED = {"sort": np.sort, "cummax": np.maximum.accumulate, "cummin": np.minimum.accumulate}


# What each instruction computes from the values of its operands and its parameters.
def waves(positions, length, frequencies, weighted):
    """Return the bases of Fourier transforms by definition."""
    i, k = np.ogrid[:positions, : number(frequencies)]
    n = number(length)
    turns = np.exp(-2j * np.pi * i * k / n)
    return turns * (2 - (k == 0) - 1.0 * (2 * k == n)) if weighted else turns


def spectrum(v, length, count, weighted):
    z = v[0] @ waves(v[0].shape[-1], length, count, weighted)
    return np.stack([z.real, z.imag], -1)


def from_spectrum(v, length, count, weighted):
    z = v[0] + 1j * v[1]
    return (z @ waves(number(count), length, Integer(z.shape[-1]), weighted).conj().T).real


def root(v, body):
    """Return the solution of an equation by plain steps of Newton's method."""
    x, *others = v
    for _ in range(60):
        named = dict(zip(body.parameters, [x, *others], strict=True))
        f, jacobian = interpreted(body.plan, named)
        x = x - np.linalg.solve(jacobian.reshape(f.size, f.size), f.ravel()).reshape(x.shape)
    return x


def loop_results(v, body):
    """Run the steps of a loop."""
    loop = body.loop
    carried, inputs, fixed = len(loop.carries), len(loop.inputs), v[len(loop.carries) :]
    carries, steps = list(v[:carried]), range(number(loop.length))
    values = {place: [] for kind, place in body.results if kind != "last"}
    for t in reversed(steps) if loop.reverse else steps:
        entries = [*carries, *[x[t] for x in fixed[:inputs]], *fixed[inputs:], t]
        named = dict(zip([*loop.parameters, loop.index], entries, strict=True))
        outputs = interpreted(body.plan, named)
        carries = outputs[:carried]
        for place, rows in values.items():
            rows.append(outputs[carried + place])
    return [
        carries[place] if kind == "last" else np.array(values[place][:: -1 if loop.reverse else 1])
        for kind, place in body.results
    ]


MEANINGS = {
    "loop": loop_results,
    "result": lambda v, place, shape: v[0][place],
    "constant": lambda v, node: node.array,
    "scalar": body_value,
    "elementwise": body_value,
    "transpose": lambda v, axes: v[0].transpose(axes),
    "index": indexed,
    "slice": cut,
    "diagonal": lambda v, subscripts: np.einsum(subscripts, v[0]),
    "reshape": lambda v, shape: v[0].reshape([number(n) for n in shape]),
    "broadcast": lambda v, shape: np.broadcast_to(v[0], [number(n) for n in shape]),
    "contiguous": lambda v: v[0],
    "copy": lambda v: v[0],
    "sum": lambda v, axes: v[0].sum(axis=axes),
    "cumsum": lambda v, axis, backwards: running(v[0], axis, backwards, 0, v[0].shape[axis]),
    "lagged_cumsum": lambda v, axis, backwards, lag, count: running(
        v[0], axis, backwards, number(lag), number(count)
    ),
    "spectrum": spectrum,
    "from_spectrum": from_spectrum,
    "triangular": lambda v, upper, offset: (np.triu if upper else np.tril)(v[0], number(offset)),
    "tri": lambda v, rows, columns, offset: np.tri(number(rows), number(columns), number(offset)),
    "mirrored": lambda v, larger: v[0][
        ..., (np.maximum if larger else np.minimum).outer(*[np.arange(v[0].shape[-1])] * 2)
    ],
    "running_products": lambda v, backwards: (
        intervals(v[0])[..., :, -1] if backwards else intervals(v[0])[..., 0, :]
    ),
    "cumprod": lambda v: v[0].cumprod(-1),
    "recurrence": lambda v, backwards: along(v[1], intervals(v[0]), backwards),
    "running_weights": lambda v: np.exp(v[0]),
    "logcumsumexp": lambda v: np.log(v[0].cumsum(-1)),
    "running_mean": lambda v, backwards: along(
        v[1], np.triu(v[0][..., :, None] / v[0].cumsum(-1)[..., None, :]), backwards
    ),
    "rows": lambda v: np.array(v),
    "windows": lambda v, axis, start, steps, counts: np.take(
        v[0],
        number(start)
        + number(steps[0]) * np.arange(number(counts[0]))[:, None]
        + number(steps[1]) * np.arange(number(counts[1])),
        axis,
    ),
    "correlate": lambda v: np.correlate(*v),
    "convolve": lambda v: np.convolve(*v),
    "prod": lambda v: v[0].prod(),
    "multiply": lambda v: reduce(np.multiply, v),
    "add": added,
    "add_transposed": lambda v: v[0] + v[0].T,
    "dot": lambda v: np.tensordot(*v, 1),
    "matmul": lambda v: np.matmul(*v),
    "weighted_gram": lambda v: np.einsum("ki,k,kj->ij", v[0], v[1], v[0]),
    "vdot": lambda v: (v[0] * v[1]).sum(),
    "einsum": lambda v, subscripts: np.einsum(subscripts, *v),
    "full": lambda v, shape: np.full([number(n) for n in shape], v[0]),
    "zeros": lambda v, shape: np.zeros([number(n) for n in shape]),
    "writable": lambda v, owned: v[0],
    "write": written,
    "inv": lambda v, definite: np.linalg.inv(v[0]),
    "solve": lambda v, definite: np.linalg.inv(v[0]) @ v[1],
    "det": lambda v, definite: np.linalg.det(v[0]),
    "logdet": lambda v, definite: np.log(abs(np.linalg.det(v[0]))),
    "slogdet": lambda v, definite: np.array(
        [np.sign(np.linalg.det(v[0])), np.log(abs(np.linalg.det(v[0])))]
    ),
    "factored": lambda v, definite: v[0],
    "solved": lambda v, definite, turned: np.linalg.inv(v[0].T if turned else v[0]) @ v[1],
    "by_factors": lambda v, name, definite, shape: MEANINGS[name](v, definite),
    "cofactors": cofactors,
    "matrix_power": lambda v, exponent: np.linalg.matrix_power(v[0], number(exponent)),
    "stacked": lambda v, name, tail: getattr(np.linalg, name)(v[0]),
    "decomposed": lambda v, name: getattr(np.linalg, name)(v[0], **REDUCED.get(name, {})),
    "part": lambda v, place, tail: v[0][place],
    "max_shift": lambda v, axes: v[0].max(axis=axes, keepdims=True),
    "logsumexp": lambda v, axes: log_sum(v[0], axes),
    "softmax": lambda v, axes: np.exp(v[0] - log_sum(v[0], axes, keepdims=True)),
    "log_total": lambda v, axes: np.log(v[1]),
    "extremum": lambda v, name, axes: getattr(v[0], name)(axis=axes),
    "share": lambda v, axes: (v[0] == v[1]) / (v[0] == v[1]).sum(axis=axes, keepdims=True),
    "picked": lambda v, name, axis: PICKED[name](v[0], axis=axis),
    "positions": lambda v, name, axis: getattr(v[0], name)(axis=axis),
    "range": lambda v, length: np.arange(number(length)),
    "take": lambda v, first: v[0][(slice(None),) * first + tuple(v[1:])],
    "scatter": scattered,
    "scatters": scattered_together,
    "one_hot": lambda v, length: np.eye(number(length))[v[0]],
    "solution": root,
}


def interpreted(plan, arguments):
    """Return the values of the results; every value is an array of its own except those written
    to."""
    values = []
    for op, inputs, params, _ in plan.instructions:
        if op == "argument":
            values.append(np.array(arguments[params[0]]))
            continue
        value = MEANINGS[op]([values[k] for k in inputs], *params)
        values.append(value if op in ("write", "decomposed", "loop") else np.array(value))
    return [values[k].copy() for k in plan.results]


def compiled(plan, arguments, backend="numpy", reuse=None):
    """Return the function that a backend makes of a plan."""
    spelling = BACKENDS[backend]()
    signature = Signature(arguments, spelling)
    body = function_body(signature, plan, ast.List, reuse or {})
    module = module_of(spelling, "function", signature.arguments, [*body.reads, *body.block()])
    namespace = dict(body.constants)
    exec(module.text, namespace)
    return namespace["function"]


def random_arguments(arguments, generator):
    rng = np.random.default_rng(generator.randrange(10**6))
    return {s: rng.uniform(0.5, 1.5, [number(n) for n in s.shape]) for s in arguments}


# Bodies of one and of two operands, which keep values moderate.
a, b = slot(0), slot(1)
UNARY = [sin(a), tanh(a), a**2 / 4, exp(-(a**2)), 1 / (1 + a**2), (1 + a**2) ** S.Half]
BINARY = [a * cos(b), a / (2 + b**2), sin(a + b) - b / 3, -a - b, (a - b) ** 2 / 3]


class RandomPlan:
    """A plan of instructions on arrays of at most three axes, of all kinds."""

    def __init__(self, generator, size=14):
        self.generator = generator
        self.instructions = []
        lengths = list(LENGTHS)
        shapes = [tuple(generator.sample(lengths, order)) for order in (2, 2, 3, 1)]
        shapes.append(shapes[0])
        self.arguments = [se.TensorSymbol(f"x{j}", shape) for j, shape in enumerate(shapes)]
        for symbol in self.arguments:
            self.add("argument", params=(symbol,))
        while len(self.instructions) < size:
            self.grow()
        count = generator.randint(1, 3)
        last = len(self.instructions) - 1
        results = [last, *generator.sample(range(len(shapes), last), count - 1)]
        self.plan = without_dead_code(self.instructions, results)

    def add(self, op, *inputs, params=()):
        shape = result_shape(op, [self.instructions[k].shape for k in inputs], params)
        self.instructions.append(Instruction(op, inputs, params, shape))
        return len(self.instructions) - 1

    def pick(self):
        """Draw a value, later ones with higher probability, so that chains become long."""
        return int(len(self.instructions) * self.generator.random() ** 0.4)

    def like(self, number):
        """Draw a value that can be combined with another entry by entry."""
        shape = self.instructions[number].shape
        same = [k for k, step in enumerate(self.instructions) if step.shape in (shape, ())]
        return self.generator.choice(same)

    def grow(self):
        generator, k = self.generator, self.pick()
        shape = self.instructions[k].shape
        kind = generator.choice(
            ["unary", "binary", "add", "multiply", "view", "sum", "dot", "diagonal", "add"]
        )
        if kind == "unary":
            self.add("elementwise", k, params=(generator.choice(UNARY),))
        elif kind == "binary":
            pair = [k, self.like(k)]
            generator.shuffle(pair)
            self.add("elementwise", *pair, params=(generator.choice(BINARY),))
        elif kind == "add":
            signs = generator.choice([(1, 1), (1, -1), (-1, 1), (-1,), (1, 1, -1)])
            inputs = [k, *(self.like(k) for _ in signs[1:])]
            self.add("add", *inputs, params=(signs,))
        elif kind == "multiply":
            self.add("multiply", k, self.like(k))
        elif kind == "sum" and len(shape) > 2:
            self.add("sum", k, params=((generator.randrange(len(shape)),),))
        elif kind == "dot":
            self.dot(k)
        elif kind == "diagonal" and shape:
            self.on_diagonal(k)
        elif kind == "view" and shape:
            self.view(k)

    def view(self, k):
        shape = self.instructions[k].shape
        axes = list(range(len(shape)))
        self.generator.shuffle(axes)
        turned = self.add("transpose", k, params=(tuple(axes),))
        if self.generator.random() < 0.3:
            self.add("contiguous", turned)
        elif self.generator.random() < 0.3 and len(shape) > 1:
            merged = self.instructions[turned].shape
            self.add("reshape", turned, params=((merged[0] * merged[1], *merged[2:]),))
        elif self.generator.random() < 0.3:
            self.add("index", turned, params=(("0",),))

    def dot(self, k):
        shape = self.instructions[k].shape
        others = [
            j
            for j, step in enumerate(self.instructions)
            if len(shape) == 2 and len(step.shape) in (1, 2) and step.shape[0] == shape[1]
        ]
        if others:
            self.add("dot", k, self.generator.choice(others))

    def on_diagonal(self, k):
        shape = self.instructions[k].shape
        if len(shape) != 1:
            return
        total = self.add("zeros", k, params=((*shape, *shape),))
        self.add("write", total, k, params=((), "ii->i", self.generator.random() < 0.5))
        # What is written to is read as the array, not as its last write.
        self.add("add", total, total, params=((1, 1),))


def random_plans(count, seed):
    """Draw plans, their arguments and the values of these."""
    generator = random.Random(seed)
    for _ in range(count):
        made = RandomPlan(generator)
        yield made.plan, made.arguments, random_arguments(made.arguments, generator)


def assert_same(found, expected):
    for one, other in zip(found, expected, strict=True):
        assert np.shape(one) == np.shape(other)
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)
