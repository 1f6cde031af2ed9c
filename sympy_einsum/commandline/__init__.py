"""Differentiate texts on the command line and on a local page."""

from .main import main as main
from .reports import (
    ReportRequest as ReportRequest,
    derivatives as derivatives,
    question as question,
)
