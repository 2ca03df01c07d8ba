"""``make gallery``: figures of the lectures, drawn by code, and a page that shows picture, formula
and the lines that draw it.

A figure is a function of a module ``lecture_NNN`` that returns a matplotlib figure; the first line
of its docstring is its title, the rest its text. Names given on the command line draw those figures
only and leave the page as it is.
"""

import importlib
import inspect
import sys
import textwrap
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

HERE = Path(__file__).parent
TARGET = HERE.parent.parent / "docs" / "gallery"
HEAD = """# The figures of the lectures

Figures of the five lecture documents, drawn by code: `make gallery` draws them all again. The code
shown is the whole function. It lives in `examples/gallery/`, where `data.py` makes the points. The
algorithms come from `maxmargin.textbook`, the plots from `maxmargin.plots`.
"""


def lectures():
    """The modules, in order."""
    sys.path.insert(0, str(HERE))
    return [importlib.import_module(path.stem) for path in sorted(HERE.glob("lecture_*.py"))]


def figures(module):
    """The functions of a module that draw, in the order they are written."""
    own = [
        f
        for name, f in vars(module).items()
        if inspect.isfunction(f) and f.__module__ == module.__name__ and not name.startswith("_")
    ]
    return sorted(own, key=lambda f: f.__code__.co_firstlineno)


def picture(module, draw):
    """Name of a figure's file."""
    return f"{module.__name__[-3:]}-{draw.__name__.replace('_', '-')}.png"


def section(module, draw):
    """One figure on the page: title, picture, text, code."""
    title, _, text = inspect.getdoc(draw).partition("\n")
    code = inspect.getsource(draw)
    docstring = code[code.index('"""') : code.index('"""', code.index('"""') + 3) + 3]
    code = textwrap.dedent(code.replace("    " + docstring + "\n", "", 1))
    shown = f"## {title}\n\n![{title}]({picture(module, draw)})\n\n{text.strip()}\n\n"
    return (
        shown + "<details><summary>The lines that draw it</summary>\n"
        f"\n```python\n{code}```\n\n</details>\n"
    )


FILMS = """# Films

![SMO at work](smo.gif)

![Pegasos at work](pegasos.gif)

`textbook.animate(trace, path)` makes them of any trace in the plane.
"""


def page():
    """The text of the page."""
    titles = [inspect.getdoc(f).splitlines()[0] for m in lectures() for f in figures(m)]
    parts = [HEAD, "".join(f"* [{title}](#{_anchor(title)})\n" for title in titles)]
    for module in lectures():
        parts.append(f"# {module.__doc__.strip().rstrip('.')} (`{module.SEED}`)\n")
        parts += [section(module, draw) for draw in figures(module)]
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


def main(names):
    """Draw the figures and write the page."""
    TARGET.mkdir(parents=True, exist_ok=True)
    for module in lectures():
        for draw in figures(module):
            if names and draw.__name__ not in names:
                continue
            drawing = draw()
            drawing.savefig(TARGET / picture(module, draw), dpi=80, metadata={"Software": None})
            plt.close("all")
            print(picture(module, draw))
    if not names:
        films()
        (TARGET / "README.md").write_text(page())


def _anchor(title):
    """The anchor that Markdown viewers give a heading."""
    return "".join(c for c in title.lower().replace(" ", "-") if c.isalnum() or c == "-")


if __name__ == "__main__":
    main(sys.argv[1:])
