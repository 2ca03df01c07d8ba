"""Intervals in exports: ONNX, C and JavaScript give those of predict_interval."""

import json
import subprocess

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics.pairwise import rbf_kernel

import needs
from helpers import assert_close
from maxmargin import SVR, LinearSVR, NuSVR, io
from maxmargin.model_selection import SVRCV
from test_models_export import runtime  # noqa: F401

LEVELS = [0.3, 0.8, 0.95]


def samples(n=120):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    return X, np.sin(X[:, 0]) + 0.3 * rng.normal(size=n)


def fitted(name):
    """A model with intervals, and new samples."""
    X, y = samples()
    new = np.concatenate([X[:20] + 0.1, 5 * X[20:40]])
    weight = np.arange(len(y)) % 3 + 0.5
    if name == "precomputed":
        model = SVR(kernel="precomputed", interval=True).fit(rbf_kernel(X), y)
        return model, rbf_kernel(new, X)
    if name == "search":
        return SVRCV([1.0], [0.3], [0.1], cv=3, scale="standard", estimator=SVR(interval=True)).fit(
            X, y
        ), new
    model = {
        "svr": SVR(interval=True, C=10),
        "wide tube": SVR(interval=True, epsilon=0.5),
        "nu": NuSVR(interval=True, kernel="poly", degree=2, coef0=1.0),
        "sparse": SVR(interval=True, kernel="laplacian"),
        "linear kernel": SVR(interval=True, kernel="linear"),
        "linear": LinearSVR(interval=True),
    }[name]
    return model.fit(sparse.csr_matrix(X) if name == "sparse" else X, y, sample_weight=weight), new


MODELS = ["svr", "wide tube", "nu", "sparse", "linear kernel", "linear", "precomputed", "search"]


@pytest.mark.parametrize("name", MODELS)
def test_onnx(name, runtime):  # noqa: F811
    model, X = fitted(name)
    for confidence in LEVELS:
        proto = io.to_onnx(model, confidence=confidence)
        session = runtime.InferenceSession(
            proto.SerializeToString(), providers=["CPUExecutionProvider"]
        )
        value, ends = session.run(["value", "interval"], {"X": X})
        assert_close(value, model.predict(X), 1e-10)
        assert_close(ends, model.predict_interval(X, confidence), 1e-10)


MAIN = r"""
#include <stdio.h>
int main(void) {
  double x[MAXMARGIN_INPUTS], ends[2], confidence;
  while (scanf("%lf", &confidence) == 1) {
    for (int i = 0; i < MAXMARGIN_INPUTS; i++)
      if (scanf("%lf", x + i) != 1) return 1;
    maxmargin_interval(x, confidence, ends);
    printf("%.17g %.17g %.17g\n", maxmargin_predict(x), ends[0], ends[1]);
  }
  return 0;
}
"""


@needs.programs("cc", debian="gcc")
@pytest.mark.parametrize("name", MODELS)
def test_c(name, tmp_path):
    model, X = fitted(name)
    (tmp_path / "m.c").write_text(io.to_c(model, interval=True) + MAIN)
    command = ["cc", "-std=c99", "-O1", "-Wall", "-Wextra", "-Werror", "m.c", "-o", "m", "-lm"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    for confidence in [*LEVELS, 0.999]:
        text = "\n".join(" ".join(map(repr, [confidence, *row])) for row in X.tolist())
        done = subprocess.run(
            [str(tmp_path / "m")], input=text, capture_output=True, text=True, timeout=60
        )
        found = np.array([line.split() for line in done.stdout.splitlines()], float)
        assert_close(found[:, 0], model.predict(X), 1e-10)
        if confidence == 0.999:
            assert (found[:, 1:] == [-np.inf, np.inf]).all()
        else:
            assert_close(found[:, 1:], model.predict_interval(X, confidence), 1e-10)


SCRIPT = """
const { interval } = require("./m.js");
const { levels, X } = JSON.parse(require("fs").readFileSync(0, "utf8"));
console.log(JSON.stringify(levels.map((c) => X.map((x) => interval(x, c)))));
"""


@needs.programs("node", debian="nodejs")
@pytest.mark.parametrize("name", MODELS)
def test_javascript(name, tmp_path):
    model, X = fitted(name)
    (tmp_path / "m.js").write_text(io.to_javascript(model, interval=True))
    (tmp_path / "run.js").write_text(SCRIPT)
    done = subprocess.run(
        ["node", "run.js"],
        cwd=tmp_path,
        input=json.dumps({"levels": LEVELS, "X": X.tolist()}),
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert_close(np.array(json.loads(done.stdout)), model.predict_interval(X, LEVELS), 1e-10)


def test_what_is_refused():
    needs.package("onnx")
    X, y = samples(40)
    plain, model = SVR().fit(X, y), SVR(interval=True).fit(X, y)
    for export in (
        lambda: io.to_c(plain, interval=True),
        lambda: io.to_javascript(plain, interval=True),
        lambda: io.to_onnx(plain, confidence=0.9),
    ):
        with pytest.raises(ValueError, match="fitted without intervals"):
            export()
    with pytest.raises(ValueError, match="needs samples of total weight 99, and the fit had 40"):
        io.to_onnx(model, confidence=0.99)
    with pytest.raises(ValueError, match="between 0 and 1"):
        io.to_onnx(model, confidence=1.0)
    assert "interval" not in io.to_c(model)
    assert "MAXMARGIN_FUNCTIONS 1\n" in io.to_c(model)
