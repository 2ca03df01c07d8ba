"""Completion in bash: the script that --show-completion prints and --install-completion installs,
and what bash gets from it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import needs

COMMAND = shutil.which("maxmargin", path=Path(sys.executable).parent)
BASH = shutil.which("bash")
pytestmark = needs.programs(
    COMMAND or "maxmargin", "bash", debian="bash; `maxmargin` comes with the package"
)
COMPLETE = """
source "$1"
COMP_WORDS=("${@:3}")
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
_maxmargin_completion "$2"
printf '%s\\n' "${COMPREPLY[@]}"
"""


def call(folder, *line):
    """Run a program whose home is the folder; typer looks for no shell then, it is told."""
    told = {"HOME": str(folder), "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
    done = subprocess.run(
        [*line], capture_output=True, text=True, timeout=120, env={**os.environ, **told}, cwd=folder
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def script(tmp_path_factory):
    path = tmp_path_factory.mktemp("home") / "completion.sh"
    path.write_text(call(path.parent, COMMAND, "--show-completion", "bash"))
    return path


def completed(script, *words):
    """What bash offers for the last word."""
    return call(
        script.parent, BASH, "-c", COMPLETE, "complete", str(script), COMMAND, *words
    ).split()


def test_the_script_names_the_command(script):
    assert script.read_text().rstrip().endswith("maxmargin")
    assert "_MAXMARGIN_COMPLETE=complete_bash" in script.read_text()


@pytest.mark.parametrize(
    ("words", "goal"),
    [
        (["maxmargin", "tr"], {"train"}),
        (["maxmargin", "svm-"], {"svm-train", "svm-predict", "svm-scale"}),
        (["maxmargin", "train", "--ker"], {"--kernel"}),
        (["maxmargin", "predict", "--dec"], {"--decision"}),
        (["maxmargin", "nothing"], set()),
    ],
)
def test_answers(script, words, goal):
    assert set(completed(script, *words)) == goal


def test_installation(tmp_path):
    (tmp_path / ".bashrc").write_text("# mine\n")
    call(tmp_path, COMMAND, "--install-completion", "bash")
    lines = (tmp_path / ".bashrc").read_text().splitlines()
    assert lines[0] == "# mine"
    (installed,) = tmp_path.rglob("maxmargin.sh")
    assert any(line.startswith("source ") and str(installed) in line for line in lines)
    assert completed(installed, "maxmargin", "insp") == ["inspect"]
