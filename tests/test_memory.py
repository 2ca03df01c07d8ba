"""Peak memory: the data's copies, the cache, and what docs/how-it-works.md states beside them."""

import sys

import pytest

from helpers import in_subprocess

CODE = """
    import numpy as np
    from scipy import sparse
    from helpers import peak_memory as peak
    from maxmargin import SVC, SVR
    rng = np.random.default_rng(0)
    n, d = 20000, {d}
    X = rng.normal(size=(n, d)) if {d} < 500 else sparse.random(n, d, density=0.01, random_state=0, format="csr")
    y = np.asarray(X[:, :3].sum(axis=1)).ravel() + rng.normal(size=n)
    SVC().fit(rng.normal(size=(1100, 3)), np.arange(1100) % 2)  # what is loaded late
    entries = X.nnz if sparse.issparse(X) else n * d
    before = peak()
    {fit}
    used = (peak() - before) * 1024
    print(used - 12 * entries - 20 * 2**20 - 300 * n)
    """


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
@pytest.mark.parametrize("d", [20, 1000])
@pytest.mark.parametrize(
    "fit",
    [
        "SVC(C=10.0, cache_size=20, time_limit=5, tol=0.1).fit(X, y > 0)",
        "SVR(C=0.1, cache_size=20, time_limit=5, tol=0.1).fit(X, y)",
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_peak_memory_is_bounded(fit, d):
    """At most 12 bytes an entry, the cache of 20 MB, 300 bytes a sample and 70 MB: an n x n matrix would be 1.6 GB."""
    assert float(in_subprocess(CODE.format(d=d, fit=fit), PYTHONWARNINGS="ignore")) <= 70 * 2**20
