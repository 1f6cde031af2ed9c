"""The helper functions of code for Numba, by the modules that define them."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from .shared_helpers import STABLE_FUNCTIONS, shared
from .sources import Edit, Helper, HelperText, Spelling, helpers


@dataclass(frozen=True)
class OfNumbers(Helper):
    """A function of arrays in NumPy's names as one of numbers, which Numba compiles: other helpers
    have the names of NumPy's functions."""

    def written(self, name: str, spelling: Spelling) -> HelperText:
        """Return the text of the helper."""
        text, names = super().written(name, _of_numbers)
        return HelperText(f"@compiled\n{text}", names | {"compiled", "dtype"})

    def edits(self, tree: ast.stmt) -> list[Edit]:
        """Convert results to the type of the numbers."""
        found = []
        for node in ast.walk(tree):
            if isinstance(node, ast.Return) and node.value is not None:
                found += Edit.around(node.value, "dtype(", ")")
        return found


def _of_numbers(name: str) -> str | None:
    space, _, own = name.partition(".")
    if space not in ("xp", "special") or not own:
        return None
    return "np.sinh" if own == "sinh" else own


SUPPORT: dict[str, Helper] = {
    **helpers(".numba_compiling", "kernel", "compiled", "inlined"),
    **helpers(".numba_types", "dtype"),
    **helpers(".numba_compiling", "add", "larger"),
    **helpers(".numba_elementary", *("exponent_parts", "exp", "expm1", "tanh", "log", "log1p")),
    **helpers(
        ".numba_numbers",
        *("maximum", "minimum", "fmax", "fmin", "where", "finite", "heaviside", "sign"),
        *("logaddexp", "nan_to_num", "sinc", "sigmoid", "sigmoid_derivative", "softplus", "ndtr"),
        *("xlogy", "xlog1py", "entr", "rel_entr", "loggamma", "position"),
    ),
    **helpers(".numba_types", "is_real"),
    **helpers(
        ".numba_memory",
        *("require_c_order", "strides_in_c_order", "allocated", "empty", "copied", "cleared"),
        *("reshaped", "store_row"),
    ),
    **helpers(
        ".numba_factors",
        *("by_address", "gemm", "gemv", "syrk", "trsm", "trsv", "getrf", "getrs", "getri"),
        *("potrf", "potri", "lu_factored"),
        *("with_upper", "product", "matmul", "matrix_by_vector", "gram", "factored", "by_triangle"),
        *("exchange_rows", "solved", "inverted", "determinant", "log_determinant"),
        "signed_log_determinant",
    ),
    **helpers(
        ".numba_stacks",
        *("put", "products_without", "singular_bases", "out_of_bases", "cofactors_along"),
        *("cofactors_along_two", "matrix_cofactors", "cofactors", "one_norm", "exponential"),
        *("each_inv", "each_det", "each_logdet", "each_cholesky", "each_pinv", "each_eigvalsh"),
        *("each_eigh", "each_svdvals", "each_svd", "each_qr", "each_qr_r", "each_adj"),
        *("each_expm", "each_cofactors", "each_solve", "each_slogdet", "each_power", "blocks"),
        "last_block",
    ),
    **helpers(
        ".numba_fourier",
        *("complex_type", "real_spectrum", "real_from_spectrum", "spectrum", "from_spectrum"),
    ),
    **helpers(
        ".numba_special",
        *("special_in_c", "of_scipy", "of_scipy_with_values", "exprel", "erfi", "erfinv"),
        *("erfcinv", "erfcx", "log_ndtr", "ndtri", "psi", "zetac", "expi", "beta", "betaln"),
        *("binom", "jv", "yv", "iv", "kv", "expn", "hyp1f1", "sici", "shichi", "fresnel"),
        *("airy", "airye", "digamma", "spherical_jn", "spherical_yn", "spherical_in", "zeta"),
        *("polygamma", "lambertw"),
    ),
    **helpers(
        ".numba_arrays",
        *("make_finite", "cumsum", "lagged_cumsum", "running_choices", "cummax"),
        *("cummin", "sort", "argsort", "argmax", "argmin", "last_equal", "argcummax"),
        *("argcummin", "cumprod"),
        *("running_products", "recurrence", "running_weights", "logcumsumexp", "running_mean"),
        *("correlate", "convolve"),
    ),
    **shared("LANGEVIN_SERIES"),
    **{name: OfNumbers(".special_functions", name) for name in STABLE_FUNCTIONS if name.islower()},
}
# Helpers that are others for complex numbers.
COMPLEX: dict[str, Helper] = helpers(
    ".numba_complex",
    *("exp", "expm1", "tanh", "log", "log1p", "is_real", "spectrum", "from_spectrum"),
)


def of_type(kind: str) -> dict[str, Helper]:
    """Return the type of the numbers that helper functions compute with."""
    return helpers(".numba_types", "dtype", spelled={"np.float64": f"np.{kind}"})
