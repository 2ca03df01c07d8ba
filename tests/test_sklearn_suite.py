"""scikit-learn's own SVM tests through the plugin: exactly those of docs/scikit-learn-suite.md do not pass."""

import pickle
import re
import subprocess
import sys
from pathlib import Path

import pytest
import sklearn
import sklearn.svm

import maxmargin
from helpers import child_environment

TABLE = Path(__file__).parent.parent / "docs" / "scikit-learn-suite.md"
LISTED = set(re.findall(r"^\| `([\w.]+::\w+)`", TABLE.read_text(), re.MULTILINE))


@pytest.mark.skipif(not sklearn.__version__.startswith("1.9."), reason="the table is that of scikit-learn 1.9")
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
