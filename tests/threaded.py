"""With `pytest -p threaded` the core starts its threads for the smallest work too: see tools/sanitize.sh."""

from maxmargin.core import threads

threads.SMALL = 20
