"""Solvers of linear models, one a file, with one contract:

    solve(problem, design, tol, monitor, start=None, seed=0) -> LinearSolution

* ``problem`` is a LinearProblem (losses.py), ``design`` its data (designs.py), ``monitor`` says when to stop;
* the duals of the solution are inside their bounds, with the sum that the bias asks for up to rounding;
* its ``ended`` is None only if P(w, b) - D(t) <= tol max(P, D) held, both computed from the data in float64, or if the gap is rounding;
* ``start`` is an earlier solution of the same samples, with other weights perhaps; ``seed`` is for solvers that draw;
* inputs are not modified; the result does not depend on the number of threads, BLAS being held to one by the caller (linear_training.py).
"""
