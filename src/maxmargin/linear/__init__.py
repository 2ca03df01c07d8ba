"""Linear models: losses, data in memory or in chunks, solvers, certificates.

A solver is one file with one function:

    solve(problem, workspace, tol, start=None) -> LinearSolution

* ``problem`` is a LinearProblem (losses.py). ``workspace`` holds its data (designs.py), the seed of
  random choices, and the monitor that says when to stop.
* The duals of the solution are inside their bounds, with the sum that the bias asks for up to
  rounding.
* ``ended`` is None only if P(w, b) - D(t) <= tol max(P, D), both computed from the data in float64,
  or if the gap is rounding. Only ``verdict.py`` says whether the solution is optimal.
* ``start`` is an earlier solution for the same samples, perhaps with other weights.
* Inputs are not modified. The result does not depend on the number of threads; the caller holds
  BLAS to one (training.py).
"""
