"""The stepper as tests use it: its runs as NumPy arrays, and its textbook beside them."""

from typing import Any, NamedTuple
from urllib.parse import urlencode

import numpy as np

RUN = """async (query) => {
    await lab.ready();
    const state = lab.step.readState(new URLSearchParams(query));
    const { problem, trace } = lab.step.runOf(state, state.algorithm);
    const plain = (value) => ArrayBuffer.isView(value) ? [...value]
        : Array.isArray(value) ? value.map(plain)
        : value && typeof value === "object"
            ? Object.fromEntries(Object.entries(value).map(([k, v]) => [k, plain(v)]))
        : value;
    return plain({ problem, trace });
}"""


class Run(NamedTuple):
    """An algorithm of the page, run to its end."""

    X: np.ndarray
    t: np.ndarray
    K: np.ndarray
    C: float
    steps: list[dict[str, Any]]
    ending: str

    def kernel(self, X, Z):
        """The page's own kernel matrix: no tie is decided by the rounding of another one."""
        assert X is Z or np.array_equal(X, Z)
        return self.K

    def column(self, name):
        """One quantity along the steps; what is not a number comes as None."""
        return np.array([step[name] for step in self.steps], float)


def run(page, **params):
    """The run that the page makes for these parameters of its address."""
    found = page.evaluate(RUN, urlencode(params))
    problem, trace = found["problem"], found["trace"]
    n = problem["n"]
    X = np.reshape(problem["x"], (n, problem["d"]))
    K = np.reshape(problem["K"], (n, n))
    return Run(X, np.array(problem["t"]), K, problem["C"], trace["steps"], trace["ending"])


def address(**params):
    """The address of a state."""
    return f"#/step?{urlencode(params)}"


def step_of(page):
    """What is shown: the step, the sentences, the formulas and all pictures."""
    page.wait_for_function("document.querySelector('.step-words p') !== null")
    frame(page)
    return page.evaluate(
        """() => ({
            count: document.querySelector(".step-count").textContent,
            words: document.querySelector(".step-words").textContent,
            formulas: document.querySelector(".step-work")?.textContent,
            pictures: [...document.querySelectorAll(".step-stage svg.plot")].map((svg) =>
                svg.getAttribute("aria-label") + svg.querySelector(".layer").innerHTML),
            hash: location.hash,
        })"""
    )


def frame(page):
    """Wait until what was asked for is drawn."""
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")
