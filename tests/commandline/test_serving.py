"""The local page: its answers, its access checks, its limits, and clicks in a browser."""

import http.client
import json
import os
import shutil
import socket
import subprocess
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from oracles import assert_close
from selenium import webdriver
from selenium.common.exceptions import StaleElementReferenceException
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select, WebDriverWait

from sympy_einsum.commandline import serving
from sympy_einsum.commandline.examples import EXAMPLES
from sympy_einsum.commandline.reports import ReportRequest, reports
from sympy_einsum.compiler.program import Compilation
from sympy_einsum.core import TensorError, tuning
from sympy_einsum.languages import read_declarations, variable_kinds

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
    assert report["function"].startswith("def function(x, A):")
    assert report["function"] in report["code"]
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
    choices = json.loads(respond(server, "GET", "/choices")[1])
    assert "kronecker" in choices["notation"]
    assert "logdet" in choices["functions"]


def fields_of(example):
    """Return the request for an example, as the page makes it."""
    kinds = [f"{name} {words}" for name, words in example.get("kinds", {}).items()]
    declarations = "; ".join([*kinds, example.get("declarations", "")])
    fields = {key: example[key] for key in ("text", "wrt", "data") if key in example}
    return {**fields, "declarations": declarations.strip("; ")}


@pytest.mark.parametrize("title", EXAMPLES)
def test_examples(title):
    """Each has an answer, also the problem; kinds are those of the menus, of variables in it."""
    example = EXAMPLES[title]
    found = serving.find_answer(ReportRequest(**fields_of(example)))
    assert found.get("reports") or "minimise" in found["text"]
    kinds = variable_kinds(example["text"])
    assert set(example.get("wrt", ())) <= kinds.keys() or not kinds
    assert example.get("kinds", {}).keys() <= kinds.keys()
    assert {*example.get("kinds", {}).values()} <= serving.KINDS.keys()


def test_each_kind_can_be_declared():
    for words in serving.KINDS:
        assert read_declarations(f"x {words}")["x"].kind == words.split()[-1]


def test_tasks(server):
    found = answer(server, text="np.sum((A @ x - y)**2)", wrt=["x"], task="convexity")
    assert found["title"] == "convexity"
    assert found["text"].startswith("convex in x")
    assert found["kinds"] == {"A": "matrix", "x": "vector", "y": "vector"}
    # The menus are there although the kinds don't fit yet.
    found = answer(server, text="A*b", wrt=["A"], task="convexity")
    assert found["kinds"] == {"A": "matrix", "b": "scalar"}
    assert "scalar" in found["error"]


def task(**fields):
    return serving.find_answer(serving.read_request(fields))["text"]


def test_solving():
    A, y = [[1, 2], [3, 4], [5, 6]], [1, 0, 2]
    text = task(text="norm2(A*x - y)^2", wrt=["x"], task="solve", data=json.dumps({"A": A, "y": y}))
    expected = np.linalg.lstsq(np.array(A), y)[1].item()
    assert_close(float(text.split()[1].strip(",")), expected, 1e-6)
    problem = fields_of(EXAMPLES["A problem with constraints"])
    assert "multiplier" in task(**problem, task="solve")
    for wrong in ("[1]", "{", '{"A": "x"}'):
        with pytest.raises(TensorError, match=r"JSON|array"):
            task(text="x'*A*x", wrt=["x"], task="solve", data=wrong)
    for name in ("solve", "convexity"):
        with pytest.raises(TensorError, match="name a variable"):
            task(text="x'*x", task=name)


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


def wait_for(condition):
    end = time.monotonic() + 60
    while not condition() and time.monotonic() < end:
        time.sleep(0.02)


def test_nothing_is_computed_for_those_who_hung_up(server, monkeypatch, capfd):
    """Abandoned requests release their slots at once, without a traceback."""
    begun, killed = [], []

    def forever(request, check):
        begun.append(request.text)
        try:
            for _ in range(3000):
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
    wait_for(lambda: len(begun) == tuning.MAX_PROCESSES)
    for connection in asked:
        connection.close()
    wait_for(lambda: len(killed) == tuning.MAX_PROCESSES)
    time.sleep(0.2)  # no other is begun
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


@pytest.fixture
def browser(tmp_path):
    if CHROMIUM is None or shutil.which("chromedriver") is None:
        pytest.skip("needs Chromium and its driver")
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
    with webdriver.Chrome(options, service) as found:
        yield found


# axe-core, or what stands for it where it isn't installed: each control has a name.
AXE = Path(os.environ.get("NODE_MODULES", "")) / "axe-core" / "axe.min.js"
SERIOUS = """
const done = arguments[0];
axe.run().then((found) => done(found.violations
    .filter((one) => ["serious", "critical"].includes(one.impact))
    .map((one) => `${one.id}: ${one.nodes.map((node) => node.html).join(" ")}`)));
"""
UNNAMED = """
const controls = document.querySelectorAll("input, select, textarea, button, summary, [tabindex]");
return [...controls].filter((one) => !(one.labels?.length || one.textContent.trim()
    || one.getAttribute("aria-label"))).map((one) => one.outerHTML);
"""


def inaccessible(browser):
    if not AXE.is_file():
        return browser.execute_script(UNNAMED)
    browser.execute_script(AXE.read_text(encoding="utf-8"))
    return browser.execute_async_script(SERIOUS)


@pytest.mark.slow
def test_in_a_browser(server, browser):
    # The page writes its answers anew: what was found may be gone when it is read.
    wait = WebDriverWait(browser, 15, ignored_exceptions=[StaleElementReferenceException])

    def find(selector):
        return browser.find_element(By.CSS_SELECTOR, selector)

    def shows(selector, text):
        wait.until(lambda _: browser.find_elements(By.CSS_SELECTOR, selector))
        wait.until(lambda _: text in find(selector).text)

    def write(name, text):
        find(f"[name={name}]").clear()
        find(f"[name={name}]").send_keys(text)

    def is_old():
        return "old" in find("#answers").get_attribute("class").split()

    browser.get(f"http://localhost:{server.server_port}/")
    shows("dd:nth-of-type(3)", "X.T @")
    assert find(".formula math").size["height"] > 10
    assert find("pre").text.startswith("def function(")
    write("text", "x'*A*x")
    write("wrt", "x, A")
    assert is_old()
    wait.until(lambda _: len(browser.find_elements(By.CSS_SELECTOR, "section")) == 2)
    shows("dd:nth-of-type(3)", "A @ x + A.T @ x")
    assert not is_old()
    Select(find(".backend")).select_by_visible_text("jax")
    shows("pre", "A @ x")
    find(".copy").click()
    shows(".copy", "Copied")
    find(".copy-latex").click()
    shows(".copy-latex", "Copied")
    find(".steps summary").click()
    assert "pullback of Einsum" in find(".steps tbody").text
    # A kind from the menu of a variable.
    Select(find("#variables [data-name=A]")).select_by_value("symmetric matrix")
    shows("dd:nth-of-type(3)", "2*A @ x")
    # An error leaves the answer pale, under its question.
    find("[name=text]").send_keys(" +")
    shows("#message", "expected a number")
    old = find("#answers").get_attribute("data-old")
    assert old == "The answer to the question before: x'*A*x"
    assert is_old()
    find("[name=text]").send_keys(" 1")
    wait.until(lambda _: not is_old())
    assert not find("#message").text
    assert not find("#answers").get_attribute("data-old")
    # Python, and the two other questions.
    write("text", "np.sum((A @ x - y)**2)")
    write("wrt", "x")
    shows("dd:nth-of-type(3)", "A @ x - y")
    find("[data-task=convexity]").click()
    shows("section pre", "convex in x")
    Select(find("[name=example]")).select_by_visible_text("A problem with constraints")
    shows("section pre", "minimise")
    find("[data-task=solve]").click()
    shows("section pre", "multiplier")
    # By keys alone: a function is written around the cursor.
    write("text", "x")
    find("#functions").find_element(By.XPATH, "..").find_element(By.TAG_NAME, "summary").click()
    button = next(
        b for b in find("#functions").find_elements(By.TAG_NAME, "button") if b.text == "sum"
    )
    browser.execute_script("document.querySelector('[name=text]').select()")
    button.send_keys(Keys.ENTER)
    assert find("[name=text]").get_attribute("value") == "sum(x)"
    write("wrt", "x")
    shows("dd:nth-of-type(3)", "Ones")
    for theme in ("light", "dark"):
        feature = {"name": "prefers-color-scheme", "value": theme}
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
        assert inaccessible(browser) == []
    narrow = {"width": 360, "height": 800, "deviceScaleFactor": 1, "mobile": True}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", narrow)
    assert browser.execute_script("return document.documentElement.scrollWidth") <= 360
    assert not browser.get_log("browser")
