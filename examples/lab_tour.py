"""``make lab-tour``: a short film of the lab in docs/pictures/lab.gif.

A browser is led through four scenes: a point of the playground is dragged, C rises on the twenty
points of "Soft Margin Revisited", SMO makes its first steps, and XOR turns in space. Needs Chromium
and the packages playwright and pillow.
"""

import shutil
import sys
from io import BytesIO
from math import cos, pi, sin
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright

import maxmargin

LAB = Path(maxmargin.__file__).parent / "lab" / "index.html"
TARGET = Path(__file__).resolve().parent.parent / "docs" / "pictures" / "lab.gif"
SIZE = {"width": 1180, "height": 740}
SHOWN = (944, 592)
QUICK, SLOW, STILL = 90, 520, 1300
"""Milliseconds of a frame: in a movement, of a step, at the end of a scene."""
COLOURS = 200
POINTER = """([x, y]) => {
    const arrow = document.getElementById("pointer") ?? document.body.appendChild(
        Object.assign(document.createElement("div"), { id: "pointer" }));
    arrow.style = `position:fixed;left:${x}px;top:${y}px;width:0;height:0;z-index:99;
        border:9px solid transparent;border-top:18px solid #111;border-left:0;pointer-events:none;
        filter:drop-shadow(0 0 1px white)`;
}"""


class Film:
    """Pictures of a page, each with its duration."""

    def __init__(self, page: Page):
        self.page = page
        self.frames: list[Image.Image] = []
        self.durations: list[int] = []

    def open(self, route: str) -> None:
        """Show a page of the lab."""
        self.page.goto(LAB.as_uri() + route)
        self.page.reload()
        self.page.wait_for_timeout(1000)

    def shoot(self, duration: int, wait: int = 60) -> None:
        """Take a picture, once the page has drawn."""
        self.page.wait_for_timeout(wait)
        picture = Image.open(BytesIO(self.page.screenshot())).convert("RGB")
        self.frames.append(picture.resize(SHOWN, Image.Resampling.LANCZOS))
        self.durations.append(duration)

    def point(self, x: float, y: float) -> None:
        """Move the mouse, and the arrow that shows where it is."""
        self.page.mouse.move(x, y)
        self.page.evaluate(POINTER, [x, y])

    def save(self, path: Path) -> None:
        """Write the film with one palette, so that only what moves is stored again."""
        strip = Image.new("RGB", (SHOWN[0], SHOWN[1] * 4))
        for k, frame in enumerate(self.frames[:: len(self.frames) // 4][:4]):
            strip.paste(frame, (0, k * SHOWN[1]))
        palette = strip.quantize(COLOURS, Image.Quantize.MAXCOVERAGE)  # rare colours, too
        first, *others = [
            frame.quantize(palette=palette, dither=Image.Dither.NONE) for frame in self.frames
        ]
        first.save(
            path,
            save_all=True,
            append_images=others,
            duration=self.durations,
            loop=0,
            optimize=True,
        )


def drag_a_point(film: Film) -> None:
    """A point of the moons crosses to the other class and comes back."""
    film.open("#/play?set=moons&kernel=rbf&C=10&gamma=1&n=50&noise=0.12")
    film.shoot(STILL)
    x, y = film.page.evaluate(
        """() => {
            const { left, top } = document.querySelector("svg.plot").getBoundingClientRect();
            const { x, y } = window.lab.shown().state.points[0];
            const [px, py] = window.lab.pixel(x, y);
            return [left + px, top + py];
        }"""
    )
    film.point(x, y)
    film.page.mouse.down()
    for k in range(25):
        turn = 2 * pi * k / 24
        film.point(x + 70 * (1 - cos(turn)), y + 75 * sin(turn) + 50 * (1 - cos(turn)))
        film.shoot(QUICK)
    film.page.mouse.up()
    film.shoot(SLOW, 400)


def raise_c(film: Film) -> None:
    """The slacks of the lecture's twenty points shrink as C rises."""
    film.open("#/play?set=revisited&kernel=linear&C=0.1&slacks=yes")
    film.shoot(SLOW)
    slider = film.page.get_by_role("slider", name="Price of a slack")
    slider.focus()
    for _ in range(27):
        slider.press("ArrowRight")
        slider.press("ArrowRight")
        film.shoot(QUICK)
    film.shoot(STILL, 400)


def step_through_smo(film: Film) -> None:
    """The first steps of SMO with formulas in numbers."""
    film.open("#/step?algorithm=smo-first&data=revisited&kernel=linear&C=5&step=1")
    for _ in range(6):
        film.shoot(SLOW)
        film.page.get_by_role("button", name="Forward").click()
    film.shoot(STILL)


def turn_xor(film: Film) -> None:
    """XOR lifted into space, turned."""
    film.open("#/explain/lift")
    film.shoot(SLOW)
    box = film.page.locator("svg.plot, main svg[role]").first.bounding_box() or {}
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    film.point(x, y)
    film.page.mouse.down()
    for k in range(24):
        film.point(x + 130 * sin(2 * pi * k / 24), y + 20 * sin(4 * pi * k / 24))
        film.shoot(QUICK)
    film.page.mouse.up()
    film.shoot(STILL)


def main() -> None:
    """Make the film."""
    chromium = shutil.which("chromium")
    if chromium is None:
        sys.exit("The film needs Chromium (Debian: chromium).")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium)
        film = Film(browser.new_page(viewport=SIZE))
        for scene in (drag_a_point, raise_c, step_through_smo, turn_xor):
            scene(film)
        browser.close()
    film.save(TARGET)
    seconds, size = sum(film.durations) / 1000, TARGET.stat().st_size / 1e6
    print(f"{TARGET.name}: {len(film.frames)} pictures, {seconds:.1f} s, {size:.1f} MB")


if __name__ == "__main__":
    main()
