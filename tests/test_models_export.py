"""Exports: onnxruntime, a C compiler and Node.js compute what we predict."""

import json
import subprocess

import numpy as np
import pytest
from scipy import sparse

import needs
from helpers import assert_close, three
from maxmargin import SVC, SVR, LinearSVC, io
from models import ALL

EXPORTED = ALL
"""Every estimator, labels of all kinds."""


def dense(X):
    return np.ascontiguousarray(X.toarray() if sparse.issparse(X) else X, np.float64)


def near(model, X):
    """New points near the old ones; rows of kernel values as they are."""
    if getattr(model, "kernel", None) == "precomputed":
        return dense(X)
    draw = np.random.default_rng(1)
    points = dense(X)[draw.integers(0, X.shape[0], 500)] + draw.normal(
        scale=0.3, size=(500, X.shape[1])
    )
    return np.abs(points) if getattr(model, "kernel", None) == "chi2" else points


def pairs(model, X):
    """The values of the decision functions: pairs of classes for one-vs-one, positive for the
    second of two classes."""
    if hasattr(model, "_decision_values") and hasattr(model, "classes_"):
        return model._decision_values(X)
    if not hasattr(model, "decision_function"):
        return model.predict(X)[:, None]
    values = model.decision_function(X)
    return values[:, None] if values.ndim == 1 else values


# ---- ONNX ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def runtime():
    needs.package("onnx")
    return needs.package("onnxruntime")


def run_onnx(runtime, model, X, given=None):
    session = runtime.InferenceSession(
        io.to_onnx(model).SerializeToString(), providers=["CPUExecutionProvider"]
    )
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(names, given or {"X": X}), strict=True))


@pytest.mark.parametrize("name", EXPORTED)
def test_onnxruntime(name, runtime):
    model, X = EXPORTED[name]()
    points = near(model, X)
    found = run_onnx(runtime, model, points)
    if "value" in found:
        assert_close(found["value"], model.predict(points), 1e-10)
        return
    np.testing.assert_array_equal(found["label"], model.predict(points))
    assert_close(found["decision"], model.decision_function(points), 1e-10)


def test_onnx_keeps_the_order_of_a_file_where_votes_are_equal(runtime, tmp_path):
    model, X = tied(tmp_path)
    np.testing.assert_array_equal(run_onnx(runtime, model, X)["label"], model.predict(X))


def tied(tmp_path):
    """A model of a LIBSVM file whose three classes beat each other in turn, at many points."""
    X, y = three()
    io.save_libsvm(SVC(kernel="linear").fit(X, y), tmp_path / "m")
    text = (tmp_path / "m").read_text().replace("label 0 1 2", "label 2 0 1")
    head, _, tail = text.partition("rho ")
    (tmp_path / "m").write_text(f"{head}rho -100.0 100.0 -100.0\n{tail.partition(chr(10))[2]}")
    model = io.load(tmp_path / "m")
    assert (model.predict(X) == 2).all()  # the first of the file
    assert len(set(np.round(model.decision_function(X)).ravel())) == 1
    return model, X


def test_onnx_without_support_vectors(runtime):
    X, _ = three()
    model = SVR(epsilon=10.0).fit(X, X[:, 0])
    assert len(model.support_) == 0
    assert_close(run_onnx(runtime, model, X)["value"], model.predict(X), 1e-12)


def test_onnx_is_an_extra(monkeypatch):
    import builtins

    real = builtins.__import__

    def without(name, *rest, **more):
        if name == "onnx":
            raise ImportError(name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ImportError, match=r"maxmargin\[onnx\]"):
        io.to_onnx(ALL["SVC"]()[0])


# ---- C -------------------------------------------------------------------------------------------

MAIN = r"""
#include <stdio.h>
int main(void) {
  double x[MAXMARGIN_INPUTS], f[MAXMARGIN_FUNCTIONS];
  for (;;) {
    for (int i = 0; i < MAXMARGIN_INPUTS; i++) if (scanf("%lf", x + i) != 1) return 0;
    maxmargin_decision(x, f);
    for (int c = 0; c < MAXMARGIN_FUNCTIONS; c++) printf("%.17g ", f[c]);
    printf("FORMAT\n", maxmargin_predict(x));
  }
}
"""
SOME = [
    "SVC",
    "SVC-linear",
    "SVC-poly",
    "SVC-sigmoid",
    "SVC-sparse",
    "SVC-precomputed",
    "SVC-three",
    "SVC-three-break-ties",
    "SVR",
    "OneClassSVM",
]
SOME += [
    "SVC-laplacian",
    "SVC-chi2",
    "SVC-cosine",
    "SVC-logistic",
    "SVC-strings",
    "SVC-ovr",
    "LinearSVC",
    "LinearSVC-three",
    "LinearSVR",
    "NormaSVC",
]
SOME += ["PegasosSVC", "NormaNovelty", "PerfSVC", "PerfSVC-rbf"]


def c_format(model):
    if not hasattr(model, "classes_"):
        return "%d" if hasattr(model, "decision_function") else "%.17g"
    return {"i": "%lld", "f": "%.17g"}.get(model.classes_.dtype.kind, "%s")


def run_c(source, form, X, folder):
    (folder / "m.c").write_text(source + MAIN.replace("FORMAT", form))
    command = ["cc", "-std=c99", "-O1", "-Wall", "-Wextra", "-Werror", "m.c", "-o", "m", "-lm"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    text = "\n".join(" ".join(map(repr, row)) for row in X.tolist())
    lines = subprocess.run(
        [str(folder / "m")], input=text, capture_output=True, text=True, check=True, timeout=60
    ).stdout.splitlines()
    return [line.split() for line in lines]


@needs.programs("cc", debian="gcc")
@pytest.mark.parametrize("name", SOME)
def test_c(name, tmp_path):
    model, X = ALL[name]()
    points = near(model, X)
    words = run_c(io.to_c(model), c_format(model), points, tmp_path)
    assert_close(np.array([line[:-1] for line in words], float), pairs(model, points), 1e-10)
    expected, found = model.predict(points), [line[-1] for line in words]
    if "SVR" in name:
        assert_close(np.array(found, float), expected, 1e-10)
    else:
        assert found == [str(label) for label in expected.tolist()]


@needs.programs("cc", debian="gcc")
def test_c_keeps_the_order_of_a_file_where_votes_are_equal(tmp_path):
    model, X = tied(tmp_path)
    assert [line[-1] for line in run_c(io.to_c(model), "%lld", dense(X), tmp_path)] == ["2"] * len(
        X
    )


# ---- JavaScript ----------------------------------------------------------------------------------

SCRIPT = """
const { decision, predict } = require("./m.js");
const X = JSON.parse(require("fs").readFileSync(0, "utf8"));
console.log(JSON.stringify(X.map((x) => [decision(x), predict(x)])));
"""


@needs.programs("node", debian="nodejs")
@pytest.mark.parametrize("name", SOME)
def test_javascript(name, tmp_path):
    model, X = ALL[name]()
    points = near(model, X)
    (tmp_path / "m.js").write_text(io.to_javascript(model))
    (tmp_path / "run.js").write_text(SCRIPT)
    done = subprocess.run(
        ["node", "run.js"],
        cwd=tmp_path,
        input=json.dumps(points.tolist()),
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    found = json.loads(done.stdout)
    assert_close(np.array([values for values, _ in found]), pairs(model, points), 1e-10)
    if "SVR" in name:
        assert_close(np.array([label for _, label in found]), model.predict(points), 1e-10)
    else:
        assert [label for _, label in found] == model.predict(points).tolist()


# ---- refused -------------------------------------------------------------------------------------


@pytest.mark.parametrize("export", [io.to_c, io.to_javascript, io.to_onnx])
def test_refused(export):
    X, y = three()
    if export is io.to_onnx:
        needs.package("onnx")
    with pytest.raises(ValueError, match="Python function"):
        export(SVC(kernel=lambda A, B: A @ B.T).fit(X, y))
    with pytest.raises(TypeError, match="not an estimator"):
        export("model")


def test_large_models_are_no_source():
    draw = np.random.default_rng(0)
    X = draw.normal(size=(600, 2000))
    model = SVC().fit(X, draw.integers(0, 2, 600))
    with pytest.raises(ValueError, match="compact"):
        io.to_c(model)


def test_labels_with_odd_characters(tmp_path):
    X, y = three()
    labels = np.array(['a"b\\', "tri??/graph\n", "ü"])
    model = LinearSVC().fit(X, labels[y])
    source = io.to_c(model)
    assert '"a\\042b\\134"' in source
    assert json.dumps(sorted(labels.tolist())) in io.to_javascript(model)


# ---- text that others wrote ----------------------------------------------------------------------

NASTY = [
    "</script><script>alert(1)</script>",
    "*/ int x; /*",
    "a\nb",
    "\u2028",
    "<!--",
    "]]>",
    "\\",
    '"',
    "??/",
]


def test_names_of_classes_do_not_leave_their_comment():
    """A subclass may have any name; in C and JavaScript it stands in a comment."""
    X, y = three()
    for name in NASTY:
        model = type(name, (LinearSVC,), {})().fit(X, y)
        top = io.to_c(model).partition("#include")[0]
        assert top.startswith("/* ")
        assert top.endswith(" */\n")
        assert top.count("*/") == top.count("\n") == 1
        first, second = io.to_javascript(model).split("\n")[:2]
        assert first.startswith("// ")
        assert second == '"use strict";'
        assert top.isascii()
        assert first.isascii()
        assert not set(first[3:] + top[3:-4]) & set("<>*/\\?")


def test_labels_do_not_leave_a_script_element():
    X, y = three()
    labels = sorted(NASTY[:3])
    source = io.to_javascript(SVC().fit(X, np.array(labels)[y]))
    assert "<" not in source.partition("const LABELS")[2].partition("\n")[0]
    assert "</script" not in source
    line = next(line for line in source.splitlines() if line.startswith("const LABELS = "))
    assert json.loads(line.removeprefix("const LABELS = ").removesuffix(";")) == labels
