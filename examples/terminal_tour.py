"""``make tour``: runs the commands of the tour in docs/command-line.md, writes what they say into
that page and as a picture of a terminal.

The picture is docs/pictures/command-line.svg; the text stands between two marks of the page:
neither can drift from what the program does.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.text import Text

DOCS = Path(__file__).resolve().parent.parent / "docs"
BEGIN, END = "<!-- written by make tour -->", "<!-- until here -->"
WIDTH = 118
PREPARATION = """
from pathlib import Path
from sklearn.datasets import load_breast_cancer
import numpy as np
X, y = load_breast_cancer(return_X_y=True)
names = load_breast_cancer().feature_names
kinds = ["benign" if label else "malignant" for label in y]
rows = [",".join([*map(repr, row), kind]) for row, kind in zip(X.tolist(), kinds)]
head = ",".join([*(n.replace(" ", "_") for n in names), "diagnosis"])
Path("cells.csv").write_text("\\n".join([head, *rows]) + "\\n")
"""
COMMANDS = (
    "maxmargin check cells.csv --target diagnosis",
    "maxmargin scale cells.csv scaled.csv --target diagnosis --save ranges.txt",
    "maxmargin subset scaled.csv 400 train.csv --rest test.csv --target diagnosis",
    "maxmargin tune train.csv -C log2:-1,7,4 --gamma log2:-7,1,4 --target diagnosis --picture "
    "search.png",
    "maxmargin train train.csv cells.mm --target diagnosis -C 8 --gamma 0.125 --cv 5",
    "maxmargin predict test.csv cells.mm predictions.txt",
    "maxmargin inspect cells.mm",
    "maxmargin plot test.csv cells.mm cells.png",
    "maxmargin predict test.csv cells.mm --json | cut -c 1-100",
    "printf '1 1:0.5 3:2\\n-1 2:nan\\n1 7:1 4:1\\n' > odd.svm; maxmargin check odd.svm | head -2",
    "maxmargin svm-train -c 10 -g 0.1 odd.svm",
)


def outputs(folder: str) -> list[tuple[str, str]]:
    """Each command and what it wrote, with its colours."""
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "FORCE_COLOR": "1",
        "COLUMNS": str(WIDTH),
    }
    subprocess.run([sys.executable, "-c", PREPARATION], cwd=folder, check=True)
    found = []
    for command in COMMANDS:
        done = subprocess.run(
            command,
            shell=True,
            cwd=folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        found.append((command, done.stdout.rstrip()))
    return found


def main() -> None:
    """Run, record, write."""
    nowhere = open(os.devnull, "w")  # noqa: SIM115
    console = Console(record=True, width=WIDTH, force_terminal=True, file=nowhere, highlight=False)
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        for command, output in outputs(folder):
            shown = Text.from_ansi(output)
            console.print(f"[bold green]$[/] [bold]{command.replace('[', chr(92) + '[')}[/]")
            console.print(shown)
            lines += [f"$ {command}", *(line.rstrip() for line in shown.plain.splitlines()), ""]
    (DOCS / "pictures").mkdir(exist_ok=True)
    console.save_svg(
        str(DOCS / "pictures" / "command-line.svg"), title="maxmargin", unique_id="tour"
    )
    page = DOCS / "command-line.md"
    text = "\n".join([BEGIN, "", "```console", *lines[:-1], "```", "", END])
    page.write_text(
        re.sub(
            f"{re.escape(BEGIN)}.*?{re.escape(END)}",
            lambda _: text,
            page.read_text(),
            flags=re.DOTALL,
        )
    )
    print(f"{page.name} and pictures/command-line.svg: {len(COMMANDS)} commands")


if __name__ == "__main__":
    main()
