"""Running the measurements of a case: all libraries in turn, each fit in its own process.

Rules that keep a run short, all visible in the tables:

* Every dtype and form a peer takes is run once; only its fastest right one (and those within CLOSE
  of it) is run again.
* A library whose first fit took more than SLOW seconds, and one that is HOPELESS times slower than
  the fastest peer, is run once; scikit-learn is exempt from the second rule.
* Once a peer's time is known, another peer is stopped at HOPELESS times that (at least PATIENT
  seconds): it cannot be the best. It is shown as ">seconds". scikit-learn is stopped at BEYOND
  times ours, ours at the full timeout. A library is stopped with one input when it has taken as
  long as with another (at least PATIENT seconds).
* A library that ran out of time on an easier case (``Case.easier``) is not run; it is shown as ">"
  what it had there.
"""

import json
import signal
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
from agreement import Judged, judge, largest, verdict
from cases import Case
from environments import ROOT, Environment
from peers import OURS, SKLEARN
from scipy import sparse

from data import Arrays

SLOW, HOPELESS, PATIENT, CLOSE, BEYOND = 10.0, 5.0, 5.0, 1.3, 30.0
START = 120.0  # seconds for everything in a measurement that is not timed
TOUCHED = 2**28
"""Numbers (2 GB) at the most that are touched before a measurement: on virtual machines the first
touch of memory may cost more than a fit. No fit of n rows needs more than n^2."""


class Variant:
    """A library with the dtype and form of its input, and what came of it."""

    def __init__(self, environment: Environment, dtype: str, form: str, label: str) -> None:
        self.environment, self.dtype, self.form, self.label = environment, dtype, form, label
        self.library = environment.library
        self.runs: list[dict[str, Any]] = []
        self.trouble, self.bound = "", np.nan
        self.judged: Judged | None = None
        self.wrong = ""

    @property
    def seconds(self) -> float:
        """Median seconds of a fit; not a number if there is none."""
        return float(np.median([run["fit"] for run in self.runs])) if self.runs else np.nan

    @property
    def right(self) -> bool:
        """Whether it ended with the right answer."""
        return bool(self.runs) and not self.wrong

    def record(self) -> dict[str, Any]:
        """For the JSON file."""
        keys = [key for key in ("fit", "predict", "memory") if self.runs and key in self.runs[0]]
        median = {key: float(np.median([run[key] for run in self.runs])) for key in keys}
        first = self.runs[0] if self.runs else {}
        return {
            "library": self.library.name,
            "label": self.label,
            "dtype": self.dtype,
            "form": self.form,
            **median,
            "runs": [run["fit"] for run in self.runs],
            "bound": None if np.isnan(self.bound) else self.bound,
            "trouble": self.trouble,
            "wrong": self.wrong,
            "objective": self.judged and self.judged.primal,
            "kkt": self.judged and self.judged.kkt,
            **{key: first[key] for key in ("status", "iterations", "version") if key in first},
        }


def variants(case: Case, environments: list[Environment], is_sparse: bool) -> list[Variant]:
    """Every library with every input it takes, ours first."""
    found = []
    for environment in environments:
        library = environment.library
        mine = library.name == OURS.name
        forms = library.sparse_forms if is_sparse and not (mine and case.dense) else ("dense",)
        for form in forms:
            for dtype in (case.dtype,) if mine else library.dtypes:
                detail = [dtype] if len(library.dtypes) > 1 else []
                detail += [form] if is_sparse and len(library.sparse_forms) > 1 else []
                found.append(Variant(environment, dtype, form, " ".join([library.name, *detail])))
    return found


class Bench:
    """Measures cases; remembers who ran out of time."""

    def __init__(
        self, environments: list[Environment], folder: Path, timeout: float, repeats: int
    ) -> None:
        self.environments, self.folder, self.timeout, self.repeats = (
            environments,
            folder,
            timeout,
            repeats,
        )
        self.loaded: dict[str, Any] = {}
        self.out_of_time: dict[tuple[str, str], float] = {}

    def measure(self, case: Case) -> dict[str, Any]:
        """Everything about one case."""
        arrays = Arrays(case, self.folder / "data", self.loaded)
        entries = variants(case, self.environments, sparse.issparse(arrays.X))
        for turn in range(self.repeats):
            for variant in entries:
                if turn == 0:
                    self._first(case, arrays, variant, entries)
                elif self._again(variant, entries):
                    self._run(case, arrays, variant, self.timeout)
        record = {
            "case": case.name,
            "data": case.data,
            "groups": case.groups,
            "n": arrays.X.shape[0],
            "d": arrays.X.shape[1],
            "tol": case.tol,
            "problem": case.problem,
            "parameters": case.parameters,
            "variants": [variant.record() for variant in entries],
        }
        if entries[0].runs:
            record |= self._floor(case, arrays, entries[0])
        arrays.path.unlink()
        return record

    def _first(self, case: Case, arrays: Arrays, variant: Variant, entries: list[Variant]) -> None:
        """The first run: judge it, or say why there is none."""
        library, ours = variant.library, entries[0]
        earlier = self.out_of_time.get((case.easier, variant.label))
        if variant.environment.missing:
            variant.trouble = f"could not be installed: {variant.environment.missing}"
        elif case.problem in library.lacks:
            variant.trouble = f"has no {case.problem}"
        elif earlier is not None:
            variant.bound, variant.trouble = earlier, f"not run: out of time on {case.easier}"
            self.out_of_time[case.name, variant.label] = earlier
        else:
            limit = self._limit(variant, entries)
            solution = self._run(case, arrays, variant, limit)
            if solution is not None and variant.runs:
                self._judge(case, arrays, variant, ours, solution)

    def _limit(self, variant: Variant, entries: list[Variant]) -> float:
        known = [v.seconds for v in entries if v.right and v.library is variant.library]
        if variant.library.name == SKLEARN:
            known += [BEYOND * v.seconds for v in entries[:1] if v.right]
        elif variant is not entries[0]:
            known += [HOPELESS * v.seconds for v in entries[1:] if v.right]
        return min(self.timeout, max(PATIENT, min(known, default=self.timeout)))

    def _again(self, variant: Variant, entries: list[Variant]) -> bool:
        """Whether a variant is worth another run."""
        if not variant.right or variant.runs[0]["fit"] > SLOW:
            return False
        if variant is entries[0]:
            return True
        own = min(v.seconds for v in entries if v.right and v.library is variant.library)
        best = min(v.seconds for v in entries[1:] if v.right)
        return variant.seconds <= CLOSE * own and (
            variant.library.name == SKLEARN or variant.seconds <= HOPELESS * best
        )

    def _run(
        self, case: Case, arrays: Arrays, variant: Variant, limit: float
    ) -> dict[str, np.ndarray] | None:
        """One measurement; None if it did not end well."""
        out = self.folder / "result"
        for suffix in (".json", ".npz"):
            out.with_suffix(suffix).unlink(missing_ok=True)
        job = self._job(case, variant, limit)
        touch(arrays.X.shape[0] ** 2)
        command = [
            variant.environment.python,
            "child.py",
            variant.library.adapter,
            str(arrays.path),
            str(job),
            str(out),
        ]
        code, said = call(command, 2 * limit + START)
        if code == -signal.SIGALRM:
            variant.bound, variant.trouble = limit, "out of time"
            self.out_of_time[case.name, variant.label] = limit
            return None
        if code != 0 or not out.with_suffix(".json").exists():
            variant.trouble = variant.trouble or f"failed: {said}"
            return None
        variant.runs.append(json.loads(out.with_suffix(".json").read_text()))
        with np.load(out.with_suffix(".npz")) as file:
            return dict(file)

    def _job(self, case: Case, variant: Variant, limit: float) -> Path:
        path = self.folder / "job.json"
        parameters = {**case.parameters, "tol": case.tol}
        job = {
            "problem": case.problem,
            "parameters": parameters,
            "dtype": variant.dtype,
            "form": variant.form,
        }
        path.write_text(json.dumps({**job, "predicts": case.predicts, "timeout": limit}))
        return path

    def _judge(
        self,
        case: Case,
        arrays: Arrays,
        variant: Variant,
        ours: Variant,
        solution: dict[str, np.ndarray],
    ) -> None:
        if case.problem == "NuSVC" and variant is ours:
            self.margin_C = largest(solution)
        margin = self.margin_C if case.problem == "NuSVC" else np.nan
        try:
            variant.judged = judge(
                case, arrays.X, arrays.y, arrays.Z[: len(solution["decision"])], solution, margin
            )
        except (IndexError, ValueError) as error:
            variant.wrong = f"no usable answer ({error})"
            return
        if variant is ours:
            status = variant.runs[0].get("status")
            variant.wrong = "" if status == "optimal" else f"status {status}"
        elif ours.judged is not None:
            variant.wrong = verdict(case, ours.judged, variant.judged)

    def _floor(self, case: Case, arrays: Arrays, ours: Variant) -> dict[str, Any]:
        """Floor, kernel rows and support vectors of ours."""
        out = self.folder / "floor.json"
        out.unlink(missing_ok=True)
        touch(arrays.X.shape[0] ** 2)
        command = [
            ours.environment.python,
            "floor.py",
            str(arrays.path),
            str(self._job(case, ours, 0)),
            str(out),
        ]
        code, said = call(command, self.timeout + START)
        return json.loads(out.read_text()) if code == 0 else {"floor_trouble": said}


def touch(numbers: int) -> None:
    """Have as much memory ready as a measurement may want."""
    np.ones(min(TOUCHED, numbers))


def call(command: list[str], limit: float) -> tuple[int, str]:
    """Exit code and last line of output of a process, stopped after `limit` seconds."""
    with subprocess.Popen(
        command,
        cwd=ROOT / "benchmarks",
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        try:
            said = process.communicate(timeout=limit)[0]
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            return -signal.SIGALRM, ""
    lines = [line for line in said.splitlines() if line.strip()]
    return process.returncode, (lines or [f"ended with {process.returncode}"])[-1].strip()[:200]
