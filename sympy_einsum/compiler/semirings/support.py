"""Tables of the helper functions of generated sources for semirings, one for each array library."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from ...core import tuning
from ..backends import Backend
from ..runtime.sources import Helper, aliases, helpers
from .algebras import Semiring

_SHARED = helpers(
    ".semiring_helpers",
    *("plus", "times", "total", "natural", "entries", "floating", "whole_numbers"),
    *("log_of_natural", "dot", "contraction", "correlate", "convolve", "running_total"),
    *("lagged_total", "chosen", "triangle", "scatter", "rows_at"),
)
# A caller's operations are two functions.
_BY_OPERATIONS = {
    "total": Helper(".semiring_helpers", "total_by_halves"),
    "natural": Helper(".semiring_helpers", "natural_by_doubling"),
    "power": Helper(".semiring_helpers", "power"),
}
_OF_TORCH = {
    **helpers(
        ".torch_semirings",
        *("total", "natural", "entries", "floating", "whole_numbers", "log_of_natural"),
        *("elements", "number", "chosen", "rows_at", "product_of_truth_values"),
    ),
    **aliases(Helper(".torch_semirings", "logical_or"), "logical_or", "logical_and", space="torch"),
}


def _best(start: str, term: str, comparison: str) -> str:
    """Return the members of a C++ class that keeps the best of some terms, NaN if there is one."""
    return f"""\
T best = {start};
__device__ void add(T x, T y) {{ T z = {term}; best = z {comparison} best || z != z ? z : best; }}
__device__ T value() {{ return best; }}
"""


# The members of C++ classes of sums of products, by semirings. The logarithm of a sum is that of
# its largest term and of the sum of the ratios to it.
_KERNEL_SUMS = {
    "max-plus": _best("-T(1) / T(0)", "x + y", ">"),
    "min-plus": _best("T(1) / T(0)", "x + y", "<"),
    "max-times": _best("0", "x * y", ">"),
    "log": """\
T top = -T(1) / T(0), sum = 0;
__device__ void add(T x, T y) {
    T z = x + y, ratio = z == top ? T(1) : exp(-fabs(z - top));
    sum = z > top ? sum * ratio + 1 : sum + ratio;
    top = z > top || z != z ? z : top;
}
__device__ T value() { return top + log(sum); }
""",
}


class SemiringLibrary(NamedTuple):
    """Helper functions of semirings in a library: its own ones, names and whole expressions that
    it spells otherwise than ``semiring_helpers``, and the products that it computes at once, as
    code. Where a semiring has a class of sums, the product is a kernel with it."""

    helpers: Mapping[str, Helper] = {}
    spelled: Mapping[str, str] = {}
    results: Mapping[str, str] = {}
    at_once: str = str(tuning.MAX_SEMIRING_PRODUCTS)
    kernel: Mapping[str, Helper] = {}
    kernel_sums: Mapping[str, str] = {}


_ON_DEVICE = str(tuning.MAX_SEMIRING_PRODUCTS_ON_DEVICE)
LIBRARIES: Mapping[str, SemiringLibrary] = {
    "numpy": SemiringLibrary(),
    "cupy": SemiringLibrary(
        at_once=_ON_DEVICE,
        kernel=helpers(".cupy_semirings", "KERNEL", "PRODUCTS", "product"),
        kernel_sums=_KERNEL_SUMS,
    ),
    "jax": SemiringLibrary(
        helpers(".jax_semirings", "product", "rows_at"), {"logsumexp": "jax.nn.logsumexp"}
    ),
    "torch": SemiringLibrary(
        _OF_TORCH,
        {
            **{f"xp.{name}": name for name in ("maximum", "minimum", "logaddexp")},
            **{f"xp.{name}": name for name in ("logical_or", "logical_and")},
            "xp.array": "elements",
            "xp.ascontiguousarray": "torch.clone",
            "logsumexp": "torch.logsumexp",
        },
        {
            "x.max(axis=axis)": "torch.amax(x, axis)",
            "x.min(axis=axis)": "torch.amin(x, axis)",
            "x.any(axis=axis)": "torch.any(x, axis)",
            "x.sum(axis=axis)": "x.sum(axis)",
        },
        at_once=f"({_ON_DEVICE} if x.is_cuda else {tuning.MAX_SEMIRING_PRODUCTS_IN_TORCH})",
    ),
    "dask": SemiringLibrary(
        {
            **helpers(".dask_semirings", "product", "convolve", "scatter"),
            "product_of_chunks": Helper(".semiring_helpers", "product"),
            "convolve_chunks": Helper(".semiring_helpers", "convolve"),
            "scatter_chunks": Helper(".semiring_helpers", "scatter"),
        },
        # Functions of NumPy's take Dask's arrays, and give Dask's.
        {"xp": "np"},
    ),
}


def semiring_support(semiring: Semiring, backend: type[Backend]) -> dict[str, Helper]:
    """Return the helper functions of a semiring by their names."""
    own = LIBRARIES[backend.name]
    xp = own.spelled.get("xp", backend.xp)
    elements = {"ZERO": semiring.zero, "ONE": semiring.one, "AT_ONCE": own.at_once}
    spelled = {name: text.replace("np.", f"{xp}.") for name, text in elements.items()}
    spelled.update(own.spelled)
    found = {**_SHARED, **own.helpers}
    found["product"] = found.get(semiring.product) or Helper(".semiring_helpers", semiring.product)
    results = {
        "plus": semiring.add.format("x", "y").replace("np.", "xp."),
        "times": semiring.multiply.format("x", "y").replace("np.", "xp."),
        "total": own.results.get(semiring.total, semiring.total),
        "natural": semiring.natural,
        "entries": semiring.entries,
    }
    if semiring.operations is not None:
        found |= _BY_OPERATIONS
    if semiring.name in own.kernel_sums and semiring.operations is None:
        found |= own.kernel
        spelled["BUSY"] = str(tuning.MIN_DEVICE_TILES)
        spelled["SUM"] = f'"""\\\n{own.kernel_sums[semiring.name]}"""'
    return {
        name: replace(helper, spelled={**helper.spelled, **spelled}, result=results.get(name, ""))
        for name, helper in found.items()
    }
