"""``make mutate``: faults put into copies of the sources, one at a time, to see whether the tests
find them."""
