"""A cheap total order of expressions that is the same in every process.

Our nodes store their digest (``_digest``) and key (``_key``); for stock expressions both are
computed here, once for each distinct subexpression.
"""

from __future__ import annotations

import zlib
from functools import lru_cache

from sympy import Basic, Rational, Symbol, srepr

from . import tuning
from .caching import cached, register_cache_clear
from .exact_powers import number_bits
from .traversal import postorder


@lru_cache(maxsize=8192)
def text_digest(text: str) -> int:
    return zlib.crc32(text.encode("utf-8", "backslashreplace"))


@cached(8192)
def _atom_digest(atom: Basic) -> int:
    if number_bits(atom) > tuning.MAX_DECIMAL_BITS and isinstance(atom, Rational):
        return text_digest(f"{atom.p:x}/{atom.q:x}")
    return text_digest(srepr(atom))


# The digests of stock expressions: the most recently used ones, and the generation before.
_recent: dict[Basic, int] = {}
_older: dict[Basic, int] = {}


@register_cache_clear
def _forget_digests() -> None:
    """Empty the cache; a walk in progress continues with the dictionaries that it began with."""
    global _recent, _older
    _recent, _older = {}, {}


def digest(expr: Basic) -> int:
    """Return a number that depends only on the expression's structure, not on the process."""
    global _recent, _older
    stored = getattr(expr, "_digest", None)
    if stored is not None:
        return stored
    if not expr.args:
        return _atom_digest(expr)
    if len(_recent) > tuning.MAX_DIGESTS:
        _recent, _older = {}, _recent
    recent, older = _recent, _older
    if expr in recent:
        return recent[expr]
    memo: dict[Basic, int] = {}

    def lower(node: Basic) -> tuple[Basic, ...]:
        has_digest = hasattr(node, "_digest") or node in recent or node in older
        return () if has_digest else node.args

    for node in postorder([expr], lower):
        if hasattr(node, "_digest"):
            memo[node] = node._digest
        elif node in recent:
            memo[node] = recent[node]
        elif node in older:
            memo[node] = recent[node] = older[node]
        elif not node.args:
            memo[node] = _atom_digest(node)
        else:
            parts = [memo[arg] for arg in node.args]
            memo[node] = recent[node] = hash((text_digest(type(node).__name__), *parts))
    return memo[expr]


def data_digest(data: object) -> int:
    if isinstance(data, int):
        return data
    if isinstance(data, tuple):
        return hash(tuple([data_digest(part) for part in data]))
    if isinstance(data, str):
        return text_digest(data)
    return zlib.crc32(data) if isinstance(data, bytes) else digest(data)


def sort_key(expr: Basic) -> tuple[int, str, int]:
    """Return the key of the canonical order: leaves first, then by class or name, then by
    digest."""
    if hasattr(expr, "_digest"):
        return expr._key
    name = expr.name if isinstance(expr, Symbol) else type(expr).__name__
    return (0, name, digest(expr))
