"""What a test needs beyond the package: programs, packages, data sets. Without it the test is
skipped.

With MAXMARGIN_COMPLETE=1, as in CI, a skipped test or module fails instead (conftest.py), whatever
skipped it: no test can go missing unnoticed. Only a reason that begins with NOT_APPLICABLE is let
through: the test has nothing to say about this platform or this version of a package.
"""

import importlib
import os
import shutil

import pytest

COMPLETE = os.environ.get("MAXMARGIN_COMPLETE", "") not in ("", "0")
NOT_APPLICABLE = "does not apply: "
DATA = os.environ.get("MAXMARGIN_DATA")
"""The folder of the real data sets, or None."""


def programs(*names, debian):
    """A mark: skip where one of the programs is not installed; `debian` names its packages."""
    missing = [name for name in names if shutil.which(name) is None]
    return pytest.mark.skipif(
        bool(missing), reason=f"{', '.join(missing)} is missing (Debian: {debian})"
    )


def package(name):
    """The imported package; skip where it is not installed."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        pytest.skip(f"{name} is missing: {error}", allow_module_level=True)


def data_sets():
    """The folder of the real data sets; skip where MAXMARGIN_DATA is not set."""
    if not DATA:
        pytest.skip("MAXMARGIN_DATA is not set")
    return DATA


def applies(condition, reason):
    """A mark: skip where the test has nothing to say, also with MAXMARGIN_COMPLETE=1."""
    return pytest.mark.skipif(not condition, reason=NOT_APPLICABLE + reason)


def fail_if_skipped(report):
    """Turn the report of a skipped test or module into a failure where all must run."""
    if not COMPLETE or not report.skipped or hasattr(report, "wasxfail"):
        return
    path, line, reason = (
        report.longrepr if isinstance(report.longrepr, tuple) else ("", 0, str(report.longrepr))
    )
    reason = reason.removeprefix("Skipped: ")
    if not reason.startswith(NOT_APPLICABLE):
        report.outcome = "failed"
        report.longrepr = f"{path}:{line}: skipped where all tests must run: {reason}"
