"""How random programs are drawn."""

import os

from hypothesis import HealthCheck, Phase, settings

# Shrinking a failure can take minutes: it is switched on by hand.
CONFIG = settings(
    derandomize=True,
    deadline=None,
    database=None,
    report_multiple_bugs=False,
    phases=[Phase.explicit, Phase.generate, *([Phase.shrink] if "SHRINK" in os.environ else [])],
    suppress_health_check=list(HealthCheck),
)
