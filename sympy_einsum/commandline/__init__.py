"""Differentiate texts on the command line and on a local page."""

from .main import main as main
from .reports import (
    ReportRequest as ReportRequest,
    differentiate as differentiate,
    question as question,
)
