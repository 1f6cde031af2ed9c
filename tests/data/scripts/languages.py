"""Formulas as text: parse, differentiate, write; Python functions as expressions."""

import numpy as np

import sympy_einsum as se

loss = se.parse("norm2(A*x - b)^2", "A matrix, x vector, b vector")
symbols = {symbol.name: symbol for symbol in loss.free_symbols}
assert sorted(symbols) == ["A", "b", "x"]
gradient = se.gradient(loss, symbols["x"])
print(se.latex(gradient, notation="matrix"))
print(se.latex(gradient, notation="index"))
assert gradient.order == 1

program = se.parse_program("declare A 2 b 1 expression A *(ij,j->i) sin(b) derivative wrt b")
for name, symbol in program.symbols.items():
    print(name, symbol.shape)
for expression, variable, derivative in program.derivatives:
    assert derivative.shape == expression.shape + variable.shape

SOURCE = """
def rosenbrock(x):
    return ((1 - x[:-1])**2 + 100*(x[1:] - x[:-1]**2)**2).sum()
"""
read = se.parse_python(SOURCE, shapes={"x": "n"})
(x,) = read.args
value = read.outputs
first_derivative = se.gradient(value, x)
at_ones = se.lambdify([x], first_derivative)(np.ones(5))
assert np.allclose(at_ones, 0)
text = se.codegen(read, kind="vjp", name="rosenbrock")
assert "def rosenbrock" in text
assert se.codegen([x], [value, first_derivative], name="both").count("def ") >= 1


def quadratic(A, x):  # type: ignore[no-untyped-def]
    """A function of NumPy arrays."""
    return x @ A @ x


made = se.from_function(quadratic, {"A": (3, 3), "x": 3})
assert [str(argument) for argument in made.args] == ["A", "x"]
assert se.equal(se.parse("x'*A*x", {a.name: a for a in made.args}), made.outputs)
