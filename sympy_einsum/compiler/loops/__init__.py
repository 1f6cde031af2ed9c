"""A plan as nested loops, for compilers of numerical code: functions of entries and the sums over
them in one loop without arrays between, views as index arithmetic."""

from .kernel import Kernel as Kernel
