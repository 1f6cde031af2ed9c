"""The command line, as ``python -m sympy_einsum``."""

import sys

from .commandline import main

if __name__ == "__main__":
    sys.exit(main())
