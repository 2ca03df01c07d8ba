"""The mutation campaign's own parts: operators, names that survive edits, the choice of tests, the
list of equivalents."""

import ast
import json

import pytest

from mutate import coverage, operators, places
from mutate.__main__ import known_equivalents, matches
from mutate.coverage import Judges
from mutate.trial import by_module

CODE = """
LIMIT = 3


class Thing:
    def act(self, a, b):
        if a < b and not self.done:
            self.done = True
            self.total += a * 2.5
            log(a, b)
        return a - b if b is None else -a
"""


HARMLESS = '''
class Settings(NamedTuple):
    """Of a solver."""

    share: float = 0.25
    """A setting."""


SHARE = 0.75
TABLE = (1, 2)


def act(n):
    step = max(1, 100 // n)
    run(step, thread_count(n * 100), zip(n, strict=True))
    return 1e-9 if n <= tol else 0
'''


@pytest.fixture
def made(tmp_path, monkeypatch):
    """All mutants of the code above, by name."""
    monkeypatch.setattr(operators, "PACKAGE", tmp_path)

    def make(code=CODE):
        path = tmp_path / "thing.py"
        path.write_text(code)
        return {mutant.name: mutant for mutant in operators.mutants(path)}, path.read_bytes()

    return make


def test_every_kind_of_fault(made):
    found, source = made()
    wanted = {
        "thing.py::LIMIT: 3 -> 4": "LIMIT = (4)",
        "thing.py::Thing.act: a < b -> a <= b": "if (a <= b) and not self.done:",
        "thing.py::Thing.act: a < b and (not self.done) -> a < b or not self.done": (
            "if (a < b or not self.done):"
        ),
        "thing.py::Thing.act: not self.done -> self.done": "if a < b and (self.done):",
        "thing.py::Thing.act: self.done = True -> pass": "pass",
        "thing.py::Thing.act: self.total += a * 2.5 -> self.total -= a * 2.5": (
            "self.total -= a * 2.5"
        ),
        "thing.py::Thing.act: self.total += a * 2.5 -> pass": "pass",
        "thing.py::Thing.act: a * 2.5 -> a / 2.5": "self.total += (a / 2.5)",
        "thing.py::Thing.act: 2.5 -> 5.0": "self.total += a * (5.0)",
        "thing.py::Thing.act: log(a, b) -> log(b, a)": "(log(b, a))",
        "thing.py::Thing.act: log(a, b) -> pass": "pass",
        "thing.py::Thing.act: a - b if b is None else -a -> -a": "return (-a)",
        "thing.py::Thing.act: return a - b if b is None else -a -> return None": "return None",
        "thing.py::Thing.act: -a -> a": "return a - b if b is None else (a)",
    }
    for name, line in wanted.items():
        new = found[name].apply(source).decode().splitlines()
        assert line in [text.strip() for text in new], name
        assert sum(a != b for a, b in zip(new, CODE.splitlines(), strict=True)) == 1


def test_every_mutant_is_another_program(made):
    found, source = made()
    assert len(found) > 20
    for mutant in found.values():
        new = mutant.apply(source)
        assert new is not None
        assert ast.dump(ast.parse(new)) != ast.dump(ast.parse(source))


def test_what_is_no_fault_is_left_alone(made):
    """Tolerances of another size and ties with them, the rows of a block, settings of solvers.

    Other constants are mutated.
    """
    found, _ = made(HARMLESS)
    assert {
        "thing.py::act: 1e-09 -> 1.0",
        "thing.py::SHARE: 0.75 -> 1.5",
        "thing.py::TABLE: 1 -> 2",
    } <= set(found)
    assert not any(
        "step =" in name or "2e-09" in name or ": 100" in name or ": n * 100" in name
        for name in found
    )
    assert not any(": True ->" in name for name in found), (
        "that sequences are equally long is an assertion"
    )
    assert "thing.py::act: n <= tol -> n > tol" in found
    assert "thing.py::act: n <= tol -> n < tol" not in found
    assert not any("Settings" in name for name in found)


def test_settings_of_solvers_are_left_alone():
    names = {
        f"{mutant.file}::{mutant.function}"
        for path in places.sources()
        for mutant in operators.mutants(path)
    }
    assert not [name for name in names if name.endswith("::Settings")]
    assert {
        "verdict.py::AGREED",
        "online/pegasos_linear.py::SAMPLE",
        "kernel/block.py::solve",
    } <= names


def test_names_survive_edits_elsewhere(made):
    before, _ = made()
    after, _ = made("import os\n\n\ndef other():\n    return os.getpid() + 1\n" + CODE)
    assert set(before) <= set(after)


def test_tests_are_chosen_by_function_and_cost(tmp_path, monkeypatch):
    monkeypatch.setattr(coverage, "FOCUSED", 0)
    entry = {"a.py::f": ["f", "g"], "a.py::g": ["g"]}
    tests = {
        "tests/x.py::slow": {"seconds": 5.0, "functions": list(entry)},
        "tests/x.py::quick[1]": {"seconds": 0.1, "functions": ["a.py::f"]},
        "tests/x.py::quick[2]": {"seconds": 0.1, "functions": ["a.py::f"]},
        "tests/y.py::other": {"seconds": 0.2, "functions": ["a.py::g"]},
    }
    (tmp_path / "map.json").write_text(json.dumps(tests))
    judges = Judges(tmp_path / "map.json")
    assert judges.of("a.py::f", 10.0) == [
        "tests/x.py::quick[1]",
        "tests/x.py::slow",
        "tests/x.py::quick[2]",
    ]
    assert judges.of("a.py::f", 1.0) == ["tests/x.py::quick[1]", "tests/x.py::quick[2]"]
    assert judges.of("a.py::", 1.0) == [
        "tests/x.py::quick[1]",
        "tests/y.py::other",
        "tests/x.py::quick[2]",
    ], "all that use the file"
    assert judges.of("b.py::f", 10.0) == []
    monkeypatch.setattr(coverage, "FOCUSED", 1)
    assert judges.of("a.py::f", 10.0) == [
        "tests/x.py::quick[1]",
        "tests/x.py::quick[2]",
        "tests/x.py::slow",
    ], "those of one part first"
    judges.drop({"tests/x.py::quick[1]"})
    assert judges.of("a.py::f", 1.0) == ["tests/x.py::quick[2]"]
    assert by_module(["x::a", "y::b", "x::c"]) == [["x::a", "x::c"], ["y::b"]]


def test_known_equivalents_exist_and_have_a_reason():
    """An entry whose code is gone must go as well."""
    all_of_them = [mutant for path in places.sources() for mutant in operators.mutants(path)]
    for entry in known_equivalents():
        assert set(entry) in ({"mutant", "reason"}, {"within", "reason"}, {"like", "reason"})
        assert len(entry["reason"]) > 20
        assert any(matches(mutant, entry) for mutant in all_of_them), entry


def test_there_is_something_to_mutate_and_to_judge():
    assert {"block.py", "certificate.py", "kernels.py", "training.py"} <= {
        path.name for path in places.sources()
    }
    assert {"test_certificate.py", "test_definitions.py"} <= {path.name for path in places.judges()}
    assert "test_mutate.py" not in {path.name for path in places.judges()}
