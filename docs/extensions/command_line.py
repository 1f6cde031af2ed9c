"""Define the directive ``command-help``, the output of each command's ``--help``."""

from __future__ import annotations

import io
import os
from contextlib import redirect_stdout, suppress
from typing import Any
from unittest.mock import patch

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from sympy_einsum.commandline.main import COMMANDS, main

COLUMNS = 80


def help_of(*words: str) -> str:
    """Return a command's ``--help``, wrapped to the width of a page."""
    text = io.StringIO()
    width = patch.dict(os.environ, COLUMNS=str(COLUMNS))
    with width, redirect_stdout(text), suppress(SystemExit):
        main([*words, "--help"])
    return text.getvalue().rstrip()


class CommandHelp(SphinxDirective):
    """Insert the help of the program and of each command."""

    def run(self) -> list[nodes.Node]:
        found = []
        for words in ((), *((name,) for name in COMMANDS)):
            line = " ".join(["$ sympy-einsum", *words, "--help"])
            text = f"{line}\n{help_of(*words)}"
            found.append(nodes.literal_block(text, text, language="console"))
        return found


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("command-help", CommandHelp)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
