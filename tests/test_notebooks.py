"""Every notebook runs from top to bottom; its own assertions are the test."""

import os
from itertools import pairwise
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

ROOT = Path(__file__).parent.parent
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))


def test_the_main_job_has_its_notebook():
    assert "logistic_regression.ipynb" in [path.name for path in NOTEBOOKS]


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_runs(path):
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(
        notebook,
        timeout=300,
        kernel_name="python3",
        resources={"metadata": {"path": str(path.parent)}},
    )
    # The kernel imports this checkout, as pytest itself does.
    search_path = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    client.execute(env={**os.environ, "PYTHONPATH": os.pathsep.join(search_path)})


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_stored_outputs_are_a_clean_run(path):
    """Stored outputs, where there are any, come from one run in order without an error."""
    cells = [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    counts = [cell.execution_count for cell in cells]
    assert counts in ([None] * len(cells), list(range(1, len(cells) + 1)))
    outputs = [output for cell in cells for output in cell.outputs]
    assert not [o for o in outputs if o.output_type == "error" or o.get("name") == "stderr"]
    # Lines that are printed one by one are one output, which pages show in one box.
    for cell in cells:
        names = [output.get("name") for output in cell.outputs]
        assert not any(one and one == other for one, other in pairwise(names))
    assert path.stat().st_size < 200_000
