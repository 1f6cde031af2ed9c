"""The contenders: ours, the program written by hand, and other libraries if they are installed."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from typing import Any

import numpy as np

import sympy_einsum as se

from .case import Case
from .timing import timed

Call = Callable[[], Any]


def flat(value: Any) -> list[Any]:
    """All arrays of a nested result, as NumPy's."""
    if isinstance(value, (list, tuple)):
        return [leaf for part in value for leaf in flat(part)]
    return [np.asarray(value)]


def ours(case: Case, data: list[Any], check: bool = True) -> Call:
    arguments, exprs = case.build()
    function = se.lambdify(arguments, exprs, check=check, semiring=case.semiring)
    return lambda: function(*data)


def unchecked(case: Case, data: list[Any]) -> Call:
    return ours(case, data, check=False)


def hand(case: Case, data: list[Any]) -> Call:
    return lambda: case.hand(*data)


def by_jax(case: Case, data: list[Any]) -> Call | None:
    """Compiled, the faster of forward over reverse and reverse over reverse."""
    import jax

    jax.config.update("jax_enable_x64", True)
    arrays = [jax.numpy.asarray(value) for value in data]

    def value(*values: Any) -> Any:
        return case.plain(jax.numpy, *values)

    if case.order == 1:
        functions = [jax.jit(jax.value_and_grad(value, case.wrt))]
    else:
        functions = [
            jax.jit(outer(jax.jacrev(value, case.wrt), case.wrt))
            for outer in (jax.jacfwd, jax.jacrev)
        ]
    calls = [lambda f=f: jax.block_until_ready(f(*arrays)) for f in functions]
    for call in calls:
        call()
    return min(calls, key=lambda call: timed(call, 1))


def by_torch(case: Case, data: list[Any]) -> Call | None:
    import torch

    torch.set_num_threads(2)
    tensors = [torch.from_numpy(np.array(value)) for value in data]

    def value(*values: Any) -> Any:
        return case.plain(torch, *values)

    if case.order == 1:
        function = torch.func.grad_and_value(value, case.wrt)
        return lambda: function(*tensors)[::-1]
    function = torch.func.hessian(value, case.wrt)
    return lambda: function(*tensors)


def by_autograd(case: Case, data: list[Any]) -> Call | None:
    import autograd
    import autograd.numpy as anp

    def value(*values: Any) -> Any:
        return case.plain(anp, *values)

    if case.order == 1:
        function = autograd.value_and_grad(value, case.wrt)
    else:
        function = autograd.hessian(value, case.wrt)
    return lambda: function(*data)


CONTENDERS: dict[str, Callable[[Case, list[Any]], Call | None]] = {
    "hand": hand,
    "ours": ours,
    "ours, no checks": unchecked,
    "jax": by_jax,
    "torch": by_torch,
    "autograd": by_autograd,
}
PEERS = ("jax", "torch", "autograd")


def installed(name: str) -> bool:
    """Whether a contender can run here."""
    return name not in PEERS or importlib.util.find_spec(name) is not None
