"""The svmlight reader against random bytes: ``make fuzz`` (needs atheris, the tests do not).

    python tests/fuzz/svmlight.py -max_total_time=600 tests/fuzz/corpus/svmlight

-help=1 shows libFuzzer's other options.

The parser itself is compiled and not instrumented, so the harness tells libFuzzer what came out:
each kind of outcome is a branch of its own in ``outcome``. parser_sanitized.cpp runs the parser
under sanitizers. Finds are kept in the corpus, which tests/test_svmlight.py reads.
"""

import inspect
import sys

import atheris
import svmlight_target

from maxmargin.io import doctor, files, growing, lines, svmlight, svmlight_rows

OUTCOMES = 256
names = {}
exec(
    "def outcome(k):\n"
    + "".join(f"    if k == {k}:\n        return {k}\n" for k in range(OUTCOMES)),
    names,
)
outcome = atheris.instrument_func(names["outcome"])

for module in (doctor, files, growing, lines, svmlight, svmlight_rows):
    for place in (
        module,
        *(
            value
            for _, value in inspect.getmembers(module, inspect.isclass)
            if value.__module__ == module.__name__
        ),
    ):
        for name, function in list(vars(place).items()):
            if inspect.isfunction(function) and function.__module__ == module.__name__:
                setattr(place, name, atheris.instrument_func(function))


def one_input(data: bytes) -> None:
    """What libFuzzer calls."""
    outcome(hash(svmlight_target.one_input(data)) % OUTCOMES)


if __name__ == "__main__":
    atheris.Setup(sys.argv, one_input)
    atheris.Fuzz()
