"""Every pass has a row for every type of node, or refuses it by name."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest

import sympy_einsum as se
from sympy_einsum.core import NODE_TABLES, UnsupportedError
from sympy_einsum.expressions import (
    AxesFunction,
    Binder,
    DeterminantDerivative,
    MatrixFunction,
    NamedAxesFunction,
    RunningFunction,
    StackFunction,
    TensorExpr,
)

# Passes register when their package is imported, and some packages wait until they are used.
for package in Path(se.__file__).parent.glob("*/__init__.py"):
    import_module(f"sympy_einsum.{package.parent.name}")

# They have no nodes of their own.
BASES = {TensorExpr, MatrixFunction, StackFunction, AxesFunction, RunningFunction}
BASES |= {NamedAxesFunction, DeterminantDerivative, Binder}


def subclasses(kind):
    return {kind}.union(*map(subclasses, kind.__subclasses__()))


# Those that tests define aren't ours.
KINDS = {kind for kind in subclasses(TensorExpr) if kind.__module__.startswith("sympy_einsum.")}
NODES = sorted(KINDS - BASES, key=lambda kind: kind.__name__)


def without_row(table):
    """Return the types of nodes without a row in a pass; a row for any expression of SymPy's
    doesn't count."""
    answers = {kind.__name__: table.base_of(kind) for kind in NODES}
    return [
        name for name, base in answers.items() if base is None or not issubclass(base, tuple(KINDS))
    ]


@pytest.mark.parametrize("name", sorted(NODE_TABLES))
def test_every_pass_knows_every_type_of_node(name):
    missing = without_row(NODE_TABLES[name])
    assert not missing, (
        f"{name!r} has no row for {', '.join(missing)}: add one to its NodeTable in the file of "
        "the pass, or in the file of the node, or refuse it and say what to do instead"
    )


@pytest.mark.parametrize("name", sorted(NODE_TABLES))
def test_refusals_name_the_type(name):
    table = NODE_TABLES[name]
    for kind in NODES:
        base = table.base_of(kind)
        if base in table.refused:
            with pytest.raises(UnsupportedError) as refusal:
                table[kind]
            assert name in str(refusal.value)
            assert kind.__name__ in str(refusal.value)
            assert str(refusal.value).endswith(table.refused[base])
            assert table.refused[base]


def test_a_type_without_rows_is_missed_by_every_pass(monkeypatch):
    class Unheard(TensorExpr):
        __slots__ = ()

    monkeypatch.setattr(f"{__name__}.NODES", [Unheard])
    assert all(without_row(table) == ["Unheard"] for table in NODE_TABLES.values())
    with pytest.raises(UnsupportedError, match="the cost of Unheard isn't defined; it has no row"):
        NODE_TABLES["the cost"][Unheard]
