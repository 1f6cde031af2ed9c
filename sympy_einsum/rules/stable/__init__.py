"""Numerically stable rewrites: expressions that are mathematically right but overflow, cancel or
give nan in floating-point numbers, in a form that doesn't.

The table of forms is core/stable_forms.py, below the nodes, which are built in these forms, and the
code printers. Here nodes are matched with it (matching.py), alone and in pairs of terms or factors
(pairs.py); laws for any number of terms (laws.py), of the logarithm (logarithms.py) and of softmax
(softmaxes.py) have no row in it. rules.py makes rules of all that.

The rules look at a node and what it is made of, never at what else uses that: whatever is compiled
together, each value comes out in the same form. They are applied in one walk over a graph of any
size, whether that makes it cheaper or not.
"""
