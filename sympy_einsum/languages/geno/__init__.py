"""Parse GENO's language of optimization problems.

Its expressions are those of MatrixCalculus.org: ``grammar.lark`` is read together with theirs, and
``program`` infers the types of the objective and of the sides of all constraints together.
"""
