"""Benchmark generated code and derivatives against hand-written code and other libraries."""
