"""Serve a local page that updates as the user types.

The server listens on the loopback address only, and requires that ``Host`` and, if present,
``Origin`` are its own. Each request is computed in a separate process with limited time and memory.
"""

from __future__ import annotations

import json
import multiprocessing
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from multiprocessing.connection import Connection
from threading import BoundedSemaphore

from ..certificates import convexity
from ..core import TensorError, tuning
from ..languages import FUNCTIONS, checked_syntax, variable_kinds
from .evaluation import as_arrays, problem_of, read_numbers, solve_problem
from .examples import EXAMPLES
from .reports import CHOICES, ReportRequest, question, reports

# The signal that ends a process after its time limit.
_OUT_OF_TIME = 0
if sys.platform != "win32":
    import resource

    _OUT_OF_TIME = signal.SIGXCPU

_LENGTH = re.compile("[0-9]{1,9}")
_FILES = {
    "/": ("page.html", "text/html; charset=utf-8"),
    "/page.js": ("page.js", "text/javascript; charset=utf-8"),
    "/page.css": ("page.css", "text/css; charset=utf-8"),
}
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "connect-src 'self'; img-src data:; form-action 'none'; frame-ancestors 'none'; "
    "base-uri 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}
# The titles of kinds of variables by the words of declarations.
KINDS = {
    "scalar": "scalar",
    "positive scalar": "positive scalar",
    "vector": "vector",
    "positive vector": "positive vector",
    "nonnegative vector": "nonnegative vector",
    "matrix": "matrix",
    "symmetric matrix": "symmetric matrix",
    "pd matrix": "positive definite matrix",
    "psd matrix": "positive semidefinite matrix",
    "diagonal matrix": "diagonal matrix",
    "positive matrix": "matrix with positive entries",
}
if sys.platform == "win32":
    _CONTEXT = multiprocessing.get_context("spawn")
else:
    _CONTEXT = multiprocessing.get_context("forkserver")
    # Preloaded by the server from which processes are forked.
    _CONTEXT.set_forkserver_preload([__name__])


def serve(port: int, as_json: bool = False) -> None:
    """Serve until interrupted, at an address that is printed."""
    try:
        server = Server(port)
    except (OSError, OverflowError) as error:
        raise TensorError(
            f"can't listen on port {port}: {error}; choose another with --port"
        ) from None
    address = f"http://127.0.0.1:{server.server_port}/"
    shown = json.dumps({"address": address}) if as_json else f"{address} (Ctrl+C ends it)"
    print(shown, flush=True)
    with server, suppress(KeyboardInterrupt):
        server.serve_forever()


class Server(ThreadingHTTPServer):
    """Serve the page; port 0 chooses any free port."""

    daemon_threads = True

    def __init__(self, port: int):
        super().__init__(("127.0.0.1", port), _Handler)
        self.places = BoundedSemaphore(tuning.MAX_PROCESSES)
        self.hosts = {f"{name}:{self.server_port}" for name in ("127.0.0.1", "localhost")}

    def handle_error(self, request: object, client_address: object) -> None:
        """Print a traceback, except for closed connections."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]


class _Refused(Exception):
    """Refuse a request with a status and a message."""

    def __init__(self, status: HTTPStatus, message: str):
        super().__init__(message)
        self.status = status


class _Handler(BaseHTTPRequestHandler):
    server: Server
    server_version = "sympy-einsum"
    sys_version = ""
    timeout = 30

    def do_GET(self) -> None:
        self._respond(self._file)

    def do_POST(self) -> None:
        self._respond(self._answer)

    def log_message(self, format: str, *args: object) -> None:
        """Log nothing."""

    def _respond(self, work: Callable[[], tuple[bytes, str]]) -> None:
        try:
            self._check_sender()
            content, kind = work()
            status = HTTPStatus.OK
        except _Refused as refused:
            status = refused.status
            content, kind = _json({"error": str(refused)})
        except ConnectionError:
            self.close_connection = True
            return
        with suppress(ConnectionError):
            self._send(status, content, kind)

    def _send(self, status: HTTPStatus, content: bytes, kind: str) -> None:
        self.send_response(status)
        for name, value in {**_HEADERS, "Content-Type": kind}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def _check_sender(self) -> None:
        """Refuse other hosts and origins: other sites get here by DNS rebinding or forms."""
        host, origin = self.headers.get("Host"), self.headers.get("Origin")
        if host not in self.server.hosts:
            raise _Refused(HTTPStatus.FORBIDDEN, "this server answers under its own address only")
        if origin not in (None, f"http://{host}"):
            raise _Refused(HTTPStatus.FORBIDDEN, "this server answers its own page only")

    def _file(self) -> tuple[bytes, str]:
        if self.path == "/choices":
            more = {"kinds": KINDS, "examples": EXAMPLES, "functions": sorted(FUNCTIONS)}
            return _json({**CHOICES, **more})
        if self.path not in _FILES:
            raise _Refused(HTTPStatus.NOT_FOUND, "there is no such page")
        name, kind = _FILES[self.path]
        return files(__package__).joinpath(name).read_bytes(), kind

    def _answer(self) -> tuple[bytes, str]:
        if self.path != "/answer":
            raise _Refused(HTTPStatus.NOT_FOUND, "there is no such page")
        if self.headers.get_content_type() != "application/json":
            raise _Refused(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "questions are JSON")
        length = self.headers.get("Content-Length", "")
        # Python refuses to parse numbers of thousands of digits.
        if not _LENGTH.fullmatch(length) or int(length) > tuning.MAX_REQUEST_BYTES:
            raise _Refused(
                HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
                f"at most {tuning.MAX_REQUEST_BYTES} bytes are read",
            )
        try:
            request = read_request(json.loads(self.rfile.read(int(length))))
        except (TensorError, ValueError) as error:
            raise _Refused(HTTPStatus.BAD_REQUEST, str(error)) from None
        except RecursionError:
            raise _Refused(HTTPStatus.BAD_REQUEST, "the question is nested too deeply") from None
        while not self.server.places.acquire(timeout=tuning.POLLING_SECONDS):
            self._check_connection()
        try:
            self._check_connection()
            return _json(answer(request, self._check_connection))
        finally:
            self.server.places.release()

    def _check_connection(self) -> None:
        """Raise an error if the client has closed the connection."""
        readable, _, _ = select.select([self.connection], [], [], 0)
        if readable and not self.connection.recv(1, socket.MSG_PEEK):
            raise ConnectionAbortedError


def _json(content: Mapping[str, object]) -> tuple[bytes, str]:
    return json.dumps(content).encode(), "application/json"


def read_request(fields: object) -> ReportRequest:
    """Validate the fields of a request; raises TensorError if they are invalid."""
    if not isinstance(fields, dict) or not fields.keys() <= {*ReportRequest._fields}:
        raise TensorError(f"a question has the fields {', '.join(ReportRequest._fields)}")
    for name in ("text", "declarations", "data"):
        if not isinstance(fields.get(name, ""), str):
            raise TensorError(f"{name} is text")
    wrt = fields.get("wrt", [])
    if not isinstance(wrt, list) or not all(isinstance(name, str) for name in wrt):
        raise TensorError("wrt is a list of names")
    for name, choices in CHOICES.items():
        if name in fields and fields[name] not in choices:
            raise TensorError(f"{name} is one of {', '.join(map(str, choices))}")
    return ReportRequest(**{"text": "", **fields, "steps": True})


def answer(request: ReportRequest, check: Callable[[], None] = lambda: None) -> dict[str, object]:
    """Compute the answer in a separate process, or return the reason for having none. ``check`` is
    polled meanwhile and cancels by raising an error."""
    receiver, sender = _CONTEXT.Pipe(duplex=False)
    process = _CONTEXT.Process(target=_work, args=(sender, request), daemon=True)
    process.start()
    sender.close()
    try:
        end = time.monotonic() + tuning.MAX_REQUEST_SECONDS
        while not receiver.poll(min(tuning.POLLING_SECONDS, max(end - time.monotonic(), 0))):
            check()
            if time.monotonic() >= end:
                return _too_long()
        found: dict[str, object] = receiver.recv()
        return found
    except EOFError:
        process.join(1)
        if process.exitcode == -_OUT_OF_TIME:
            return _too_long()
        return {"error": "this needs too much memory; ask on the command line"}
    finally:
        process.kill()
        process.join()
        receiver.close()


def _too_long() -> dict[str, object]:
    return {
        "error": f"this takes more than {tuning.MAX_REQUEST_SECONDS} s; ask on the command line"
    }


def _work(sender: Connection, request: ReportRequest) -> None:
    if sys.platform != "win32":
        resource.setrlimit(
            resource.RLIMIT_AS, (tuning.MAX_REQUEST_MEMORY, tuning.MAX_REQUEST_MEMORY)
        )
        resource.setrlimit(
            resource.RLIMIT_CPU, (tuning.MAX_REQUEST_SECONDS, tuning.MAX_REQUEST_SECONDS)
        )
    found: dict[str, object] = {}
    try:
        found["kinds"] = variable_kinds(request.text, request.syntax)
        found |= find_answer(request)
    except TensorError as error:
        found["error"] = str(error)
    except RecursionError:
        found["error"] = "the expression is nested too deeply"
    sender.send(found)


def find_answer(request: ReportRequest) -> dict[str, object]:
    """Return the answer for the task of a request."""
    if request.task == "solve":
        try:
            data = dict(read_numbers(request.data or "{}"))
        except (TypeError, ValueError):
            raise TensorError('data are JSON as in {"x": [1, 2.5]}') from None
        result = solve_problem(problem_of(request), as_arrays(data))
        return {"title": "solve", "text": str(result)}
    if checked_syntax(request.text, request.syntax) == "geno":
        return {"title": "problem", "text": str(problem_of(request))}
    if request.task == "convexity":
        read = question(request)
        if not read.requested:
            raise TensorError("name a variable in which it may be convex")
        expr, names = read.requested[0][0], [name for _, name in read.requested]
        shown = convexity(expr, [read.variables[name] for name in names])
        return {"title": "convexity", "text": str(shown)}
    found = [{**report._asdict(), "svg": _drawn(report.dot)} for report in reports(request)]
    return {"reports": found}


def _drawn(dot: str) -> str | None:
    """Return the picture of a graph, if Graphviz is installed and fast enough."""
    program = shutil.which("dot")
    if program is None:
        return None
    try:
        done = subprocess.run(
            [program, "-Tsvg"],
            input=dot,
            capture_output=True,
            text=True,
            timeout=tuning.MAX_DRAWING_SECONDS,
        )
    except subprocess.TimeoutExpired:
        return None
    return done.stdout if done.returncode == 0 else None
