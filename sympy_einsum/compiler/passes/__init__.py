"""Passes: each takes a plan and gives an equal one that costs less."""
