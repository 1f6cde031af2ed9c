"""Random programs of positions: values, Jacobians, Hessians and the operators against torch."""

import numpy as np
import torch
from oracles import assert_close
from random_positions import Program, by_torch, replay

import sympy_einsum as se
import sympy_einsum.numpy as snp

COUNT = 60
TOLERANCE = 1e-9


def objective(values, mean):
    """One number of all values that a program makes, each of the size 1."""
    return sum(mean(value) for value in values)


def check(seed):
    """Everything of one program."""
    made = Program(seed)
    x, last = made.leaves[0], made.values[-1]
    total = objective(made.values[3:], snp.mean)
    arrays = made.data(seed)
    rng = np.random.default_rng(seed + 1)
    value = replay(made.steps, arrays, np)[-1]
    v, u = rng.standard_normal(arrays[0].shape), rng.standard_normal(np.shape(value))
    V = se.TensorSymbol("v", x.shape)
    shape = getattr(last, "shape", ())
    outer = se.TensorSymbol("u", shape)
    wanted = [
        last, se.gradient(total, x), se.hessian(total, x), se.jacobian(last, x),
        se.jvp(last, x, V), se.vjp(last, x, outer), se.hvp(total, x, V),
    ]  # fmt: skip
    found = se.lambdify([*made.leaves, V, outer], wanted)(*arrays, v, u)
    expected = [value, *references(made, arrays, v, u)]
    for name, one, other in zip(NAMES, found, expected, strict=True):
        assert_close(one, other, TOLERANCE, f"seed {seed}, {name}")


NAMES = ("value", "gradient", "Hessian", "Jacobian", "jvp", "vjp", "hvp")


def references(made, arrays, v, u):
    """The derivatives by torch."""
    x, *rest = [torch.from_numpy(array) for array in arrays]

    def last(x):
        # What doesn't depend on the variable has a derivative nonetheless.
        return by_torch(made.steps, [x, *rest])[-1] + 0 * x.sum()

    def total(x):
        values = by_torch(made.steps, [x, *rest])[3:]
        return objective(values, torch.mean) + 0 * (x**2).sum()

    gradient = torch.autograd.functional.jacobian(total, x)
    hessian = torch.autograd.functional.hessian(total, x)
    jacobian = torch.autograd.functional.jacobian(last, x).numpy()
    order = x.dim()
    jvp = np.tensordot(jacobian, v, order)
    vjp = np.tensordot(u, jacobian, np.ndim(u))
    hvp = np.tensordot(hessian.numpy(), v, order)
    return gradient.numpy(), hessian.numpy(), jacobian, jvp, vjp, hvp


def test_derivatives_agree_with_torch():
    for seed in range(COUNT):
        check(seed)
