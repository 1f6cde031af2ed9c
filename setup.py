"""Complete the metadata that pyproject.toml declares dynamic: README, with links that work outside
of a clone, and the project's URLs. Both follow from ``url`` there; without it, links stay relative.
"""

import re
import tomllib
from pathlib import Path

from setuptools import setup

ROOT = Path(__file__).parent
# Relative links of Markdown: whether it is a picture, its text, the path.
LINK = re.compile(r"(!?)(\[[^\]]*\])\((?!\w+:|#)([^)]+)\)")


def absolute(text, url, version):
    """Return a text whose relative links and pictures are those of a version in a repository."""

    def leads(found):
        picture, label, path = found.groups()
        return f"{picture}{label}({url}/{'raw' if picture else 'blob'}/v{version}/{path})"

    return LINK.sub(leads, text) if url else text


def metadata():
    """Return the arguments of setup."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    url, version = settings["tool"]["sympy_einsum"]["url"], settings["project"]["version"]
    pages = {
        "Documentation": f"{url}/blob/v{version}/docs/index.md",
        "Changelog": f"{url}/blob/v{version}/CHANGELOG.md",
        "Issues": f"{url}/issues",
        "Source": url,
    }
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    return {
        "long_description": absolute(readme, url, version),
        "long_description_content_type": "text/markdown",
        "project_urls": pages if url else {},
    }


if __name__ == "__main__":
    setup(**metadata())
