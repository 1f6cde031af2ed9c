"""Lowering of expressions to instructions, one module for each kind of node."""
