"""Running a linear case: every library climbs its ladder to the same objective, those that may be
the best climb again.

P* is a number that no objective of a model (bias regularised or free) is below, proved by weak
duality (objective.lower_bound) from duals found at tol=1e-10, for which REFERENCE seconds are given
and which are not timed. The seconds of a library to a target are those of its fastest rung whose
objective is at most (1 + target) P*. The first climb, in a process of its own, finds that rung for
each target and counts as the first of the repeats; the others, libraries taking turns, run only the
chosen rungs.

Rules that keep a run short, all visible in the tables:

* A peer's fit is stopped at BEYOND times our seconds to the tightest target, and at HOPELESS times
  the best peer's so far (but not before PATIENT seconds, nor after the timeout); after TIRED times
  that for all rungs so far, tighter ones are not tried. It is shown as ">seconds".
* A rung that took more than SLOW seconds, one HOPELESS times slower than the best peer, and one
  slower than CLOSE times another setting of the same library, is not run again.
"""

import json
import signal
from pathlib import Path
from typing import Any

import numpy as np
from environments import Environment
from measure import CLOSE, HOPELESS, SLOW, START, call, touch
from peers.linear import EXACT, LIBRARIES, OURS, Setting
from scipy import sparse

from data import Arrays
from linear.cases import TARGETS, LinearCase

BEYOND, PATIENT, TIRED = 10.0, 3.0, 3.0
REFERENCE = 60.0
"""Seconds for the duals that P* comes from."""
DENSITY = 0.3
"""Peers are given CSR below this share of non-zeros."""


class Candidate:
    """A library set for a case, and what came of it."""

    def __init__(self, environment: Environment, setting: Setting, form: str) -> None:
        self.environment, self.library, self.setting, self.form = (
            environment,
            environment.library,
            setting,
            form,
        )
        self.rungs: list[dict[str, Any]] = []
        self.told: dict[str, Any] = {}
        self.chosen: dict[float, int] = {}
        self.trouble, self.bound = "", None

    @property
    def mine(self) -> bool:
        """Whether it is ours."""
        return self.library.name == OURS.name

    def choose(self, least: float) -> None:
        """The fastest rung for each target."""
        for target in TARGETS:
            right = [
                k
                for k, rung in enumerate(self.rungs)
                if rung["objective"] <= least + target * abs(least)
            ]
            if right:
                self.chosen[target] = min(right, key=lambda k: self.rungs[k]["seconds"][0])

    def seconds(self, target: float) -> float:
        """Median seconds to a target; infinite if it was not reached."""
        return (
            float(np.median(self.rungs[self.chosen[target]]["seconds"]))
            if target in self.chosen
            else np.inf
        )

    def record(self, target: float, least: float) -> dict[str, Any]:
        """For the JSON file."""
        common = {
            "library": self.library.name,
            "label": self.setting.label,
            "model": self.setting.model,
            "form": self.form,
            "wrong": "",
        }
        common |= {
            key: self.told[key] for key in ("version", "convert", "memory") if key in self.told
        }
        if target in self.chosen:
            rung = self.rungs[self.chosen[target]]
            details = {
                key: rung[key] for key in ("options", "objective", "iterations", "status", "solver")
            }
            return {
                **common,
                "fit": self.seconds(target),
                "runs": rung["seconds"],
                "bound": None,
                "trouble": "",
                **details,
            }
        nearest = min((rung["objective"] for rung in self.rungs), default=np.nan)
        best = (
            f"not reached: {(nearest - least) / abs(least):.1g} at best"
            if self.rungs
            else "out of time"
        )
        return {**common, "runs": [], "bound": self.bound, "trouble": self.trouble or best}


class LinearBench:
    """Measures linear cases."""

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
        self.arrays: Arrays | None = None
        self.held: tuple[str, int | None] = ("", None)

    def measure(self, case: LinearCase) -> dict[str, Any]:
        """Everything about one case."""
        arrays = self._data(case)
        entries = self._candidates(case, arrays)
        ours = [c for c in entries if c.mine]
        least = {c.setting.model: self._reference(case, c) for c in ours}
        for candidate in entries:
            model = candidate.setting.model
            self._climb(
                case,
                candidate,
                candidate.setting.ladder,
                self._limit(candidate, entries),
                least[model],
            )
            if candidate.mine:  # the bound of a rung, where the reference did not end
                least[model] = float(
                    np.fmax(
                        least[model], max((r["bound"] for r in candidate.rungs), default=np.nan)
                    )
                )
            candidate.choose(least[model])
        for _ in range(1, self.repeats):
            for candidate in entries:
                again = sorted(
                    {
                        k
                        for target, k in candidate.chosen.items()
                        if self._again(candidate, target, entries)
                    }
                )
                self._repeat(case, candidate, again)
        return self._record(case, arrays, entries, least)

    def _record(
        self, case: LinearCase, arrays: Arrays, entries: list[Candidate], least: dict[str, float]
    ) -> dict[str, Any]:
        objectives = {}
        for model in least:
            found = {
                mine: [
                    c for c in entries if c.mine is mine and c.setting.model == model and c.rungs
                ]
                for mine in (True, False)
            }
            ours, peers = (
                [(min(r["objective"] for r in c.rungs), c.setting.label) for c in found[mine]]
                for mine in (True, False)
            )
            value, label = min(peers, default=(np.nan, ""))
            objectives[model] = {
                "bound": least[model],
                "ours": min(ours, default=(np.nan, ""))[0],
                "peer": value,
                "label": label,
            }
        return {
            "case": case.name,
            "data": case.data,
            "groups": case.groups,
            "n": arrays.X.shape[0],
            "d": arrays.X.shape[1],
            "problem": case.problem,
            "parameters": case.parameters,
            "objectives": objectives,
            "targets": {
                str(t): [c.record(t, least[c.setting.model]) for c in entries] for t in TARGETS
            },
        }

    def _data(self, case: LinearCase) -> Arrays:
        """The case's data; the file of the case before is used again where it is the same."""
        if self.arrays is None or self.held != (case.data, case.n):
            if self.arrays is not None:
                self.arrays.path.unlink()
            self.arrays, self.held = (
                Arrays(case, self.folder / "data", self.loaded),
                (case.data, case.n),
            )
        return self.arrays

    def _candidates(self, case: LinearCase, arrays: Arrays) -> list[Candidate]:
        X = arrays.X
        is_sparse = sparse.issparse(X)
        density = X.nnz / np.prod(X.shape) if is_sparse else np.count_nonzero(X) / X.size
        found = []
        for environment, (library, settings) in zip(self.environments, LIBRARIES, strict=True):
            given = is_sparse if library.name == OURS.name else density < DENSITY
            found += [
                Candidate(environment, setting, "csr" if given else "dense")
                for setting in settings(case)
            ]
        return found

    def _limit(self, candidate: Candidate, entries: list[Candidate]) -> float:
        if candidate.mine:
            return self.timeout
        known = [
            BEYOND * c.seconds(TARGETS[-1])
            for c in entries
            if c.mine and c.setting.model == candidate.setting.model
        ]
        known += [HOPELESS * c.seconds(TARGETS[-1]) for c in entries if not c.mine]
        return min(self.timeout, max(PATIENT, min(known, default=self.timeout)))

    def _again(self, candidate: Candidate, target: float, entries: list[Candidate]) -> bool:
        """Whether a rung is worth another run."""
        own = candidate.seconds(target)
        if own > SLOW or candidate.mine:
            return own <= SLOW
        best = min(c.seconds(target) for c in entries if not c.mine)
        return own <= HOPELESS * best and own <= CLOSE * min(
            c.seconds(target) for c in entries if c.library is candidate.library
        )

    def _reference(self, case: LinearCase, candidate: Candidate) -> float:
        """A proved bound below every objective, from duals at a very small tolerance."""
        alone = Candidate(candidate.environment, candidate.setting, candidate.form)
        self._climb(case, alone, [EXACT], REFERENCE, np.nan)
        return float(alone.rungs[0]["bound"]) if alone.rungs else np.nan

    def _climb(
        self,
        case: LinearCase,
        candidate: Candidate,
        ladder: list[dict[str, Any]],
        limit: float,
        least: float,
    ) -> None:
        """Climb a ladder."""
        if candidate.environment.missing:
            candidate.trouble = f"could not be installed: {candidate.environment.missing}"
            return
        goal = None if np.isnan(least) else least + TARGETS[-1] * abs(least)
        code, said, candidate.told = self._run(case, candidate, ladder, limit, goal)
        found = candidate.told.get("rungs", [])
        candidate.rungs = [
            {**rung, "seconds": [rung["seconds"]], "options": ladder[k]}
            for k, rung in enumerate(found)
        ]
        if code == -signal.SIGALRM:
            candidate.bound, candidate.trouble = limit, "out of time"
        elif code != 0:
            candidate.trouble = f"failed: {said}"
        elif sum(rung["seconds"] for rung in found) > TIRED * limit and len(found) < len(ladder):
            candidate.bound, candidate.trouble = found[-1]["seconds"], "out of time"

    def _repeat(self, case: LinearCase, candidate: Candidate, again: list[int]) -> None:
        """Run some rungs again."""
        if not again:
            return
        rungs = [candidate.rungs[k] for k in again]
        told = self._run(case, candidate, [rung["options"] for rung in rungs], self.timeout, None)[
            2
        ]
        # fewer if it was stopped this time
        for rung, more in zip(rungs, told.get("rungs", []), strict=False):
            rung["seconds"].append(more["seconds"])

    def _run(
        self,
        case: LinearCase,
        candidate: Candidate,
        rungs: list[dict[str, Any]],
        limit: float,
        goal: float | None,
    ) -> tuple[int, str, dict[str, Any]]:
        """Exit code, last words and what was measured."""
        job, out = self.folder / "job.json", self.folder / "rungs.json"
        out.unlink(missing_ok=True)
        task = {
            "problem": case.problem,
            "parameters": case.parameters,
            "options": candidate.setting.options,
            "rungs": rungs,
        }
        task |= {
            "model": candidate.setting.model,
            "form": candidate.form,
            "goal": goal,
            "limit": limit,
            "patience": TIRED * limit,
            "mine": candidate.mine,
        }
        job.write_text(json.dumps(task))
        touch(2 * self.arrays.X.size)
        python, adapter = candidate.environment.python, candidate.library.adapter
        command = [python, "-m", "linear.child", adapter, str(self.arrays.path), str(job), str(out)]
        code, said = call(command, 2 * limit * len(rungs) + START)
        return code, said, json.loads(out.read_text()) if out.exists() else {}
