"""``make bench-lab``: how quick the lab is, in Debian's Chromium, with the page opened as a file.

    make bench-lab                               five starts, forty moves for each machine
    make bench-lab ARGS="--starts 9 --moves 100"

Shown are

* the bytes of the page, as they are and as a server would compress them;
* the milliseconds from the beginning of a visit until the playground has drawn its first fit;
* for drags of a point among 300: the milliseconds of a refit, that of the solver alone, that of the
  request which the playground makes (the fit in the worker, with all decision values of the
  picture), and those between two drawn frames; medians, and in brackets the 95th percentile.
"""

import argparse
import gzip
import shutil
import statistics
import sys
from pathlib import Path
from typing import Any

PAGE = Path(__file__).resolve().parent.parent / "src" / "maxmargin" / "lab" / "index.html"
POINTS = 300
STATES = {
    "C-SVC, linear, C=1": "machine=c-svc&kernel=linear&C=1&set=gaussians",
    "C-SVC, RBF, C=1": "machine=c-svc&kernel=rbf&C=1&gamma=1&set=gaussians",
    "C-SVC, RBF, C=1000": "machine=c-svc&kernel=rbf&C=1000&gamma=1&set=gaussians",
    "C-SVC, polynomial, C=10": "machine=c-svc&kernel=poly&C=10&gamma=1&degree=3&set=moons",
    "nu-SVC, RBF, nu=0.3": "machine=nu-svc&kernel=rbf&nu=0.3&gamma=1&set=gaussians",
    "one-class, RBF, nu=0.1": "machine=one-class&kernel=rbf&nu=0.1&gamma=1&set=gaussians",
    "eps-SVR, RBF, C=10": "machine=eps-svr&kernel=rbf&C=10&gamma=1&set=sine",
}
DRAWN = "() => window.lab?.shown?.() && window.lab.settled()"
WATCH = """() => {
  const seen = (window.seen = { requests: [], solver: [], frames: [] });
  const real = lab.Client.prototype.fitAndEvaluate;
  lab.Client.prototype.fitAndEvaluate = function (...asked) {
    const begin = performance.now();
    const answer = real.apply(this, asked);
    answer.then(({ fit }) => {
      seen.requests.push(performance.now() - begin);
      seen.solver.push(fit.milliseconds);
    });
    return answer;
  };
  let last;
  const frame = (now) => {
    if (last) seen.frames.push(now - last);
    last = now;
    requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
}"""


def first_fit(browser: Any) -> float:
    """Milliseconds of a first visit until a fit is drawn."""
    context = browser.new_context()
    page = context.new_page()
    page.goto(PAGE.as_uri(), wait_until="commit")
    page.wait_for_function(DRAWN)
    milliseconds: float = page.evaluate("performance.now()")
    context.close()
    return milliseconds


def drag(browser: Any, state: str, moves: int) -> dict[str, list[float]]:
    """Drag a point of the playground around; what `WATCH` saw."""
    page = browser.new_page()
    page.goto(f"{PAGE.as_uri()}#/play?{state}&n={POINTS}")
    page.wait_for_function(DRAWN)
    x, y = page.evaluate("(() => { const [p] = lab.shown().state.points; return [p.x, p.y]; })()")
    box = page.locator("svg.plot").bounding_box()
    px, py = page.evaluate("([x, y]) => lab.pixel(x, y)", [x, y])
    page.evaluate(WATCH)
    page.mouse.move(box["x"] + px, box["y"] + py)
    page.mouse.down()
    for move in range(moves):
        page.mouse.move(box["x"] + px + 2 * (move % 20), box["y"] + py + move % 7)
        page.wait_for_timeout(16)
    page.mouse.up()
    page.wait_for_function(DRAWN)
    seen: dict[str, list[float]] = page.evaluate("window.seen")
    page.close()
    return seen


def summary(values: list[float]) -> str:
    """The median and the 95th percentile."""
    return f"{statistics.median(values):.1f} ({sorted(values)[int(0.95 * len(values))]:.1f})"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--starts", type=int, default=5)
    parser.add_argument("--moves", type=int, default=40)
    options = parser.parse_args()
    chromium = shutil.which("chromium")
    if chromium is None:
        sys.exit("chromium is missing (Debian: chromium)")
    from playwright.sync_api import sync_playwright

    content = PAGE.read_bytes()
    print(f"download: {len(content):,} bytes, {len(gzip.compress(content)):,} compressed")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, chromium_sandbox=False)
        starts = [first_fit(browser) for _ in range(options.starts)]
        print(f"start to first fit drawn: {summary(starts)} ms")
        print(f"drags of one of {POINTS} points, ms:   solver, request, frame")
        for name, state in STATES.items():
            seen = drag(browser, state, options.moves)
            values = (summary(seen[key]) for key in ("solver", "requests", "frames"))
            print(f"  {name:26s} {len(seen['requests']):3d} refits", *(f"{v:>14s}" for v in values))
        browser.close()


if __name__ == "__main__":
    main()
