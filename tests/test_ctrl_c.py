"""Ctrl-C during a fit of every family.

It raises and leaves the model as it was, or keeps the best model so far, as asked.
"""

import signal

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from helpers import binary, three
from maxmargin import SVC, SVR, LinearSVC, LinearSVR, NormaSVC, NuSVC, OneClassSVM, PegasosSVC
from maxmargin.monitor import Monitor

X, y = binary(60)
A, z = three(60)
MODELS = {
    "SVC": SVC(),
    "NuSVC": NuSVC(nu=0.3),
    "SVR": SVR(),
    "OneClassSVM": OneClassSVM(),
    "LinearSVC": LinearSVC(tol=1e-9),
    "LinearSVR": LinearSVR(tol=1e-9),
    "coordinate": LinearSVC(solver="coordinate", tol=1e-9),
    "PegasosSVC": PegasosSVC(tol=1e-9),
    "kernel": PegasosSVC(kernel="rbf", tol=1e-9),
    "NormaSVC": NormaSVC(),
}


@pytest.fixture
def pressed(monkeypatch):
    """Ctrl-C comes when a solver asks for the first time whether it must stop."""
    real, times = Monitor.stop, []

    def stop(self, steps):
        if not times:
            times.append(1)
            signal.raise_signal(signal.SIGINT)
        return real(self, steps)

    monkeypatch.setattr(Monitor, "stop", stop)
    return times


@pytest.mark.parametrize("labels", ["two", "three"])
@pytest.mark.parametrize("name", MODELS)
def test_ctrl_c(name, labels, pressed):
    made = MODELS[name]
    given = (X, y) if labels == "two" else (A, z)
    before = signal.getsignal(signal.SIGINT)
    model = type(made)(**made.get_params()).set_params(on_interrupt="raise")
    with pytest.raises(KeyboardInterrupt):
        model.fit(*given)
    assert not hasattr(model, "intercept_")
    assert signal.getsignal(signal.SIGINT) is before
    pressed.clear()
    with pytest.warns(ConvergenceWarning, match=r"(?i)interrupt|ctrl-c"):
        model.set_params(on_interrupt="keep").fit(*given)
    assert model.predict(X[:5] if labels == "two" else A[:5]).shape == (5,)
    assert np.isfinite(model.intercept_).all()
    if name != "NormaSVC":
        assert model.certificate_.status == "interrupted"
