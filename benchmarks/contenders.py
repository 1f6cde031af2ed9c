"""List the contenders: ours, the hand-written program, and installed other libraries.

Each is one row of ``CONTENDERS``. To add one, write the function that makes its call, and the row.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np

import sympy_einsum as se

from . import named_edges
from .case import Case
from .timing import timed

Call = Callable[[], Any]


@dataclass(frozen=True)
class Contender:
    """Define a contender: ``make`` returns the call for a case and its data, ``package`` must be
    installed, and ``is_peer`` says that the library differentiates by itself, Hessians up to a
    number of entries, because it computes them row by row, which takes minutes for larger ones.
    """

    make: Callable[[Case, list[Any]], Call]
    package: str = ""
    is_peer: bool = False
    most_entries: float = 3e5

    @property
    def is_installed(self) -> bool:
        """Tell whether it can run here."""
        return installed(self.package)

    def takes(self, case: Case, data: list[Any]) -> bool:
        """Tell whether it supports the case, and the case isn't too large."""
        if not self.is_peer:
            return case.semiring is None or self.package != "numba"
        size = sum(np.size(data[place]) for place in np.atleast_1d(case.wrt))
        is_small = case.order == 1 or size**2 <= self.most_entries
        return case.plain is not None and self.package in case.peers and is_small


def installed(package: str) -> bool:
    """Tell whether a package is installed; the empty name always is."""
    return not package or importlib.util.find_spec(package) is not None


def flat(value: Any) -> list[Any]:
    """Flatten a nested result to NumPy arrays."""
    if isinstance(value, (list, tuple)):
        return [leaf for part in value for leaf in flat(part)]
    return [np.asarray(value)]


def ours(case: Case, data: list[Any], check: bool = True, backend: str = "numpy") -> Call:
    arguments, exprs = case.build()
    function = se.lambdify(arguments, exprs, backend, check=check, semiring=case.semiring)
    return lambda: function(*data)


def ours_by_jax(case: Case, data: list[Any]) -> Call:
    """Compile by our JAX backend and jit."""
    import jax

    jax.config.update("jax_enable_x64", True)
    arguments, exprs = case.build()
    function = jax.jit(se.lambdify(arguments, exprs, "jax", semiring=case.semiring))
    arrays = [jax.numpy.asarray(value) for value in data]
    return lambda: jax.block_until_ready(function(*arrays))


def ours_by_torch(case: Case, data: list[Any]) -> Call:
    import torch

    arguments, exprs = case.build()
    function = se.lambdify(arguments, exprs, "torch", semiring=case.semiring)
    tensors = [torch.from_numpy(np.array(value)) for value in data]
    return lambda: function(*tensors)


def hand(case: Case, data: list[Any]) -> Call:
    return lambda: case.hand(*data)


def by_jax(case: Case, data: list[Any]) -> Call:
    """Compile by jit, the faster of forward over reverse and reverse over reverse."""
    import jax

    jax.config.update("jax_enable_x64", True)
    arrays = [jax.numpy.asarray(value) for value in data]

    def value(*values: Any) -> Any:
        return case.of(jax.numpy, *values)

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


def by_torch(case: Case, data: list[Any]) -> Call:
    import torch

    tensors = [torch.from_numpy(np.array(value)) for value in data]

    def value(*values: Any) -> Any:
        return case.of(torch, *values)

    if case.order == 1:
        function = torch.func.grad_and_value(value, case.wrt)
        return lambda: function(*tensors)[::-1]
    function = torch.func.hessian(value, case.wrt)
    return lambda: function(*tensors)


def by_autograd(case: Case, data: list[Any]) -> Call:
    import autograd
    import autograd.numpy as anp

    def value(*values: Any) -> Any:
        return case.of(anp, *values)

    if case.order == 1:
        function = autograd.value_and_grad(value, case.wrt)
    else:
        function = autograd.hessian(value, case.wrt)
    return lambda: function(*data)


def by_pytensor(case: Case, data: list[Any], mode: str = "NUMBA") -> Call:
    """Compile by Numba or to C, for arrays of any lengths."""
    arrays = [np.asarray(value) for value in data]
    kinds = tuple((array.dtype.name, array.ndim) for array in arrays)
    function = _pytensor_function(case, kinds, mode)
    return lambda: function(*arrays)


@cache
def _pytensor_function(case: Case, kinds: tuple[tuple[str, int], ...], mode: str) -> Any:
    """Compile once for all sizes, because it takes seconds."""
    import pytensor
    import pytensor.tensor as pt

    # Skip failing rewrites silently; by default each prints a long report.
    pytensor.config.on_opt_error = "ignore"
    arguments = [pt.tensor(dtype=name, shape=(None,) * order) for name, order in kinds]
    value = case.of(pt, *arguments)
    variables = [arguments[place] for place in np.atleast_1d(case.wrt)]
    gradients = pytensor.grad(value, variables)
    if case.order == 1:
        results = [value, *gradients]
    else:
        (variable,), (gradient,) = variables, gradients
        hessian = pytensor.gradient.jacobian(gradient.ravel(), variable)
        results = [hessian.reshape([*variable.shape] * 2)]
    return pytensor.function(arguments, results, mode=mode, trust_input=True)


CONTENDERS = {
    "hand": Contender(hand),
    "ours": Contender(ours),
    "ours, no checks": Contender(partial(ours, check=False)),
    "ours by Numba": Contender(partial(ours, backend="numba"), "numba"),
    "ours by JAX": Contender(ours_by_jax, "jax"),
    "ours by PyTorch": Contender(ours_by_torch, "torch"),
    "JAX": Contender(by_jax, "jax", is_peer=True, most_entries=6e6),
    "PyTorch": Contender(by_torch, "torch", is_peer=True),
    "autograd": Contender(by_autograd, "autograd", is_peer=True),
    "PyTensor": Contender(by_pytensor, "pytensor", is_peer=True),
    "tensorgrad": Contender(named_edges.compiled, "tensorgrad", is_peer=True, most_entries=6e6),
}
# The groups whose best is compared: our backends with argument checks, and other libraries.
OURS = tuple(n for n in CONTENDERS if n.startswith("ours") and n != "ours, no checks")
PEERS = tuple(name for name, contender in CONTENDERS.items() if contender.is_peer)
