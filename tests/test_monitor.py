"""Budgets and progress of a fit, by a clock that the tests set."""

import importlib.util
import io
import logging
import math
import signal
import threading

import pytest

from maxmargin import monitor
from maxmargin.monitor import Monitor, interruptible
from maxmargin.status import Status


@pytest.fixture
def clock(monkeypatch):
    """The time, in a list of one number."""
    now = [100.0]
    monkeypatch.setattr(monitor.time, "perf_counter", lambda: now[0])
    return now


def test_why_work_must_end(clock):
    one = Monitor(max_iter=10, time_limit=5.0)
    assert one.stop(9) is None
    assert one.stop(10) is Status.MAX_ITER
    clock[0] = 104.9
    assert one.stop(0) is None
    assert one.seconds == pytest.approx(4.9)
    clock[0] = 105.0
    assert one.stop(0) is Status.TIME_LIMIT
    assert one.stop(10) is Status.MAX_ITER
    one.interrupted.set()
    assert one.stop(10) is Status.INTERRUPTED


def test_steps_without_a_limit_end_too():
    assert Monitor().stop(10**8 - 1) is None
    assert Monitor().stop(10**8) is Status.MAX_ITER
    assert Monitor(max_iter=0).stop(0) is Status.MAX_ITER


def test_one_of_several_problems_has_its_share_of_the_time_left(clock):
    whole = Monitor(time_limit=8.0, title="fit")
    clock[0] = 104.0
    for share, seconds in ((0.25, 1.0), (0.5, 2.0), (3.0, 4.0), (1e-3, 0.02 * 8.0)):
        part = whole.part(share, " 1/2")
        assert part.deadline == pytest.approx(104.0 + seconds)
        assert part.title == "fit 1/2"
    assert whole.deadline == 108.0
    assert Monitor().part(0.5).deadline == math.inf
    part.interrupted.set()
    assert whole.stop(0) is Status.INTERRUPTED, "one Ctrl-C for all"


def test_another_problem_may_begin_a_quarter_of_the_limit_late(clock):
    whole = Monitor(time_limit=8.0)
    assert whole.too_late() is None
    clock[0] = 109.9
    assert whole.too_late() is None
    clock[0] = 110.0
    assert whole.too_late() is Status.TIME_LIMIT
    clock[0] = 101.0
    whole.interrupted.set()
    assert whole.too_late() is Status.INTERRUPTED


def test_ctrl_c_raises_at_once_unless_the_model_is_kept():
    with pytest.raises(KeyboardInterrupt), Monitor():
        signal.raise_signal(signal.SIGINT)
    with Monitor(keep=True) as kept:
        signal.raise_signal(signal.SIGINT)
        assert kept.stop(0) is Status.INTERRUPTED
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_the_users_own_handler_stays():
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with Monitor():
            assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


def test_nobody_is_told_unless_asked(clock):
    quiet = Monitor()
    clock[0] += 100.0
    assert not quiet.wants_report()


def test_progress_lines_come_twice_a_second(clock, caplog):
    caplog.set_level(logging.INFO, "maxmargin")
    assert not Monitor().wants_report()
    assert not Monitor().verbose
    with Monitor(verbose=1, title="SVC") as shown:
        assert shown.verbose
        assert not shown.wants_report()
        clock[0] += 0.5
        assert shown.wants_report()
        shown.report(1234, 0.5, 0.25, 17)
        assert not shown.wants_report()
        clock[0] += 1.0
        shown.report(2000, 0.0, 0.0, 18, ": optimal")
    assert [record.message for record in caplog.records] == [
        "SVC: 1,234 steps, gap 0.5, violation 0.25, 17 support vectors, 0.5 s",
        "SVC: 2,000 steps, gap 0, violation 0, 18 support vectors, 1.5 s: optimal",
    ]
    Monitor().report(1, 0.0, 0.0, 1)
    assert len(caplog.records) == 2


def test_progress_without_a_listener_goes_to_standard_error(capsys, monkeypatch):
    monkeypatch.setattr(monitor.logger, "propagate", False)
    with Monitor(verbose=1) as shown:
        shown.report(1, 0.0, 0.0, 1)
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert err.startswith("fit: 1 steps")


def test_a_limit_of_one_step_does_not_stop_another_problem():
    assert Monitor(max_iter=1).too_late() is None
    assert Monitor(max_iter=0).too_late() is Status.MAX_ITER


def test_a_share_of_more_than_all_is_all(clock):
    assert Monitor(time_limit=8.0).part(3.0).deadline == 108.0
    assert Monitor(time_limit=8.0).part(0.5).deadline == 104.0
    assert Monitor().part(0.5).deadline == math.inf


def test_long_calls_return_raise_and_keep_to_their_thread():
    assert interruptible(lambda a, b: a - b, 5, 3) == 2
    assert interruptible(threading.current_thread) is not threading.main_thread()
    assert interruptible(lambda: threading.current_thread().daemon), (
        "a process ends without waiting for it"
    )
    for error in (ValueError, TimeoutError):

        def fail(error=error):
            raise error("its own")

        with pytest.raises(error, match="its own"):
            interruptible(fail)
    inside = []
    thread = threading.Thread(target=lambda: inside.append(interruptible(threading.current_thread)))
    thread.start()
    thread.join()
    assert inside == [thread]


def test_who_listens_to_the_log(capsys, monkeypatch):
    """The log goes to a handler that accepts such records, otherwise to standard error."""
    logger, shown = monitor.logger, []
    monkeypatch.setattr(logger, "propagate", False)
    handler = logging.Handler()
    monkeypatch.setattr(handler, "emit", lambda record: shown.append(record.getMessage()))
    for level, handlers, listens in (
        (logging.INFO, [handler], True),
        (logging.WARNING, [handler], False),
        (logging.INFO, [], False),
    ):
        monkeypatch.setattr(logger, "handlers", handlers)
        monkeypatch.setattr(logger, "level", level)
        logger.manager._clear_cache()
        shown.clear()
        monitor._log("a line")
        assert shown == ["a line"] * listens
        assert capsys.readouterr().err == "a line\n" * (not listens)
    logger.manager._clear_cache()


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_terminal_has_one_line_that_is_rewritten(monkeypatch):
    """Nothing of it is left when the fit ends, but for its last words."""
    live = pytest.importorskip("rich.live").Live
    shown = []

    class Recorded(live):
        def __init__(self, **options):
            shown.append(
                ("new", options["transient"], options["auto_refresh"], options["console"].stderr)
            )
            super().__init__(**options)

        def start(self):
            shown.append("start")

        def update(self, text, *, refresh=False):
            shown.append((text.plain, text.no_wrap, text.overflow, refresh))

        def stop(self):
            shown.append("stop")

    monkeypatch.setattr("rich.live.Live", Recorded)
    monkeypatch.setattr(monitor, "_log", lambda text: shown.append(f"logged {text[-4:]}"))
    monkeypatch.setattr(monitor.sys, "stderr", Terminal())
    with Monitor(verbose=1) as fit:
        for steps in (1, 2):
            fit.report(steps, 0.0, 0.0, 1)
        fit.report(3, 0.0, 0.0, 1, note=" end")
    new, *rest = shown
    assert new == ("new", True, False, True)
    assert [entry if isinstance(entry, str) else entry[1:] for entry in rest] == [
        "start",
        (True, "ellipsis", True),
        (True, "ellipsis", True),
        "stop",
        "logged  end",
    ]
    assert [entry[0][:12] for entry in rest[1:3]] == ["fit: 1 steps", "fit: 2 steps"]
    shown.clear()
    with Monitor(verbose=1) as fit:
        fit.report(1, 0.0, 0.0, 1)
    assert shown[-1] == "stop", "whatever ended the fit"


def test_lines_are_logged_without_a_terminal_or_without_rich(monkeypatch):
    assert not monitor._Line()._rich
    monkeypatch.setattr(monitor.sys, "stderr", Terminal())
    assert monitor._Line()._rich is (importlib.util.find_spec("rich") is not None)
    monkeypatch.setattr(monitor.importlib.util, "find_spec", lambda name: None)
    assert not monitor._Line()._rich
