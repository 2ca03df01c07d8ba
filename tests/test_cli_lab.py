"""`maxmargin lab`: what it serves, how it ends, and what it says where it cannot begin."""

import re
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from command import run
from helpers import child_environment
from maxmargin.cli import lab

PAGE = Path(__file__).parents[1] / "src" / "maxmargin" / "lab" / "index.html"


@pytest.fixture
def served():
    """The command in a process of its own, on a free port, and its address."""
    line = [sys.executable, "-c", "from maxmargin.cli import main; main()"]
    process = subprocess.Popen(
        [*line, "lab", "--port", "0", "--no-browser"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**child_environment(), "PYTHONUNBUFFERED": "1"},
    )
    try:
        yield process, re.search(r"http://\S+/", process.stdout.readline())[0]
    finally:
        process.kill()
        process.communicate()


def test_it_serves_one_page_until_ctrl_c(served):
    process, address = served
    with urllib.request.urlopen(address, timeout=30) as answer:
        assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
        assert answer.read() == PAGE.read_bytes()
    with urllib.request.urlopen(address + "index.html?anything", timeout=30) as answer:
        assert answer.read() == PAGE.read_bytes()
    for path in ("other.html", "../lab.py"):
        with pytest.raises(urllib.error.HTTPError, match="404") as refused:
            urllib.request.urlopen(address + path, timeout=30)
        refused.value.close()
    process.send_signal(signal.SIGINT)
    said, complained = process.communicate(timeout=30)
    assert (said, complained, process.returncode) == ("", "", 0)


def test_it_opens_the_browser_unless_told_not_to(monkeypatch):
    opened = []
    monkeypatch.setattr(lab.webbrowser, "open", opened.append)
    monkeypatch.setattr(lab.ThreadingHTTPServer, "serve_forever", lambda self: None)
    address = re.search(r"http://127\.0\.0\.1:\d+/", run("lab", "--port", "0").stdout)[0]
    assert opened == [address]
    run("lab", "--port", "0", "--no-browser")
    assert opened == [address]


def test_a_port_in_use_is_named():
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        said = run("lab", "--port", port, "--no-browser", code=1).stderr
    assert said == f"error: port {port} is in use: name another, or --port 0 for any free\n"
