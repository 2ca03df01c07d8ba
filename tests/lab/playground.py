"""The playground as tests use it: where its points are, what it shows, what it copies."""

from typing import Any, NamedTuple

import numpy as np


class Shown(NamedTuple):
    """The fit that is shown, read from the page."""

    points: np.ndarray
    """x, y and class of each point."""
    x: np.ndarray
    parts: list[dict[str, Any]]
    status: str
    primal: float
    milliseconds: float


READ = """() => {
    const solved = window.lab.shown();
    if (!solved) return null;
    const { fit, state } = solved;
    return {
        points: state.points.map((p) => [p.x, p.y, p.k]),
        x: [...fit.data.x], d: fit.data.d, status: fit.status, primal: fit.primal,
        milliseconds: fit.milliseconds,
        parts: fit.parts.map((part) => ({
            rows: [...part.rows], coef: [...part.coef], decision: [...part.decision],
            slack: [...part.slack], classes: part.classes, epsilon: part.epsilon,
        })),
    };
}"""

DRAWN = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
DATA_TO_PIXEL = """([x, y]) => {
    const plot = document.querySelector("svg.plot");
    const box = plot.getBoundingClientRect();
    const [px, py] = window.lab.pixel(x, y);
    return [box.left + px, box.top + py];
}"""


class Playground:
    """A page with the playground."""

    def __init__(self, page):
        self.page = page
        self.plot = page.locator("svg.plot")
        page.wait_for_selector(".results dd, .results .note")

    def settle(self):
        """Wait until the newest state is fitted, drawn and in the address."""
        self.page.wait_for_timeout(30)
        self.page.wait_for_function("window.lab.settled()")
        self.page.evaluate(DRAWN)

    def shown(self):
        """The newest fit, once nothing changes any more; None where there is none."""
        self.settle()
        read = self.page.evaluate(READ)
        if read is None:
            return None
        points = np.array(read["points"])
        x = np.array(read["x"]).reshape(-1, read["d"])
        return Shown(points, x, *(read[name] for name in Shown._fields[2:]))

    def count(self, marks):
        """The number of marks in the plot that a CSS selector chooses."""
        self.settle()
        return self.plot.locator(marks).count()

    def link(self):
        """The state in the address."""
        self.settle()
        return self.page.evaluate("location.hash")

    def pixel(self, x, y):
        """Where a point of data lies in the window."""
        self.plot.scroll_into_view_if_needed()
        return self.page.evaluate(DATA_TO_PIXEL, [x, y])

    def click(self, x, y):
        """Click at a point of data."""
        self.page.mouse.click(*self.pixel(x, y))

    def drag(self, *places):
        """Press at the first of some points of data, move to the others, release."""
        pixels = [self.pixel(x, y) for x, y in places]
        self.page.mouse.move(*pixels[0])
        self.page.mouse.down()
        for px, py in pixels[1:]:
            self.page.mouse.move(px, py, steps=8)
        self.page.mouse.up()

    def result(self, name):
        """A value of the list of results."""
        return self.page.locator(".results dt", has_text=name).locator("+ dd").inner_text()

    def choose(self, label, value):
        """Choose in a list."""
        self.page.get_by_role("combobox", name=label).select_option(value)

    def number(self, label, value):
        """Type a number into the field of a slider."""
        field = self.page.locator(".field:visible", has_text=label).locator("input.number")
        field.fill(str(value))
        field.press("Enter")

    def copied(self, name):
        """What a button puts on the clipboard."""
        self.page.get_by_role("button", name=name, exact=True).click()
        self.page.wait_for_selector(".toast:not([hidden])")
        return self.page.evaluate("navigator.clipboard.readText()")
