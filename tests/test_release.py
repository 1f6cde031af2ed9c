"""Check the version, the links of README outside of a clone, and the changelog."""

import re
import runpy
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
VERSION = SETTINGS["project"]["version"]


def test_versions_in_the_changelog_fit_on_a_screen():
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    _, *sections = re.split(r"^## ", text, flags=re.M)
    titles = [section.partition("\n")[0] for section in sections]
    assert titles[0] == "Unreleased"
    assert titles[1].split()[0] == VERSION
    for title, section in zip(titles, sections, strict=True):
        assert len(section.splitlines()) <= 60, title


def test_readme_outside_of_a_clone():
    """Links and pictures lead to files of the tagged version; other links stay."""
    pytest.importorskip("setuptools")
    functions = runpy.run_path(str(ROOT / "setup.py"))
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    found = functions["absolute"](text, "https://example.org/a", VERSION)
    links = re.findall(r"\]\(([^)]+)\)", found)
    assert len(links) > 20
    for link in links:
        prefix = f"https://example.org/a/{'raw' if link.endswith('.svg') else 'blob'}/v{VERSION}/"
        assert link.startswith((prefix, "#", "https://"))
        if link.startswith("https://example.org"):
            assert (ROOT / link.removeprefix(prefix)).is_file()
    assert functions["absolute"](text, "", VERSION) == text
    url = SETTINGS["tool"]["sympy_einsum"]["url"]
    assert bool(functions["metadata"]()["project_urls"]) == bool(url)


def test_the_recipe_for_conda_needs_what_the_package_does():
    recipe = (ROOT / ".ci" / "recipe.yaml").read_text(encoding="utf-8")
    run = recipe.partition("  run:\n")[2].partition("\n\n")[0]
    needed = [line.strip("- ").replace(" ", "") for line in run.splitlines()]
    python = f"python{SETTINGS['project']['requires-python']}"
    assert needed == [python, *SETTINGS["project"]["dependencies"]]


def test_classifiers():
    found = SETTINGS["project"]["classifiers"]
    assert found == sorted(found)
    assert "Typing :: Typed" in found
    assert (ROOT / "sympy_einsum" / "py.typed").is_file()
