"""``maxmargin lab``: the solver in a browser, served to this computer alone."""

import errno
import webbrowser
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from typing import Annotated

import typer

from maxmargin.cli.reports import console

HOST = "127.0.0.1"
PAGE = files("maxmargin") / "lab" / "index.html"
"""One self-contained file; lab/README.md says how it is built."""


def lab(
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port to serve it on; 0 takes any that is free.")
    ] = 8765,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open it in the browser.")
    ] = True,
) -> None:
    """Serve the lab, where the solver runs in your browser, until Ctrl-C.

    Click points and watch regions, margins and certificates follow; step through SMO; move through
    the figures of the lectures. Nothing leaves this computer, and the page needs no network.

    Examples:

      maxmargin lab

      maxmargin lab --port 9000 --no-browser
    """
    page = PAGE.read_bytes()
    with _server(port, page) as server:
        address = f"http://{HOST}:{server.server_port}/"
        console().print(f"The lab is at {address} until Ctrl-C.", highlight=False)
        if browser:
            webbrowser.open(address)
        try:
            server.serve_forever()
        except KeyboardInterrupt:  # the way to end it
            return


def _server(port: int, page: bytes) -> ThreadingHTTPServer:
    """A server that answers every question for / with the page."""

    class Answer(BaseHTTPRequestHandler):
        """Answers one browser."""

        def do_GET(self) -> None:
            """Send the page, or say that there is nothing else."""
            found = self.path.partition("?")[0] in ("/", "/index.html")
            body = page if found else b"The lab is one page, at /.\n"
            kind = "html" if found else "plain"
            self.send_response(200 if found else 404)
            self.send_header("Content-Type", f"text/{kind}; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Cache-Control", "no-cache")  # a newer version may serve it tomorrow
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Write nothing for each request."""

    try:
        return ThreadingHTTPServer((HOST, port), Answer)
    except OSError as error:
        if error.errno not in (errno.EADDRINUSE, errno.EACCES):
            raise
        why = "in use" if error.errno == errno.EADDRINUSE else "not allowed"
        raise ValueError(f"port {port} is {why}: name another, or --port 0 for any free") from None
