"""Time limit, step limit, Ctrl-C and progress of one fit.

A solver calls ``stop(steps)`` between two blocks of work, a fraction of a second apart, and
``report(...)`` as often as it likes; it never prints and never handles a signal. Ctrl-C sets a flag
that ``stop`` returns. Unless the best model so far is to be kept, it also raises KeyboardInterrupt
at once, even inside a user's kernel function. If the model is to be kept, a second Ctrl-C raises.
"""

import importlib.util
import logging
import signal
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from types import FrameType, TracebackType
from typing import Any, NamedTuple, TypeVar

from maxmargin.status import Status

logger = logging.getLogger("maxmargin")

T = TypeVar("T")


class Settings(NamedTuple):
    """Limits and intervals."""

    default_steps: int = 10**8
    """Pair steps of one problem when max_iter is -1: every fit ends."""
    listen_every: float = 0.1
    """Seconds between two checks for Ctrl-C during one long call."""
    report_every: float = 0.5
    """Seconds between two progress lines."""
    grace: float = 0.25
    """Share of the time limit by which the start of another of several problems may exceed it
    (decision 19)."""
    least_share: float = 0.02
    """Share of the time limit that each of several problems has at least: one long step cannot take
    all the time of the problems after it (decision 19)."""


SETTINGS = Settings()


class Monitor:
    """One fit's budget and its progress line; use it as a context manager around the work."""

    def __init__(
        self,
        max_iter: int = -1,
        time_limit: float | None = None,
        verbose: int = 0,
        title: str = "fit",
        keep: bool = False,
    ) -> None:
        self.max_iter = max_iter if max_iter >= 0 else SETTINGS.default_steps
        self.began = time.perf_counter()
        self.limit = time_limit if time_limit is not None else float("inf")
        self.deadline = self.began + self.limit
        self.interrupted = threading.Event()
        self.title, self.keep = title, keep
        self._line = _Line() if verbose else None
        self._last_report = self.began
        self._handler: Any = None

    def _copy(self) -> "Monitor":
        """A copy, several times as fast as copy.copy: small problems are many."""
        other = object.__new__(Monitor)
        other.__dict__.update(self.__dict__)
        return other

    def part(self, share: float, label: str = "") -> "Monitor":
        """A monitor for one of several problems: its share of the time left, the same Ctrl-C."""
        part = self._copy()
        part.title = self.title + label
        now = time.perf_counter()
        left = self.deadline - now
        if left < float("inf"):
            part.deadline = now + max(min(share, 1.0) * left, SETTINGS.least_share * self.limit)
        return part

    def quiet(self, max_iter: int) -> "Monitor":
        """The same limits and Ctrl-C for one of many fits, without a progress line."""
        part = self._copy()
        part.max_iter = max_iter if max_iter >= 0 else SETTINGS.default_steps
        part._line = None
        return part

    def say(self, text: str, final: bool = False) -> None:
        """Show a progress line of the caller's own words, if one is due or it is the last."""
        if self._line is not None and (final or self.wants_report()):
            self._last_report = time.perf_counter()
            self._line.show(f"{self.title}: {text}", final=final)

    def too_late(self) -> Status | None:
        """The reason why no further problem may begin; None if it may."""
        stopped = self.stop(0)
        late = time.perf_counter() >= self.deadline + SETTINGS.grace * self.limit
        return None if stopped is Status.TIME_LIMIT and not late else stopped

    def __enter__(self) -> "Monitor":
        if (
            threading.current_thread() is threading.main_thread()
            and signal.getsignal(signal.SIGINT) is signal.default_int_handler
        ):
            self._handler = signal.signal(signal.SIGINT, self._on_sigint)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._handler is not None:
            signal.signal(signal.SIGINT, self._handler)
        if self._line is not None:
            self._line.close()

    def _on_sigint(self, number: int, frame: FrameType | None) -> None:
        again = self.interrupted.is_set()
        self.interrupted.set()
        if again or not self.keep:
            raise KeyboardInterrupt

    @property
    def seconds(self) -> float:
        """Seconds since the fit began."""
        return time.perf_counter() - self.began

    def stop(self, steps: int) -> Status | None:
        """The reason to stop now; None if there is none."""
        if self.interrupted.is_set():
            return Status.INTERRUPTED
        if steps >= self.max_iter:
            return Status.MAX_ITER
        if time.perf_counter() >= self.deadline:
            return Status.TIME_LIMIT
        return None

    @property
    def verbose(self) -> bool:
        """Whether progress is shown."""
        return self._line is not None

    def wants_report(self) -> bool:
        """Whether a progress line is due."""
        return (
            self._line is not None
            and time.perf_counter() - self._last_report >= SETTINGS.report_every
        )

    def report(
        self, steps: int, gap: float, violation: float, support: int, note: str = ""
    ) -> None:
        """Show the progress of a solver."""
        if self._line is None:
            return
        self._last_report = time.perf_counter()
        self._line.show(
            f"{self.title}: {steps:,} steps, gap {gap:.3g}, violation {violation:.3g}, "
            f"{support:,} support vectors, {self.seconds:.1f} s{note}",
            final=bool(note),
        )


class _Line:
    """A progress line that rewrites itself on a terminal if rich is installed, or log records."""

    def __init__(self) -> None:
        self._live: Any = None
        self._lock = threading.Lock()  # several problems may be solved side by side
        self._rich = sys.stderr.isatty() and importlib.util.find_spec("rich") is not None

    def show(self, text: str, final: bool) -> None:
        with self._lock:
            if not self._rich or final:
                self._stop()
                _log(text)
                return
            from rich.console import Console
            from rich.live import Live
            from rich.text import Text

            if self._live is None:
                self._live = Live(
                    console=Console(stderr=True, highlight=False),
                    transient=True,
                    auto_refresh=False,
                )
                self._live.start()
            self._live.update(Text(text, no_wrap=True, overflow="ellipsis"), refresh=True)

    def close(self) -> None:
        with self._lock:
            self._stop()

    def _stop(self) -> None:
        if self._live is not None:
            self._live.stop()
            self._live = None


def _log(text: str) -> None:
    """Log at level INFO, or print to standard error where no handler listens at that level.

    The user asked to see it.
    """
    if logger.hasHandlers() and logger.isEnabledFor(logging.INFO):
        logger.info(text)
    else:
        print(text, file=sys.stderr)


def interruptible(function: Callable[..., T], *arguments: Any) -> T:
    """Call function(*arguments) so that Ctrl-C interrupts the wait for it.

    It is one long call that releases the GIL, such as numpy.linalg.eigh. It runs on a thread of its
    own; after Ctrl-C it runs to its end and its result is dropped.
    """
    if threading.current_thread() is not threading.main_thread():
        return function(*arguments)
    found: Future[T] = Future()

    def work() -> None:
        try:
            found.set_result(function(*arguments))
        except BaseException as error:
            found.set_exception(error)

    threading.Thread(target=work, daemon=True).start()
    while True:
        try:
            return found.result(timeout=SETTINGS.listen_every)
        except TimeoutError:
            if found.done():  # the function's own
                raise
