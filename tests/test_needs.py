"""Where all tests must run (MAXMARGIN_COMPLETE=1, as in CI) one that is skipped fails, however it
was skipped.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
SKIPPED = {
    "marked": 'import needs\n\n@needs.programs("no-such-program", debian="nothing")\n'
    "def test_it():\n    pass\n",
    "module": 'import needs\n\nneeds.package("no_such_package")\n',
    "theirs": 'import pytest\n\npytest.importorskip("no_such_package")\n',
    "real_data": 'import data\n\ndef test_it():\n    data.load("magic", 10)\n',
    "loose": 'import pytest\n\ndef test_it():\n    pytest.skip("for no good reason")\n',
}
ELSEWHERE = 'import needs\n\n@needs.applies(False, "only elsewhere")\ndef test_it():\n    pass\n'


def summary(folder, complete):
    """How each of these modules ends beside our conftest.py."""
    for name in ("conftest.py", "needs.py", "workers.py", "data.py"):
        shutil.copy(HERE / name, folder)
    for name, text in {**SKIPPED, "elsewhere": ELSEWHERE}.items():
        (folder / f"test_{name}.py").write_text(text)
    environment = {**os.environ, "MAXMARGIN_COMPLETE": complete}
    environment.pop("MAXMARGIN_DATA", None)
    line = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-ra",
        "--continue-on-collection-errors",
        "-p",
        "no:cacheprovider",
        ".",
    ]
    return subprocess.run(
        line, cwd=folder, env=environment, capture_output=True, text=True, timeout=120
    ).stdout


def test_a_skipped_test_fails_where_all_must_run(tmp_path):
    said = summary(tmp_path, "")
    assert "6 skipped" in said
    assert "failed" not in said
    said = summary(tmp_path, "1")
    for name in SKIPPED:
        assert re.search(rf"^(FAILED|ERROR) test_{name}\.py", said, re.MULTILINE), said
    assert "for no good reason" in said
    assert re.search(
        r"^SKIPPED .*test_elsewhere\.py.*: does not apply: only elsewhere$", said, re.MULTILINE
    ), said
