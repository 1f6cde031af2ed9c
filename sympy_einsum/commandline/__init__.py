"""The command line and the local page: texts in, derivatives out."""

from .main import main as main
from .reports import Request as Request, derivatives as derivatives, question as question
