"""The ``maxmargin`` command: one file for each subcommand, on the public interface only.

It needs the extra ``cli``.
"""

import sys


def main() -> None:
    """Run the command; without typer, say how to get it."""
    try:
        from maxmargin.cli.app import app
    except ImportError as missing:
        if (missing.name or "").partition(".")[0] not in ("typer", "click", "rich"):
            raise
        sys.exit(f"The maxmargin command needs {missing.name}: pip install 'maxmargin[cli]'.")
    app()
