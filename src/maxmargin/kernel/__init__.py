"""Solvers of the dual problem, one a file, with one contract:

    solve(problem, source, tol, monitor, cache_size="auto", start=None, workers=1) -> Solution

* ``problem`` is a DualProblem, ``source`` gives kernel values, ``monitor`` says when to stop;
* the solution is feasible: inside its bounds, with the sums of ``problem.start`` up to rounding;
* ``Solution.ended`` is None only if ``worst_violation <= tol`` held for kernel values recomputed in float64 (in units of the margin r
  where the problem is in margin units); whether the solution is optimal is for ``verdict.py`` to
  say;
* ``cache_size`` is in megabytes; ``workers`` such solves run side by side and share it;
* ``start`` is any guess; it is made feasible first;
* inputs are not modified, the result does not depend on the number of threads or on the size of the cache.

``pegasos``, ``pegasos_linear``, ``epochs``, ``norma`` and ``budget`` are the online family: steps
on the primal, with a contract of its own (``Path``).
"""
