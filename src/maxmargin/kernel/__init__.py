"""Kernel machines: kernels, dual problems, formulations, sources of kernel values, solvers.

A solver of the dual problem is one file with one function:

    solve(problem, workspace, tol, start=None) -> Solution

* ``problem`` is a DualProblem. ``workspace`` holds the source of kernel values, what is kept of
  them from solve to solve, and the monitor that says when to stop.
* The solution is feasible: inside its bounds, with the sums of ``problem.start`` up to rounding.
* ``Solution.ended`` is None only if the violation is at most ``tol`` for kernel values recomputed
  in float64, in units of the margin if the problem is. Otherwise it says why the solver stopped.
  Only ``verdict.py`` says whether the solution is optimal.
* ``start`` is any guess. The solver makes it feasible first.
* Inputs are not modified. The result does not depend on the number of threads or on the size of
  the cache.
"""
