"""Strategies for hypothesis, so that you can test what you add to the package, or do with it.

They take ``pip install "sympy_einsum[testing]"``.

Examples
========

Whatever a function does to expressions, their values stay the same:

>>> from hypothesis import given, settings
>>> import sympy_einsum as se
>>> from sympy_einsum import testing
>>> @given(testing.expressions(kinds=["products", "functions"], max_steps=3))
... @settings(testing.SETTINGS, max_examples=5, derandomize=True, database=None)
... def simplification_keeps_values(expr):
...     assert se.equal(se.simplify(expr), expr) is not False
>>> simplification_keeps_values()
"""

from .choices import (
    Choices as Choices,
    ImpossibleError as ImpossibleError,
    matrix as matrix,
    one as one,
    one_axis as one_axis,
    two_alike as two_alike,
)
from .operations import (
    KINDS as KINDS,
    OPERATIONS as OPERATIONS,
    SYMBOLS as SYMBOLS,
    Namespace as Namespace,
    Operation as Operation,
)
from .programs import Program as Program, Step as Step
from .strategies import (
    LENGTHS as LENGTHS,
    NUMPY as NUMPY,
    SETTINGS as SETTINGS,
    derivatives as derivatives,
    expressions as expressions,
    programs as programs,
    tensors as tensors,
)
