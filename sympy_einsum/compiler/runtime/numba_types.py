"""Types of the numbers that Numba's helper functions compute with; a kernel for other numbers sets
its own.
"""

from __future__ import annotations

import numpy as np

dtype = np.float64
is_real = True
