"""Emission: plans become source texts of functions and modules."""
