"""The command line and the local page: texts in, derivatives out."""

from .main import main as main
from .reports import (
    ReportRequest as ReportRequest,
    derivatives as derivatives,
    question as question,
)
