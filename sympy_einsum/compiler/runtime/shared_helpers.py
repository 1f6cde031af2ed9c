"""Tables of the helper functions that several libraries have in common, in NumPy's names."""

from __future__ import annotations

from collections.abc import Mapping

from .sources import Helper, helpers

# Functions of entries that no library has, and the coefficients of one of them.
STABLE_FUNCTIONS = (
    *("LANGEVIN_SERIES", "sinhc", "tanhc", "log_sinhc", "langevin", "gamma_rise"),
    *("erfcx_rate", "log_ndtr_difference", "ndtr_share"),
)
# These, and the functions of SciPy that a library may lack.
SPECIAL = (
    *STABLE_FUNCTIONS,
    *("spherical_jn", "spherical_yn", "spherical_in", "hyp1f1", "exprel", "loggamma", "betaln"),
    *("beta", "binom", "zeta", "kve", "kv", "k0e", "k1e"),
)
# Fourier transforms, and functions that run along an axis.
FOURIER = ("spectrum", "from_spectrum", "one_sided_weights")
RUNNING = (
    *("lagged_cumsum", "mirrored", "running_products", "recurrence", "running_weights"),
    *("logcumsumexp", "running_mean"),
)


def shared(*names: str, spelled: Mapping[str, str] | None = None) -> dict[str, Helper]:
    """Return some of these helpers by their names; the library has other ``spelled`` names."""
    found: dict[str, Helper] = {}
    for name in names:
        module = ".special_functions" if name in SPECIAL else ".array_helpers"
        found |= helpers(module, name, spelled=spelled)
    return found
