"""``make bench-memory``: LinearSVC trained from a file of 4 GB in a process that stays under 1 GB.

    make bench-memory                                   5,000,000 x 100 float64 in run/memory/
    make bench-memory ARGS="--folder /disk --rows 1e6"  elsewhere, or fewer rows
    make bench-memory ARGS="--tol 1e-6"                 a smaller relative duality gap
    make bench-memory ARGS=--remove                     remove the file at the end

The parent writes the file in blocks (rows.f64 and labels.f64, plain float64, with size.json beside
them) and starts a fresh process, which reads blocks of 50,000 rows with np.fromfile and hands a
function that starts again at each call to ``LinearSVC.fit_chunks``. It prints the seconds, the
passes over the file, the peak resident memory of the process (VmHWM) and the certificate. The exit
status is 1 if the peak is LIMIT or more, or if the solution is not optimal.
"""

import argparse
import json
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from child import peak_memory

FOLDER = Path(__file__).resolve().parent.parent / "run" / "memory"
FEATURES, BLOCK = 100, 50_000
LIMIT = 1024.0
"""Megabytes that the training process must stay below."""


def write(folder: Path, rows: int) -> None:
    """The file, unless it is there: points on both sides of a plane, one label in ten wrong."""
    size = folder / "size.json"
    if size.is_file() and json.loads(size.read_text()) == {"rows": rows, "features": FEATURES}:
        return
    folder.mkdir(parents=True, exist_ok=True)
    size.unlink(missing_ok=True)  # written last: a file half written is written again
    needed, free = rows * (FEATURES + 1) * 8, shutil.disk_usage(folder).free
    if needed > free:
        sys.exit(
            f"{folder} has {free / 1e9:.1f} GB free, the file takes {needed / 1e9:.1f} GB: give "
            "another --folder or fewer --rows."
        )
    rng = np.random.default_rng(0)
    w = rng.standard_normal(FEATURES) / np.sqrt(FEATURES)
    with (folder / "rows.f64").open("wb") as points, (folder / "labels.f64").open("wb") as labels:
        for begin in range(0, rows, BLOCK):
            X = rng.standard_normal((min(BLOCK, rows - begin), FEATURES))
            score = X @ w + 0.3 * rng.standard_normal(len(X))
            X.tofile(points)
            np.where((score > 0) ^ (rng.random(len(X)) < 0.1), 1.0, -1.0).tofile(labels)
    size.write_text(json.dumps({"rows": rows, "features": FEATURES}))


class Reader:
    """Reads the file again at each call, block by block; counts the passes that were begun."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.passes = folder, 0

    def __call__(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Blocks of rows and their labels."""
        self.passes += 1
        with (
            (self.folder / "rows.f64").open("rb") as points,
            (self.folder / "labels.f64").open("rb") as labels,
        ):
            while len(y := np.fromfile(labels, count=BLOCK)):
                yield np.fromfile(points, count=len(y) * FEATURES).reshape(len(y), FEATURES), y


def train(folder: Path, loss: str, tol: float) -> dict[str, Any]:
    """Fit in this process."""
    from maxmargin import LinearSVC

    imported, read = peak_memory(), Reader(folder)
    began = time.perf_counter()
    model = LinearSVC(loss=loss, tol=tol).fit_chunks(read)
    seconds = time.perf_counter() - began
    certificate = model.certificate_
    right = sum(int(np.sum(model.predict(X) == y)) for X, y in Reader(folder)())
    return {
        "loss": loss,
        "seconds": seconds,
        "passes": read.passes,
        "peak": peak_memory(),
        "imported": imported,
        "accuracy": right / json.loads((folder / "size.json").read_text())["rows"],
        "certificate": {
            name: getattr(certificate, name)
            for name in ("status", "primal", "dual", "relative_gap")
        },
    }


def show(result: dict[str, Any], size: float) -> bool:
    """Print a result; say whether it is what was promised."""
    peak, work = result["peak"], f"{result['seconds']:.1f} s, {result['passes']} passes"
    print(
        f"{result['loss']}: {size / 1e9:.2f} GB on disk, {work}, {result['accuracy']:.2%} of the "
        "labels right"
    )
    print(
        f"  peak resident memory {peak:.0f} MB ({result['imported']:.0f} MB after the imports), "
        f"the limit is {LIMIT:.0f} MB"
    )
    print(
        "  certificate: "
        + ", ".join(f"{name} {value}" for name, value in result["certificate"].items())
    )
    return peak < LIMIT and result["certificate"]["status"] == "optimal"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--folder", type=Path, default=FOLDER, help="where the file is or is written (run/memory)"
    )
    parser.add_argument("--rows", type=float, default=5e6, help="rows of the file (5,000,000)")
    parser.add_argument(
        "--losses",
        nargs="+",
        default=["hinge", "squared_hinge"],
        help="losses to train with, each in a process of its own",
    )
    parser.add_argument("--tol", type=float, default=1e-4, help="relative duality gap (1e-4)")
    parser.add_argument("--remove", action="store_true", help="remove the file at the end")
    # what the fresh process is called with
    parser.add_argument("--train", metavar="LOSS", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.train:
        return print(json.dumps(train(options.folder, options.train, options.tol)))
    write(options.folder, int(options.rows))
    kept = True
    for loss in options.losses:
        command = [
            sys.executable,
            __file__,
            "--train",
            loss,
            "--folder",
            str(options.folder),
            "--tol",
            str(options.tol),
        ]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"Training with {loss} ended with {done.returncode}.")
        kept = (
            show(
                json.loads(done.stdout.splitlines()[-1]),
                (options.folder / "rows.f64").stat().st_size,
            )
            and kept
        )
    if options.remove:
        for name in ("size.json", "rows.f64", "labels.f64"):
            (options.folder / name).unlink()
    return None if kept else sys.exit("Not as promised: see above.")


if __name__ == "__main__":
    main()
