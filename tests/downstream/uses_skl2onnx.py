"""skl2onnx converts our estimators, and onnxruntime says what they say."""

import numpy as np
import onnxruntime
import pytest
from skl2onnx import to_onnx
from sklearn.datasets import load_iris
from sklearn.svm import SVC, SVR, LinearSVC, LinearSVR, NuSVC, NuSVR, OneClassSVM

X, y = load_iris(return_X_y=True)
X = X.astype(np.float32)
TARGETS = {"classes": y, "two": (y > 0).astype(int), "number": 2 * X[:, 0] - X[:, 2] ** 2}

MODELS = [
    (SVC(), "classes"),
    (SVC(), "two"),
    (SVC(kernel="linear"), "classes"),
    (SVC(kernel="poly"), "classes"),
    (SVC(decision_function_shape="ovo"), "classes"),
    (NuSVC(nu=0.3), "classes"),
    (NuSVC(nu=0.3), "two"),
    (LinearSVC(), "classes"),
    (LinearSVC(), "two"),
    (SVR(), "number"),
    (NuSVR(), "number"),
    (LinearSVR(max_iter=100_000), "number"),
    (OneClassSVM(nu=0.1), "number"),
]


@pytest.mark.parametrize(("model", "target"), MODELS, ids=str)
def test_outputs(model, target):
    model.fit(X, TARGETS[target])
    session = onnxruntime.InferenceSession(
        to_onnx(model, X[:1]).SerializeToString(), providers=["CPUExecutionProvider"]
    )
    label, *values = (np.asarray(one) for one in session.run(None, {"X": X}))
    if not values:
        np.testing.assert_allclose(label.ravel(), model.predict(X), atol=1e-4)
        return
    f = model.decision_function(X)
    # two classes have a column each
    found = values[0].reshape(len(X), -1)[:, 0] if f.ndim == 1 else values[0]
    np.testing.assert_allclose(found, f, atol=1e-4 * np.abs(f).max())
    clear = np.abs(f).reshape(len(X), -1).min(axis=1) > 1e-4
    assert (label.ravel() == model.predict(X))[clear].all()
