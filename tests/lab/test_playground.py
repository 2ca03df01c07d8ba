"""The playground: editing points, every machine beside maxmargin, links, copies, keys, pictures."""

import re
import xml.etree.ElementTree as ET
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from PIL import Image
from playground import SETTLED, Playground

import needs

needs.package("playwright")
HERE = Path(__file__).parent
EMPTY = "#/play?points=0&box=-2,2,-1.5,1.5"
SQUARE = "#/play?kernel=linear&points=1~0ACA~0DA~1CCA~1DCA&box=-2,2,-1.5,1.5"


@pytest.fixture
def play(open_lab):
    """A function that opens the playground."""
    return lambda state="", **options: Playground(open_lab(f"#/play{state}", **options))


# Editing.


def test_clicks_add_points_of_the_chosen_class_and_undo_takes_them_back(play):
    lab = play("?points=0&box=-2,2,-1.5,1.5")
    assert lab.page.locator(".hint").inner_text().startswith("Click or tap")
    lab.click(-1, -1)
    assert "second class" in lab.page.locator(".results").inner_text()
    lab.page.get_by_title("Class 2").click()
    lab.click(1, 1)
    assert_allclose(lab.shown().points, [[-1, -1, 0], [1, 1, 1]], atol=5e-3)
    assert lab.result("Support vectors") == "2 of 2"
    lab.page.get_by_role("button", name="Undo").click()
    assert lab.page.locator(".glyph").count() > 0
    assert "second class" in lab.page.locator(".results").inner_text()
    lab.page.get_by_role("button", name="Redo").click()
    assert len(lab.shown().points) == 2
