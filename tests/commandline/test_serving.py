"""The local page: its answers, its access checks, its limits, and clicks in a browser."""

import http.client
import json
import os
import shutil
import socket
import subprocess
import threading
import time

import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

from sympy_einsum.commandline import serving
from sympy_einsum.commandline.reports import ReportRequest, reports
from sympy_einsum.compiler.program import Compilation
from sympy_einsum.core import tuning

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")


@pytest.fixture(scope="module")
def server():
    with serving.Server(0) as found:
        threading.Thread(target=found.serve_forever, daemon=True).start()
        yield found
        found.shutdown()


def respond(server, method, path, body=None, **headers):
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=60)
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    connection.request(method, path, body, names)
    response = connection.getresponse()
    return response, response.read()


def answer(server, **fields):
    _, body = respond(
        server, "POST", "/answer", json.dumps(fields), Content_Type="application/json"
    )
    return json.loads(body)


def test_an_answer(server):
    (report,) = answer(server, text="x'*A*x", wrt=["x"], check=True)["reports"]
    assert report["derivative"] == "A @ x + A.T @ x"
    assert report["mathml"].startswith("<mrow>")
    assert "def function(x, A):" in report["code"]
    assert report["check"]["passed"]
    assert "pullback of Einsum" in {step["rule"] for step in report["steps"]}
    assert answer(server, text="x*x", wrt=["x"])["error"].startswith("* can't multiply")


def test_the_page_is_whole(server):
    for path, kind in [
        ("/", "text/html"),
        ("/page.js", "text/javascript"),
        ("/page.css", "text/css"),
    ]:
        response, body = respond(server, "GET", path)
        assert response.status == 200
        assert response.getheader("Content-Type").startswith(kind)
        assert "default-src 'none'" in response.getheader("Content-Security-Policy")
        assert b"http" not in body.replace(b"http://www.w3.org/1998/Math/MathML", b"")
    assert respond(server, "GET", "/page.html")[0].status == 404
    assert "kronecker" in json.loads(respond(server, "GET", "/choices")[1])["notation"]


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "example.org"}, 403),
        ({"Origin": "http://example.org"}, 403),
        ({"Origin": "null"}, 403),
        ({"Content_Type": "text/plain"}, 415),
        ({"Content_Type": "application/x-www-form-urlencoded"}, 415),
    ],
)
def test_whom_it_answers(server, headers, status):
    body = json.dumps({"text": "x'*x", "wrt": ["x"]})
    response, _ = respond(
        server, "POST", "/answer", body, **{"Content_Type": "application/json", **headers}
    )
    assert response.status == status
    if "Content_Type" not in headers:
        assert respond(server, "GET", "/", **headers)[0].status == status
    assert server.server_address[0] == "127.0.0.1"


@pytest.mark.parametrize(
    "fields",
    [
        [],
        {"name": "x"},
        {"text": 1},
        {"text": "x", "wrt": "x"},
        {"text": "x", "wrt": [1]},
        {"text": "x", "order": 11},
        {"text": "x", "order": "2"},
        {"text": "x", "backend": "os"},
        {"text": "x", "syntax": ["auto"]},
    ],
)
def test_other_questions_are_refused(server, fields):
    body = json.dumps(fields)
    response, body = respond(server, "POST", "/answer", body, Content_Type="application/json")
    assert response.status == 400
    assert json.loads(body)["error"]


def raw(server, text):
    """Return the answer to a request given as bytes."""
    with socket.create_connection(("127.0.0.1", server.server_port), timeout=60) as connection:
        connection.sendall(text.encode())
        return connection.makefile("rb").read()


HEAD = "POST /answer HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nContent-Type: application/json\r\n"
NESTED = "[" * 49_000


@pytest.mark.parametrize(
    ("rest", "status"),
    [
        (f"Content-Length: {'9' * 5000}\r\n\r\n", 413),
        ("Content-Length: -1\r\n\r\n", 413),
        ("Content-Length: \u00b2\r\n\r\n", 413),
        (f"Content-Length: {len(NESTED)}\r\n\r\n{NESTED}", 400),
        (f"Content-Length: 5005\r\n\r\n{'1' * 5005}", 400),
        ("Content-Length: 2\r\n\r\n\u00e9", 400),
    ],
    ids=["long length", "negative", "no digit", "nested", "long number", "no JSON"],
)
def test_hostile_questions_are_answered(server, capfd, rest, status):
    found = raw(server, HEAD.format(server.server_port) + rest)
    assert found.split()[1] == str(status).encode()
    assert "Traceback" not in capfd.readouterr().err


def test_nothing_is_computed_for_those_who_hung_up(server, monkeypatch, capfd):
    """Abandoned requests release their slots at once, without a traceback."""
    killed = []

    def forever(request, check):
        try:
            for _ in range(300):
                time.sleep(0.02)
                check()
        except ConnectionError:
            killed.append(request.text)
            raise

    monkeypatch.setattr(serving, "answer", forever)
    body = json.dumps({"text": "x"})
    head = HEAD.format(server.server_port) + f"Content-Length: {len(body)}\r\n\r\n{body}"
    count = tuning.MAX_PROCESSES + 3
    asked = [socket.create_connection(("127.0.0.1", server.server_port)) for _ in range(count)]
    for connection in asked:
        connection.sendall(head.encode())
    time.sleep(0.5)
    for connection in asked:
        connection.close()
    time.sleep(0.5)
    assert killed == ["x"] * tuning.MAX_PROCESSES
    monkeypatch.undo()
    assert answer(server, text="x'*x", wrt=["x"])["reports"]
    assert "Traceback" not in capfd.readouterr().err


def test_limits(server, monkeypatch):
    response, _ = respond(
        server,
        "POST",
        "/answer",
        b" " * (tuning.MAX_REQUEST_BYTES + 1),
        Content_Type="application/json",
    )
    assert response.status == 413
    monkeypatch.setattr(tuning, "MAX_REQUEST_SECONDS", 0.01)
    assert "more than 0.01 s" in answer(server, text="x'*x", wrt=["x"])["error"]


def test_a_process_that_dies_is_an_answer(server, monkeypatch):
    monkeypatch.setattr(serving, "_work", _die)
    assert "too much memory" in answer(server, text="x'*x", wrt=["x"])["error"]


def _die(sender, request):
    raise SystemExit


@pytest.mark.skipif(not serving._OUT_OF_TIME, reason="time isn't limited there")
def test_a_process_whose_time_is_over_says_so(server, monkeypatch):
    monkeypatch.setattr(serving, "_work", _use_up_time)
    assert "takes more than" in answer(server, text="x'*x", wrt=["x"])["error"]


def _use_up_time(sender, request):
    os.kill(os.getpid(), serving._OUT_OF_TIME)


def test_a_picture_that_takes_too_long_is_left_out(monkeypatch):
    def slow(*arguments, timeout, **options):
        raise subprocess.TimeoutExpired("dot", timeout)

    monkeypatch.setattr(serving.shutil, "which", lambda program: program)
    monkeypatch.setattr(serving.subprocess, "run", slow)
    assert serving._drawn("digraph {}") is None


def test_a_derivative_is_compiled_once(monkeypatch):
    """The function and its module are two texts of one plan."""
    plans = []
    stock = Compilation.plan
    monkeypatch.setattr(Compilation, "plan", lambda self, *a: plans.append(1) or stock(self, *a))
    (report,) = reports(ReportRequest("x'*A*x", wrt=["x"]))
    assert len(plans) == 1
    assert report.code.startswith("def function(")
    assert report.code.splitlines()[-1] in report.module


@pytest.mark.slow
@pytest.mark.skipif(
    CHROMIUM is None or shutil.which("chromedriver") is None,
    reason="needs Chromium and its driver",
)
def test_in_a_browser(server, tmp_path):
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for word in (
        "--headless=new",
        "--no-sandbox",
        "--disable-dev-shm-usage",
        f"--user-data-dir={tmp_path}",
    ):
        options.add_argument(word)
    service = webdriver.ChromeService(shutil.which("chromedriver"))
    with webdriver.Chrome(options, service) as browser:
        wait = WebDriverWait(browser, 60)

        def find(selector):
            return browser.find_element(By.CSS_SELECTOR, selector)

        def shows(selector, text):
            wait.until(lambda _: browser.find_elements(By.CSS_SELECTOR, selector))
            wait.until(lambda _: text in find(selector).text)

        browser.get(f"http://localhost:{server.server_port}/")
        shows("dd:nth-of-type(3)", "X.T @")
        assert find(".formula math").size["height"] > 10
        find("textarea").clear()
        find("textarea").send_keys("x'*A*x")
        find("[name=wrt]").clear()
        find("[name=wrt]").send_keys("x, A")
        wait.until(lambda _: len(browser.find_elements(By.CSS_SELECTOR, "section")) == 2)
        shows("dd:nth-of-type(3)", "A @ x + A.T @ x")
        browser.find_elements(By.CSS_SELECTOR, ".tabs button")[2].click()
        shows("pre", "A @ x")
        find(".copy").click()
        shows(".copy", "Copied")
        find(".steps summary").click()
        assert "pullback of Einsum" in find(".steps tbody").text
        find("textarea").send_keys(" +")
        assert not find("#answers").get_attribute("data-old")
        shows("#message", "expected a number")
        old = find("#answers").get_attribute("data-old")
        assert old.startswith("The answer to the question before: ")
        find(".tabs button:last-child").click()
        shows("pre", "def function")
        find("textarea").send_keys(" 1")
        wait.until(lambda _: not find("#answers").get_attribute("data-old"))
        assert not find("#message").text
        assert not browser.get_log("browser")
