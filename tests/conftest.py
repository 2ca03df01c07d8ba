"""For all tests: the modules beside this file can be imported from every folder of tests, random
numbers are the same for each test, and with MAXMARGIN_COMPLETE=1 a skipped test fails
(needs.py). Several processes may share the tests (workers.py)."""

import ctypes
import os

import pytest

import needs
import workers

workers.share_cores(os.environ)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config):
    return workers.number(config)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport():
    outcome = yield
    needs.fail_if_skipped(outcome.get_result())


@pytest.hookimpl(hookwrapper=True)
def pytest_make_collect_report():
    outcome = yield
    needs.fail_if_skipped(outcome.get_result())


@pytest.fixture(autouse=True)
def same_random_numbers():
    """LIBSVM and LIBLINEAR draw from C's generator, and what they end at depends on it where they
    give up: on no other test.
    """
    ctypes.CDLL(None).srand(1)
