"""Sphinx configuration of the documentation site: ``make docs`` builds it into build/docs/html.

The pages are the Markdown files of this folder. They read well on a code host, too, so what Sphinx
needs beyond Markdown is in ``_extensions``: links to files of the repository, diagrams, the API
reference, notebooks, the lab. The site loads nothing from the network.
"""

import sys
from pathlib import Path

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS / "_extensions"))

import notebooks  # noqa: E402

import maxmargin  # noqa: E402

project = "maxmargin"
author = "the maxmargin developers"
project_copyright = "the maxmargin developers, BSD 3-Clause"
version = release = maxmargin.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.viewcode",
    "numpydoc",
    "matplotlib.sphinxext.plot_directive",
    "sphinx_gallery.gen_gallery",
    "sphinx_design",
    "sphinx_copybutton",
    "api",
    "docstrings",
    "assets",
    "links",
    "diagrams",
]
templates_path = ["_templates"]
exclude_patterns = ["_*", "**/*.ipynb"]
nitpicky = False
highlight_language = "none"
toc_object_entries_show_parents = "hide"

myst_enable_extensions = ["colon_fence", "dollarmath", "attrs_inline"]
myst_heading_anchors = 4
myst_url_schemes = ["http", "https", "mailto", "site"]

mathjax_path = "tex-svg.js"  # see _extensions/assets.py

autosummary_generate = False
autodoc_typehints = "none"
autodoc_preserve_defaults = True
numpydoc_show_class_members = False
numpydoc_use_plots = True
plot_include_source = True
plot_formats = [("png", 150)]
plot_html_show_formats = False
plot_html_show_source_link = False
numpydoc_class_members_toctree = False
viewcode_line_numbers = True

sphinx_gallery_conf = notebooks.configuration()

html_theme = "pydata_sphinx_theme"
html_title = "maxmargin"
html_logo = "_static/logo.svg"
html_favicon = "_static/favicon.svg"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_context = {"default_mode": "auto"}
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "logo": {"text": "maxmargin", "alt_text": "maxmargin: start page"},
    "header_links_before_dropdown": 7,
    "navbar_end": ["version", "theme-switcher"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "show_prev_next": True,
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {"index": [], "lab": []}

linkcheck_timeout = 20
linkcheck_retries = 2
