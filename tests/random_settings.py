"""Settings of random programs."""

import os

from hypothesis import Phase, settings

from sympy_einsum import testing

# Shrinking a failure can take minutes: it is switched on by hand.
CONFIG = settings(
    testing.SETTINGS,
    database=None,
    report_multiple_bugs=False,
    phases=[Phase.explicit, Phase.generate, *([Phase.shrink] if "SHRINK" in os.environ else [])],
)
