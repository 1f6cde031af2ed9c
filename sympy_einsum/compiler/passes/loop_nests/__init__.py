"""Lowering of a plan to loop nests, for compilers of numerical code: entrywise functions and sums
over them share a loop without temporary arrays, views become index arithmetic."""

from .kernel import Kernel as Kernel
