"""``make bench-svmlight``: reading svmlight text beside scikit-learn and LIBSVM.

    make bench-svmlight                          500 MB in run/svmlight/, three rounds in turns
    make bench-svmlight ARGS="--megabytes 50 --rounds 5 --remove"

Two kinds of files: "text" (sparse, many features, 6 digits as most published files have) and
"doubles" (dense rows of 17 digits). Each reader runs in a process of its own, in turns; shown are
the medians of the seconds and the ratio to ours. LIBSVM's Python reader gets the first tenth of the
file, its seconds times ten. Our result is compared with scikit-learn's, bit for bit, on that tenth.
"""

import argparse
import json
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

FOLDER = Path(__file__).resolve().parent.parent / "run" / "svmlight"
SHARE = 10
"""LIBSVM's reader gets 1 / SHARE of the file."""
READERS = {
    "maxmargin": "from maxmargin.io import load_svmlight as read",
    "scikit-learn": "from sklearn.datasets import load_svmlight_file as read",
    "libsvm-official": "from libsvm.commonutil import svm_read_problem as read",
}
CHILD = """
import json, resource, sys, time
{imports}
began = time.perf_counter()
found = read(sys.argv[1])
seconds = time.perf_counter() - began
print(json.dumps([seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024]))
"""


def lines_of(kind: str, rng: np.random.Generator) -> Any:
    """Blocks of lines."""
    while True:
        if kind == "text":
            rows = []
            for length in rng.integers(20, 200, 500):
                index = np.unique(rng.integers(1, 50_000, length))
                rows.append(
                    f"{rng.integers(0, 2) * 2 - 1:+d} "
                    + " ".join(
                        f"{k}:{v:.6g}" for k, v in zip(index, rng.random(len(index)), strict=True)
                    )
                )
        else:
            X = rng.normal(size=(1000, 50))
            rows = [
                f"{row[0]!r} " + " ".join(f"{k}:{v!r}" for k, v in enumerate(row, 1))
                for row in X.tolist()
            ]
        yield ("\n".join(rows) + "\n").encode()


def write(path: Path, kind: str, size: int) -> None:
    """Write a file of at least this many bytes, unless it exists.

    It repeats some thousand lines in changing orders.
    """
    part = path.with_suffix(".part")
    if path.is_file() and path.stat().st_size >= size:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(0)
    source = lines_of(kind, rng)
    blocks = [next(source) for _ in range(20)]
    with path.open("wb") as file:
        while file.tell() < size:
            file.write(blocks[rng.integers(len(blocks))])
            if not part.is_file() and file.tell() >= size // SHARE:
                file.flush()
                part.write_bytes(path.read_bytes())


def seconds_of(reader: str, path: Path) -> tuple[float, float]:
    """Seconds and megabytes of one reading in a fresh process."""
    code = CHILD.format(imports=READERS[reader])
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True
    )
    seconds, memory = json.loads(done.stdout.splitlines()[-1])
    return seconds, memory


def compare(path: Path) -> None:
    """Our arrays must be scikit-learn's."""
    from sklearn.datasets import load_svmlight_file

    from maxmargin.io import load_svmlight

    (ours, y), (theirs, z) = load_svmlight(path), load_svmlight_file(str(path))
    same = all(
        np.array_equal(a, b)
        for a, b in (
            (ours.data, theirs.data),
            (ours.indices, theirs.indices),
            (ours.indptr, theirs.indptr),
            (y, z),
        )
    )
    if not same:
        sys.exit(f"{path}: our arrays differ from scikit-learn's")


def measure(path: Path, rounds: int) -> dict[str, tuple[float, float]]:
    """Medians of each reader, in turns."""
    found: dict[str, list[tuple[float, float]]] = {reader: [] for reader in READERS}
    for _ in range(rounds):
        for reader in READERS:
            part = reader == "libsvm-official"
            seconds, memory = seconds_of(reader, path.with_suffix(".part") if part else path)
            scale = path.stat().st_size / path.with_suffix(".part").stat().st_size if part else 1.0
            found[reader].append((seconds * scale, memory))
    return {
        reader: (statistics.median(s for s, _ in rows), max(m for _, m in rows))
        for reader, rows in found.items()
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--folder", type=Path, default=FOLDER)
    parser.add_argument("--megabytes", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--kinds", nargs="+", default=["text", "doubles"])
    parser.add_argument("--remove", action="store_true", help="remove the files at the end")
    options = parser.parse_args()
    for kind in options.kinds:
        path = options.folder / f"{kind}.svm"
        write(path, kind, options.megabytes * 10**6)
        compare(path.with_suffix(".part"))
        results = measure(path, options.rounds)
        ours, size = results["maxmargin"][0], path.stat().st_size
        print(f"{kind}: {size / 1e6:.0f} MB, median of {options.rounds}")
        for reader, (seconds, memory) in results.items():
            note = (
                " (a tenth of the file, times ten)"
                if reader == "libsvm-official"
                else f", {memory:.0f} MB of memory"
            )
            print(
                f"  {reader:16s} {seconds:8.2f} s  {size / 1e6 / seconds:7.1f} MB/s  ratio "
                f"{seconds / ours:6.2f}{note}"
            )
        if options.remove:
            path.unlink()
            path.with_suffix(".part").unlink()


if __name__ == "__main__":
    main()
