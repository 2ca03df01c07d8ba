"""scikit-learn's own SVM tests through the plugin.

Exactly the variants of docs/scikit-learn-suite.md do not pass.
"""

import inspect
import pickle
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import sklearn
import sklearn.svm
from sklearn.base import clone

import maxmargin
from helpers import assert_close, assert_same_bits, binary, child_environment
from needs import NOT_APPLICABLE

TABLE = Path(__file__).parent.parent / "docs" / "scikit-learn-suite.md"
ROW = re.compile(r"^\| `([\w.]+::\w+)` \| ([\d., ]+) \| (all|`.*?`) \|", re.MULTILINE)
VERSION = ".".join(sklearn.__version__.split(".")[:2])


def outcomes(output):
    """Whether each variant of a test passed, from what pytest -rA prints."""
    lines = re.findall(
        r"^(PASSED|FAILED|ERROR) (?:\S*/)?(test_\w+\.py::.+?)(?: - .*)?$", output, re.MULTILINE
    )
    return {test: outcome == "PASSED" for outcome, test in lines}


def unexpected(table, version, passed):
    """Variants that fail and are not listed for this version, and listed ones that pass or are not
    there.
    """
    listed = set()
    for test, versions, variants in ROW.findall(table):
        if version in versions.split(", "):
            every = {name for name in passed if name.split("[")[0] == test} or {test}
            listed |= (
                every
                if variants == "all"
                else {f"{test}[{one}]" for one in re.findall("`(.*?)`", variants)}
            )
    return {name for name, good in passed.items() if not good} ^ listed


def test_only_the_listed_tests_fail(tmp_path):
    table = TABLE.read_text()
    columns = {version for _, versions, _ in ROW.findall(table) for version in versions.split(", ")}
    if VERSION not in columns:
        newest = max(columns, key=lambda version: [int(part) for part in version.split(".")])
        assert [int(part) for part in VERSION.split(".")] < [
            int(part) for part in newest.split(".")
        ], "a new version"
        pytest.skip(
            f"{NOT_APPLICABLE}the table is that of the oldest and the newest version, "
            f"{', '.join(sorted(columns))}"
        )
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "maxmargin.sklearn_patch",
        "--pyargs",
        "sklearn.svm",
        "-q",
        "--tb=no",
        "-rA",
    ]
    environment = child_environment(PYTHONWARNINGS="ignore", COLUMNS="1000")
    done = subprocess.run(
        [*command, "-p", "no:cacheprovider"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        timeout=250,
        env=environment,
    )
    passed = outcomes(done.stdout)
    assert sum(passed.values()) > 200, done.stdout[-3000:] + done.stderr[-3000:]
    assert not unexpected(table, VERSION, passed)
    fits = int(re.search(r"(\d+) fits by maxmargin", done.stdout)[1])
    assert fits > 300, "the suite must have run on our classes"


def test_a_variant_of_a_listed_test_is_not_let_through():
    table = (
        "| `test_a.py::test_x` | 1.6, 1.9 | `one` | why |\n"
        "| `test_a.py::test_y` | 1.9 | all | why |\n"
    )
    said = (
        "FAILED tests/test_a.py::test_x[one] - E\n"
        "PASSED a/test_a.py::test_x[two]\n"
        "FAILED test_a.py::test_y - E[3]\n"
    )
    assert unexpected(table, "1.9", outcomes(said)) == set()
    assert unexpected(table, "1.6", outcomes(said)) == {"test_a.py::test_y"}
    other = said.replace("PASSED a", "FAILED a")
    assert unexpected(table, "1.9", outcomes(other)) == {"test_a.py::test_x[two]"}
    assert unexpected(table, "1.9", outcomes(said.replace("FAILED tests", "PASSED tests"))) == {
        "test_a.py::test_x[one]"
    }
    assert unexpected(table, "1.9", outcomes(said.replace("test_y", "test_z"))) == {
        "test_a.py::test_y",
        "test_a.py::test_z",
    }


def test_linear_models_in_scikit_learns_place():
    """They give scikit-learn's model, look like scikit-learn's classes, and are pickled as what
    they are.
    """
    originals = {name: getattr(sklearn.svm, name) for name in ("LinearSVC", "LinearSVR")}
    X, y = binary(80)
    X += 1.0  # a penalised intercept makes another model here
    maxmargin.patch_sklearn()
    try:
        for name, original in originals.items():
            new = getattr(sklearn.svm, name)
            assert issubclass(new, getattr(maxmargin, name))
            assert repr(new()) == f"{name}()"
            assert repr(new(C=2, intercept="free")) == f"{name}(C=2, intercept='free')"
            theirs = inspect.signature(original).parameters
            ours = inspect.signature(new).parameters
            assert list(ours)[: len(theirs)] == list(theirs)
            for key, parameter in theirs.items():
                assert (ours[key].kind, ours[key].default) == (parameter.kind, parameter.default)
            z = y if name == "LinearSVC" else 10.0 + y
            model = new(C=0.1).fit(X, z)
            goal = original(C=0.1, tol=1e-8, max_iter=10**6, dual=name == "LinearSVR").fit(X, z)
            assert_close(np.ravel(model.coef_), np.ravel(goal.coef_), tol=1e-3)
            assert_close(model.intercept_, goal.intercept_, tol=1e-3)
            assert (
                abs(model.intercept_ - getattr(maxmargin, name)(C=0.1).fit(X, z).intercept_) > 1e-2
            )
            again = pickle.loads(pickle.dumps(model))
            assert type(again) is new
            assert_same_bits(again.predict(X), model.predict(X))
            assert clone(model).get_params()["intercept"] == "regularised"
    finally:
        maxmargin.unpatch_sklearn()
    assert type(pickle.loads(pickle.dumps(again))) is new, "models outlive the patch"
    assert sklearn.svm.LinearSVC is originals["LinearSVC"]


def test_patch_and_unpatch():
    original = sklearn.svm.SVC
    maxmargin.patch_sklearn()
    try:
        maxmargin.patch_sklearn()
        from sklearn.svm import SVC, NuSVR

        assert SVC is maxmargin.SVC
        assert NuSVR is maxmargin.NuSVR
        # pickles of scikit-learn's own models still work
        model = original().fit([[0.0], [1.0]], [0, 1])
        assert type(pickle.loads(pickle.dumps(model))) is original
    finally:
        maxmargin.unpatch_sklearn()
    maxmargin.unpatch_sklearn()
    assert sklearn.svm.SVC is original
    assert sklearn.svm._classes.SVC is original


def test_names_that_a_script_imported_too_early_are_named(monkeypatch):
    monkeypatch.setattr(sys.modules["__main__"], "SVR", sklearn.svm.SVR, raising=False)
    monkeypatch.setattr(sys.modules["__main__"], "SVC", maxmargin.SVC, raising=False)
    try:
        with pytest.warns(
            UserWarning, match=r"^SVR was imported before .* call patch_sklearn\(\) first"
        ):
            maxmargin.patch_sklearn()
        maxmargin.patch_sklearn()  # changes nothing and says nothing
    finally:
        maxmargin.unpatch_sklearn()
