"""Pictures of the playground: files that are exported, and the plot beside its baseline.

The baselines are plots without text, since fonts differ between machines. `make lab-baseline` draws
them again.
"""

import os
import xml.etree.ElementTree as ET
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from playground import Playground

import needs

needs.package("playwright")
BASELINE = Path(__file__).parent / "baseline"
REDRAW = os.environ.get("MAXMARGIN_LAB_BASELINE") == "1"
STATES = {
    "moons": "?set=moons&kernel=rbf&C=1&gamma=1",
    "revisited": "?set=revisited&kernel=linear&C=5&slacks=yes",
    "five": "?set=five&kernel=rbf&C=1&gamma=1",
    "rest": "?set=three&kernel=linear&C=1&multiclass=ovr",
    "outliers": "?machine=one-class&kernel=rbf&nu=0.1&gamma=2&set=outliers",
    "tube": "?machine=eps-svr&kernel=rbf&C=1&epsilon=0.2&gamma=1&set=sine&slacks=yes",
}
SVG = "{http://www.w3.org/2000/svg}"
DIFFERENT, SHARE = 14, 0.01
"""A pixel differs by more than this in one colour; so may one in a hundred, along edges."""


def picture(data):
    """A PNG as an array."""
    return np.asarray(Image.open(BytesIO(data)).convert("RGB"), int)


def blurred(data):
    """A PNG at an eighth of its size: hatches and edges may be a pixel apart."""
    return np.asarray(Image.open(BytesIO(data)).convert("RGB").resize((80, 60)), int)


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("name", STATES)
def test_the_plot_looks_as_its_baseline(open_lab, name, dark):
    lab = Playground(open_lab(f"#/play{STATES[name]}", dark=dark))
    lab.settle()
    lab.page.add_style_tag(content=".plot text { visibility: hidden !important; }")
    drawn = lab.plot.screenshot()
    path = BASELINE / f"{name}-{'dark' if dark else 'light'}.png"
    if REDRAW:
        path.parent.mkdir(exist_ok=True)
        Image.open(BytesIO(drawn)).convert("P", palette=Image.Palette.ADAPTIVE).save(path)
    found, expected = picture(drawn), picture(path.read_bytes())
    assert found.shape == expected.shape
    different = (np.abs(found - expected) > DIFFERENT).any(axis=2)
    assert different.mean() < SHARE


def downloaded(lab, button):
    """The file that a button saves."""
    lab.settle()
    with lab.page.expect_download() as event:
        lab.page.get_by_role("button", name=button, exact=True).click()
    return event.value.suggested_filename, Path(event.value.path()).read_bytes()


def test_an_exported_svg_is_pure_vector_and_needs_no_page(open_lab, browser):
    lab = Playground(open_lab("#/play?set=three&kernel=linear&C=1&multiclass=ovr&slacks=yes"))
    name, data = downloaded(lab, "SVG")
    assert name == "maxmargin-c-svc.svg"
    root = ET.fromstring(data)
    kinds = {element.tag.removeprefix(SVG) for element in root.iter()}
    assert {"path", "text", "circle", "pattern"} <= kinds
    assert not kinds & {"image", "foreignObject", "script", "style"}
    assert b"var(" not in data
    assert b"class=" not in data
    assert len(data) < 100_000
    width, height = (int(root.get(side)) for side in ("width", "height"))
    page = browser.new_page(viewport={"width": width, "height": height})
    page.set_content(f"<body style='margin:0'>{data.decode().split('?>', 1)[1]}</body>")
    alone = page.screenshot()
    page.close()
    shown = lab.plot.screenshot()
    different = (np.abs(blurred(alone) - blurred(shown)) > DIFFERENT).any(axis=2)
    assert different.mean() < SHARE


def test_an_exported_png_has_twice_the_size(open_lab):
    lab = Playground(open_lab("#/play?set=moons"))
    name, data = downloaded(lab, "PNG")
    assert name == "maxmargin-c-svc.png"
    drawn = picture(data)
    shown = picture(lab.plot.screenshot())
    assert abs(drawn.shape[0] - 2 * shown.shape[0]) <= 4
    assert abs(drawn.shape[1] - 2 * shown.shape[1]) <= 4
    assert len(np.unique(drawn.reshape(-1, 3), axis=0)) > 20


def test_where_the_clipboard_is_refused_the_text_is_shown(open_lab):
    page = open_lab("#/play?set=revisited&kernel=linear", clipboard=False)
    page.evaluate("() => { navigator.clipboard.writeText = () => Promise.reject('no'); }")
    lab = Playground(page)
    lab.settle()
    page.get_by_role("button", name="Copy as Python").click()
    code = page.get_by_role("dialog").get_by_role("textbox").input_value()
    assert code.startswith("# Copied from the maxmargin lab.")
    assert 'SVC(C=1, kernel="linear"' in code
    page.keyboard.press("Escape")
    assert page.get_by_role("dialog").count() == 0
