"""Hangs, interruption and threads: rows 55-62 of the failure table.

What may hang runs in a process of its own with a watchdog.
"""

import json
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from helpers import (
    FIVE,
    assert_close,
    assert_same_bits,
    binary,
    child_environment,
    in_subprocess,
    target,
    three,
    values,
)
from maxmargin import SVC, SVR, NuSVC, NuSVR
from maxmargin.core import _cpu

linux = pytest.mark.skipif(not os.path.isdir("/proc/self/task"), reason="needs /proc")
posix = pytest.mark.skipif(os.name != "posix", reason="needs POSIX signals")

# ---- row 55: every fit ends ----------------------------------------------------------------------


def _unscaled():
    """Features from thousandths to millions, labels at random."""
    rng = np.random.default_rng(0)
    return rng.normal(size=(60, 5)) * [1, 1e3, 1e6, 1e-3, 10], rng.integers(0, 2, 60)


def _six_by_thirteen():
    return np.random.default_rng(0).normal(size=(6, 13)) * 1e4, [0, 1] * 3


ENDLESS = {
    "sklearn_4648_two_points-linear": (SVC(kernel="linear"), ([[1, 99999], [2, 99999]], [0, 1])),
    "sklearn_4648_two_points-poly": (SVC(kernel="poly"), ([[1, 99999], [2, 99999]], [0, 1])),
    "sklearn_4648_two_points-rbf": (SVC(C=1e10), ([[1, 99999], [2, 99999]], [0, 1])),
    "sklearn_30353_unscaled_linear": (SVC(kernel="linear"), _unscaled()),
    "sklearn_30353_unscaled_linear-huge-C": (SVC(kernel="linear", C=1e10), _unscaled()),
    "sklearn_13557_unscaled_poly": (SVC(kernel="poly", gamma=1.0), _unscaled()),
    "sklearn_13557_unscaled_poly-huge-C": (SVC(kernel="poly", degree=5, C=1e10), _unscaled()),
    "sklearn_13075_nu_svc_6_by_13": (NuSVC(kernel="linear", nu=0.1), _six_by_thirteen()),
    "sklearn_13075_nu_svc_6_by_13-poly": (NuSVC(kernel="poly"), _six_by_thirteen()),
    "sklearn_11020_regression_with_huge_C": (
        SVR(kernel="linear", C=1e6),
        (_unscaled()[0], _unscaled()[1] * 1e5),
    ),
    "sklearn_11020_nu_regression_with_huge_C": (
        NuSVR(kernel="linear", C=1e6),
        (_unscaled()[0], _unscaled()[1] * 1e5),
    ),
    "cuml_2857_identical_points": (
        SVC(kernel="linear", C=1e10),
        (np.ones((40, 3)), np.arange(40) % 2),
    ),
}


@pytest.mark.timeout(60)
@pytest.mark.parametrize("name", ENDLESS)
def test_sklearn_30353_fit_always_ends(name):
    """Unscaled data, huge C and poly kernels kept fit running forever.

    It ends, optimal or with a warning, never in silence.
    """
    model, (X, y) = ENDLESS[name]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, y)
    warned = any(w.category is ConvergenceWarning for w in caught)
    assert (model.certificate_.status == "optimal") != warned
    assert warned or model.certificate_.kkt_violation <= model.tol
    assert np.isfinite(model.predict(X)).all()


@pytest.mark.parametrize(("n", "limit"), [(300, 0.01), (3000, 0.4)])
def test_aliro_142_time_limit_is_kept_and_the_model_is_usable(n, limit):
    """A five minute limit took 19 minutes: time_limit ends the fit in time with status, warning and
    a model that predicts."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(n, 2)), rng.integers(0, 2, n)
    model = SVC(C=1e10, gamma=1.0, tol=1e-13, time_limit=limit, max_iter=10**12)
    began = time.perf_counter()
    with pytest.warns(ConvergenceWarning, match="time_limit"):
        model.fit(X, y)
    assert time.perf_counter() - began < 3
    assert model.certificate_.status == "time_limit"
    assert model.fit_status_ == 1
    assert np.isfinite(model.decision_function(X)).all()


@pytest.mark.parametrize("cls", FIVE)
def test_sklearn_30353_no_time_and_no_steps_still_give_a_model(cls):
    """Budgets of zero divided by zero or never returned.

    Each estimator warns, keeps a finite model, and warm_start finishes it.
    """
    X, y = binary()
    z = target(cls, X, y)
    for budget in ({"time_limit": 0.0}, {"max_iter": 1}):
        model = cls(warm_start=True, **budget)
        with pytest.warns(ConvergenceWarning):
            model.fit(X, z)
        assert model.certificate_.status in ("time_limit", "max_iter")
        assert np.isfinite(values(model, X)).all()
        model.set_params(time_limit=None, max_iter=-1).fit(X, z)
        assert_close(values(model, X), values(cls().fit(X, z), X), tol=1e-6)


# ---- row 56: Ctrl-C ------------------------------------------------------------------------------


class Child:
    """A child process that prints lines; it is killed at the end or by the watchdog."""

    def __init__(self, code, **environment):
        command = [sys.executable, "-u", "-c", textwrap.dedent(code)]
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, text=True, env=child_environment(**environment)
        )
        self.watchdog = threading.Timer(60, self.process.kill)

    def __enter__(self):
        self.watchdog.start()
        return self

    def __exit__(self, *error):
        self.watchdog.cancel()
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    def line(self):
        return self.process.stdout.readline().strip()

    def interrupt(self, after):
        """Wait, send SIGINT, and return the next line and the seconds it took to come: of work,
        which no busy machine lengthens."""
        time.sleep(after)
        began, worked = time.perf_counter(), self.worked()
        self.process.send_signal(signal.SIGINT)
        word = self.line()
        waited = time.perf_counter() - began
        return word, min(waited, self.worked() - worked) if sys.platform == "linux" else waited

    def worked(self):
        """Processor seconds of the child so far, of all its threads together."""
        if sys.platform != "linux":
            return 0.0
        with open(f"/proc/{self.process.pid}/stat") as file:
            fields = file.read().rpartition(")")[2].split()
        return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")


PRELUDE = """
import signal, time, warnings
import numpy as np
from sklearn.exceptions import ConvergenceWarning
from helpers import binary
from maxmargin import SVC, SVR, NuSVC, OneClassSVM, Kernel, kernel_matrix
signal.signal(signal.SIGINT, signal.default_int_handler)
warnings.simplefilter("ignore", ConvergenceWarning)
rng = np.random.default_rng(0)
def long_fit(estimator, n, classes=2):
    estimator.set_params(tol=1e-13, max_iter=10**12)
    return estimator.fit(rng.normal(size=(n, 2)), rng.integers(0, classes, n))
def forever():  # in a loop without a function, CPython may raise outside the try around it
    while True:
        model.predict(Z)
def slow(A, B):
    values = np.empty((len(A), len(B)))
    for i in range(len(A)):
        for j in range(len(B)):
            time.sleep(0.005)
            values[i, j] = np.exp(-np.sum((A[i] - B[j]) ** 2))
    return values
"""

LONG = {
    "blocks": "long_fit(SVC(C=1e9, gamma=1.0), 5000)",
    "one-block": "long_fit(SVC(C=1e12, gamma=0.01), 1500)",
    "many-classes": "long_fit(SVC(C=1e12, gamma=0.1), 6000, classes=4)",
    "regression": "long_fit(SVR(C=1e9, gamma=1.0, epsilon=0.01), 3000)",
    "slow-callable": "SVC(kernel=slow).fit(rng.normal(size=(70, 2)), np.arange(70) % 2)",
    "predict": "forever()",
}


CALLS = {
    "decision_function": (1500, "model.decision_function(rng.normal(size=(3000000, 4)))"),
    "compact": (2500, "compact(model, tolerance=0.1)"),
}


@posix
@pytest.mark.parametrize("name", CALLS)
def test_ctrl_c_is_honoured_within_a_second_of_one_long_call(name):
    """Sums over three million rows, and the inverse of a large matrix: one call of LAPACK."""
    n, call = CALLS[name]
    code = f"""{PRELUDE}
from maxmargin import compact
model = SVC(gamma=10.0).fit(rng.normal(size=({n}, 4)), np.arange({n}) % 2)
print("begin")
try:
    {call}
    print("ended by itself")
except KeyboardInterrupt:
    print("interrupted")
"""
    with Child(code) as child:
        assert child.line() == "begin"
        word, seconds = child.interrupt(after=0.4)
        assert word == "interrupted"
        assert seconds < 1.0


@pytest.mark.memory
@linux
def test_no_room_for_threads_is_a_memory_error():
    """A thread that has memory for its stack but none to throw an exception ended the process."""
    code = """
        import resource
        import numpy as np
        from maxmargin.core import _cpu
        from maxmargin.core.choose import HOST as core
        X = np.random.default_rng(0).normal(size=(1500, 200))
        A, coef, out = core.points(X), np.ones((1500, 1)), np.zeros((1, 1500))
        arguments = ((2, 1.0, 0.0, 0), A, None, coef, A, None, out)
        _cpu.kernel_product(*arguments, 1)
        limit = int(open("/proc/self/statm").read().split()[0]) * 4096 + 2**22
        limits = [(limit + spare * 2**18, resource.RLIM_INFINITY) for spare in range(32)]
        seen, hold, small = [None] * 32, [None] * 10000, [bytes(400) for _ in range(300)]
        k, size = 0, 2**20
        resource.setrlimit(resource.RLIMIT_AS, limits[0])
        while size >= 600:  # all that is left
            try:
                hold[k] = bytearray(size)
                k += 1
            except MemoryError:
                size //= 2
        small.clear()  # room for Python itself
        k = 0
        for pair in limits:
            resource.setrlimit(resource.RLIMIT_AS, pair)
            try:
                _cpu.kernel_product(*arguments, 4)
                seen[k] = "ok"
            except MemoryError:
                seen[k] = "MemoryError"
            k += 1
        hold.clear()
        resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY,) * 2)
        print(*sorted(set(seen)))
    """
    program = [
        "/bin/sh",
        "-c",
        'ulimit -s 256; exec "$0" -c "$1"',
        sys.executable,
        textwrap.dedent(code),
    ]
    found = subprocess.run(
        program, capture_output=True, text=True, timeout=60, env=child_environment()
    )
    assert found.returncode == 0, found.stderr
    assert {"ok"} <= set(found.stdout.split()) <= {"ok", "MemoryError"}


@posix
@pytest.mark.parametrize("name", LONG)
def test_sklearn_9136_ctrl_c_is_honoured_within_a_second(name):
    """fit ignored Ctrl-C until it ended.

    KeyboardInterrupt comes within a second, the old model is intact, and fit works again.
    """
    code = f"""{PRELUDE}
X, y = binary()
model = SVC().fit(X, y)
Z = rng.normal(size=(400000, 4))
f = model.decision_function(X)
print("begin")
try:
    {LONG[name]}
    print("ended by itself")
except KeyboardInterrupt:
    print("interrupted")
assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
assert (SVC().fit(X, y).decision_function(X) == f).all()
print("fine")
"""
    with Child(code) as child:
        assert child.line() == "begin"
        word, seconds = child.interrupt(after=0.5)
        assert word == "interrupted"
        assert seconds < 1
        assert child.line() == "fine"


@posix
@pytest.mark.parametrize("name", ["blocks", "many-classes"])
def test_sklearn_9136_ctrl_c_can_keep_the_best_model_so_far(name):
    """on_interrupt="keep" returns within a second with status "interrupted" and a model that
    predicts.
    """
    fit = LONG[name].replace("SVC(", "SVC(on_interrupt='keep', ")
    code = f"""{PRELUDE}
warnings.simplefilter("error")
print("begin")
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    model = {fit}
print(model.certificate_.status)
assert len(caught) == 1 and "nterrupted" in str(caught[0].message)
assert np.isfinite(model.decision_function(rng.normal(size=(10, 2)))).all()
assert model.fit_status_ == 1
assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
print("fine")
"""
    with Child(code) as child:
        assert child.line() == "begin"
        status, seconds = child.interrupt(after=0.5)
        assert status == "interrupted"
        assert seconds < 1
        assert child.line() == "fine"


@posix
def test_sklearn_13075_an_interrupted_refit_leaves_the_old_model_usable():
    """An interrupted refit, even on other features, leaves the model as it was before."""
    code = f"""{PRELUDE}
X, y = binary()
model = SVC().fit(X, y)
f = model.decision_function(X)
print("begin")
try:
    long_fit(model.set_params(C=1e9, gamma=1.0), 5000)
except KeyboardInterrupt:
    print("interrupted")
assert (model.decision_function(X) == f).all()
print("fine")
"""
    with Child(code) as child:
        assert child.line() == "begin"
        assert child.interrupt(after=0.5)[0] == "interrupted"
        assert child.line() == "fine"


def test_sklearn_9136_fits_outside_the_main_thread_need_no_signals():
    """Signal handlers can be set in the main thread only.

    Fit in another thread works, and leaves the handler alone.
    """
    X, y = three()
    before, found = signal.getsignal(signal.SIGINT), []
    thread = threading.Thread(target=lambda: found.append(SVC().fit(X, y).decision_function(X)))
    thread.start()
    thread.join(60)
    assert_same_bits(found[0], SVC().fit(X, y).decision_function(X))
    assert signal.getsignal(signal.SIGINT) is before


# ---- row 57: the GIL -----------------------------------------------------------------------------

HEARTBEAT = {
    "kernel_matrix": "kernel_matrix(Kernel.rbf(gamma=0.01), A)",
    "fit": "long_fit(SVC(C=1e9, gamma=1.0, time_limit=1.0), 5000)",
    "predict": "model.predict(Z)",
}


@pytest.mark.parametrize("name", HEARTBEAT)
def test_sklearn_1857_other_threads_run_during_native_work(name):
    """fit held the GIL and froze the process: a thread that ticks every 5 ms keeps ticking."""
    code = f"""{PRELUDE}
import threading
A, Z = rng.normal(size=(4000, 1500)), rng.normal(size=(1_000_000, 4))
X = rng.normal(size=(2000, 4))
model = SVC(C=0.1).fit(X, rng.integers(0, 2, 2000))
ticks, running = [], True
def tick():
    while running:
        ticks.append(time.perf_counter())
        time.sleep(0.005)
thread = threading.Thread(target=tick)
thread.start()
began = time.perf_counter()
{HEARTBEAT[name]}
ended = time.perf_counter()
running = False
thread.join()
inside = [began, *(t for t in ticks if began < t < ended), ended]
print(ended - began, len(inside) - 2, max(np.diff(inside)))
"""
    seconds, ticks, longest = map(
        float, in_subprocess(code, OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1").split()
    )
    assert seconds > 0.1  # long enough to tell
    assert ticks > 0.2 * seconds / 0.005
    assert longest < max(1.0, 0.5 * seconds)


# ---- row 58: no global state ---------------------------------------------------------------------


def test_sklearn_31883_fits_in_many_threads_give_the_bits_of_one():
    """Global generators and print functions raced.

    Fits and predictions side by side give the same bits as alone.
    """
    X, y = three(90)
    jobs = [(cls, target(cls, X, y if cls is SVC else y % 2)) for cls in FIVE] * 4
    alone = [values(cls().fit(X, z), X) for cls, z in jobs]
    found = [None] * len(jobs)

    def work(k):
        cls, z = jobs[k]
        found[k] = [values(cls().fit(X, z), X) for _ in range(3)]

    threads = [threading.Thread(target=work, args=(k,)) for k in range(len(jobs))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    for expected, several in zip(alone, found, strict=True):
        for one in several:
            assert_same_bits(one, expected)


def test_sklearn_31885_thread_limits_of_others_are_left_alone():
    """Limits on BLAS threads are global.

    After fits of many classes and from many threads they are what they were.
    """
    code = """
    import threading
    import numpy as np
    from threadpoolctl import threadpool_info, threadpool_limits
    from helpers import three
    from maxmargin import SVC
    X, y = np.random.default_rng(0).normal(size=(600, 4)), np.arange(600) % 12
    blas = lambda: [
        (p["filepath"], p["num_threads"]) for p in threadpool_info() if p["user_api"] == "blas"
    ]
    SVC().fit(*three())
    threadpool_limits(2, user_api="blas")
    before = blas()
    assert max(n for _, n in before) == 2
    threads = [threading.Thread(target=SVC(C=100.0).fit, args=(X, y)) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    SVC(C=100.0).fit(X, y)
    assert blas() == before, blas()
    """
    in_subprocess(code, OMP_NUM_THREADS="3")


def test_sklearn_8410_global_generators_and_locale_are_not_touched():
    """rand() was seeded for the whole process.

    NumPy's and Python's generators, the locale and NumPy's error state stay.
    """
    import locale
    import random

    X, y = three()

    def state():
        drawn = np.random.get_state()[1].tolist()  # noqa: NPY002
        return drawn, random.getstate(), locale.setlocale(locale.LC_ALL), np.geterr()

    before = state()
    SVC(random_state=3).fit(X, y).predict(X)
    NuSVC(nu=0.2).fit(X, y).certify(X, y)
    assert before == state()


# ---- row 59: fork --------------------------------------------------------------------------------


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_sklearn_19272_fit_in_a_child_after_fork():
    """A fork after threads had run deadlocked the child.

    It fits and predicts, with the parent's bits.
    """
    code = """
    import os, signal
    import numpy as np
    from maxmargin import SVC
    X = np.random.default_rng(0).normal(size=(1500, 20))
    y = np.arange(1500) % 3
    def bits():
        return SVC(C=0.5).fit(X, y).decision_function(X).tobytes()
    expected = bits()
    for _ in range(2):
        pid = os.fork()
        if not pid:
            signal.alarm(30)
            os._exit(0 if bits() == expected else 3)
        assert os.waitpid(pid, 0)[1] == 0
    assert bits() == expected
    """
    in_subprocess(code, OMP_NUM_THREADS="3")


# ---- row 60: numbers of threads ------------------------------------------------------------------

COUNT = """
import os, threading, time
import numpy as np
from threadpoolctl import threadpool_limits
from maxmargin import SVC, Kernel, kernel_matrix
rng = np.random.default_rng(0)
A, X, y = rng.normal(size=(1500, 800)), rng.normal(size=(2500, 6)), rng.integers(0, 4, 2500)
def work():
    kernel_matrix(Kernel.rbf(gamma=0.01), A)
    SVC(C=10.0, time_limit=0.5, max_iter=2000).fit(X, y > 1).predict(np.repeat(X, 10, axis=0))
    SVC(C=1.0, time_limit=0.5, max_iter=2000).fit(X, y)
def most():
    SVC().fit(A[:20], np.arange(20) % 2)
    before = len(os.listdir("/proc/self/task"))
    counts, running = [before + 1], True
    def sample():
        while running:
            counts.append(len(os.listdir("/proc/self/task")))
            time.sleep(0.0005)
    thread = threading.Thread(target=sample)
    thread.start()
    work()
    running = False
    thread.join()
    return max(counts) - before - 1
"""


@linux
@pytest.mark.parametrize(
    ("setting", "limit", "least", "greatest"),
    [("1", "None", 0, 0), ("3", "1", 0, 0), ("3", "2", 1, 2), ("3", "None", 1, 3)],
    ids=["OMP_NUM_THREADS=1", "threadpoolctl-1", "threadpoolctl-2", "OMP_NUM_THREADS=3"],
)
def test_sklearn_6271_thread_limits_are_kept(setting, limit, least, greatest):
    """n_jobs times all cores ran at once: no thread beyond OMP_NUM_THREADS or threadpoolctl (the
    waiting main thread not counted)."""
    code = (
        "import warnings; warnings.simplefilter('ignore')\n"
        f"{COUNT}\nwith threadpool_limits({limit}):\n"
        "    print(most())"
    )
    extra = int(in_subprocess(code, OMP_NUM_THREADS=setting, OPENBLAS_NUM_THREADS="1"))
    assert least <= extra <= greatest


@linux
def test_sklearn_6271_grid_search_workers_use_their_share():
    """GridSearchCV(n_jobs=2) started two times all cores.

    A worker fits, certifies and uses no more than its share of threads.
    """
    code = """
    import os, sys
    from joblib import Parallel, delayed
    from sklearn.model_selection import GridSearchCV
    from helpers import binary
    from maxmargin import SVC
    from maxmargin.core.threads import thread_count
    X, y = binary()
    search = GridSearchCV(SVC(), {"C": [1.0, 10.0]}, n_jobs=2, cv=2).fit(X, y)
    assert search.best_estimator_.certificate_.status == "optimal"
    print(max(Parallel(n_jobs=2)(delayed(thread_count)() for _ in range(2))), os.cpu_count())
    """
    threads, cores = map(int, in_subprocess(code).split())
    assert threads <= max(1, cores // 2)


# ---- row 61: floating-point modes ----------------------------------------------------------------


def test_numpy_20895_denormal_numbers_survive_import_and_fit():
    """-ffast-math flipped flush-to-zero for the process.

    Denormals stay exact, here, in other threads, and in our kernels.
    """
    code = """
    import threading
    import numpy as np
    tiny = np.nextafter(0.0, 1.0)
    def check():
        assert np.array([tiny])[0] * 1.0 == tiny != 0.0
        assert np.float32(1e-45) * np.float32(1.0) != 0
        assert (np.array([4 * tiny]) / 2)[0] == 2 * tiny
    check()
    import maxmargin
    check()
    X = np.random.default_rng(0).normal(size=(2000, 10))
    seen = []
    def work():
        maxmargin.SVC(max_iter=1000, time_limit=0.5).fit(X, X[:, 0] > 0).predict(X)
        check()
        seen.append(True)
    import warnings
    warnings.simplefilter("ignore")
    work()
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert len(seen) == 2
    K = maxmargin.kernel_matrix(maxmargin.Kernel.linear(), [[tiny], [3 * tiny]], [[1.0], [2.0]])
    assert K.tolist() == [[tiny, 2 * tiny], [3 * tiny, 6 * tiny]], K
    """
    for level in {_cpu.LEVELS[0], _cpu.LEVELS[-1]}:
        in_subprocess(code, OMP_NUM_THREADS="2", MAXMARGIN_LEVEL=level)


def test_qiskit_aer_1461_denormal_data_give_the_answer_of_the_same_data_in_range():
    """Denormal features were flushed to zero.

    Data scaled into the denormals keep their model, as far as their digits reach.
    """
    X, y = binary()
    whole = np.rint(X * 1000)
    small = whole * np.nextafter(0.0, 1.0)
    assert np.abs(small).max() < np.finfo(float).tiny
    assert np.count_nonzero(small) == np.count_nonzero(whole)
    assert_close(
        SVC(kernel="cosine").fit(small, y).decision_function(small),
        SVC(kernel="cosine").fit(whole, y).decision_function(whole),
    )
    assert SVC(kernel="linear").fit(small, y).certificate_.status == "optimal"


# ---- row 62: instruction levels ------------------------------------------------------------------

LEVEL = """
import json
import numpy as np
from scipy import sparse
from helpers import FIVE, target, three, values
from maxmargin.core import cpu
X, y = three()
X = np.where(np.abs(X) < 0.4, 0.0, X)
big = np.random.default_rng(0).normal(size=(1200, 7))
found = []
for cls in FIVE:
    z = target(cls, X, y)
    # with a smaller nu the reduced hulls of these classes meet for a linear kernel
    easy = {"nu": 0.8} if cls is FIVE[1] else {}
    kernels = ("linear", "poly", "rbf", "laplacian", "cosine")
    models = [(cls(kernel=k, gamma=0.2, **easy), X, z) for k in kernels]
    models += [(cls(kernel="rbf", gamma=0.2), sparse.csr_matrix(X), z)]
    models += [(cls(kernel="chi2", gamma=0.2), np.abs(X), z)]
    models += [(cls(gamma=0.2, tol=1e-7), big, target(cls, big, (big[:, 0] > 0).astype(int)))]
    for model, data, goal in models:
        model.fit(data, goal)
        assert model.certificate_.status == "optimal", (model, model.certificate_)
        assert model.certify(data, goal).status == "optimal", (model, model.certify(data, goal))
        found.append(values(model, data[:60]).ravel().tolist())
print(json.dumps([cpu.INSTRUCTION_LEVEL, found]))
"""


def test_skordinal_48_every_instruction_level_gives_certified_agreeing_models():
    """Other instructions (FMA, AVX) gave other models.

    Each level is optimal by its certificate, and they agree to 1e-6.
    """
    results = {
        level: json.loads(in_subprocess(LEVEL, MAXMARGIN_LEVEL=level)) for level in _cpu.LEVELS
    }
    base = results["base"][1]
    for level, (used, found) in results.items():
        assert used == level
        for one, expected in zip(found, base, strict=True):
            assert_close(one, np.array(expected), tol=1e-6)


def test_skordinal_48_same_process_same_bits():
    """Results changed from run to run.

    The same input gives the same bits, whatever the number of threads.
    """
    code = """
    import hashlib
    import numpy as np
    from threadpoolctl import threadpool_limits
    from maxmargin import SVC, SVR
    X = np.random.default_rng(0).normal(size=(1500, 30))
    y = np.arange(1500) % 3
    found = set()
    for threads in (1, 2, 3, 7, 1):
        with threadpool_limits(threads):
            f = SVC(C=0.5).fit(X, y).decision_function(X), SVR(C=0.5).fit(X, X[:, 0]).predict(X)
        found.add(hashlib.sha256(b"".join(a.tobytes() for a in f)).hexdigest())
    assert len(found) == 1
    print(found.pop())
    """
    assert in_subprocess(code, OMP_NUM_THREADS="7") == in_subprocess(
        code, OMP_NUM_THREADS="7", OPENBLAS_NUM_THREADS="1"
    )


def test_sklearn_31885_warnings_of_worker_threads_reach_the_caller():
    """Warnings were lost in workers: one ConvergenceWarning that counts the problems, where several
    classes are trained at once."""
    X, y = three()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        SVC(max_iter=1).fit(X, y)
        SVR(max_iter=1).fit(X, X[:, 0])
    assert [w.category for w in caught] == [ConvergenceWarning] * 2
    assert "3 of 3" in str(caught[0].message)
