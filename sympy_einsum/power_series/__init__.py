"""Power series, Taylor polynomials and limits."""

from .expansions import (
    leading_term as leading_term,
    limit as limit,
    series as series,
    series_with_order as series_with_order,
    taylor as taylor,
)
