"""The numerical value of a form: the formula is evaluated as a reader would, with NumPy."""

from __future__ import annotations

import itertools

import numpy as np
import sympy
from sympy.utilities.lambdify import lambdify as stock_lambdify

import sympy_einsum as se
from sympy_einsum.expressions import order_of, slot
from sympy_einsum.printing.forms import Form
from sympy_einsum.printing.norms import Norm
from sympy_einsum.printing.notation import Notation


class Meaning:
    """Forms as arrays: a column is (n, 1), a row (1, n); index letters are axes of their own."""

    def __init__(self, data, lengths, style="auto"):
        self.data = data
        self.lengths = lengths
        self.style = style

    def number(self, expr, values=()):
        """Evaluate a scalar with values of its slots, of tensors of order 0 and of norms in it."""
        known = {slot(k): value for k, value in enumerate(values)}
        for part in sympy.preorder_traversal(expr):
            if isinstance(part, Norm):
                known[part] = np.linalg.norm(self.of(Notation(self.style).form(part.tensor), {}))
            elif isinstance(part, se.TensorExpr) and not part.order:
                known[part] = self.of(Notation(self.style).form(part), {})
        names = {part: sympy.Dummy(real=True) for part in known}
        body = expr.xreplace(names).subs(self.lengths)
        return stock_lambdify(list(names.values()), body, ["numpy", "scipy"])(*known.values())

    def size(self, length):
        return int(sympy.sympify(length).subs(self.lengths))

    def of(self, form: Form, env):
        return getattr(self, f"_{form.kind}")(form, env)

    def all(self, form, env):
        return [self.of(part, env) for part in form.parts]

    def shaped(self, array, axes):
        array = np.asarray(array)
        return array.reshape(-1, 1) if axes == 1 else array

    def _symbol(self, form, env):
        symbol = form.data[0]
        if symbol not in self.data and symbol.name == "epsilon":
            return se.LeviCivita(symbol.order).array
        return self.shaped(self.data[symbol], form.axes)

    def _array(self, form, env):
        return self.shaped(np.array(form.data.tolist(), dtype=float).squeeze(), form.axes)

    def _stock(self, form, env):
        return self.number(form.data)

    def _ones(self, form, env):
        return self.shaped(np.ones([self.size(n) for n in form.data]), form.axes)

    def _zeros(self, form, env):
        return self.shaped(np.zeros([self.size(n) for n in form.data]), form.axes)

    def _identity(self, form, env):
        return np.eye(self.size(form.data))

    def _unit(self, form, env):
        position, length = (self.size(part) for part in form.data)
        return np.eye(length)[:, [position]]

    def _sum(self, form, env):
        terms = self.all(form, env)
        assert len({np.shape(term) for term in terms}) == 1, "a sum of different shapes"
        return sum(terms)

    def _product(self, form, env):
        negative, count = form.data
        conditions = [part for part in form.parts if part.kind == "ordered"]
        if not all(self.of(part, env) for part in conditions):
            return 0.0  # whatever stands beside it
        values = self.all(form, env)
        result = -1.0 if negative else 1.0
        for value in values[:count]:
            assert np.size(value) == 1
            result = result * np.asarray(value).reshape(())
        if len(values) > count:
            chain = values[count]
            for value in values[count + 1 :]:
                assert chain.shape[1] == value.shape[0], "a product of shapes that don't fit"
                chain = chain @ value
            result = result * (chain if form.axes else chain.reshape(()))
        return result

    def _hadamard(self, form, env):
        values = self.all(form, env)
        assert len({value.shape for value in values}) == 1
        return np.prod(values, axis=0)

    def _quotient(self, form, env):
        one, two = self.all(form, env)
        assert one.shape == two.shape
        return one / two

    def _transpose(self, form, env):
        return self.of(form.parts[0], env).T

    def _power(self, form, env):
        return np.linalg.matrix_power(self.of(form.parts[0], env), form.data)

    def _hadamard_power(self, form, env):
        return self.of(form.parts[0], env) ** float(form.data)

    def _kron(self, form, env):
        return np.kron(*self.all(form, env))

    def _norm(self, form, env):
        return np.linalg.norm(self.of(form.parts[0], env)) ** 2

    def _block(self, form, env):
        _, columns = form.data
        parts = [np.atleast_2d(part) for part in self.all(form, env)]
        return np.block([parts[k : k + columns] for k in range(0, len(parts), columns)])

    def _cross(self, form, env):
        left, right = self.all(form, env)
        return np.cross(left, right, axis=0)

    def _call(self, form, env):
        name, note = form.data
        value = self.of(form.parts[0], env)
        if name == "tr":
            return np.trace(value)
        if name == "diag":
            return np.diag(value).reshape(-1, 1) if form.axes == 1 else np.diag(value[:, 0])
        if name == "vec":
            return value.reshape(-1, 1, order="F")
        if name == "det":
            return np.linalg.det(value)
        if name == "roll":
            return np.roll(value, int(self.of(form.parts[1], env)), axis=sum(note or (0,)))
        if name == "onehot":
            positions = np.asarray(value, int)
            inner = form.parts[0].axes == 1 and positions.ndim == 2
            return np.eye(self.size(note[0]))[positions[:, 0] if inner else positions]
        raise AssertionError(name)

    _diag = _call

    def _logdet(self, form, env):
        return np.linalg.slogdet(self.of(form.parts[0], env))[1]

    def _applied(self, form, env):
        return self.number(form.data, self.all(form, env))

    # --- index notation: env holds the position of each letter

    def position(self, label, env):
        if isinstance(label, str):
            return env[label]
        return self.size(label.value) + sum(self.size(s) * env[k] for s, k in label.terms)

    def _entry(self, form, env):
        value = self.of(form.parts[0], env)
        at = tuple(self.position(label, env) for label in form.data)
        assert min(at) >= 0, "a position outside of its axis"
        return value[at[0], 0] if form.parts[0].axes == 1 else value[at]

    def _delta(self, form, env):
        one, two = (self.position(label, env) for label in form.data)
        return float(one == two)

    def _sigma(self, form, env):
        return self.summed(form.data, form.parts[0], env)

    def summed(self, limits, inside, env):
        if not limits:
            return self.of(inside, env)
        (letter, *ends), *rest = limits
        low, high = (self.position(end, env) for end in ends)
        return sum(self.summed(rest, inside, {**env, letter: k}) for k in range(low, high + 1))

    def _ordered(self, form, env):
        at = [self.position(label, env) for label in form.data]
        return float(at == sorted(at))

    def _triangle(self, form, env):
        offset, is_lower = form.data
        value = self.of(form.parts[0], env)
        return np.tril(value, -self.size(offset)) if is_lower else np.triu(value, self.size(offset))

    def _max(self, form, env):
        letters = [letter for letter, *_ in form.data]
        ranges = [range(self.position(high, env) + 1) for *_, high in form.data]
        values = [
            self.of(form.parts[0], {**env, **dict(zip(letters, at, strict=True))})
            for at in itertools.product(*ranges)
        ]
        return max(values) if form.kind == "max" else min(values)

    _min = _max

    def _slice(self, form, env):
        base = form.parts[0]
        value = self.of(base, env)
        value = value[:, 0] if base.axes == 1 else value
        result = value[tuple(self.cut(part) for part in form.data)]
        return self.shaped(result, form.axes)

    def _gather(self, form, env):
        base, *positions = form.parts
        value = self.of(base, env)
        value = value[:, 0] if base.axes == 1 else value
        arrays = [np.asarray(self.of(part, env), int) for part in positions]
        arrays = [a[:, 0] if a.ndim == 2 and a.shape[1] == 1 else a for a in arrays]
        rest = iter(arrays)
        items = [next(rest) if part == "gathered" else self.cut(part) for part in form.data]
        return self.shaped(value[tuple(items)], form.axes)

    def cut(self, part):
        if part is None:
            return slice(None)
        if not isinstance(part, tuple):
            return self.size(part)
        start, stop = (None if end is None else self.size(end) for end in part[:2])
        return slice(start, stop, self.size(part.step))

    def whole(self, form, shape, indexed):
        """Return the array that a formula stands for, its free indices in alphabetical order."""
        if not indexed:
            return np.asarray(self.of(form, {})).reshape(shape)
        letters = indexed
        result = np.zeros(shape)
        for at in itertools.product(*map(range, shape)):
            result[at] = self.of(form, dict(zip(letters, at, strict=True)))
        return result


def assert_meaning(e, value, data, lengths, style):
    notation = Notation(style, where=False)
    try:
        form = notation.form(e)
        if form is None:
            return
        letters = None
        if order_of(e) and notation.has_indices(e):
            taken = {node.name for node in e.atoms(se.TensorSymbol, sympy.Symbol)}
            letters = [letter for letter in "ijklmnopqr" if letter not in taken][: e.order]
        meaning = Meaning(data, lengths, style).whole(form, np.shape(value), letters)
    except se.UnsupportedError:
        assert style == "matrix"
        return
    scale = 1 + np.abs(value).max(initial=0)
    np.testing.assert_allclose(meaning, value, rtol=0, atol=1e-9 * scale, err_msg=se.latex(e))
