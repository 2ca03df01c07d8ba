"""svm_learn and svm_classify beside SVM-light 6.02: what the real programs printed for these files
stands below, with the first decision values.

They ran with -e 1e-7. Their features are float32: numbers agree to six digits or so. Everything
else is compared with formulas or brute force.
"""

import re
from pathlib import Path

import numpy as np
import pytest
from sklearn.svm import SVC as TheirSVC

from command import heart, run
from maxmargin import SVC, LinearSVC, RankSVC, TransductiveSVC, io
from maxmargin.io import dump_svmlight

THEIRS = {
    "": """
        Setting default regularization parameter C=0.1801
        Optimization finished (8 misclassified, maxdiff=0.00000).
        Number of SV: 22 (including 18 at upper bound)
        L1 loss: loss=16.86784
        Norm of weight vector: |w|=0.86960
        Estimated VCdim of classifier: VCdim<=7.48031
        XiAlpha-estimate of the error: error<=52.50% (rho=1.00,depth=0)
        XiAlpha-estimate of the recall: recall=>41.18% (rho=1.00,depth=0)
        XiAlpha-estimate of the precision: precision=>38.89% (rho=1.00,depth=0)
        Accuracy on test set: 80.00% (32 correct, 8 incorrect, 40 total)
        Precision/recall on test set: 100.00%/52.94%
        -0.59584953 1.2134974 -2.5976414 -1.0647243""",
    "-c 2 -j 3": """
        Optimization finished (14 misclassified, maxdiff=0.00000).
        Number of SV: 21 (including 18 at upper bound)
        L1 loss: loss=26.91090
        Norm of weight vector: |w|=1.68339
        Estimated VCdim of classifier: VCdim<=23.08047
        XiAlpha-estimate of the error: error<=50.00% (rho=1.00,depth=0)
        XiAlpha-estimate of the recall: recall=>70.59% (rho=1.00,depth=0)
        XiAlpha-estimate of the precision: precision=>44.44% (rho=1.00,depth=0)
        Accuracy on test set: 65.00% (26 correct, 14 incorrect, 40 total)
        Precision/recall on test set: 54.84%/100.00%
        0.8270218 5.4571469 -3.4413628 0.98448375""",
    "-t 2 -g 0.5": """
        Setting default regularization parameter C=0.6181
        Optimization finished (8 misclassified, maxdiff=0.00000).
        Number of SV: 34 (including 20 at upper bound)
        L1 loss: loss=16.08245
        Norm of weight vector: |w|=2.44804
        Estimated VCdim of classifier: VCdim<=12.82576
        XiAlpha-estimate of the error: error<=52.50% (rho=1.00,depth=0)
        XiAlpha-estimate of the recall: recall=>29.41% (rho=1.00,depth=0)
        XiAlpha-estimate of the precision: precision=>35.71% (rho=1.00,depth=0)
        Accuracy on test set: 80.00% (32 correct, 8 incorrect, 40 total)
        Precision/recall on test set: 100.00%/52.94%
        -0.99999999 0.97109896 -1 -0.88192111""",
    "-t 1 -d 2 -s .5 -r 1": """
        Setting default regularization parameter C=0.0669
        Optimization finished (8 misclassified, maxdiff=0.00000).
        Number of SV: 24 (including 17 at upper bound)
        L1 loss: loss=16.17912
        Norm of weight vector: |w|=0.59720
        Estimated VCdim of classifier: VCdim<=10.71509
        XiAlpha-estimate of the error: error<=55.00% (rho=1.00,depth=0)
        XiAlpha-estimate of the recall: recall=>35.29% (rho=1.00,depth=0)
        XiAlpha-estimate of the precision: precision=>35.29% (rho=1.00,depth=0)
        Accuracy on test set: 80.00% (32 correct, 8 incorrect, 40 total)
        Precision/recall on test set: 100.00%/52.94%
        -1.0000001 1.0625145 -1.0000001 -1.0241996""",
    "-b 0 -o 2": """
        Setting default regularization parameter C=0.1801
        Optimization finished (10 misclassified, maxdiff=0.00000).
        Number of SV: 24 (including 21 at upper bound)
        L1 loss: loss=20.07074
        Norm of weight vector: |w|=0.64226
        Estimated VCdim of classifier: VCdim<=4.53490
        XiAlpha-estimate of the error: error<=57.50% (rho=2.00,depth=0)
        XiAlpha-estimate of the recall: recall=>47.06% (rho=2.00,depth=0)
        XiAlpha-estimate of the precision: precision=>36.36% (rho=2.00,depth=0)
        Accuracy on test set: 75.00% (30 correct, 10 incorrect, 40 total)
        Precision/recall on test set: 68.42%/76.47%
        -0.71523786 1.1763441 -1.0716404 0.51596322""",
    "-x 1 -t 2 -g 0.2 -c 3": """
        Optimization finished (8 misclassified, maxdiff=0.00000).
        Number of SV: 26 (including 14 at upper bound)
        L1 loss: loss=15.98716
        Norm of weight vector: |w|=2.49585
        Estimated VCdim of classifier: VCdim<=11.24017
        XiAlpha-estimate of the error: error<=55.00% (rho=1.00,depth=0)
        XiAlpha-estimate of the recall: recall=>35.29% (rho=1.00,depth=0)
        XiAlpha-estimate of the precision: precision=>35.29% (rho=1.00,depth=0)
        Leave-one-out estimate of the error: error=25.00%
        Leave-one-out estimate of the recall: recall=52.94%
        Leave-one-out estimate of the precision: precision=81.82%
        Accuracy on test set: 80.00% (32 correct, 8 incorrect, 40 total)
        Precision/recall on test set: 100.00%/52.94%
        -0.99999979 1 -0.9999999 -0.95629761""",
    "-i 1 -c 5": """
        Optimization finished (8 misclassified, maxdiff=0.00000).
        Number of SV: 4 (plus 15 inconsistent examples)
        L1 loss: loss=16.81394
        Norm of weight vector: |w|=0.98772
        Estimated VCdim of classifier: VCdim<=9.36049
        Accuracy on test set: 80.00% (32 correct, 8 incorrect, 40 total)
        Precision/recall on test set: 100.00%/52.94%
        -1 1.2566099 -2.9873246 -1.0872298""",
    "-b 0 -t 2 -g 0.5": """
        Setting default regularization parameter C=0.6181
        Optimization finished (8 misclassified, maxdiff=0.00000).
        Number of SV: 30 (including 19 at upper bound)
        L1 loss: loss=16.46317
        Norm of weight vector: |w|=2.63640
        Estimated VCdim of classifier: VCdim<=14.71527
        XiAlpha-estimate of the error: error<=62.50% (rho=1.00,depth=0)
        XiAlpha-estimate of the recall: recall=>29.41% (rho=1.00,depth=0)
        XiAlpha-estimate of the precision: precision=>27.78% (rho=1.00,depth=0)
        Accuracy on test set: 80.00% (32 correct, 8 incorrect, 40 total)
        Precision/recall on test set: 100.00%/52.94%
        -0.84357836 1.0000001 -1 -0.53813683""",
    "-z r": """
        Setting default regularization parameter C=0.1801
        Optimization finished (maxdiff=0.00000).
        Number of SV: 38 (including 35 at upper bound)
        L1 loss: loss=29.38659
        Norm of weight vector: |w|=1.25831
        -0.035032903 3.5745748 -3.24269 0.26548908""",
    "-z r -w 0.05 -t 2 -g .3 -c 3": """
        Optimization finished (maxdiff=0.00000).
        Number of SV: 38 (including 33 at upper bound)
        L1 loss: loss=31.05641
        Norm of weight vector: |w|=5.17842
        0.033344052 3.1835528 -3.4145976 0.41065933""",
    "-z r -b 0": """
        Setting default regularization parameter C=0.1801
        Optimization finished (maxdiff=0.00000).
        Number of SV: 40 (including 38 at upper bound)
        L1 loss: loss=29.41860
        Norm of weight vector: |w|=1.27240
        -0.095000001 3.491403 -3.4329534 0.072370878""",
}
"""What SVM-light 6.02 prints, without the lines about time, progress and the longest example."""


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder with the files that the real programs had: classes, values and rankings."""
    monkeypatch.chdir(tmp_path)
    X, z = examples()
    dump_svmlight(X, np.where(z > 0.3, 1, -1), "c.dat")
    dump_svmlight(X, z, "r.dat")
    dump_svmlight(X, grades(z), "p.dat", query_id=QUERY)
    return tmp_path


def examples():
    i, j = np.mgrid[:40, :3]
    X = np.round(2 * np.sin(1 + 1.4 * i * (j + 1) + j), 3)
    return X, np.round(X[:, 0] - X[:, 1] + 0.5 * X[:, 2] + 1.2 * np.sin(3 * np.arange(40)), 3)


QUERY = 1 + np.arange(40) // 8


def grades(z):
    """Targets of rankings: 1 to 4."""
    return np.clip(np.round(z), -1, 2) + 2


def numbers(text):
    return [float(word) for word in re.findall(r"-?\d+\.?\d*(?:e-?\d+)?", text)]


def words(text):
    return re.sub(r"-?\d+\.?\d*", "N", text)


@pytest.mark.parametrize("options", THEIRS)
def test_as_the_real_programs(place, options):
    *lines, values = (line.strip() for line in THEIRS[options].strip().splitlines())
    name = "r.dat" if "-z r" in options else "c.dat"
    said = run("svm_learn", *options.split(), "-e", 1e-7, name, "model").stdout
    said += run("svm_classify", name, "model", "out").stdout
    ours = [line for line in said.splitlines() if not line.startswith("optimal")]
    ours = [line for line in ours if "longest" not in line]
    assert "optimal: gap" in said
    assert [words(line) for line in ours] == [words(line) for line in lines]
    for ours_line, line in zip(ours, lines, strict=True):
        assert numbers(ours_line) == pytest.approx(numbers(line), rel=2e-5, abs=1e-6), line
    np.testing.assert_allclose(np.loadtxt("out")[:4], numbers(values), rtol=0, atol=5e-6)


def test_the_file_is_the_model(place):
    """Values are written exactly, and the file reads back as the same function."""
    run("svm_learn", "-t", 2, "-g", 0.5, "-c", 2, "-v", 0, "c.dat", "model")
    X, y = io.load_svmlight("c.dat")
    model = SVC(C=2, gamma=0.5).fit(X, y)
    run("svm_classify", "-v", 0, "c.dat", "model", "out")
    np.testing.assert_array_equal(np.loadtxt("out"), model.decision_function(X))
    assert Path("model").read_text().splitlines()[:2] == [
        "SVM-light Version V6.02",
        "2 # kernel type",
    ]


def test_dual_variables(place):
    """-a: coefficients in the order of the file; those of a regression as two halves."""
    X, z = examples()
    run("svm_learn", "-c", 2, "-e", 1e-8, "-a", "alpha", "c.dat", "model")
    model = io.load("model")
    b = np.loadtxt("alpha")
    np.testing.assert_allclose(b @ X, weights(model), rtol=0, atol=1e-12)
    np.testing.assert_array_equal(np.sign(b[b != 0]), np.where(z > 0.3, 1, -1)[b != 0])
    run("svm_learn", "-z", "r", "-c", 2, "-e", 1e-8, "-a", "alpha", "r.dat", "model")
    b, model = np.loadtxt("alpha"), io.load_svm_light("model", regression=True)
    assert b.shape == (80,)
    assert (b[:40] >= 0).all()
    assert (b[40:] <= 0).all()
    np.testing.assert_allclose((b[:40] + b[:39:-1]) @ X, weights(model), rtol=0, atol=1e-12)


def weights(model):
    """The weights of a linear model in a file."""
    return model.model_.coef[0] @ model.model_.vectors.toarray()


def test_leave_one_out_and_xi_alpha_by_brute_force(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X, y = heart("h.dat", n=60, d=5, noise=2.0)
    said = run("svm_learn", "-x", 1, "-c", 1, "-t", 2, "-g", 0.5, "-e", 1e-6, "h.dat").stdout
    theirs = TheirSVC(C=1, gamma=0.5, tol=1e-8)
    left = [
        theirs.fit(np.delete(X, i, 0), np.delete(y, i)).decision_function(X[i : i + 1])[0]
        for i in range(60)
    ]
    wrong = y * np.array(left) <= 0
    hits = np.sum(~wrong & (y > 0))
    goal = {
        "error": np.mean(wrong),
        "recall": hits / np.sum(y > 0),
        "precision": hits / (hits + np.sum(wrong & (y < 0))),
    }
    for name, value in goal.items():
        assert f"Leave-one-out estimate of the {name}: {name}={100 * value:.2f}%" in said
    theirs.fit(X, y)
    a = np.zeros(60)
    a[theirs.support_] = np.abs(theirs.dual_coef_[0])
    reach = np.max(2 - 2 * np.exp(-0.5 * (X**2).sum(axis=1)))
    share = np.mean(a * reach + np.maximum(0, 1 - y * theirs.decision_function(X)) >= 1)
    assert f"XiAlpha-estimate of the error: error<={100 * share:.2f}% (rho=1.00" in said
    assert Path("svm_model").exists()


def test_labels_are_signs(place):
    X, y = io.load_svmlight("c.dat")
    dump_svmlight(X, 2.5 * y, "scaled.dat")
    run("svm_learn", "-v", 0, "c.dat", "a")
    run("svm_learn", "-v", 0, "scaled.dat", "b")
    assert Path("a").read_text() == Path("b").read_text()
    dump_svmlight(X, np.abs(y), "one.dat")
    error = run("svm_learn", "one.dat", code=1).stderr
    assert "40 positive and 0 negative examples" in error


def test_options_of_the_algorithm_leave_the_optimum(place):
    run("svm_learn", "-v", 0, "-e", 1e-9, "c.dat", "a")
    options = ("-q", 20, "-n", 5, "-m", 5, "-h", 50, "-f", 0, "-#", 1000)
    run("svm_learn", "-v", 0, "-e", 1e-9, *options, "c.dat", "b")
    assert Path("a").read_text() == Path("b").read_text()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("-z q", "-z must be c, r or p"),
        ("-t 4", "SVC(kernel=function)"),
        ("-u x", "SVC(kernel=function)"),
        ("-t 5", "-t must be 0, 1, 2 or 3"),
        ("-b 2", "-b must be 0 or 1"),
        ("-c -1", "-c must be positive"),
        ("-e 0", "-e must be positive"),
        ("-j 0", "-j must be positive"),
        ("-o 3", "-o must be above 0 and at most 2"),
        ("-k 5", "-x 1 is exact"),
        ("-n 12", "-n at most -q"),
        ("-y alphas", "the optimum is the same"),
        ("-z r -b 0 -t 2", "-b 0 is available for the linear kernel"),
        ("-z p -a x", "-a is not available with -z p"),
        ("-p 2", "-p must be from 0 to 1"),
        ("-x 1 -i 1", "-i 0 and -b 1"),
        ("-? 1", "unknown option -?"),
    ],
)
def test_what_is_refused(place, options, message):
    error = " ".join(run("svm_learn", *options.split(), "c.dat", code=2).stderr.split())
    assert message in re.sub(r" ?│ ?", " ", error).replace("  ", " ")


def test_warnings_and_failures(place):
    said = run("svm_learn", "-v", 0, "-w", 0.2, "-d", 2, "c.dat").stderr
    assert "-w has no effect with -z c" in said
    assert "-d has no effect with -t 0" in said
    assert "would be overwritten" in run("svm_learn", "c.dat", "c.dat", code=1).stderr
    assert "would be overwritten" in run("svm_learn", "-a", "m", "c.dat", "m", code=1).stderr
    Path("zero.dat").write_text("1 1:0\n-1 1:0\n")
    assert "give it with -c" in run("svm_learn", "zero.dat", code=1).stderr
    Path("mixed.dat").write_text("1 1:1\n-1 1:1\n1 1:2\n-1 1:2\n")
    assert "-i 1 removed all" in run("svm_learn", "-i", 1, "-c", 1, "mixed.dat", code=1).stderr


def test_formats_of_predictions(place):
    run("svm_learn", "-v", 0, "c.dat", "model")
    run("svm_classify", "-v", 0, "c.dat", "model")
    run("svm_classify", "-v", 0, "-f", 0, "c.dat", "model", "old")
    f = np.loadtxt("svm_predictions")
    for value, line in zip(f, Path("old").read_text().splitlines(), strict=True):
        first, second = (word.split(":") for word in line.split())
        assert first[1] == ("+1" if value > 0 else "-1")
        assert second[1] == ("-1" if value > 0 else "+1")
        assert float(first[0]) == -float(second[0]) == abs(value)
    assert "-f must be 0 or 1" in run("svm_classify", "-f", 2, "c.dat", "model", code=2).stderr
    assert run("svm_classify", "r.dat", "model", "out").stdout == ""  # targets are not labels


def test_other_models_and_features(place):
    """Models of any file, and test files with new features: a linear model does not see them."""
    X, y = io.load_svmlight("c.dat")
    model = LinearSVC().fit(X, y)
    io.save(model, "model.mm")
    run("svm_classify", "-v", 0, "c.dat", "model.mm", "out")
    np.testing.assert_array_equal(np.loadtxt("out"), model.decision_function(X))
    run("svm_learn", "-v", 0, "c.dat", "linear")
    run("svm_learn", "-v", 0, "-t", 2, "c.dat", "rbf")
    wide = np.c_[X.toarray(), np.full(40, 0.5)]
    dump_svmlight(wide, y, "wide.dat")
    dump_svmlight(X[:, :2], y, "narrow.dat")
    for name in ("linear", "rbf"):
        machine = io.load_svm_light(name, n_features=4)
        run("svm_classify", "-v", 0, "wide.dat", name, "out")
        np.testing.assert_allclose(
            np.loadtxt("out"), machine.decision_function(wide), rtol=0, atol=1e-14
        )
        run("svm_classify", "-v", 0, "narrow.dat", name, "out")
        narrow = np.c_[X[:, :2].toarray(), np.zeros((40, 2))]
        np.testing.assert_allclose(
            np.loadtxt("out"), machine.decision_function(narrow), rtol=0, atol=1e-14
        )
    dense, query = X.toarray(), np.arange(40) // 8
    for model in (
        RankSVC(kernel="rbf").fit(dense, y, qid=query),
        TransductiveSVC().fit(dense, np.where(query < 2, y > 0, -1)),
    ):
        io.save(model, "model.mm")
        run("svm_classify", "-v", 0, "c.dat", "model.mm", "out")
        f = getattr(model, "decision_function", model.predict)(dense)
        np.testing.assert_allclose(np.loadtxt("out"), f, atol=1e-14)
    several = SVC(decision_function_shape="ovo").fit(X, np.arange(40) % 3)
    io.save(several, "several.mm")
    assert "3 decision functions" in run("svm_classify", "c.dat", "several.mm", code=1).stderr


# ---- rankings ------------------------------------------------------------------------------------

RANKED = {
    "-c 3": [0.55550724, -0.54858625, 0.1964656],
    "-c 2 -l 2": [0.37925774, -0.33074272, 0.024757659],
}
"""Weights of SVM-rank 1.00 with -e 1e-7, which its stopping rule makes right to about 1e-3."""
PREFERRED = {
    "": "Setting default regularization parameter C=0.0724\nL1 loss: loss=31.49226\n"
    "Norm of weight vector: |w|=0.66762\n0.010333973 1.7324845 -1.6763394 -0.065508365",
    "-t 2 -g .3": "Setting default regularization parameter C=0.3512\nL1 loss: loss=32.69727\n"
    "Norm of weight vector: |w|=2.06183\n0.0026045639 1.0065822 -1.009999 0.0026044222",
    "-t 1 -d 2 -c .05": "L1 loss: loss=30.75254\nNorm of weight vector: |w|=0.51272\n"
    "0.2010315 2.2071398 -1.4288846 0.22744519",
}
"""What SVM-light 6.02 prints with -z p, and the first scores."""


def rank_objective(w, c, shares):
    """SVM-rank's objective, pair by pair: c / queries times the pairs' losses, or their means."""
    X, z = examples()
    y, s, total = grades(z), X @ w, 0.0
    for q in np.unique(QUERY):
        i, j = np.nonzero((QUERY[:, None] == q) & (q == QUERY) & (y[:, None] > y))
        losses = np.maximum(0, 1 - (s[i] - s[j]))
        total += losses.mean() if shares else losses.sum()
    return w @ w / 2 + c / len(np.unique(QUERY)) * total


@pytest.mark.parametrize("options", RANKED)
def test_svm_rank(place, options):
    said = run("svm_rank_learn", *options.split(), "-e", 1e-9, "p.dat", "model").stdout
    assert "Training set properties: 3 features, 5 rankings, 40 examples" in said
    w, theirs = weights(io.load("model")), np.array(RANKED[options])
    c, shares = float(options.split()[1]), "-l 2" in options
    objective = rank_objective(w, c, shares)
    assert f"Primal objective value: pval={objective:.5f}" in said
    assert objective <= rank_objective(theirs, c, shares) <= objective * (1 + 1e-4)
    np.testing.assert_allclose(w, theirs, atol=2e-3)
    assert Path("model").read_text().startswith("SVM-light Version V6.20")


def test_svm_rank_classify(place):
    """The lines of the real program; swapped pairs are counted as it counts them."""
    run("svm_rank_learn", "-c", 3, "-e", 1e-9, "-v", 0, "p.dat")
    said = run("svm_rank_classify", "p.dat", "svm_struct_model").stdout.splitlines()
    assert said == [
        "Average loss on test set: 0.1693",
        "Zero/one-error on test set: 100.00% (0 correct, 5 incorrect, 5 total)",
        "NOTE: The loss reported above is the fraction of swapped pairs averaged over",
        "      all rankings. The zero/one-error is fraction of perfectly correct",
        "      rankings!",
        "Total Num Swappedpairs  :     18",
        "Avg Swappedpairs Percent:  16.93",
    ]
    X, _ = examples()
    np.testing.assert_allclose(
        np.loadtxt("svm_predictions"), X @ weights(io.load("svm_struct_model")), atol=1e-12
    )
    Path("ties.dat").write_text("2 qid:1 1:1\n1 qid:1 1:1\n1 qid:2 1:1\n1 qid:2 1:2\n")
    said = run("svm_rank_classify", "ties.dat", "svm_struct_model", "out").stdout
    assert "Total Num Swappedpairs  :      1" in said  # the query without pairs has none
    assert "(1 correct, 1 incorrect, 2 total)" in said


@pytest.mark.parametrize("options", PREFERRED)
def test_svm_learn_of_preferences(place, options):
    *lines, values = PREFERRED[options].splitlines()
    said = run("svm_learn", "-z", "p", *options.split(), "-e", 1e-6, "p.dat", "model").stdout
    assert "105 rank constraints." in said
    for line in lines:
        name, value = line.split("=")
        ours = next(one for one in said.splitlines() if one.startswith(name))
        assert float(ours.split("=")[1]) == pytest.approx(float(value), rel=2e-5, abs=1e-5)
    run("svm_classify", "-v", 0, "p.dat", "model", "out")
    np.testing.assert_allclose(np.loadtxt("out")[:4], numbers(values), rtol=0, atol=1e-5)


def test_rankings_without_queries_or_order(place):
    X, z = examples()
    dump_svmlight(X, grades(z), "one.dat")
    said = run("svm_rank_learn", "-c", 1, "one.dat", "model").stdout
    assert "3 features, 1 rankings, 40 examples" in said
    dump_svmlight(X, np.ones(40), "equal.dat", query_id=QUERY)
    assert "nothing to rank" in run("svm_rank_learn", "equal.dat", code=1).stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("-p 2", "-p 2, squared slack variables, is not available"),
        ("-o 1", "-o 1, slack rescaling, is not available"),
        ("-l 3", "-l must be 1 or 2"),
        ("-w 7", "-w must be 0, 1, 2, 3, 4 or 9"),
        ("-c 0", "-c must be positive"),
        ("-a x", "-a is not available"),
        ("-t 4", "SVC(kernel=function)"),
    ],
)
def test_what_svm_rank_refuses(place, options, message):
    error = " ".join(run("svm_rank_learn", *options.split(), "p.dat", code=2).stderr.split())
    assert message in re.sub(r" ?│ ?", " ", error).replace("  ", " ")
