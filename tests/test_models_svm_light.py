"""SVM-light's model files in exactly the layout svm_learn writes: values by the formulas of its
kernels, and scikit-learn's solutions.

Each line of the head ends in a blank. Coefficients have 32 digits, features 8; what stood after #
in the training file follows each vector. Models of rankings (-z p) hold both vectors of each pair,
with coefficients of opposite signs, and the threshold 0.
"""

from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC as TheirSVC
from sklearn.svm import SVR as TheirSVR

from command import answer, run
from helpers import binary
from maxmargin import (
    SVC,
    SVR,
    LinearOneClassSVM,
    LinearSVC,
    LinearSVR,
    NuSVC,
    NuSVR,
    OneClassSVM,
    PegasosSVC,
    PerfSVC,
    RankSVC,
    TransductiveSVC,
    io,
)
from maxmargin.io import dump_svmlight

DEGREE, GAMMA, SLOPE, CONSTANT = 3, 0.25, 0.5, -0.75
KERNELS = {
    0: lambda A, B: A @ B.T,
    1: lambda A, B: (SLOPE * A @ B.T + CONSTANT) ** DEGREE,
    2: lambda A, B: np.exp(-GAMMA * ((A[:, None] - B[None]) ** 2).sum(axis=2)),
    3: lambda A, B: np.tanh(SLOPE * A @ B.T + CONSTANT),
}


def number(value):
    """All digits of a double, as many as 32, as C prints them."""
    return format(Decimal(value), ".32g") if value else "0"


def text(kernel, coef, vectors, b, documents=100, width=None, comments=None):
    """A model file."""
    head = [
        "SVM-light Version V6.02",
        f"{kernel} # kernel type",
        f"{DEGREE} # kernel parameter -d ",
        f"{GAMMA:.8g} # kernel parameter -g ",
        f"{SLOPE:.8g} # kernel parameter -s ",
        f"{CONSTANT:.8g} # kernel parameter -r ",
        "empty# kernel parameter -u ",
        f"{width or vectors.shape[1]} # highest feature index ",
        f"{documents} # number of training documents ",
        f"{len(coef) + 1} # number of support vectors plus 1 ",
        f"{b:.8g} # threshold b, each following line is a SV (starting with alpha*y)",
    ]
    lines = []
    for i, (c, row) in enumerate(zip(coef.tolist(), vectors, strict=True)):
        features = "".join(f"{k}:{v:.8g} " for k, v in enumerate(row, 1) if v)
        lines.append(f"{number(c)} {features}#{comments[i] if comments else ''}")
    return "\n".join([*head, *lines, ""])


@pytest.fixture
def some():
    """Coefficients, vectors with zeros (one has nothing else), a threshold, and rows to predict;
    all exact in 8 digits."""
    rng = np.random.default_rng(0)
    V = rng.normal(size=(12, 7)).round(4)
    V[rng.random(V.shape) < 0.4] = 0.0
    V[5] = 0.0
    X = rng.normal(size=(30, 7)).round(4)
    return rng.normal(size=12), V, 0.125, X


@pytest.mark.parametrize("kernel", KERNELS)
def test_functions(kernel, some, tmp_path):
    coef, V, b, X = some
    (tmp_path / "m").write_text(text(kernel, coef, V, b))
    f = KERNELS[kernel](X, V) @ coef - b
    model = io.load(tmp_path / "m")
    assert type(model) is SVC
    assert model.classes_.tolist() == [-1, 1]
    assert model.n_features_in_ == 7
    np.testing.assert_allclose(model.decision_function(X), f, rtol=1e-12, atol=1e-13)
    np.testing.assert_array_equal(model.predict(X), np.where(f > 0, 1, -1))
    values = io.load_svm_light(tmp_path / "m", regression=True)
    assert type(values) is SVR
    np.testing.assert_allclose(values.predict(X), f, rtol=1e-12, atol=1e-13)


def test_comments_and_many_features(some, tmp_path):
    """What users wrote after # comes back after each vector, with colons and marks.

    Features may end before the highest index.
    """
    coef, V, b, X = some
    comments = [" doc 1", "12:34 #again", "", "\ttabs", " umlaut ä"] + [" x"] * 7
    (tmp_path / "m").write_text(
        text(0, coef, V, b, width=50, comments=comments), encoding="latin-1"
    )
    wide = np.c_[X, np.ones((30, 43))]
    np.testing.assert_allclose(
        io.load(tmp_path / "m").decision_function(wide), X @ V.T @ coef - b, rtol=1e-12, atol=1e-13
    )


@pytest.mark.parametrize("version", ["V5.00", "V6.01", "V6.20"])
def test_versions(version, some, tmp_path):
    """Other versions, SVM-rank's among them: the same layout, zeros written out, -u with nothing
    before its mark, no last line's end."""
    coef, V, b, X = some
    V = V.copy()
    V[:, 1] = 0.0
    found = text(2, coef, V, b).replace("V6.02", version).replace("empty#", "#").rstrip("\n")
    head, lines = found.split("alpha*y)\n")
    lines = lines.replace(" 3:", " 2:0 3:")
    (tmp_path / "m").write_text(f"{head}alpha*y)\n{lines}")
    assert lines.count("2:0 ") == np.count_nonzero(V[:, 2])
    np.testing.assert_allclose(
        io.load(tmp_path / "m").decision_function(X),
        KERNELS[2](X, V) @ coef - b,
        rtol=1e-12,
        atol=1e-13,
    )


def test_a_weight_vector(tmp_path):
    """Linear models that were made compact are one support vector, the weights."""
    w = np.array([[0.5, 0.0, -2.0]])
    (tmp_path / "m").write_text(text(0, np.ones(1), w, -0.25))
    np.testing.assert_allclose(io.load(tmp_path / "m").decision_function(np.eye(3)), w[0] + 0.25)


@pytest.mark.parametrize(
    ("kernel", "name"), [(0, "linear"), (1, "poly"), (2, "rbf"), (3, "sigmoid")]
)
def test_solutions(kernel, name, tmp_path):
    """A classifier and a regression that scikit-learn solved, written as svm_learn would: the same
    values to the 8 digits of the file."""
    X, y = binary()
    given = {
        "kernel": name,
        "gamma": GAMMA if kernel == 2 else SLOPE,
        "coef0": CONSTANT,
        "degree": DEGREE,
    }
    for theirs, target in ((TheirSVC(**given), 2 * y - 1), (TheirSVR(**given), X[:, 0] + 0.3 * y)):
        theirs.fit(X, target)
        regression = isinstance(theirs, TheirSVR)
        (tmp_path / "m").write_text(
            text(
                kernel,
                theirs.dual_coef_[0],
                X[theirs.support_],
                -float(theirs.intercept_[0]),
                len(X),
            )
        )
        ours = io.load_svm_light(tmp_path / "m", regression=regression)
        goal = theirs.predict(X) if regression else theirs.decision_function(X)
        found = ours.predict(X) if regression else ours.decision_function(X)
        np.testing.assert_allclose(found, goal, rtol=0, atol=1e-6 * np.abs(theirs.dual_coef_).sum())


def test_ranking(tmp_path):
    """-z p: the order of the values is the ranking; x1 is the better of each pair (x1, x2),
    f(x) = sum alpha (k(x1, x) - k(x2, x))."""
    rng = np.random.default_rng(1)
    better, worse, alpha = (
        rng.normal(size=(5, 4)).round(3),
        rng.normal(size=(5, 4)).round(3),
        rng.uniform(size=5),
    )
    vectors = np.stack([better, worse], axis=1).reshape(10, 4)
    coef = np.stack([alpha, -alpha], axis=1).reshape(10)
    (tmp_path / "m").write_text(text(2, coef, vectors, 0.0, documents=10))
    X = rng.normal(size=(20, 4))
    f = (KERNELS[2](X, better) - KERNELS[2](X, worse)) @ alpha
    model = io.load(tmp_path / "m")
    np.testing.assert_allclose(model.decision_function(X), f, rtol=1e-12, atol=1e-14)
    np.testing.assert_array_equal(np.argsort(model.decision_function(X)), np.argsort(f))


def test_the_command(some, tmp_path, monkeypatch):
    """svm_classify is predict --decision."""
    monkeypatch.chdir(tmp_path)
    coef, V, b, X = some
    (tmp_path / "model").write_text(text(2, coef, V, b))
    f = KERNELS[2](X, V) @ coef - b
    dump_svmlight(X, np.sign(f), "test.svm")
    run("predict", "-q", "--decision", "test.svm", "model", "out.txt")
    np.testing.assert_allclose(np.loadtxt("out.txt"), np.c_[np.sign(f), f], rtol=1e-12, atol=1e-13)
    assert answer("predict", "test.svm", "model")["accuracy"] == 1.0
    assert "kernel" in answer("inspect", "model")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("2 # kernel type", "4 # kernel type", r"line 2: .*user-defined function"),
        (
            "13 # number of support vectors",
            "14 # number of support vectors",
            "the head says 13 support vectors, but 12 lines follow",
        ),
        ("7 # highest feature index", "6 # highest feature index", "features must be 1 to 6"),
        ("empty# kernel parameter -u \n", "", "a line with the comment '-u'"),
        ("0.125 # threshold b", "nan # threshold b", "line 11"),
    ],
)
def test_what_is_refused(old, new, message, some, tmp_path):
    coef, V, b, _ = some
    whole = text(2, coef, V, b)
    assert whole.count(old) == 1
    (tmp_path / "m").write_text(whole.replace(old, new))
    with pytest.raises(ValueError, match=message):
        io.load(tmp_path / "m")


# ---- writing -------------------------------------------------------------------------------------


def parsed(path):
    """A model file by hand: the head's values, coefficients and dense vectors."""
    *head, threshold = Path(path).read_text().splitlines()[1:11]
    values = [line.split("#")[0].strip() for line in (*head, threshold)]
    lines = [line.removesuffix("#").split() for line in Path(path).read_text().splitlines()[11:]]
    vectors = np.zeros((len(lines), int(values[6])))
    for row, line in zip(vectors, lines, strict=True):
        for word in line[1:]:
            index, value = word.split(":")
            row[int(index) - 1] = float(value)
    return values, np.array([float(line[0]) for line in lines]), vectors


def function(path, X):
    """The values of the function in a file, by the formulas of SVM-light's kernels."""
    (kind, d, g, s, r, _, _, _, count, b), coef, V = parsed(path)
    assert int(count) == len(coef) + 1
    d, g, s, r = int(d), float(g), float(s), float(r)
    K = {
        "0": lambda: X @ V.T,
        "1": lambda: (s * X @ V.T + r) ** d,
        "2": lambda: np.exp(-g * ((X[:, None] - V[None]) ** 2).sum(axis=2)),
        "3": lambda: np.tanh(s * X @ V.T + r),
    }[kind]()
    return K @ coef - float(b)


WRITTEN = {
    "linear": SVC(kernel="linear", C=2),
    "poly": SVC(kernel="poly", degree=2, gamma=0.3, coef0=0.7),
    "rbf": SVC(gamma=0.37),
    "nu": NuSVC(gamma=0.1, nu=0.3),
    "weights": LinearSVC(),
    "no intercept": LinearSVC(loss="hinge", fit_intercept=False),
    "svr": SVR(C=3, gamma=0.2),
    "nu-svr": NuSVR(C=3, gamma=0.2),
    "linear svr": LinearSVR(),
    "rank": RankSVC(),
    "rank rbf": RankSVC(kernel="rbf", gamma=0.2),
    "f1": PerfSVC("f1"),
    "f1 rbf": PerfSVC("f1", kernel="rbf", gamma=0.2),
}


@pytest.mark.parametrize("name", WRITTEN)
@pytest.mark.parametrize("sparse", [False, True])
def test_every_function_is_written(name, sparse, tmp_path):
    """The file holds the function, to the last digit, and reads back as it."""
    X, y = binary()
    rows, y = csr_matrix(X) if sparse else X, 2 * y - 1
    model = WRITTEN[name]
    values = isinstance(model, SVR | NuSVR | LinearSVR | RankSVC)
    model = clone(model).fit(rows, np.round(X[:, 0]) if values else y)
    f = model.predict(rows) if values else model.decision_function(rows)
    for version in ("6.02", "6.20"):
        io.save_svm_light(model, tmp_path / "m", version=version)
        assert (tmp_path / "m").read_text().startswith(f"SVM-light Version V{version}\n")
    size = 1 + np.abs(f).max()
    np.testing.assert_allclose(function(tmp_path / "m", X), f, rtol=0, atol=1e-12 * size)
    again = io.load_svm_light(tmp_path / "m", regression=values)
    g = again.predict(rows) if values else again.decision_function(rows)
    np.testing.assert_allclose(g, f, rtol=0, atol=1e-13 * size)
    io.save_svm_light(again, tmp_path / "n", version="6.20")
    (_, *one), (_, *two) = parsed(tmp_path / "m"), parsed(tmp_path / "n")
    order = np.argsort(one[0] > 0, kind="stable") if not values else slice(None)
    np.testing.assert_array_equal(one[0][order], two[0])
    np.testing.assert_array_equal(one[1][order], two[1])


def test_scaling_becomes_part_of_linear_models(tmp_path):
    X, y = binary()
    for last in (SVC(kernel="linear"), LinearSVC()):
        model = make_pipeline(StandardScaler(), last).fit(X, 2 * y - 1)
        io.save_svm_light(model, tmp_path / "m.gz")
        np.testing.assert_allclose(
            io.load(tmp_path / "m.gz").decision_function(X),
            model.decision_function(X),
            rtol=0,
            atol=1e-10,
        )
    for last in (SVC(), PerfSVC("f1")):
        model = make_pipeline(StandardScaler(), last).fit(X, 2 * y - 1)
        with pytest.raises(ValueError, match="SVM-light's model files hold no scaling"):
            io.save_svm_light(model, tmp_path / "n")
    assert not (tmp_path / "n").exists()


@pytest.mark.parametrize(
    ("model", "labels", "message"),
    [
        (SVC(), (0, 1), r"labels in SVM-light are -1 and 1, not \[0, 1\]"),
        (SVC(), (0, 1, 2), r"not \[0, 1, 2\]"),
        (LinearSVC(), (0, 1, 2), r"not \[0, 1, 2\]"),
        (SVC(kernel="laplacian"), (-1, 1), "SVM-light has no Kernel.laplacian"),
        (SVC(probability=True), (-1, 1), "SVM-light has no probabilities"),
        (OneClassSVM(), (-1, 1), "no one-class models"),
        (LinearOneClassSVM(), (-1, 1), "no one-class models"),
        (TransductiveSVC(), (0, 1), "labels in SVM-light are -1 and 1"),
    ],
)
def test_what_is_not_written(model, labels, message, tmp_path):
    X, _ = binary()
    y = np.array(labels)[np.arange(len(X)) % len(labels)]
    with pytest.raises(ValueError, match=message):
        io.save_svm_light(model.fit(X, y), tmp_path / "m")
    assert not (tmp_path / "m").exists()


def test_other_objects_are_not_written(tmp_path):
    X, y = binary()
    with pytest.raises(ValueError, match="version must be one of"):
        io.save_svm_light(SVC().fit(X, 2 * y - 1), tmp_path / "m", version="7")
    with pytest.raises(NotFittedError):
        io.save_svm_light(PerfSVC(), tmp_path / "m")
    with pytest.raises(TypeError, match="PegasosSVC cannot be written as a file of SVM-light"):
        io.save_svm_light(PegasosSVC(max_iter=2, tol=None).fit(X, 2 * y - 1), tmp_path / "m")


def test_features_beyond_those_of_the_file(some, tmp_path):
    coef, V, b, X = some
    (tmp_path / "m").write_text(text(2, coef, V, b))
    wide = np.c_[X, np.full(30, 0.3)]
    padded = np.c_[V, np.zeros(12)]
    model = io.load_svm_light(tmp_path / "m", n_features=8)
    np.testing.assert_allclose(
        model.decision_function(wide), KERNELS[2](wide, padded) @ coef - b, rtol=1e-12, atol=1e-13
    )
    with pytest.raises(ValueError, match="7 features, more than n_features=6"):
        io.load_svm_light(tmp_path / "m", n_features=6)


def test_convert_and_train_write_them(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X, y = binary()
    dump_svmlight(X, 2 * y - 1, "train.svm")
    run("train", "-q", "train.svm", "m.mm", "--gamma", 0.2)
    run("convert", "-q", "m.mm", "light", "--to", "svm-light")
    run("train", "-q", "train.svm", "other", "--format", "svm-light", "--gamma", 0.2)
    assert Path("light").read_text() == Path("other").read_text()
    run("convert", "-q", "light", "back.model")
    f = io.load("m.mm").decision_function(X)
    np.testing.assert_allclose(io.load("light").decision_function(X), f, rtol=0, atol=1e-13)
    np.testing.assert_allclose(io.load("back.model").decision_function(X), f, rtol=0, atol=1e-13)
    line = ("train", "train.svm", "x", "--format", "svm-light", "--scale", "standard")
    assert "SVM-light's model files hold no" in run(*line, code=2).stderr
