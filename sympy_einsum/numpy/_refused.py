"""NumPy's functions without a counterpart here, and options that are refused, with the reasons that
errors give."""

from __future__ import annotations

import numpy as np

_NO_TYPES = "entries of tensors have no type; compiled functions compute in that of their arguments"
_NO_RANK = (
    "how many singular values count as 0 depends on the numbers, and where their number changes "
    "there is no derivative; leave it out"
)
# Options of any function; a row has the reasons of others.
OPTIONS = {
    "out": "expressions don't change; assign the result",
    "dtype": _NO_TYPES,
    "casting": _NO_TYPES,
    "signature": _NO_TYPES,
    "order": "expressions have no memory of their own, and so no order in it",
    "writeable": "expressions don't change; assign the result",
    "where": "entries where it doesn't hold would be undefined; choose them with numpy.where",
    "axes": "move the axes to the end with moveaxis",
    "axis": "move the axis to the end with moveaxis",
    "keepdims": "put the axis back with expand_dims",
    "rcond": _NO_RANK,
    "rtol": _NO_RANK,
}
REASONS = {
    "the shape of its result depends on the numbers; choose entries by conditions, with where, "
    "select or by multiplication": """
        argwhere extract flatnonzero nonzero intersect1d setdiff1d setxor1d union1d trim_zeros
        unique unique_all unique_counts unique_inverse unique_values""",
    "it counts entries, which has no derivative; count where a condition holds with .sum(), or add "
    "up weights w between edges with (w * ((low <= x) & (x < high))).sum()": """
        histogram histogram2d histogram_bin_edges histogramdd""",
    "it compares entries with each other or with all of others; write it with equal and any": """
        isin array_equiv""",
    "it writes into its arguments, and expressions don't change; choose with where, or put "
    "pieces together with concatenate": """
        copyto fill_diagonal place put put_along_axis putmask""",
    "it calls a function with arrays of numbers; write the function on the whole tensor, with "
    "axis=, or apply a scalar one with sympy_einsum.elementwise": """
        apply_along_axis apply_over_axes fromfunction frompyfunc""",
    "its entries would be undefined; take zeros": "empty empty_like",
    "it is for integers or for the bits of numbers, and tensors are real": """
        bitwise_count bitwise_left_shift bitwise_right_shift left_shift right_shift packbits
        unpackbits gcd lcm frexp nextafter spacing""",
    "it gives positions, not values: use numpy's own, an array, as an index": """
        diag_indices diag_indices_from indices ix_ mask_indices ravel_multi_index tril_indices
        tril_indices_from triu_indices triu_indices_from unravel_index""",
    "its result is complex and has no order": "roots",
    "its result is a numpy.matrix, or its argument a string of names; use block": "bmat",
    "it sorts complex numbers, and tensors are real": "sort_complex",
    "contractions are planned when an expression is compiled: lambdify(..., optimize=)": """
        einsum_path""",
    "entries of tensors have no type, compiled functions take arrays of any; if another library "
    "calls it, use the function of sympy_einsum": """
        can_cast common_type isdtype issubdtype min_scalar_type mintypecode promote_types
        result_type typename""",
    "expressions have no memory of their own": """
        asarray_chkfinite asfortranarray asmatrix isfortran may_share_memory nested_iters require
        shares_memory""",
    "it reads or writes text, files or buffers, or configures how numpy does": """
        array2string array_repr array_str base_repr binary_repr format_float_positional
        format_float_scientific from_dlpack frombuffer fromfile fromiter fromregex fromstring
        genfromtxt get_include get_printoptions getbufsize geterr geterrcall info load loadtxt
        printoptions save savetxt savez savez_compressed set_printoptions setbufsize seterr
        seterrcall show_config show_runtime test iterable""",
    "it is for dates": """
        busday_count busday_offset datetime_as_string datetime_data is_busday isnat""",
    "symbols aren't random; draw numbers when the compiled function is called": "random",
    "of numpy's packages only fft and linalg have a counterpart": """
        char core ctypeslib dtypes emath exceptions f2py lib ma polynomial rec strings testing
        typing""",
}
_BY_NAME = {name: reason for reason, names in REASONS.items() for name in names.split()}


def refusal(name: str, module: str = "numpy") -> str | None:
    """Return the reason why an object of NumPy's isn't here; None if there is none.

    >>> refusal("empty")
    'its entries would be undefined; take zeros'
    """
    package = module.split(".")[1] if "." in module else ""
    reason = _BY_NAME.get(package) or _BY_NAME.get(name)
    if reason is None and isinstance(getattr(np, name, None), type):
        return "it is a type, and entries of tensors have none; compiled functions take any"
    return reason
