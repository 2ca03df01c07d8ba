"""scikit-learn's own SVM tests through the plugin: exactly those of docs/scikit-learn-suite.md do not pass."""

import inspect
import pickle
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import sklearn
import sklearn.svm
from sklearn.base import clone

import maxmargin
import needs
from helpers import assert_close, assert_same_bits, binary, child_environment

TABLE = Path(__file__).parent.parent / "docs" / "scikit-learn-suite.md"
LISTED = set(re.findall(r"^\| `([\w.]+::\w+)`", TABLE.read_text(), re.MULTILINE))


@needs.applies(sklearn.__version__.startswith("1.9."), "the table is that of scikit-learn 1.9")
def test_only_the_listed_tests_fail(tmp_path):
    command = [sys.executable, "-m", "pytest", "-p", "maxmargin.sklearn_patch", "--pyargs", "sklearn.svm", "-q", "--tb=no", "-rf"]
    environment = child_environment(PYTHONWARNINGS="ignore")
    done = subprocess.run([*command, "-p", "no:cacheprovider"], capture_output=True, text=True, cwd=tmp_path, timeout=250, env=environment)
    failed = set(re.findall(r"^FAILED (?:\S*/)?(test_\w+\.py::\w+)", done.stdout, re.MULTILINE))
    assert failed == LISTED, done.stdout[-3000:]
    passed = int(re.search(r"(\d+) passed", done.stdout)[1])
    fits = int(re.search(r"(\d+) fits by maxmargin", done.stdout)[1])
    assert passed > 200
    assert fits > 300, "the suite must have run on our classes"


def test_linear_models_in_scikit_learns_place():
    """They give scikit-learn's model, look like scikit-learn's classes, and are pickled as what they are."""
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
            assert abs(model.intercept_ - getattr(maxmargin, name)(C=0.1).fit(X, z).intercept_) > 1e-2
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
        model = original().fit([[0.0], [1.0]], [0, 1])  # pickles of scikit-learn's own models still work
        assert type(pickle.loads(pickle.dumps(model))) is original
    finally:
        maxmargin.unpatch_sklearn()
    maxmargin.unpatch_sklearn()
    assert sklearn.svm.SVC is original
    assert sklearn.svm._classes.SVC is original
