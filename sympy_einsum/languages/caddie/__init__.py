"""Parse the language of Caddie, functions of tuples of numbers with ``let``.

``parser`` parses text to a tree. ``inference`` unifies the types of tuples, numbers and arrays,
``program`` evaluates the tree on symbols of the inferred types, and ``point_free`` translates it to
combinators.

References
==========

[C] K. L. Hansen, "Application of Combinatory Automatic Differentiation in a Python Context", 2025,
    §2.4.
[E] M. Elsman, F. Henglein, R. Kaarsgaard, M. K. Mathiesen, R. Schenck, "Combinatory Adjoints and
    Differentiation", 2022.
"""
