"""Makes the modules beside this file (helpers, reference) importable from every folder of tests; the same random numbers for each test."""

import ctypes

import pytest


@pytest.fixture(autouse=True)
def same_random_numbers():
    """LIBSVM and LIBLINEAR draw from C's generator, and what they end at depends on it where they give up: on no other test."""
    ctypes.CDLL(None).srand(1)
