"""docs/architecture.md: its picture, its table of parts, and its call path beside a traced fit."""

import json
import re
from pathlib import Path

import pytest

from helpers import in_subprocess
from test_architecture import FILES, LEVEL, part

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "maxmargin"
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
TEXT = (ROOT / "docs" / "architecture.md").read_text()
STAGES = [
    "estimator",
    "formulation",
    "training",
    "solver",
    "backend",
    "solution",
    "certificate",
    "record",
]
"""The stages of a fit, in order; its source is made at the start of the training."""


def section(title):
    return re.search(rf"^## {title}\n(.*?)(?=^## |\Z)", TEXT, re.MULTILINE | re.DOTALL)[1]


def call_path():
    """(stage, file) of each row of the table."""
    rows = re.findall(r"^\| (\w*) ?\| `([\w./]+)` \| \S", section("The call path of SVC.fit"), re.M)
    found, stage = [], ""
    for name, file in rows:
        stage = name or stage
        found.append((stage, file))
    return found


# ---- a traced fit --------------------------------------------------------------------------------

TRACED = """
import json, os, sys
import numpy as np
import maxmargin

root = os.path.dirname(maxmargin.__file__) + os.sep
rng = np.random.default_rng(0)
X = rng.normal(size=(3000, 5))
y = (X[:, 0] + X[:, 1] ** 2 > 1).astype(int)
files, calls = [], set()


def ours(frame):
    while frame is not None and not frame.f_code.co_filename.startswith(root):
        frame = frame.f_back
    return frame


def traced(frame, event, argument):
    if event != "call" or not frame.f_code.co_filename.startswith(root):
        return
    file = frame.f_code.co_filename[len(root):].replace(os.sep, "/")
    if file not in files:
        files.append(file)
    caller = ours(frame.f_back)
    if caller is not None:
        calls.add((caller.f_code.co_filename[len(root):].replace(os.sep, "/"), file))


def trace(model, y):
    sys.setprofile(traced)
    model.fit(X, y)
    sys.setprofile(None)


model = maxmargin.SVC()
trace(model, y)
assert model.certificate_.status == "optimal"
path = list(files)
X = X[:300]
for model in (maxmargin.NuSVC(nu=0.2), maxmargin.LinearSVC(), maxmargin.PegasosSVC(alpha=0.01)):
    trace(model, np.arange(300) % 3)
for model in (maxmargin.SVR(), maxmargin.OneClassSVM(), maxmargin.LinearSVR()):
    trace(model, X[:, 0])
print(json.dumps([path, sorted(calls)]))
"""


@pytest.fixture(scope="module")
def trace():
    """The files in the order in which SVC.fit first enters them, and (caller, called) files of the
    fits of several estimators.
    """
    files, calls = json.loads(in_subprocess(TRACED))
    return files, [tuple(call) for call in calls]


def test_the_call_path_is_that_of_a_fit(trace):
    """In the order of the first entry into each file, none left out."""
    assert [file for _, file in call_path()] == trace[0]


def test_the_call_path_goes_one_way():
    """Stage by stage: none is come back to."""
    stages = [stage for stage, _ in call_path()]
    assert list(dict.fromkeys(stages)) == STAGES
    assert stages == sorted(stages, key=STAGES.index)


def test_no_call_goes_up(trace):
    """At run time as in the imports: no part calls one above it."""
    for caller, called in trace[1]:
        above, below = (
            LEVEL[file.partition("/")[0].removesuffix(".py")] for file in (caller, called)
        )
        assert below <= above, f"{caller} calls {called}"


# ---- the picture and the parts -------------------------------------------------------------------


def test_the_picture_shows_the_stages_of_a_fit():
    picture = re.search(r"```mermaid\n(.*?)```", TEXT, re.DOTALL)[1]
    arrows = re.findall(r"(\w+)(?= -->| -\.->)(?: --> | -\.-> )(?=(\w+))", picture)
    nodes = dict(re.findall(r'^\s+(\w+)\["([^"]*)"\]$', picture, re.MULTILINE))
    assert {name for arrow in arrows for name in arrow} <= set(nodes)
    way, step = ["estimator"], dict(arrows)
    while way[-1] != "record":
        way.append(step[way[-1]])
    assert [name for name in way if name not in ("source", "verdict")] == STAGES
    for label in [*nodes.values(), *re.findall(r'subgraph \w+\["([^"]*)"\]', picture)]:
        for name in re.findall(r"[\w/]+(?:/|\.py)", label):
            assert (PACKAGE / name).exists(), name


def test_every_part_of_the_package_is_described():
    rows = re.findall(r"^\| (`.*?`) \| \S", section("The picture"), re.MULTILINE)
    named = [name for row in rows for name in re.findall(r"`([\w.]+)/?`", row)]
    assert len(named) == len(set(named))
    assert {name.removesuffix(".py") for name in named} == {part(file) for file in FILES} - {
        "__init__"
    }


# ---- paths in all pages --------------------------------------------------------------------------

PLACES = (PACKAGE, ROOT, ROOT / "docs", PACKAGE / "core", PACKAGE / "kernel", PACKAGE / "linear")
PATH = re.compile(r"`((?:[\w-]+/)*[\w-]+\.(?:py|h|cpp|md|toml|sh)|(?:[\w-]+/)+)`")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_files_that_pages_name_exist(page):
    wrong = [
        name
        for name in PATH.findall(page.read_text())
        if not name.endswith(("new.py", "load.py"))  # a file to write, a file of the user's
        and name not in ("grid.py", "easy.py")  # programs of LIBSVM
        and not any((place / name).exists() for place in (*PLACES, page.parent))
    ]
    assert not wrong
