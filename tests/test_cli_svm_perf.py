"""svm_perf_learn and svm_perf_classify beside SVM-perf 3.00; svm_learn with unlabelled examples.

Weights that SVM-perf found with -e 1e-6 stand below. Objectives are computed by hand, over all
contingency tables or pairs.
"""

import re
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from sklearn import metrics

from command import run
from maxmargin import SVC, TransductiveSVC, io
from maxmargin.cli.svm_light_perf import performance
from maxmargin.io import dump_svmlight
from test_cli_svm_light import examples, weights

WEIGHTS = {
    "-l 2 -c 3": [1.0056216, -0.99348664, 0.32349014, -0.9765325],
    "-l 2 -c 3 --b 0": [1.546796, -2.007411, 0.34578612, 0.0],
    "-l 1 -c 3 --b 0": [0.77509189, -1.0270922, 0.18337275, 0.0],
    "-l 3 -c 3 --b 0": [1.185993, -1.1713319, 0.38353452, 0.0],
    "-l 10 -c 3 --b 0": [1.2390699, -1.3114283, 0.056360643, 0.0],
}
"""SVM-perf's weights and intercept. Its stopping rule makes most of them right to about 1e-2."""


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X, z = examples()
    dump_svmlight(X, np.where(z > 0.3, 1, -1), "c.dat")
    return tmp_path


def tables(s, y, loss):
    """100 times the greatest of loss + scores of wrong labels / n, over contingency tables.

    loss takes the found and the missed positive samples, and the wrong ones.
    """
    missed = np.append(0, np.cumsum(np.sort(s[y > 0])))
    taken = np.append(0, np.cumsum(np.sort(s[y < 0])[::-1]))
    p, n = len(missed) - 1, len(y)
    pairs = product(range(p + 1), range(len(taken)))
    return 100 * max(loss(p - c, c, d) + (taken[d] - missed[c]) / n for c, d in pairs)


def loss_of(measure, s, y):
    """SVM-perf's loss of scores, in percent."""
    n, p = len(y), int(np.sum(y > 0))
    if measure == "1":
        return tables(s, y, lambda a, c, d: 1 - 2 * a / (2 * a + c + d))
    if measure == "2":
        return 100 / n * np.maximum(0, 1 - y * s).sum()
    if measure == "3":
        return tables(s, y, lambda a, c, d: c / p if c == d else -np.inf)
    differences = s[y > 0][:, None] - s[y < 0]
    return 100 * np.maximum(0, 1 - differences).mean()


@pytest.mark.parametrize("options", WEIGHTS)
def test_svm_perf(place, options):
    said = run("svm_perf_learn", *options.split(), "-e", 1e-7, "c.dat", "model").stdout
    X, y = io.load_svmlight("c.dat")
    assert "Training set properties: 3 features, 40 examples (17 pos / 23 neg)" in said
    model, measure = io.load("model"), options.split()[1]
    ours, theirs = np.append(weights(model), model.model_.intercept), np.array(WEIGHTS[options])

    def objective(w):
        return w @ w / 2 + 3 * loss_of(measure, X @ w[:3] + w[3], y)

    assert f"Primal objective value: pval={objective(ours):.5f}" in said
    assert objective(ours) <= objective(theirs) + 1e-9 <= objective(ours) * (1 + 1e-4)
    np.testing.assert_allclose(ours, theirs, atol=1e-5 if measure == "2" else 0.02)
    assert Path("model").read_text().startswith("SVM-light Version V6.20")


def test_a_kernel_and_the_k_best(place):
    """The error rate with a kernel is C-SVC without intercept, with C = 100 c / n."""
    options = ("-c", 3, "-t", 2, "-g", 0.3, "-e", 1e-7, "-v", 0)
    run("svm_perf_learn", *options, "c.dat", "a")
    run("svm_learn", "-b", 0, "-c", 7.5, "-t", 2, "-g", 0.3, "-e", 1e-6, "-v", 0, "c.dat", "b")
    X, _ = io.load_svmlight("c.dat")
    f, g = (io.load(name).decision_function(X) for name in "ab")
    np.testing.assert_allclose(f, g, atol=1e-6)
    for line in ("-l 4 --p 1", "-l 5 --p 1", "-l 3"):  # 17 of 17: the break-even point
        run("svm_perf_learn", *line.split(), "-c", 3, "-e", 1e-7, "-v", 0, "c.dat", "model")
        f = io.load("model").decision_function(X)
        g = f if line == "-l 4 --p 1" else g
        np.testing.assert_allclose(f, g, atol=1e-6)
    assert "warning" not in run("svm_perf_learn", "-l", 5, "-w", 3, "--s", 0, "c.dat", "m").stderr


def test_svm_perf_classify(place):
    run("svm_perf_learn", "-c", 3, "-v", 0, "c.dat")
    said = run("svm_perf_classify", "c.dat", "svm_struct_model").stdout
    X, y = io.load_svmlight("c.dat")
    f = io.load("svm_struct_model").decision_function(X)
    np.testing.assert_array_equal(np.loadtxt("svm_predictions"), f)
    label = np.where(f > 0, 1, -1)
    goal = {
        "Accuracy": metrics.accuracy_score(y, label),
        "Precision": metrics.precision_score(y, label),
        "Recall": metrics.recall_score(y, label),
        "F1": metrics.f1_score(y, label),
        "ROCArea": metrics.roc_auc_score(y, f),
        "AvgPrec": metrics.average_precision_score(y, f),
        "PRBEP": np.mean(y[np.argsort(-f)[:17]] > 0),
    }
    found = dict(re.findall(r"(\w+) *: +([\d.]+)\n", said))
    for name, value in goal.items():
        assert float(found[name]) == pytest.approx(100 * value, abs=0.005), name
    assert f"Average loss on test set: {100 * np.mean(label != y):.4f}" in said
    dump_svmlight(X, np.where(np.arange(40) < 3, 0, y), "some.dat")
    said = run("svm_perf_classify", "some.dat", "svm_struct_model").stdout
    assert said == "NOTE: 3 test examples are unlabeled: there is no performance.\n"


def test_ties_count_against_the_model():
    """Of equal values the negative example comes first; one class alone has no such measures."""
    found = performance(np.array([True, False]), np.array([0.5, 0.5]))
    assert (found.PRBEP, found.ROCArea, found.AvgPrec) == (0.0, 0.0, 0.5)
    assert np.isnan(performance(np.array([False]), np.array([1.0])).Recall)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("-l 0", "-l 0, whether any example is wrong, is not available"),
        ("-l 7", "-l must be 1, 2, 3, 4, 5 or 10"),
        ("--i 2 -t 2", "kernels are exact"),
        ("--k 100", "kernels are exact"),
        ("-t 2 --b 1", "--b must be 0 with kernels"),
        ("-l 4 --p 2", "at most 1 with -l 4"),
        ("-l 5 --p .5", "at least 1 with -l 5"),
        ("--p 1", "--p belongs to -l 4 and -l 5"),
        ("-o 1", "slack rescaling, is not available"),
        ("--z 1", "unknown option --z"),
    ],
)
def test_what_svm_perf_refuses(place, options, message):
    error = " ".join(run("svm_perf_learn", *options.split(), "c.dat", code=2).stderr.split())
    assert message in re.sub(r" ?│ ?", " ", error).replace("  ", " ")


# ---- transduction --------------------------------------------------------------------------------


@pytest.fixture
def partly(place):
    """Sixteen examples have labels."""
    X, z = examples()
    y = np.where(np.arange(40) < 16, np.where(z > 0.3, 1, -1), 0)
    dump_svmlight(X, y, "t.dat")
    return X, y


@pytest.mark.parametrize(("kernel", "positive"), [((), 12), (("-t", 2, "-g", 0.3), 9)])
def test_transduction(partly, kernel, positive):
    X, y = partly
    share = ("-p", positive / 24)
    line = ("-c", 2, "-j", 1.5, *share, *kernel, "-e", 1e-5, "-a", "alpha", "-l", "labels")
    said = run("svm_learn", *line, "t.dat", "model").stdout
    assert f"Classifying unlabeled data as {positive} POS / {24 - positive} NEG." in said
    assert "stationary" in said
    model = TransductiveSVC(
        C=2,
        C_unlabelled=2,
        balance=positive / 24,
        kernel="rbf" if kernel else "linear",
        gamma=0.3,
        tol=1e-5,
    )
    weight = np.where(y > 0, 1.5, 1.0)
    model.fit(X, np.where(y == 0, -1, (y + 1) // 2), sample_weight=weight)
    labels = 2 * model.transduction_ - 1
    found = [line.split()[0].split(":") for line in Path("labels").read_text().splitlines()]
    assert [int(label) for _, label in found] == labels[16:].tolist()
    # with the labels found, the model in the file is the optimum
    goal = SVC(C=2, kernel="rbf" if kernel else "linear", gamma=0.3, tol=1e-9)
    f = goal.fit(X, labels, sample_weight=weight).decision_function(X)
    np.testing.assert_allclose(io.load("model").decision_function(X), f, atol=1e-3)
    b = np.loadtxt("alpha")
    assert (b * labels >= 0).all()
    np.testing.assert_allclose(b.sum(), 0, atol=1e-8)


def test_the_share_is_that_of_the_labels(partly):
    _, y = partly
    share = np.sum(y > 0) / 16
    said = run("svm_learn", "t.dat", "model").stdout
    assert f"as {round(24 * share)} POS" in said
    assert len(Path("trans_predictions").read_text().splitlines()) == 24
    for options in ("-x 1", "-i 1", "-b 0"):
        error = run("svm_learn", *options.split(), "t.dat", code=2).stderr
        assert "unlabelled" in error
    said = run("svm_learn", "-v", 0, "-p", 0.5, "-l", "x", "c.dat").stderr
    assert "-p has no effect without unlabelled examples" in said
    assert "-l has no effect without unlabelled examples" in said
    dump_svmlight(examples()[0], np.maximum(y, 0), "one.dat")
    assert "0 negative examples" in run("svm_learn", "one.dat", code=1).stderr
