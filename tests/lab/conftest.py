"""The lab in a real browser: Debian's Chromium, driven by Playwright, the page opened as a file.

Every test fails if the page writes an error or a warning to the console.
"""

import shutil
from contextlib import contextmanager
from pathlib import Path

import pytest

import needs

PAGE = Path(__file__).parents[2] / "src" / "maxmargin" / "lab" / "index.html"
CHROMIUM = shutil.which("chromium")
DESKTOP, PHONE = (1280, 800), (390, 844)
SLOW = 20_000
"""Milliseconds after which a page is given up."""


@pytest.fixture(scope="session")
def browser():
    """One browser for all tests of a process."""
    if CHROMIUM is None:
        pytest.skip("chromium is missing (Debian: chromium)")
    playwright = needs.package("playwright.sync_api")
    with playwright.sync_playwright() as driver:
        # Without its sandbox, which it refuses to be without where root runs the tests.
        started = driver.chromium.launch(executable_path=CHROMIUM, chromium_sandbox=False)
        yield started
        started.close()


@contextmanager
def pages(browser):
    """A function that opens pages; at the end they are closed, and none may have complained."""
    contexts, complaints = [], []

    def open_page(route, *, size=DESKTOP, touch=False, dark=False, clipboard=True, before=""):
        context = browser.new_context(
            viewport={"width": size[0], "height": size[1]},
            has_touch=touch,
            color_scheme="dark" if dark else "light",
            accept_downloads=True,
            reduced_motion="reduce",
        )
        contexts.append(context)
        context.set_default_timeout(SLOW)
        if clipboard:
            context.grant_permissions(["clipboard-read", "clipboard-write"])
        if before:
            context.add_init_script(before)
        page = context.new_page()
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda message: complain(complaints, message))
        page.goto(PAGE.as_uri() + route)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert not complaints


@pytest.fixture
def open_lab(browser):
    """A function that opens a page of the lab, ``open_lab("#/play", size=PHONE, touch=True)``.

    A script ``before`` runs before those of the page.
    """
    with pages(browser) as open_page:
        yield open_page


@pytest.fixture(scope="module")
def solver(browser):
    """A page whose solver is ready: ``solver.evaluate("(...) => lab.fit(...)", ...)``."""
    with pages(browser) as open_page:
        page = open_page("")
        page.evaluate("lab.ready()")
        yield page


def complain(complaints, message):
    """Note an error or a warning of the page."""
    if message.type in ("error", "warning"):
        complaints.append(message.text)
