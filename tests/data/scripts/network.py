"""A small neural network: softmax, cross-entropy, joint gradients by all parameters."""

from __future__ import annotations

from typing import Any

import numpy as np
from sympy import symbols

import sympy_einsum as se


def layer(weights: se.TensorExpr, bias: se.TensorExpr, inputs: se.TensorExpr) -> se.TensorExpr:
    """A layer without its activation."""
    return inputs @ weights + bias[None, :]


def model() -> tuple[list[se.TensorSymbol], list[se.TensorSymbol], Any]:
    """Return parameters, data and loss."""
    batch, width, hidden, classes = symbols("b d h c", integer=True, positive=True)
    W1, b1 = se.TensorSymbol("W1", width, hidden), se.TensorSymbol("b1", hidden)
    W2, b2 = se.TensorSymbol("W2", hidden, classes), se.TensorSymbol("b2", classes)
    X, Y = se.TensorSymbol("X", batch, width), se.TensorSymbol("Y", batch, classes)
    first = se.relu(layer(W1, b1, X))
    scores = layer(W2, b2, first)
    chances = se.log(se.softmax(scores, axis=1))
    loss = -(Y * chances).sum() / batch
    return [W1, b1, W2, b2], [X, Y], loss


parameters, data, loss = model()
gradients = se.gradient(loss, parameters)
for parameter, gradient in zip(parameters, gradients, strict=True):
    assert gradient.shape == parameter.shape, parameter.name
train = se.lambdify([*parameters, *data], [loss, *gradients])

random = np.random.default_rng(1)
sizes = {"W1": (4, 6), "b1": (6,), "W2": (6, 3), "b2": (3,)}
values = [0.1 * random.normal(size=sizes[p.name]) for p in parameters]
inputs = random.normal(size=(20, 4))
targets = np.eye(3)[random.integers(0, 3, size=20)]
history: list[float] = []
for _ in range(20):
    value, *derivatives = train(*values, inputs, targets)
    history.append(float(value))
    values = [v - 0.5 * s for v, s in zip(values, derivatives, strict=True)]
assert history[-1] < history[0]
print(history[0], history[-1], se.to_dot(loss)[:20])
