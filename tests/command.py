"""How the tests run the command: in this process, quickly, or as users do."""

import json
import subprocess
import sys

import numpy as np
from typer.testing import CliRunner

from helpers import child_environment
from maxmargin.cli.app import app
from maxmargin.io import dump_svmlight


def run(*arguments, code=0, stdin=None):
    """The result of a command in this process.

    Its exit code must be the one expected, None for any.
    """
    result = CliRunner().invoke(app, [str(argument) for argument in arguments], input=stdin)
    if code is not None and result.exit_code != code:
        raise AssertionError(
            f"exit code {result.exit_code}\n{result.output}\n{result.stderr}"
        ) from result.exception
    return result


def answer(*arguments, **options):
    """The JSON object a command printed."""
    return json.loads(run(*arguments, "--json", **options).stdout)


def process(*arguments, stdin=None, code=0):
    """A command in a process of its own: what it wrote to both streams, as bytes."""
    line = [
        sys.executable,
        "-c",
        "from maxmargin.cli import main; main()",
        *(str(argument) for argument in arguments),
    ]
    done = subprocess.run(
        line, input=stdin, capture_output=True, timeout=60, env=child_environment()
    )
    assert done.returncode == code, f"exit code {done.returncode}\n{done.stderr.decode()}"
    return done


def heart(path, n=270, d=13, seed=0, classes=2, noise=1.0):
    """A file like heart_scale: features in [-1, 1], some zero, classes +1 and -1 (or 1, 2, 3, ...),
    rows in any order."""
    rng = np.random.default_rng(seed)
    label = rng.integers(0, classes, n)
    centres = rng.normal(size=(classes, d))
    X = np.tanh(centres[label] * 0.6 + noise * rng.normal(size=(n, d)))
    X[rng.random((n, d)) < 0.1] = 0.0
    y = np.where(label == 0, 1, -1) if classes == 2 else label + 1
    dump_svmlight(X, y, path)
    return X, y


def house(path, n=200, d=6, seed=0):
    """A regression file."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n, d))
    y = np.sin(2 * X[:, 0]) + X[:, 1] - X[:, 2] * X[:, 3] + 0.1 * rng.normal(size=n)
    dump_svmlight(X, y, path)
    return X, y
