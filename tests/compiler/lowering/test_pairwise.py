"""Products of two operands by primitives, against NumPy's einsum; all lengths differ."""

import functools
import operator
import random

import numpy as np
import pytest
from oracles import jax64
from plan_interpreter import assert_same, compiled, interpreted
from sympy import Integer, Symbol

import sympy_einsum as se
from sympy_einsum.compiler.ir.plans import Plan, plan_cost, proven, without_dead_code
from sympy_einsum.compiler.lowering.multiplication import multiply_all
from sympy_einsum.compiler.lowering.plan_builder import PlanBuilder, index_text
from sympy_einsum.compiler.planning import make_plan
from sympy_einsum.contraction_order import Factor, nominal_length

# Length 0 and 1 among them.
SIZES = [0, 1, 2, 3, 4, 5]
COUNT = 300


class Products:
    """Products of shared tensors in one plan."""

    def __init__(self, sizes, symbolic):
        self.sizes = dict(enumerate(sizes))
        self.lengths = {
            i: Symbol(f"n{i}", integer=True, positive=True) if symbolic else Integer(size)
            for i, size in self.sizes.items()
        }
        self.builder = PlanBuilder(nominal_length, "auto", [], [])
        self.arguments = {}
        self.expected = []
        self.results = []
        self.rng = np.random.default_rng(1)

    def argument(self, labels, name):
        """Return a tensor and its value, the same for equal labels and name."""
        shape = tuple(self.lengths[i] for i in labels)
        symbol = se.TensorSymbol(f"T{name}_{'_'.join(map(str, labels))}", shape)
        if symbol not in self.arguments:
            size = [self.sizes[i] for i in labels]
            self.arguments[symbol] = self.rng.standard_normal(size)
        return symbol

    def value(self, symbol, axes):
        """Return the number of a tensor with permuted axes."""
        number = self.builder.emit("argument", params=(symbol,))
        return self.builder.emit("transpose", number, params=(axes,))

    def multiply(self, terms, output, generator, scalar=None):
        factors = []
        for k, labels in enumerate(terms):
            axes = list(range(len(labels)))
            generator.shuffle(axes)
            symbol = self.argument(labels, k % 2)
            factors.append(Factor(self.value(symbol, tuple(axes)), [labels[j] for j in axes]))
        inputs = ",".join(map(index_text, terms))
        arrays = [self.arguments[self.argument(labels, k % 2)] for k, labels in enumerate(terms)]
        value = np.einsum(f"{inputs}->{index_text(output)}", *arrays)
        number = None
        if scalar is not None:
            number = self.builder.emit("scalar", params=(scalar,))
            value = value * float(scalar)
        self.results.append(multiply_all(self.builder, factors, output, self.lengths, number))
        self.expected.append(value)

    def plan(self):
        plan = without_dead_code(self.builder.instructions, self.results)
        return proven(plan, [plan.instructions[k].shape for k in plan.results])


def random_product(generator, most):
    labels = range(len(SIZES))
    count = generator.randint(1, most)
    terms = [
        tuple(generator.choice(labels) for _ in range(generator.choice([1, 2, 2, 3, 4])))
        for _ in range(count)
    ]
    used = sorted({i for own in terms for i in own})
    return terms, tuple(generator.sample(used, generator.randint(0, min(4, len(used)))))


@pytest.mark.parametrize("symbolic", [True, False])
@pytest.mark.parametrize("most", [2, 5])
def test_products_have_the_values_of_einsum(most, symbolic):
    generator = random.Random(most)
    for _ in range(COUNT):
        sizes = random.Random(generator.random()).sample(SIZES, len(SIZES))
        products = Products(sizes, symbolic)
        # The second and third may take parts of the first.
        for scalar in (None, Integer(-1), Integer(3)):
            products.multiply(*random_product(generator, most), generator, scalar)
        plan = products.plan()
        # Arguments that code doesn't need tell the lengths too.
        found = dict(products.arguments)
        if not symbolic and any(0 in value.shape for value in found.values()):
            continue  # an axis of a tensor symbol that is known isn't empty
        values = compiled_values(plan, found, products)
        assert_same(values, products.expected)


def compiled_values(plan, arguments, products):
    known = {i for s in arguments for i, n in products.lengths.items() if n in s.shape}
    for i in set(products.lengths) - known:
        arguments[products.argument((i,), 0)] = np.zeros(products.sizes[i])
    return compiled(plan, list(arguments))(*arguments.values())


def test_earlier_results_are_reused():
    """One chain in three products: its inner product is computed once."""
    products = Products([2, 3, 4, 5, 1, 0][:5], symbolic=True)
    generator = random.Random(0)
    for output in [(0, 3), (3, 0)]:
        products.multiply([(0, 1), (1, 2), (2, 3)], output, generator)
    plan = products.plan()
    assert sum(step.op == "dot" for step in plan.instructions) == 2
    assert_same(compiled_values(plan, products.arguments, products), products.expected)


def test_chains_of_the_same_operands_have_their_values():
    """Earlier results are reused among repeated operands only where they fit."""
    generator, n = random.Random(5), Symbol("n", integer=True, positive=True)
    A, B = se.TensorSymbol("A", n, n), se.TensorSymbol("B", n, n)
    v = se.TensorSymbol("v", n)
    rng = np.random.default_rng(0)
    arrays = [*rng.standard_normal((2, 3, 3)), rng.standard_normal(3)]
    links = [A, A, A.T, B, se.diag(v)]
    values = [arrays[0], arrays[0], arrays[0].T, arrays[1], np.diag(arrays[2])]
    for _ in range(20):
        words = [[generator.randrange(5) for _ in range(generator.randint(3, 7))] for _ in range(4)]
        chains = [functools.reduce(operator.matmul, [links[k] for k in word]) for word in words]
        found = se.lambdify([A, B, v], chains)(*arrays)
        for result, word in zip(found, words, strict=True):
            expected = np.linalg.multi_dot([values[k] for k in word])
            np.testing.assert_allclose(result, expected, rtol=1e-9, atol=1e-9)


def test_hessians_of_recurrences_take_two_matrix_products_for_a_step():
    steps, n = 6, Symbol("n", integer=True, positive=True)
    W, h = se.TensorSymbol("W", n, n), se.TensorSymbol("h", n)
    weights, start = np.random.default_rng(1).standard_normal((2, 4, 4))
    state = h
    for _ in range(steps):
        state = se.tanh(W @ state)

    def loss(x):
        for _ in range(steps):
            x = jax64().numpy.tanh(weights @ x)
        return (x**2).sum()

    hessian = se.hessian((state**2).sum(), h)
    plan = make_plan([hessian])
    products = [step for step in plan.instructions if step.op == "dot" and len(step.shape) == 2]
    assert len(products) <= 2 * steps + 2  # not a number that grows with its square
    expected = jax64().hessian(loss)(start[0])
    found = se.lambdify([W, h], hessian)(weights, start[0])
    np.testing.assert_allclose(found, expected, rtol=1e-9)


# Index strings of matrix products in all guises: batches, stacks, merged axes.
MATRIX_PRODUCTS = [
    "ij,jk->ik", "ij,jk->ki", "ji,jk->ik", "ij,j->i", "j,jk->k", "ijk,kl->ijl", "ijk,jkl->il",
    "bij,bjk->bik", "bij,bjk->bki", "ibj,jbk->bik", "bij,bj->bi", "bj,bjk->bk", "ijb,jkb->bik",
    "ij,kjl->kil", "ij,kjlb->kilb", "ijk,jl->ilk", "abij,abjk->abik", "ij,ij->", "i,i->",
]  # fmt: skip


@pytest.mark.parametrize("subscripts", MATRIX_PRODUCTS)
def test_matrix_products_need_no_einsum_and_no_more_operations(subscripts):
    inputs, output = subscripts.split("->")
    letters = sorted(set(inputs) - {","})
    number = {letter: k for k, letter in enumerate(letters)}
    sizes = [2, 3, 4, 5, 6, 7][: len(letters)]
    products = Products(sizes, symbolic=True)
    terms = [tuple(number[c] for c in term) for term in inputs.split(",")]
    products.multiply(terms, tuple(number[c] for c in output), random.Random(0))
    plan = products.plan()
    assert all(step.op != "einsum" for step in plan.instructions)
    lengths = {products.lengths[k]: size for k, size in enumerate(sizes)}
    flops = plan_cost(plan, lengths).flops
    copied = sum(step.op == "contiguous" for step in plan.instructions) * np.prod(sizes)
    assert 2 * np.prod(sizes) <= flops + 1 <= 2 * np.prod(sizes) + copied + 1
    assert_same(compiled_values(plan, products.arguments, products), products.expected)


SOLVES = ["ij,j->i", "ij,jk->ik", "ij,i->j", "ki,kj->ij", "ij,jk->ki", "ij,kj->ik", "ij,ij->i"]


@pytest.mark.parametrize("definite", [False, True])
@pytest.mark.parametrize("subscripts", SOLVES)
def test_inverses_that_are_multiplied(subscripts, definite):
    """Systems are solved where the product is a solution; elsewhere the inverse is computed."""
    (first, second), output = subscripts.split("->")[0].split(","), subscripts.split("->")[1]
    n = Symbol("n", integer=True, positive=True)
    A, B = se.TensorSymbol("A", (n, n)), se.TensorSymbol("B", (n,) * len(second))
    builder = PlanBuilder(nominal_length, "auto", [], [])
    matrix, other = (builder.emit("argument", params=(s,)) for s in (A, B))
    number = {c: k for k, c in enumerate("ijk")}
    labels = [tuple(number[c] for c in term) for term in (first, second, output)]
    factors = [Factor(matrix, labels[0], (definite,)), Factor(other, labels[1])]
    result = multiply_all(builder, factors, labels[2], dict.fromkeys(range(3), n))
    plan = without_dead_code(builder.instructions, [result])
    ops = [step.op for step in plan.instructions]
    assert ("solve" in ops) != ("inv" in ops)
    assert ("inv" in ops) == (subscripts == "ij,ij->i")
    rng = np.random.default_rng(2)
    root = rng.standard_normal((4, 4))
    data = {A: root @ root.T + np.eye(4), B: rng.standard_normal((4,) * len(second))}
    if not definite:
        data[A] = data[A] + np.triu(root)
    expected = np.einsum(subscripts, np.linalg.inv(data[A]), data[B])
    assert_same(interpreted(plan, data), [expected])


def test_a_plan_says_which_lengths_its_orders_depend_on():
    products = Products([2, 3, 4, 5], symbolic=True)
    products.multiply([(0, 1), (1, 2), (2, 3)], (0, 3), random.Random(0))
    products.multiply([(0, 1), (1, 2)], (0, 2), random.Random(0))
    (contraction,) = products.builder.contractions
    assert set(contraction.lengths) == set(products.lengths.values())
    assert isinstance(products.plan(), Plan)
