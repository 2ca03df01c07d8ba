"""Which backend a fit runs on: the one place that names a machine."""

from maxmargin.core.cpu import CPU

HOST = CPU()
"""The machine that Python runs on."""
