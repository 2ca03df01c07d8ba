"""Placeholder until the l1 solver is merged."""

from maxmargin.solvers.linear.semismooth import solve as solve
