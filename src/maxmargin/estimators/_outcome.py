"""How a fit ended, as the user sees it: KeyboardInterrupt or a warning."""

from collections.abc import Callable, Sequence
from typing import Any

from sklearn.exceptions import ConvergenceWarning

from maxmargin.certificate import Certificate
from maxmargin.estimators._warnings import warn
from maxmargin.monitor import Monitor
from maxmargin.status import Status

Describe = Callable[[Status, Sequence[Certificate], str], str | None]
"""The warning for the problems that ended with one status, and None where none is due.

The last argument says how many problems these are, where there are several."""


def raise_interrupt(estimator: Any, monitor: Monitor) -> None:
    """Raise KeyboardInterrupt after Ctrl-C, unless the estimator keeps the model so far."""
    if monitor.interrupted.is_set() and estimator.on_interrupt == "raise":
        raise KeyboardInterrupt


def warn_of(parts: Sequence[Certificate], describe: Describe) -> bool:
    """Warn of each status that falls short of what was asked for.

    Returns whether every problem converged.
    """
    statuses = {part.status for part in parts}
    short = {one for one in statuses if one not in (Status.OPTIMAL, Status.APPROXIMATE)}
    for status in sorted(short, key=list(Status).index) if short else ():
        found = [part for part in parts if part.status is status]
        count = f" ({len(found)} of {len(parts)} problems)" if len(parts) > 1 else ""
        text = describe(status, found, count)
        if text is not None:
            warn(text, ConvergenceWarning)
    return all(part.status.converged for part in parts)


def conclude_stream(estimator: Any, monitor: Monitor, stopped: Status | None) -> None:
    """Warn where the passes over a stream of samples ended early; nothing certifies its model."""
    raise_interrupt(estimator, monitor)
    if stopped is not None:
        warn(f"Not all samples were used. {stopped.message}", ConvergenceWarning)
