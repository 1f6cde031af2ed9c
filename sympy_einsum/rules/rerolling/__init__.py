"""Loop rerolling: chains of equal steps, as a loop in Python writes them, become loops again."""

from .driver import reroll as reroll
