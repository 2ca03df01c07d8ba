"""One virtual environment for each peer, under .bench/, made on first use.

A library that cannot be installed or imported is not an error: why not is kept beside its
environment and shown in the tables. Remove .bench/NAME to try again.
"""

import subprocess
import sys
import venv
from collections.abc import Sequence
from pathlib import Path

from peers import OURS, PEERS, Library

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / ".bench"
PATIENCE = 900  # seconds for one installation


class Environment:
    """The python that runs a library, or why there is none."""

    def __init__(self, library: Library, python: str, missing: str = "") -> None:
        self.library, self.python, self.missing = library, python, missing


def _run(*command: str) -> str:
    """Run a command; return "" or the last line it said."""
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
            cwd=ROOT / "benchmarks",
        )
    except subprocess.TimeoutExpired:
        return f"no end after {PATIENCE} s"
    said = [
        line
        for line in (done.stdout + done.stderr).splitlines()
        if line.strip() and not line.startswith("WARNING")
    ]
    return "" if done.returncode == 0 else (said or [f"ended with {done.returncode}"])[-1].strip()


def _install(library: Library) -> str:
    """Make the environment if it is not there; return why that failed, or ""."""
    home = FOLDER / library.name
    note, python = home / "outcome.txt", str(home / "bin" / "python")
    if note.is_file():
        return note.read_text()
    print(f"installing {library.name} in {home.relative_to(ROOT)} ...", flush=True)
    if not Path(python).exists():
        venv.create(home, with_pip=True)
    wrong = _run(
        python,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        *library.requirements,
    )
    wrong = wrong or _run(python, "-c", f"import peers.{library.adapter}")
    note.write_text(wrong)
    return wrong


def set_up(libraries: Sequence[Library] = (OURS, *PEERS)) -> list[Environment]:
    """One environment for each library, in their order; those without requirements are in ours."""
    found = []
    for library in libraries:
        own = bool(library.requirements)
        missing = _install(library) if own else ""
        found.append(
            Environment(
                library,
                str(FOLDER / library.name / "bin" / "python") if own else sys.executable,
                missing,
            )
        )
    return found
