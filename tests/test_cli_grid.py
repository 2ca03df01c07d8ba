"""grid.py and easy.py: LIBSVM's options, lines and files.

The order of the points and the lines were compared with the real grid.py (LIBSVM 3.37), whose
svm-train was replaced by one that prints made-up rates; ORDER is what it printed.
"""

import re

import numpy as np
import pytest

from command import heart, run
from maxmargin import SVC, io
from maxmargin.cli import grid_py
from maxmargin.cli.grid_options import parse_options
from maxmargin.io import load_svmlight

ORDER = "0 -3|0 1|-5 -3|-5 1|0 -7|-5 -7|5 -3|5 1|5 -7"
"""-log2c -5,5,5 -log2g 1,-7,-4."""


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    heart(tmp_path / "heart", n=120, d=5)
    return tmp_path


def lines_of(*arguments, **options):
    return run("grid.py", *arguments, **options).stdout.splitlines()


def test_lines(place):
    *lines, last = lines_of("-log2c", "-5,5,5", "-log2g", "1,-7,-4", "heart")
    form = r"\[local\] (\S+) (\S+) (\S+) \(best c=(\S+), g=(\S+), rate=(\S+)\)"
    found = np.array([re.fullmatch(form, line).groups() for line in lines], float)
    assert "|".join(f"{c:g} {g:g}" for c, g in found[:, :2]) == ORDER
    for k in range(1, len(found) + 1):
        assert found[k - 1, 5] == found[:k, 2].max()
        c, g = np.log2(found[k - 1, 3:5])
        assert [c, g, found[k - 1, 5]] in found[:k, :3].tolist()
    best = found[-1]
    assert last == f"{best[3]} {best[4]} {best[5]}"
    out = [f"log2c={c} log2g={g} rate={rate}" for c, g, rate in found[:, :3].tolist()]
    assert (place / "heart.out").read_text().splitlines() == out
    assert (place / "heart.png").read_bytes().startswith(b"\x89PNG")


def test_rates_are_those_of_svm_train(place):
    """Each point of the grid is one run of svm-train -v."""
    heart(place / "three", n=100, d=4, classes=3, noise=2.0)
    options = ["-s", 0, "-t", 1, "-d", 2, "-r", 1, "-w1", 2, "-e", 1e-6]
    lines = lines_of("-log2c", "-2,2,2", "-log2g", "-1,-3,-1", "-v", 4, *options, "three")
    for line in lines[:-1]:
        c, g, rate = map(float, re.match(r"\[local\] (\S+) (\S+) (\S+)", line).groups())
        alone = run("svm-train", "-v", 4, "-c", 2.0**c, "-g", 2.0**g, *options, "three").stdout
        assert alone == f"Cross Validation Accuracy = {rate:g}%\n"


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        (["-log2g", "null", "-t", "0", "-log2c", "-1,1,1"], "[local] 0.0 "),
        (["-log2c", "null", "-log2g", "-1,-3,-1"], "[local] -2.0 "),
        (["-log2c", "null", "-log2g", "-1,-3,-1", "-s", "1", "-n", "0.3"], "[local] -2.0 "),
    ],
)
def test_one_parameter(arguments, shown, place):
    *lines, last = lines_of(*arguments, "-out", "null", "heart")
    assert len(lines) == 3
    assert lines[0].startswith(shown)
    assert len(last.split()) == 2
    assert [path.name for path in place.iterdir()] == ["heart"]  # nothing to draw, nothing to keep


def test_the_defaults_are_whole_numbers():
    options = parse_options(["data"])
    assert options.log2c == list(range(-5, 16, 2))
    assert options.log2g == list(range(3, -16, -2))
    assert (options.folds, options.out, options.picture) == (5, "data.out", "data.png")
    assert all(type(k) is int for k in options.log2c)
    points = grid_py.in_order(options.log2c, options.log2g)
    assert points[:6] == [(5, -7), (-1, -7), (5, -1), (-1, -1), (11, -7), (11, -1)]
    assert len(set(points)) == len(points) == 110


def test_resume(place):
    options = ["-log2c", "-5,5,5", "-log2g", "1,-7,-4", "-gnuplot", "null"]
    whole = lines_of(*options, "heart")
    text = (place / "heart.out").read_text()
    (place / "part").write_text("nonsense\n" + "".join(text.splitlines(keepends=True)[:4]))
    again = lines_of(*options, "-resume", "part", "-out", "part", "heart")
    assert [line.replace("resumed", "local") for line in again] == whole
    assert [line.split()[0] for line in again[:-1]] == ["[resumed]"] * 4 + ["[local]"] * 5
    assert (place / "part").read_text() == "nonsense\n" + text
    (place / "heart.out").write_text(text.replace("rate=", "rate=1"))
    *lines, last = lines_of(*options, "-resume", "heart")  # heart.out, whose rates are believed
    assert {line.split()[0] for line in lines} == {"[resumed]"}
    assert float(last.split()[-1]) > 100
    assert "no file" in run("grid.py", "-resume", "missing", "heart", code=1).stderr


def test_ties_go_to_the_smaller_C_of_the_same_gamma(place, monkeypatch):
    rates = {(c, g): 50.0 for c in range(-5, 16, 2) for g in range(3, -16, -2)}
    monkeypatch.setattr(grid_py, "rated", lambda options, data, points: rates)
    *_, last = lines_of("-gnuplot", "null", "heart")
    assert last == f"{2.0**-5} {2.0**-7} 50.0"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["-c", 1], "use -log2c"),
        (["-g", 1], "use -log2g"),
        (["-log2c", "null", "-log2g", "null"], "cannot both be null"),
        (["-log2c", "1,2"], "begin,end,step"),
        (["-log2c", "1,2,0"], "step not 0"),
        (["-log2c", "5,1,1"], "0 values"),
        (["-log2c", "0,500,0.001"], "500001 values"),
        (["-log2g", "0,9999,1"], "from -500 to 500"),
        (["-log2c", "nan,1,1"], "from -500 to 500"),
        (["-v", 1], "at least 2"),
        (["-s", 3], "tune --problem svr"),
        (["-s", 1], "use -log2c null"),
        (["-t", 0], "use -log2g null"),
        (["-t", 9], "0 to 4"),
        (["-z", 9], "unknown option"),
        (["-out"], "needs a value"),
    ],
)
def test_refused(arguments, told, place):
    said = run("grid.py", *arguments, "heart", code=2).stderr
    assert told in " ".join(said.replace("│", " ").split())


def test_options_without_an_effect_warn(place):
    options = ["-log2c", "0,0,1", "-log2g", "0,0,1", "-out", "null"]
    result = run("grid.py", *options, "-svmtrain", "x", "-gnuplot", "y", "-png", "p.png", "heart")
    assert "warning: -svmtrain has no effect" in result.stderr
    assert "warning: -gnuplot has no effect" in result.stderr
    assert (place / "p.png").exists()


def test_easy(place, monkeypatch):
    heart(place / "all", n=200, d=5, noise=0.7)
    rows = (place / "all").read_text().splitlines(keepends=True)
    (place / "train").write_text("".join(rows[:150]))
    (place / "test").write_text("".join(rows[150:]))
    small = parse_options(["-log2c", "-5,15,10", "-log2g", "3,-15,-9", "train.scale"])
    monkeypatch.setattr("maxmargin.cli.easy_py.parse_options", lambda arguments: small)
    lines = run("easy.py", "train", "test").stdout.splitlines()
    form = [
        "Scaling training data...",
        "Cross validation...",
        r"Best c=(\S+), g=(\S+) CV rate=\S+",
        "Training...",
        "Output model: train.model",
        "Scaling testing data...",
        "Testing...",
        r"Accuracy = \S+% \((\d+)/50\) \(classification\)",
        "Output prediction: test.predict",
    ]
    found = [re.fullmatch(pattern, line) for pattern, line in zip(form, lines, strict=True)]
    assert all(found)
    names = {"train.range", "train.scale", "train.scale.out", "train.scale.png", "train.model"}
    assert names | {"test.scale", "test.predict"} <= {path.name for path in place.iterdir()}
    # by hand: ranges of the training samples, the same for the test samples
    X, y = load_svmlight(place / "train")[:2]
    new, labels = load_svmlight(place / "test", n_features=X.shape[1])[:2]
    X, new = X.toarray(), new.toarray()
    least, size = X.min(axis=0), np.ptp(X, axis=0)
    scaled, others = (2 * (Z - least) / size - 1 for Z in (X, new))
    c, g = map(float, found[2].groups())
    model = SVC(C=c, gamma=g).fit(scaled, y)
    assert int(found[7][1]) == int((model.predict(others) == labels).sum())
    predicted = [float(line) for line in (place / "test.predict").read_text().split()]
    assert predicted == model.predict(others).tolist()
    np.testing.assert_allclose(
        io.load("train.model", n_features=5).decision_function(others),
        model.decision_function(others),
        atol=1e-2,
    )


def test_easy_without_a_test_file_and_refused(place, monkeypatch):
    small = parse_options(["-log2c", "0,2,1", "-log2g", "0,0,1", "-gnuplot", "null", "heart.scale"])
    monkeypatch.setattr("maxmargin.cli.easy_py.parse_options", lambda arguments: small)
    assert run("easy.py", "heart").stdout.splitlines()[-1] == "Output model: heart.model"
    for arguments in ([], ["a", "b", "c"], ["-c", "heart"]):
        assert "expected a training file" in run("easy.py", *arguments, code=2).stderr
    assert "no file" in run("easy.py", "missing", code=1).stderr
