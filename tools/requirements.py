"""Print what pyproject.toml requires, one requirement a line, for ``pip install --requirement``.

    python tools/requirements.py run plots          what running needs, and the extra `plots`
    python tools/requirements.py --oldest run test  the same, each at its lower bound

`build` is what building needs, `run` the run-time dependencies, any other word an extra. It reads
the file itself so that an extra's packages can be installed without building the project again.
"""

import argparse
import tomllib
from pathlib import Path

PROJECT = Path(__file__).parent.parent / "pyproject.toml"


def requirements(groups, oldest=False):
    """The requirements of the groups, each once, in the order of the file."""
    document = tomllib.loads(PROJECT.read_text())
    known = {
        "build": document["build-system"]["requires"],
        "run": document["project"]["dependencies"],
        **document["project"]["optional-dependencies"],
    }
    unknown = [name for name in groups if name not in known]
    if unknown:
        raise SystemExit(
            f"no extra {', '.join(unknown)} in pyproject.toml: choose from {', '.join(known)}"
        )
    lines = dict.fromkeys(line for name in groups for line in known[name])
    return [line.replace(">=", "==") if oldest else line for line in lines]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("groups", nargs="+", help="build, run, or extras")
    parser.add_argument(
        "--oldest", action="store_true", help="the oldest version that each lower bound allows"
    )
    arguments = parser.parse_args()
    print("\n".join(requirements(arguments.groups, arguments.oldest)))
