"""The gallery's rows, compared with numerical differences and with the literature."""

from __future__ import annotations

import gallery
import pytest
from gallery.oracle import error_of, sizes_of
from gallery.pages import page_of, table_of
from gallery.row import are_equal, make

ROWS = [row for rows in gallery.FIELDS.values() for row in rows]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.page)
def test_row(row):
    made = make(row)
    sizes, error = error_of(made)
    assert error < 1e-8
    assert are_equal(made)
    assert len(set(sizes.values())) == len(sizes)


def test_a_wrong_row_is_found():
    wrong = gallery.Row("Wrong", "", "X: m n", "f = (X**2).sum()", "gradient X", "X")
    assert not are_equal(make(wrong))
    with pytest.raises(ValueError, match="'Wrong' is wrong"):
        page_of(make(wrong))


def test_there_are_enough_of_each_field():
    assert len(ROWS) >= 100
    assert all(len(rows) >= 15 for rows in gallery.FIELDS.values())
    titles = [row.title for row in ROWS]
    assert len(set(titles)) == len(titles) == len({row.page for row in ROWS})
    assert all(row.keywords for row in ROWS)


def test_pages():
    row = next(row for row in ROWS if row.title == "Softmax cross entropy")
    made = make(row)
    sizes = ", ".join(f"{letter} = {size}" for letter, size in sizes_of(row).items())
    page = page_of(made)
    assert page.startswith("# Softmax cross entropy\n")
    assert f"At {sizes} and random entries" in page
    assert page.count("<mfrac><mrow><mo>∂</mo><mi>f</mi></mrow>") == 2
    assert r"X^{\top} \left(\operatorname{softmax}_{1}" in page
    assert "def function(X, Y, W):" in page
    assert "softmax-cross-entropy.md" in table_of("Machine learning", [made])
