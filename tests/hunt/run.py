"""``make hunt``: random problems until the time is up; exit code 1 if an answer is wrong, a fit
hangs or an exception escapes.

    make hunt                                  30 CPU-minutes, seed of today
    make hunt ARGS="--minutes 5 --seed 7"      options as below
    make hunt ARGS="--estimators NuSVR SVR"    trials of some estimators
    make hunt ARGS="--seed 7 --only 1234"      one trial again, with everything known about it

Every trial runs in a process that is ended when it takes HANG seconds of CPU time, or IDLE seconds
on the clock: on a busy machine a trial may wait for its turn. Findings go to run/hunt.txt as they
come.
"""

import argparse
import multiprocessing as mp
import os
import sys
import time
from collections import Counter
from datetime import date
from multiprocessing.connection import Connection, wait
from pathlib import Path

HANG, IDLE = 30.0, 600.0
"""CPU seconds for one trial (fits are given a second, certify and the evaluation in long double the
rest), and seconds on the clock for one that does nothing."""
OUT = Path("run/hunt.txt")
LEFT_OUT = "left out"
"""The outcome of a trial of an estimator that was not asked for."""


def work(pipe: Connection, seed: int, wanted: list[str]) -> None:
    """Trials by number, until told to stop."""
    from draw import draw
    from trial import run

    while (k := pipe.recv()) is not None:
        trial = draw(seed, k)
        outcome = run(trial) if not wanted or trial.estimator in wanted else (LEFT_OUT, [])
        pipe.send((k, *outcome, repr(trial), time.process_time()))


def cpu_seconds(pid: int) -> float:
    """CPU time of a process; where the system does not tell, seconds on the clock."""
    try:
        return time.clock_gettime((~pid << 3) | 2)  # Linux: the clock of another process
    except (AttributeError, OSError):
        return time.monotonic()


class Worker:
    """A process, the trial it is at, and when that began."""

    def __init__(self, seed: int, wanted: list[str]) -> None:
        self.pipe, theirs = mp.Pipe()
        self.process = mp.Process(target=work, args=(theirs, seed, wanted), daemon=True)
        self.process.start()
        theirs.close()
        self.k, self.began, self.before, self.cpu = -1, 0.0, 0.0, 0.0

    def begin(self, k: int) -> None:
        """Hand it a trial."""
        self.k, self.began, self.before = k, time.monotonic(), cpu_seconds(self.process.pid)
        self.pipe.send(k)

    def hangs(self) -> bool:
        """Whether its trial has had its time."""
        spent = cpu_seconds(self.process.pid) - self.before
        return spent > HANG or time.monotonic() - self.began > IDLE

    def end(self) -> None:
        """Whatever it does."""
        self.process.kill()
        self.process.join()


def options() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--minutes", type=float, default=30.0, help="CPU time of all processes together"
    )
    parser.add_argument("--seed", type=int, default=int(date.today().strftime("%Y%m%d")))
    parser.add_argument(
        "--jobs", type=int, default=os.cpu_count() or 1, help="processes side by side"
    )
    parser.add_argument("--first", type=int, default=0, help="the first trial's number")
    parser.add_argument(
        "--estimators", nargs="+", help="trials of these only, such as NuSVR LinearSVC"
    )
    parser.add_argument("--only", type=int, help="one trial, here and now")
    return parser.parse_args()


def show(seed: int, k: int) -> None:
    """One trial in this process."""
    from draw import draw
    from trial import run

    trial = draw(seed, k)
    print(trial)
    status, wrong = run(trial)
    print(status, *wrong, sep="\n  ")


def hunt(asked: argparse.Namespace) -> int:
    """All trials the time allows; the number of findings."""
    OUT.parent.mkdir(exist_ok=True)
    outcomes: Counter[str] = Counter()
    findings, k, spent = 0, asked.first, 0.0
    workers: list[Worker] = []

    def report(number: int, trial: str, wrong: list[str]) -> None:
        nonlocal findings
        findings += 1
        text = "\n  ".join([f"seed {asked.seed} trial {number}: {trial}", *wrong])
        print(text, flush=True)
        with OUT.open("a") as file:
            file.write(text + "\n")

    def more() -> bool:
        return spent + sum(w.cpu for w in workers) < 60 * asked.minutes

    shown = time.monotonic()
    while True:
        while len(workers) < asked.jobs and more():
            workers.append(Worker(asked.seed, asked.estimators or []))
            workers[-1].begin(k)
            k += 1
        if not workers:
            break
        ready = wait([w.pipe for w in workers], timeout=1.0)
        for worker in list(workers):
            if worker.pipe in ready:
                try:
                    number, status, wrong, trial, worker.cpu = worker.pipe.recv()
                except EOFError:
                    number, status, wrong, trial = (
                        worker.k,
                        "died",
                        ["the process died"],
                        "see --only",
                    )
                    worker.end()
                if status != LEFT_OUT:
                    outcomes[status] += 1
                if wrong:
                    report(number, trial, wrong)
                if worker.process.is_alive() and more():
                    worker.begin(k)
                    k += 1
                    continue
            elif not worker.hangs():
                continue
            else:
                outcomes["hang"] += 1
                report(worker.k, "see --only", [f"did not end within {HANG:g} CPU seconds"])
                worker.cpu += HANG
            worker.end()
            spent += worker.cpu
            workers.remove(worker)
        if time.monotonic() - shown > 30:
            shown = time.monotonic()
            seconds = spent + sum(w.cpu for w in workers)
            print(
                f"{sum(outcomes.values()):,} trials, {findings} findings, {seconds / 60:.1f} "
                "CPU-minutes",
                flush=True,
            )
    total = sum(outcomes.values())
    print(f"seed {asked.seed}: {total:,} trials, {findings} findings, {spent / 60:.1f} CPU-minutes")
    for status, count in outcomes.most_common():
        print(f"  {count:6,}  {status}")
    return findings


if __name__ == "__main__":
    mp.set_start_method("spawn")
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    asked = options()
    if asked.only is not None:
        show(asked.seed, asked.only)
    else:
        sys.exit(1 if hunt(asked) else 0)
