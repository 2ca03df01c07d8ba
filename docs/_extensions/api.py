"""The pages of the API reference, written from what the modules export.

A module has a page with tables of its public names, and every name has a page of its own. The
public names of a module are those of its ``__all__``; a module among them is documented in the same
way. The pages go to docs/api, which is not kept under version control.
"""

import importlib
import inspect
from collections.abc import Iterable, Iterator
from pathlib import Path
from textwrap import indent
from types import ModuleType
from typing import Any, NamedTuple

import maxmargin

START = """\
API reference
=============

Every public name of maxmargin. Estimators follow scikit-learn's conventions: parameters go to the
constructor, ``fit`` returns the estimator, and what was learnt ends in an underscore.

.. toctree::
   :hidden:

{pages}

.. autosummary::

{modules}

"""
TABLE = ".. autosummary::\n   :nosignatures:\n\n"
MODULES = ("model_selection", "metrics", "structured", "plots", "io", "textbook")
"""Public modules beside ``maxmargin`` itself."""
GROUPS = {
    "Kernel machines": ("SVC", "NuSVC", "SVR", "NuSVR", "OneClassSVM"),
    "Losses and targets": ("QuantileSVR", "ExpectileSVR", "MultiOutputSVR", "SVDD"),
    "Least squares": ("LSSVC", "LSSVR"),
    "Several kernels": ("MKLSVC",),
    "Linear models": ("LinearSVC", "LinearSVR", "LinearOneClassSVM", "LinearSVCCV", "LinearSVRCV"),
    "Performance measures": ("PerfSVC",),
    "Structured outputs": ("StructuredSVM", "SequenceSVM", "LatentSVM", "MISVC"),
    "Ranking": ("RankSVC", "RankSVR"),
    "Semi-supervised": ("TransductiveSVC", "LaplacianSVC"),
    "Online learning": ("PegasosSVC", "NormaSVC", "NormaNovelty"),
}
"""Names of ``maxmargin`` that stand together; the others are grouped by their kind."""
OF_SCIKIT_LEARN = ("score", "fit_predict", "get_params", "set_params")
"""Inherited methods that are worth a place on the page of an estimator."""


class Public(NamedTuple):
    """A public name: where it is exported, what it is."""

    module: str
    name: str
    value: Any

    @property
    def path(self) -> str:
        """Its full name, which is also that of its page."""
        return f"{self.module}.{self.name}"

    @property
    def kind(self) -> str:
        """The heading under which it is listed."""
        if isinstance(self.value, ModuleType):
            return "Modules"
        return "Classes" if inspect.isclass(self.value) else "Functions"


def names(module: ModuleType) -> list[Public]:
    """The public names of a module: ``__all__``, or the functions that are defined in it."""
    defined = [
        name
        for name, value in vars(module).items()
        if inspect.isfunction(value) and value.__module__ == module.__name__ and name[0] != "_"
    ]
    exported = getattr(module, "__all__", defined)
    return [Public(_home(module, name), name, getattr(module, name)) for name in exported]


def _home(module: ModuleType, name: str) -> str:
    """The module whose page describes a name that two of them export."""
    return "maxmargin" if name in maxmargin.__all__ else module.__name__


def modules() -> Iterator[ModuleType]:
    """All public modules, those among the names of another one included."""
    paths = ["maxmargin", *(f"maxmargin.{name}" for name in MODULES)]
    for module in map(importlib.import_module, paths):
        yield module
        yield from (one.value for one in names(module) if one.kind == "Modules")


def pages() -> dict[str, str]:
    """The text of each page of the reference by its name."""
    found = {"index": _start()}
    for module in modules():
        found[module.__name__] = _module_page(module)
        found |= {one.path: _page(one) for one in names(module) if one.kind != "Modules"}
    return found


def _heading(title: str, line: str = "=") -> str:
    return f"{title}\n{line * len(title)}\n\n"


def _indented(lines: list[str]) -> str:
    return "\n".join(f"   {line}" for line in lines)


def _start() -> str:
    top = ["maxmargin", *(f"maxmargin.{name}" for name in MODULES)]
    return START.format(pages=_indented(top), modules=_indented(top))


def _module_page(module: ModuleType) -> str:
    found = {one.name: one for one in names(module)}
    groups = {title: [found.pop(name) for name in group] for title, group in _groups(module)}
    for one in found.values():
        groups.setdefault(one.kind, []).append(one)
    text = _heading(module.__name__) + f".. automodule:: {module.__name__}\n\n"
    for title, group in groups.items():
        here = [one for one in group if one.module == module.__name__]
        rows = [one.name if one in here else f"~{one.path}" for one in group]
        paths = [one.path for one in here]
        text += (
            _heading(title, "-") + f".. autosummary::\n   :nosignatures:\n\n{_indented(rows)}\n\n"
        )
        text += f".. toctree::\n   :hidden:\n\n{_indented(paths)}\n\n"
    return text


def _groups(module: ModuleType) -> Iterable[tuple[str, tuple[str, ...]]]:
    return GROUPS.items() if module.__name__ == "maxmargin" else ()


def _page(one: Public) -> str:
    head = _heading(one.name) + f".. currentmodule:: {one.module}\n\n"
    if not inspect.isclass(one.value):
        return head + f".. autofunction:: {one.name}\n"
    text = head + f".. autoclass:: {one.name}\n\n"
    members = _members(one.value)
    methods = [name for name in members if callable(getattr(one.value, name))]
    if methods:
        rows = _indented([f"~{one.name}.{name}" for name in methods])
        text += indent(f".. rubric:: Methods\n\n{TABLE}{rows}\n\n", "   ")
    for name in members:
        kind = "automethod" if name in methods else "autoproperty"
        text += f"   .. {kind}:: {name}\n\n"
    return text


def _members(cls: type) -> list[str]:
    """Methods and properties of ours, and those of scikit-learn that are worth it."""
    return [
        name
        for name in dir(cls)
        if name[0] != "_" and (name in OF_SCIKIT_LEARN or _is_ours(cls, name))
    ]


def _is_ours(cls: type, name: str) -> bool:
    home = next(base for base in cls.__mro__ if name in vars(base))
    value = vars(home)[name]
    described = isinstance(value, property) or callable(getattr(cls, name))
    routing = type(value).__name__ == "RequestMethod"  # set_fit_request and the like
    return home.__module__.startswith("maxmargin") and described and not routing


def write(folder: Path) -> None:
    """Write the pages that changed; remove those of names that are gone."""
    folder.mkdir(exist_ok=True)
    texts = {folder / f"{name}.rst": text for name, text in pages().items()}
    for path in folder.glob("*.rst"):
        if path not in texts:
            path.unlink()
    for path, text in texts.items():
        if not path.exists() or path.read_text() != text:
            path.write_text(text)


def setup(app: Any) -> dict[str, bool]:
    """Before Sphinx looks for pages."""
    app.connect("config-inited", lambda app, config: write(Path(app.srcdir) / "api"))
    return {"parallel_read_safe": True}
