"""``make bench-linear``: linear models, by the time each library takes to the same objective.

See run.py.
"""
