"""The committed page is what its sources make, byte for byte, in any folder; it needs no other
file and no network; the wheel holds it, and none of its sources.
"""

import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import needs

ROOT = Path(__file__).parents[2]
PAGE = Path("src") / "maxmargin" / "lab" / "index.html"
LARGEST = 2_000_000
"""Bytes that a page may take to download."""
COMPILER = "3.1.6"
"""The version of em++ whose bytes are committed: that of Debian 12."""


def tracked(*folders):
    """The files of these folders that git knows, or that it would add."""
    listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z", *folders]
    found = subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [Path(name) for name in found.split("\0") if name and (ROOT / name).is_file()]


@needs.programs("node", "npm", "em++", debian="nodejs npm emscripten node-acorn")
@pytest.mark.timeout(600)
def test_the_page_is_what_its_sources_make(tmp_path):
    version = subprocess.run(["em++", "--version"], capture_output=True, text=True, check=True)
    found = re.search(r"\d+\.\d+\.\d+", version.stdout)[0]
    if found != COMPILER:
        pytest.skip(f"{needs.NOT_APPLICABLE}em++ {found} makes other bytes than {COMPILER}")
    for path in tracked("lab", "src/maxmargin/core", "Makefile"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / path, tmp_path / path)
    done = subprocess.run(["make", "lab"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / PAGE).read_bytes() == (ROOT / PAGE).read_bytes(), "run `make lab`"


def test_the_page_is_small():
    assert (ROOT / PAGE).stat().st_size < LARGEST


def test_the_page_asks_for_nothing_else(open_lab):
    page, asked = open_lab(""), []
    page.on("request", lambda request: asked.append(request.url))
    page.context.set_offline(True)
    page.reload()
    page.evaluate("lab.ready()")
    page.wait_for_load_state("networkidle")
    others = [url for url in asked if not url.startswith(("data:", "blob:"))]
    assert len(others) == 1
    assert others[0].startswith((ROOT / PAGE).as_uri())


def test_the_wheel_holds_the_page_and_no_sources(tmp_path):
    """Without the core: what is packed is what matters here."""
    line = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    options = ["--config-settings", "wheel.cmake=false", "--wheel-dir", str(tmp_path), str(ROOT)]
    subprocess.run([*line, *options], check=True, timeout=300)
    names = zipfile.ZipFile(next(tmp_path.glob("*.whl"))).namelist()
    assert "maxmargin/lab/index.html" in names
    assert not [name for name in names if name.endswith((".ts", ".mjs", ".cpp", ".wasm"))]
