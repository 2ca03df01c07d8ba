"""Peak memory: the data's copies, the cache, and what docs/how-it-works.md states beside them, also
at large C."""

import sys

import pytest

import needs
from helpers import in_subprocess

pytestmark = pytest.mark.memory

CODE = """
    import numpy as np
    from scipy import sparse
    from helpers import peak_memory as peak
    from maxmargin import SVC, SVR
    rng = np.random.default_rng(0)
    n, d = 20000, {d}
    if {d} < 500:
        X = rng.normal(size=(n, d))
    else:
        X = sparse.random(n, d, density=0.01, random_state=0, format="csr")
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
    """At most 12 bytes an entry, the cache of 20 MB, 300 bytes a sample and 70 MB.

    An n x n matrix would be 1.6 GB.
    """
    assert float(in_subprocess(CODE.format(d=d, fit=fit), PYTHONWARNINGS="ignore")) <= 70 * 2**20


LARGE_C = """
    import numpy as np
    from helpers import peak_memory as peak
    from maxmargin import SVC
    from maxmargin.kernel import working_set
    {data}
    # loads what is loaded late
    SVC().fit(np.random.default_rng(0).normal(size=(1100, 3)), np.arange(1100) % 2)
    before = peak()
    model = SVC(C={C}, gamma={gamma}).fit(X, y)
    assert model.certificate_.status == "optimal"
    print((peak() - before) * 1024 - 12 * X.size - 300 * len(X))
    """


def newton_memory(data, C, gamma):
    """Bytes of a fit at large C beyond those of the data and of each sample."""
    return float(in_subprocess(LARGE_C.format(data=data, C=C, gamma=gamma), timeout=250))


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_large_C_takes_at_most_the_memory_that_the_docs_state():
    """A float32 tile of 64 MB and 512 MB for Newton steps on 4,096 variables, which begin early
    here; two matrices of them, at least, are met.
    """
    data = """
    working_set.SETTINGS = working_set.Settings(stiff=2, settled=10.0)
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(5000, 10)), rng.integers(0, 2, 5000)
    """
    used = newton_memory(data, 1e6, 0.1)
    assert 250 * 2**20 < used < (64 + 512) * 2**20


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_large_C_on_real_data():
    """magic at C=1e4: 19,020 rows, 5,000 support vectors."""
    needs.data_sets()
    data = """
    from data import load
    X, y = load("magic")
    """
    assert newton_memory(data, 1e4, 1.0) < (64 + 512) * 2**20


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_a_factor_takes_one_matrix():
    """Made in place: 8 n^2 bytes, where a copy would take twice as many."""
    code = """
    import numpy as np
    from helpers import peak_memory as peak
    from maxmargin.core.choose import HOST
    from maxmargin.core.backend import Variables
    from maxmargin.kernel.face import factorize
    from maxmargin.kernel.newton import Tile
    def tile(n):
        A, z = np.random.default_rng(0).normal(size=(n, 3)), np.zeros(n)
        K = A @ A.T
        np.fill_diagonal(K, np.diagonal(K) + 1)
        variables = Variables(z, z, z, z, z, np.array([0, n]), np.ones(1, bool))
        return Tile(np.arange(n), K, variables, HOST)
    factorize(tile(300).quadratic, np.arange(300))
    whole = tile(2000)
    before = peak()
    factorize(whole.quadratic, np.arange(2000))
    print((peak() - before) * 1024 / (8 * 2000**2))
    """
    assert float(in_subprocess(code)) < 1.5
