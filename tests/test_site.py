"""The documentation site: what its extensions do. `make docs` builds and checks the whole."""

import importlib
import re
import sys
from pathlib import Path

import pytest

import maxmargin
from needs import package

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
sys.path.insert(0, str(DOCS / "_extensions"))

import api  # noqa: E402
import check  # noqa: E402
import docstrings  # noqa: E402
import notebooks  # noqa: E402

MODULES = ["maxmargin", *(f"maxmargin.{name}" for name in api.MODULES)]
NAMES = [(module, name) for module in MODULES for name in importlib.import_module(module).__all__]
PAGES = api.pages()


# ---- the API reference ---------------------------------------------------------------------------


@pytest.mark.parametrize(("module", "name"), NAMES)
def test_every_public_name_has_a_page_that_its_module_lists(module, name):
    if module != "maxmargin" and name in maxmargin.__all__:
        assert f"   ~maxmargin.{name}\n" in PAGES[module], "described once, listed twice"
        return
    assert f"{module}.{name}" in PAGES
    assert f"   {name}\n" in PAGES[module], "not in a table"
    assert f"   {module}.{name}\n" in PAGES[module], "not in the contents"


def test_pages_of_classes_have_our_methods_and_a_few_of_scikit_learn():
    page = PAGES["maxmargin.SVC"]
    for name in ("fit", "predict", "certify", "predict_proba", "score", "get_params"):
        assert f"   .. automethod:: {name}\n" in page
    assert "   .. autoproperty:: support_vectors_\n" in page
    assert "set_fit_request" not in page
    assert "partial_fit" in PAGES["maxmargin.PegasosSVC"]


def test_pages_of_names_that_are_gone_are_removed(tmp_path):
    (tmp_path / "maxmargin.Gone.rst").write_text("old")
    api.write(tmp_path)
    assert {path.stem for path in tmp_path.iterdir()} == set(PAGES)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("1/2 |w|^2 + epsilon_ n", r"1/2 \|w\|^2 + epsilon\_ n"),
        ("``|w|`` and `C_` stay", "``|w|`` and `C_` stay"),
        (">>> a | b_", ">>> a | b_"),
        ("See docs/files.md.", "See :doc:`/files`."),
    ],
)
def test_docstrings_are_plain_text(line, expected):
    assert docstrings.plain(line) == expected


def test_formulas_of_a_module_are_displayed():
    lines = list(docstrings.displayed(["Text |w|:", "", "    |w|", "", "More."]))
    assert lines == [r"Text \|w\|:", "", "::", "", "    |w|", "", "More."]


# ---- notebooks -----------------------------------------------------------------------------------

NOTEBOOK = """# %% [markdown]
# # 1. Margins
# The norm |w| of `w`, $a_i$ and
# $$x^2$$

# %%
x = 1

# %% [markdown]
# ## More
# [a page](https://example.org)
"""
SCRIPT = '''r"""
1. Margins
==========

The norm \\|w\\| of ``w``, :math:`a_i` and


.. math::

   x^2


"""

# %%
x = 1

# %%
# More
# ----
#
# `a page <https://example.org>`__
'''


def test_a_notebook_becomes_a_script_of_sphinx_gallery():
    assert notebooks.script(NOTEBOOK) == SCRIPT


@pytest.mark.parametrize("text", ["| a | b |", "[file](x.py)", "> said", "```python"])
def test_text_that_is_not_translated_is_refused(text):
    with pytest.raises(ValueError, match="cannot translate"):
        notebooks.text(text)


@pytest.mark.parametrize("path", sorted(notebooks.NOTEBOOKS.glob("*.py")), ids=lambda p: p.stem)
def test_every_notebook_is_translated(path):
    compile(notebooks.script(path.read_text()), str(path), "exec")


# ---- links and diagrams --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("link", "expected"),
    [
        ("[x](files.md#safety)", "[x](files.md#safety)"),
        ("[x](../CHANGELOG.md)", "[x](changelog.md)"),
        ("[x](../examples/notebooks/01-margins.py)", "[x](notebooks/01-margins.rst)"),
        ("[x](../src/maxmargin/textbook/smo.py)", "[x](site:_modules/maxmargin/textbook/smo.html)"),
        ("[x](../src/maxmargin/lab/index.html#/play?C=1)", "[x](site:lab/index.html#/play?C=1)"),
        ("[x](https://example.org/a.md)", "[x](https://example.org/a.md)"),
        ("[x](#here)", "[x](#here)"),
    ],
)
def test_links_lead_to_the_page_that_shows_the_file(link, expected):
    package("docutils")
    import links

    assert links.translate(link, DOCS, DOCS) == expected


def test_links_of_an_included_file_are_relative_to_its_place():
    package("docutils")
    import links

    assert links.translate("[x](docs/files.md)", ROOT, DOCS) == "[x](files.md)"
    assert links.translate("[x](docs/files.md)", ROOT, DOCS / "a") == "[x](../files.md)"


def test_the_pages_of_a_folder_follow_its_readme(tmp_path):
    package("docutils")
    import links

    for name in ("README", "a", "b", "c"):
        (tmp_path / f"{name}.md").touch()
    text = "[last](c.md), [first](a.md#place), [elsewhere](../d.md)"
    assert "\n\nc.md\na.md\nb.md\n:::" in links.chapters(tmp_path / "README.md", text)
    assert links.chapters(tmp_path / "a.md", text) == ""


def test_diagrams_are_those_of_their_pages():
    """Otherwise: tools/diagrams.sh."""
    package("docutils")
    import diagrams

    found = 0
    for page in DOCS.glob("*.md"):
        for text in re.findall(r"^```mermaid\n(.*?)^```", page.read_text(), re.M | re.S):
            picture = (DOCS / "pictures" / f"{page.stem}.mermaid.svg").read_text()
            assert diagrams.checksum(text) in picture
            found += 1
    assert found


def test_every_decision_is_listed():
    listed = re.findall(
        r"^\d+\. \[(.*?)\]\((.*?)\)$", (DOCS / "decisions/README.md").read_text(), re.M
    )
    records = sorted((DOCS / "decisions").glob("0*.md"))
    titles = [path.read_text().partition("\n")[0].partition(". ")[2] for path in records]
    assert listed == list(zip(titles, [path.name for path in records], strict=True))


# ---- the check of the built site -----------------------------------------------------------------


def test_broken_links_of_the_site_are_found(tmp_path):
    (tmp_path / "a.html").write_text(
        '<p id="x"><a href="b.html#y">1</a><a href="#x">2</a><a href="https://example.org">3</a>'
    )
    (tmp_path / "b.html").write_text('<p id="y"><a href="a.html#z">4</a><img src="c.png">')
    assert list(check.broken(tmp_path)) == ["b.html: a.html#z", "b.html: c.png"]


def test_names_without_a_page_are_found(tmp_path):
    (tmp_path / "api").mkdir()
    for name in PAGES:
        (tmp_path / "api" / f"{name}.html").write_text(f'<p id="{name}">')
    assert list(check.undocumented(tmp_path)) == []
    (tmp_path / "api" / "maxmargin.SVC.html").write_text("<p>")
    (tmp_path / "api" / "maxmargin.SVR.html").unlink()
    assert list(check.undocumented(tmp_path)) == ["maxmargin.SVC", "maxmargin.SVR"]
