"""With `pytest -p threaded` the core starts its threads for the smallest work too.

See tools/sanitize.sh.
"""

from maxmargin.core import threads

threads.SMALL = 20
