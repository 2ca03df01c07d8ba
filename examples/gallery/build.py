"""``make gallery``: figures of the lectures, drawn by code, and a page that shows picture, formula
and the lines that draw it.

A figure is a function of a module of a lecture that returns a matplotlib figure; the first line of
its docstring is its title, the rest its text. It becomes a PNG of 150 dots per inch for the screen
and an SVG for print. Names given on the command line draw those figures only and leave the page as
it is.
"""

import importlib
import inspect
import re
import sys
import textwrap
from io import BytesIO
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from PIL import Image

from maxmargin.plots.style import rc
from maxmargin.textbook.lectures import LECTURES

HERE = Path(__file__).parent
TARGET = HERE.parent.parent / "docs" / "gallery"
DPI, COLOURS = 150, 255
MODULES = {
    "straka": ("straka_margin", "straka_smo", "straka_classes"),
    "theory": ("theory_margin", "theory_choice", "theory_solvers"),
    "boyd_graber": ("boyd_graber",),
    "revisited": ("revisited",),
    "fan": ("fan_margin", "fan_kernels"),
    "variants": ("variants_labels", "variants_planes", "variants_losses"),
}
"""The lectures in their order, then what they only name, and the modules of their figures."""
TITLES = {**{key: str(lecture) for key, lecture in LECTURES.items()}, "variants": "The variants"}
"""The headings of the page."""
HEAD = """# The figures of the lectures

Figures of the five lectures and of the variants that they name, drawn by code: `make gallery`
draws them all again, as PNG and as SVG for print. The code shown is the whole function. It lives in
`examples/gallery/`, where `data.py` makes the points. The algorithms come from
`maxmargin.textbook`, the plots from `maxmargin.plots`.

Some lectures show figures of Bishop, *Pattern Recognition and Machine Learning* (2006). A figure
"after figure 7.3" shows the same on data made here.
[The pages of the lectures](../lectures/README.md) show the figures in the order of the slides.
"""


def modules(key):
    """The modules of a lecture, in order."""
    if str(HERE) not in sys.path:
        sys.path.insert(0, str(HERE))
    return [importlib.import_module(name) for name in MODULES[key]]


def figures(key):
    """The functions of a lecture that draw, in the order they are written."""
    found = []
    for module in modules(key):
        own = [
            f
            for name, f in vars(module).items()
            if inspect.isfunction(f)
            and f.__module__ == module.__name__
            and not name.startswith("_")
        ]
        found += sorted(own, key=lambda f: f.__code__.co_firstlineno)
    return found


def picture(key, draw):
    """Name of a figure's files, without the ending."""
    return f"{key}-{draw.__name__.replace('_', '-')}"


def section(key, draw):
    """One figure on the page: title, picture, text, code."""
    title, _, text = inspect.getdoc(draw).partition("\n")
    code = inspect.getsource(draw)
    docstring = code[code.index('"""') : code.index('"""', code.index('"""') + 3) + 3]
    code = textwrap.dedent(code.replace("    " + docstring + "\n", "", 1))
    name = picture(key, draw)
    parts = [f"## {title}", f"![{title}]({name}.png)", text.strip(), f"[SVG]({name}.svg)"]
    return (
        "\n\n".join(filter(None, parts)) + "\n\n<details><summary>The lines that draw it</summary>"
        f"\n\n```python\n{code}```\n\n</details>\n"
    )


FILMS = """# Films

![SMO at work](smo.gif)

![Pegasos at work](pegasos.gif)

`textbook.animate(trace, path)` makes them of any trace in the plane.
"""


def page():
    """The text of the page."""
    parts = [HEAD]
    for key, heading in TITLES.items():
        titles = [inspect.getdoc(f).splitlines()[0] for f in figures(key)]
        parts.append(f"{heading}\n\n" + "".join(f"* [{t}](#{_anchor(t)})\n" for t in titles))
    for key, heading in TITLES.items():
        parts.append(f"# {heading}\n")
        parts += [section(key, draw) for draw in figures(key)]
    return "\n".join([*parts, FILMS])


def films():
    """SMO and Pegasos at work, as animated pictures."""
    from data import crescents
    from maxmargin import textbook

    X, y = crescents(n=60)
    _, smo = textbook.smo(X, y, C=10, kernel=textbook.kernels.rbf(1.0))
    _, pegasos = textbook.pegasos(X, y, 0.02, bias=True, steps=2000, trace=10)
    for name, trace in (("smo", smo), ("pegasos", pegasos)):
        textbook.animate(trace, TARGET / f"{name}.gif", frames=24, fps=3)
        print(f"{name}.gif")


def save(drawing, name):
    """Write a figure as PNG with a palette, and as SVG with coordinates of two decimals.

    A palette and short numbers make the files a third as large; nobody sees the difference.
    """
    with rc():
        png, svg = BytesIO(), BytesIO()
        drawing.savefig(png, dpi=DPI, format="png")
        drawing.savefig(svg, format="svg", metadata={"Date": None, "Creator": None})
    with Image.open(png) as image:
        small = image.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
        small.save(TARGET / f"{name}.png", optimize=True, dpi=(DPI, DPI))
    text = re.sub(r"\d+\.\d{3,}", lambda number: f"{float(number[0]):.2f}", svg.getvalue().decode())
    text = "\n".join(line.rstrip() for line in text.splitlines() if line.strip())
    (TARGET / f"{name}.svg").write_text(text + "\n")


def main(names):
    """Draw the figures and write the page."""
    TARGET.mkdir(parents=True, exist_ok=True)
    for key in MODULES:
        for draw in figures(key):
            if names and draw.__name__ not in names:
                continue
            save(draw(), picture(key, draw))
            plt.close("all")
            print(picture(key, draw))
    if not names:
        films()
        (TARGET / "README.md").write_text(page())


def _anchor(title):
    """The anchor that Markdown viewers give a heading."""
    return "".join(c for c in title.lower().replace(" ", "-") if c.isalnum() or c == "-")


if __name__ == "__main__":
    main(sys.argv[1:])
