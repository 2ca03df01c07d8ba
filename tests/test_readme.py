"""The README's Python blocks run, and say what they claim."""

import re
from pathlib import Path

README = (Path(__file__).parent.parent / "README.md").read_text()


def test_code_blocks_run(capsys):
    names = {}
    for block in re.findall(r"```python\n(.*?)```", README, re.DOTALL):
        exec(block, names)
    assert names["c"].status == "optimal"
    assert round(names["model"].score(names["X"], names["y"]), 4) == 0.9912
    assert "optimal: gap" in capsys.readouterr().out


def test_links_point_somewhere():
    for link in re.findall(r"\]\(([^)#]+)\)", README):
        assert (Path(__file__).parent.parent / link).exists(), link
