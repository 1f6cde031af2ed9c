"""The command line and the local page: texts in, derivatives out."""

from .main import main as main
