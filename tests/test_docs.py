"""Every snippet of every page runs: Python, commands, the gallery's figures; links point somewhere.

A page's snippets run one after the other, in one namespace and in a temporary folder of their own.
A fence is `python`, `console` with `$ ` before each command, or `mermaid`; commands may also stand
in an indented block. Anything else is refused, so that nothing is forgotten. Code that a page
includes from the sources (benchmarks/figures.py) runs there.
"""

import importlib
import inspect
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import matplotlib
import numpy as np
import pytest
import typer

from command import heart, run
from helpers import in_subprocess
from maxmargin.cli.app import LIKE_SVM_LIGHT, LIKE_THEIRS, OURS, app
from maxmargin.io import dump_svmlight, load_svmlight

matplotlib.use("Agg")
ROOT = Path(__file__).parent.parent
PLACES = ("docs", "examples", "benchmarks", "tests", "src")
PAGES = sorted(
    [*ROOT.glob("*.md"), *(page for place in PLACES for page in (ROOT / place).rglob("*.md"))]
)
GALLERY, TOUR = ROOT / "docs" / "gallery" / "README.md", ROOT / "docs" / "command-line.md"
FENCE = re.compile(r"^```(\S*)[^\n]*\n(.*?)^```\s*$", re.MULTILINE | re.DOTALL)
INCLUDED = re.compile(r"<!-- code from: .*? -->\n$")
INDENTED = re.compile(r"(?:^    maxmargin .*\n)+", re.MULTILINE)
SHELL = re.compile(r"[|;<>&]")


class Snippet(NamedTuple):
    """Code of a page: its language, text, and line on the page."""

    language: str
    code: str
    line: int


def snippets(page):
    """The snippets of a page in their order."""
    text = page.read_text()
    found = [
        (at.start(), "included" if INCLUDED.search(text, 0, at.start()) else at[1], at[2])
        for at in FENCE.finditer(text)
    ]
    found += [
        (at.start(), "commands", re.sub("^    ", "$ ", at[0], flags=re.MULTILINE))
        for at in INDENTED.finditer(text)
    ]
    return [
        Snippet(language, code, text.count("\n", 0, begin) + 2)
        for begin, language, code in sorted(found)
    ]


PYTHON = [page for page in PAGES if any(snippet.language == "python" for snippet in snippets(page))]
"""Pages with Python."""


def execute(page):
    """Run the Python of a page in one namespace, which is returned.

    Errors show the page and its line.
    """
    names = {"__name__": "__main__"}
    for snippet in snippets(page):
        if snippet.language == "python":
            exec(compile("\n" * (snippet.line - 1) + snippet.code, str(page), "exec"), names)
    return names


def commands(page):
    """The commands of a page, each with what the page says that it prints."""
    found = []
    for snippet in snippets(page):
        if snippet.language in ("console", "commands"):
            for line in snippet.code.splitlines():
                if line.startswith("$ "):
                    found.append((re.sub(r"\s+# .*", "", line[2:]), []))
                else:
                    found[-1][1].append(line)
    return found


def performed(command):
    """What a command prints, both streams together; in a shell if it needs one."""
    if SHELL.search(command) or not command.startswith("maxmargin "):
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        return subprocess.run(
            command, shell=True, text=True, timeout=120, env={**os.environ, "PATH": path}, **streams
        ).stdout
    words = shlex.split(command)[1:]
    return run(*words, code=None).output


def masked(text):
    """Lines without numbers, widths and the rows of tables, which may differ between machines."""
    lines = [
        re.sub(r"[-+]?\d[\d,]*(\.\d+)?(e[-+]?\d+)?", "#", line)
        for line in text.splitlines()
        if not line.startswith("│")
    ]
    return [" ".join(re.sub("[━─]+", "-", line).split()) for line in lines if line.strip()]


def ids(page):
    return str(page.relative_to(ROOT))


def test_pages_are_found():
    names = {ids(page) for page in PAGES}
    assert {
        "README.md",
        "CONTRIBUTING.md",
        "docs/files.md",
        "docs/architecture.md",
        "docs/decisions/0001-own-kernel-tiles.md",
    } <= names
    assert len(PYTHON) >= 6


@pytest.mark.parametrize("page", PAGES, ids=ids)
def test_every_fence_is_of_a_kind_that_is_run(page):
    assert page.read_text().count("```") == 2 * len(FENCE.findall(page.read_text())), (
        "a fence is not closed, or does not begin its line"
    )
    for snippet in snippets(page):
        assert snippet.language in ("python", "console", "commands", "mermaid", "included"), (
            f"line {snippet.line}: {snippet.language or 'no language'}"
        )


@pytest.mark.parametrize(
    "page",
    [
        page
        for page in PAGES
        if page != GALLERY and any(s.language == "python" for s in snippets(page))
    ],
    ids=ids,
)
def test_python_runs(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    names = execute(page)
    if ids(page) == "README.md":
        assert names["c"].status == "optimal"
        assert round(names["model"].score(names["X"], names["y"]), 4) == 0.9912
        assert "optimal: gap" in capsys.readouterr().out
    if ids(page) == "docs/textbook.md":
        assert {path.name for path in tmp_path.iterdir()} == {"boundary.png", "gap.png", "smo.gif"}


@pytest.fixture(autouse=True)
def close_figures():
    """Pages leave figures open, as a notebook does."""
    import matplotlib.pyplot as plt

    yield
    plt.close("all")


@pytest.fixture
def gallery(monkeypatch):
    """The modules of the gallery; the tests have one called data too."""
    monkeypatch.syspath_prepend(ROOT / "examples" / "gallery")
    monkeypatch.delitem(sys.modules, "data", raising=False)
    yield importlib.import_module("build")
    sys.modules.pop("data", None)


def test_the_gallery_is_that_of_its_sources(gallery):
    """Otherwise: make gallery."""
    assert GALLERY.read_text() == gallery.page()


def test_the_gallery_draws_with_the_lines_it_shows(gallery):
    import matplotlib.pyplot as plt

    homes = {
        (key, draw.__name__): inspect.getmodule(draw)
        for key in gallery.MODULES
        for draw in gallery.figures(key)
    }
    shown = snippets(GALLERY)
    assert len(shown) == len(homes) > 60
    for snippet, (_, name) in zip(shown, homes, strict=True):
        assert snippet.code.startswith(f"def {name}():")
        names = dict(vars(homes[_, name]))
        exec(snippet.code, names)
        assert isinstance(names[name](), matplotlib.figure.Figure), name
        plt.close("all")


@pytest.mark.parametrize(
    "page", [page for page in PAGES if page != TOUR and commands(page)], ids=ids
)
def test_commands_run(page, tmp_path, monkeypatch):
    """On the files that they name: data.csv, new.csv, heart_scale and searches.svm."""
    monkeypatch.chdir(tmp_path)
    heart("heart_scale", n=60)
    dump_svmlight(*load_svmlight("heart_scale"), "searches.svm", query_id=np.arange(60) // 6)
    run("convert", "heart_scale", "data.csv")
    run("subset", "data.csv", "20", "new.csv")
    for command, _ in commands(page):
        assert command.startswith("maxmargin "), command
        run(*shlex.split(command)[1:])


def test_the_tour_is_what_the_commands_say(tmp_path, monkeypatch):
    """But for numbers: `make tour` writes it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "118")
    monkeypatch.syspath_prepend(ROOT / "examples")
    tour = importlib.import_module("terminal_tour")
    exec(tour.PREPARATION, {})
    found = commands(TOUR)
    assert [command for command, _ in found] == list(tour.COMMANDS)
    for command, said in found:
        assert masked(performed(command)) == masked("\n".join(said)), command


# ---- commands in the running text and in --help --------------------------------------------------

INLINE = [
    (ids(page), text)
    for page in PAGES
    for text in re.findall(r"`(maxmargin [^`]*)`", page.read_text())
    if page.name != "CHANGELOG.md"
]
EXAMPLES = [
    line.strip().rpartition("| ")[2].partition(" >")[0]
    for command in (*OURS, *LIKE_THEIRS.values(), *LIKE_SVM_LIGHT.values())
    for line in inspect.getdoc(command).splitlines()
    if re.match(r"\s*(\w.*\| )?maxmargin ", line)
]


def understood(line):
    """The error of a command line, None if there is none; nothing is run."""
    words, group = shlex.split(line)[1:], typer.main.get_command(app)
    if words[0].isupper() or words[0].startswith("--"):
        return None
    context = group.make_context("maxmargin", [], resilient_parsing=True)
    try:
        name, command, rest = group.resolve_command(context, words)
        command.make_context(name, rest, parent=context)
    except Exception as error:
        return type(error).__name__, str(error)
    return None


@pytest.mark.parametrize(("page", "line"), INLINE)
def test_commands_of_the_text_have_the_options_they_name(page, line):
    error = understood(line)
    # `maxmargin scale --save` speaks of an option
    unfinished = ("MissingParameter", "BadOptionUsage")
    assert error is None or error[0] in unfinished, error


@pytest.mark.parametrize("line", EXAMPLES)
def test_examples_of_help_are_understood(line):
    assert understood(line) is None


def test_what_is_no_command_is_noticed():
    assert len(INLINE) > 8
    assert len(EXAMPLES) > 30
    assert understood("maxmargin train a.csv --colour red")[0] == "NoSuchOption"
    assert understood("maxmargin fly") is not None


# ---- links, modules ------------------------------------------------------------------------------


@pytest.mark.parametrize("page", PAGES, ids=ids)
def test_links_point_somewhere(page):
    for link in re.findall(r"\]\(([^)#\s]+)\)", page.read_text()):
        assert link.startswith("http") or (page.parent / link).exists(), link


def test_modules_are_loaded_when_they_are_used():
    code = """
        import sys
        import maxmargin
        lazy = {"io", "plots", "textbook"}
        assert not {f"maxmargin.{name}" for name in lazy} & set(sys.modules)
        assert "matplotlib" not in sys.modules
        assert lazy < set(dir(maxmargin))
        assert {"SVC", "Kernel", "__version__"} < set(dir(maxmargin))
        maxmargin.io.save, maxmargin.plots.TubeDisplay, maxmargin.textbook.smo
        assert not hasattr(maxmargin, "input_output")
    """
    in_subprocess(code)
