"""svm-scale and scale beside LIBSVM's svm-scale: the same numbers, which it writes with six digits,
and range files for each other."""

import numpy as np
import pytest

from command import process, run
from programs import LIBSVM, real

pytestmark = LIBSVM
OPTIONS = [
    "",
    "-l 0",
    "-l 0 -u 3",
    "-l -2 -u 0.5",
    "-l -1 -u 1 -y 0 1",
    "-l 0.125 -u 0.875 -y -5 7",
]


@pytest.fixture
def place(tmp_path, monkeypatch):
    """Training data: a constant feature (4), one that is never there (5), negative ones, zeros left
    out; and test data that have fewer features, more, and values outside the ranges."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(40, 9)) * 10.0 ** rng.integers(-3, 5, 9), 4)
    X[rng.random(X.shape) < 0.3] = 0.0
    X[:, 3], X[:, 4], X[:, 7] = 7.0, 0.0, np.abs(X[:, 7]) + 1
    y = np.round(rng.normal(size=40), 3)
    rows(tmp_path / "train", X, y)
    rows(tmp_path / "narrow", 1.5 * X[:10, :5], y[:10])
    rows(tmp_path / "wide", np.c_[X[:10], X[10:20, :2]], y[:10])
    return tmp_path


def rows(path, X, y):
    lines = (" ".join(f"{k}:{v:g}" for k, v in enumerate(row, 1) if v) for row in X)
    path.write_text("".join(f"{label:g} {line}\n" for label, line in zip(y, lines, strict=True)))


def parsed(text):
    """Each line's target and features; a zero that comes out of rounding says nothing."""
    found = []
    for line in text.splitlines():
        label, *items = line.split()
        pairs = (item.split(":") for item in items)
        found.append((float(label), {int(k): float(v) for k, v in pairs if abs(float(v)) > 1e-12}))
    return found


def same(ours, theirs):
    """Equal to the six digits they write of features; targets to all."""
    for (y, x), (goal, z) in zip(parsed(ours), parsed(theirs), strict=True):
        assert y == pytest.approx(goal, rel=1e-14)
        assert list(x) == list(z)
        np.testing.assert_allclose(list(x.values()), list(z.values()), rtol=5.1e-6, atol=0)


def ranges_of(text):
    """A range file as numbers, line by line."""
    return [
        [word if word in "xy" else float(word) for word in line.split()]
        for line in text.split("\n")
        if line
    ]


@pytest.mark.parametrize("options", OPTIONS)
def test_svm_scale(place, options):
    theirs = real("svm-scale", *options.split(), "-s", "theirs.range", "train").stdout
    same(run("svm-scale", *options.split(), "-s", "ours.range", "train").stdout, theirs)
    assert ranges_of((place / "ours.range").read_text()) == ranges_of(
        (place / "theirs.range").read_text()
    )
    for name in ("train", "narrow", "wide"):
        goal = real("svm-scale", "-r", "theirs.range", name).stdout
        same(run("svm-scale", "-r", "theirs.range", name).stdout, goal)
        same(run("svm-scale", "-r", "ours.range", name).stdout, goal)
        assert real("svm-scale", "-r", "ours.range", name).stdout == goal


@pytest.mark.parametrize("options", ["", "-l 0 -u 3", "-l -2 -u 0.5"])
def test_scale(place, options):
    """Our own command, which has no targets to scale."""
    goal = real("svm-scale", *options.split(), "-s", "theirs.range", "train").stdout
    words = options.replace("-l", "--lower").replace("-u", "--upper").split()
    run("scale", *words, "--save", "ours.range", "train", "scaled.svm")
    same((place / "scaled.svm").read_text(), goal)
    assert ranges_of((place / "ours.range").read_text()) == ranges_of(
        (place / "theirs.range").read_text()
    )
    for name in ("narrow", "wide"):
        goal = real("svm-scale", "-r", "theirs.range", name).stdout
        for ranges in ("theirs.range", "ours.range"):
            run("scale", "--restore", ranges, name, "scaled.svm")
            same((place / "scaled.svm").read_text(), goal)


def test_ranges_of_more_features_than_a_table_has(place):
    """A column that a table lacks is no zero."""
    (place / "range").write_text("x\n-1 1\n1 0 1\n3 0 5\n")
    (place / "a.csv").write_text("a,b,label\n1,2,0\n0,3,1\n")
    assert (
        "the ranges have 3 features or more, the data have 2"
        in run("scale", "--restore", "range", "a.csv", "b.csv", code=1).stderr
    )


def test_text_is_equal_where_six_digits_are_enough(place):
    (place / "short").write_text("+1 1:2 3:5\n-1 1:4 2:1\n+1 2:-3 3:1\n")
    theirs = real("svm-scale", "short").stdout
    assert [line.rstrip() for line in theirs.splitlines()] == process(
        "svm-scale", "short"
    ).stdout.decode().splitlines()


@pytest.mark.parametrize(
    "options",
    [
        "",
        "-l 1 -u 0 train",
        "-y 2 2 train",
        "-r nowhere train",
        "nowhere",
        "-s a -r b train",
        "-z 1 train",
    ],
)
def test_both_fail(place, options):
    real("svm-scale", *options.split(), code=1)
    result = run(
        "svm-scale",
        *options.split(),
        code=2 if options in ("", "-s a -r b train", "-z 1 train") else 1,
    )
    assert result.stdout == ""


def test_a_pipeline(place):
    """scale, train, scale, predict with their programs, ours, and in turns: one answer."""
    rng = np.random.default_rng(1)
    X = rng.uniform(0, [1, 100, 0.01, 5], (120, 4)).round(4)
    y = np.where(X[:, 0] + X[:, 1] / 100 > 1, 1, -1)
    rows(place / "a", X[:80], y[:80])
    rows(place / "b", X[80:], y[80:])
    for name, program in {"theirs": real, "ours": run}.items():
        (place / f"a.{name}").write_text(program("svm-scale", "-s", f"{name}.range", "a").stdout)
        (place / f"b.{name}").write_text(program("svm-scale", "-r", f"{name}.range", "b").stdout)
    real("svm-train", "-q", "-c", 8, "a.theirs", "theirs.model")
    run("svm-train", "-q", "-c", 8, "a.ours", "ours.model")
    said = {
        real("svm-predict", f"b.{data}", f"{model}.model", "out").stdout
        for data in ("theirs", "ours")
        for model in ("theirs", "ours")
    }
    said |= {
        run("svm-predict", f"b.{data}", f"{model}.model", "out").stdout
        for data in ("theirs", "ours")
        for model in ("theirs", "ours")
    }
    assert len(said) == 1
