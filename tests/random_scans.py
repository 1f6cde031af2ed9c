"""Random loops: structures, shapes, nesting, direction, and what they use from outside."""

import random

import numpy as np
import sympy
from sympy import Symbol, symbols

import sympy_einsum as se

T, n, m, k = symbols("T n m k", integer=True, positive=True)
LENGTHS = {n: 3, m: 2, k: 4}
SHAPES = [(), (n,), (n, m), (m,)]
A, B = se.TensorSymbol("A", n, n), se.TensorSymbol("B", n, m)
OUTSIDE = [A, B, se.TensorSymbol("v", n), se.TensorSymbol("w", m), Symbol("a"), Symbol("b")]


def shape_of(e):
    return tuple(getattr(e, "shape", ()))


def expression(rng, pool, shape, depth):
    """An expression of a shape from tensors and scalars."""
    if not depth:
        alike = [e for e in pool if shape_of(e) == shape]
        if alike:
            return rng.choice(alike)
        ones = se.Ones(*shape) if shape else sympy.Integer(1)
        scalars = [e for e in pool if not shape_of(e)]
        return ones * rng.choice(scalars) if scalars else ones

    def part(own=shape):
        return expression(rng, pool, own, depth - 1)

    def product():
        inner = rng.choice([n, m])
        if not shape:
            return part((n,)) @ part((n,)) / 3
        return part((shape[0], inner)) @ part((inner, *shape[1:])) / 2

    functions = [se.sin, se.tanh, se.sigmoid, se.exp if depth < 2 else se.cos]
    return rng.choice(
        [
            lambda: part() + part(),
            lambda: part() - part() / 2,
            lambda: part() * part(),
            lambda: rng.choice(functions)(part() / 2),
            lambda: part() * expression(rng, pool, (), 0) / 3,
            lambda: part() * part(rng.choice([(n,), (n, m)])).mean(),
            product,
        ]
    )()


class Program:
    """A random loop: its arguments, its results, and a scalar of all of them."""

    def __init__(self, seed, is_nested=True):
        rng = random.Random(seed)
        shapes = [rng.choice(SHAPES) for _ in range(rng.randint(1, 3))]
        init = tuple(expression(rng, OUTSIDE, own, rng.randint(0, 1)) for own in shapes)
        self.inputs = tuple(
            se.TensorSymbol(f"X{i}", T, *rng.choice(SHAPES)) for i in range(rng.randint(0, 2))
        )

        def step(carry, entry):
            pool = 2 * [*carry, *(entry if self.inputs else [entry / 3 + 1])]
            pool += rng.sample(OUTSIDE, 3)
            if is_nested and rng.random() < 0.3:
                own = rng.choice(shapes)

                def inner(c, t):
                    new = expression(rng, [c, t / 2, *pool], own, 1)
                    return new, expression(rng, [c, *pool], (), 1)

                length, reverse = rng.choice([2, 3, k]), rng.random() < 0.3
                start = expression(rng, pool, own, 0)
                last, values = se.scan(inner, start, length=length, reverse=reverse)
                pool.extend([last, values.sum()])
            new = tuple(expression(rng, pool, own, rng.randint(0, 2)) / 2 for own in shapes)
            pool += 2 * [*new]
            values = tuple(
                expression(rng, pool, rng.choice(SHAPES), rng.randint(0, 2))
                for _ in range(rng.randint(0, 2))
            )
            return new, values or None

        length = None if self.inputs else T
        last, values = se.scan(step, init, self.inputs or None, length, rng.random() < 0.4)
        self.results = [*last, *(values or ())]
        sines = [
            se.sin(e).sum() if shape_of(e) else sympy.sin(sympy.sympify(e)) for e in self.results
        ]
        self.total = sympy.Add(*sines)
        self.variables = [s for s in (*OUTSIDE, *self.inputs) if s in self.total.free_symbols]
        self.arguments = [*OUTSIDE, *self.inputs, T, k]

    def data(self, seed, steps):
        """Random values of the arguments."""
        normal = np.random.default_rng(seed).standard_normal
        lengths = {**LENGTHS, T: steps}
        return [
            lengths[s]
            if s in lengths
            else normal([lengths[d] for d in shape_of(s)]) * 0.7
            if shape_of(s)
            else float(normal()) * 0.7
            for s in self.arguments
        ]

    def written_out(self, exprs, steps):
        """Expressions with their steps written out, and the arguments of these."""
        lengths = {**LENGTHS, T: steps}
        arguments = [s.subs(lengths) for s in self.arguments if s not in lengths]
        return arguments, se.unroll([sympy.sympify(e).subs(lengths) for e in exprs])
