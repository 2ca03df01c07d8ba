"""``make notebooks``: run each notebook of examples/notebooks and keep it with its output, .ipynb.

The source is the percent file. Pictures become small palettes, memory addresses and random cell
numbers go, so that a second run writes the same file wherever a notebook prints no times.
"""

import base64
import re
import sys
import tempfile
from io import BytesIO
from pathlib import Path

import jupytext
import nbformat
from nbclient import NotebookClient
from PIL import Image

FOLDER = Path(__file__).parent.parent / "examples" / "notebooks"
WIDTH, COLOURS = 640, 64
ADDRESS = re.compile(r" at 0x[0-9a-f]+")


def small(png: str) -> str:
    """A picture in base64, at most WIDTH wide and with a palette."""
    with Image.open(BytesIO(base64.b64decode(png))) as image:
        shown = image.convert("RGB")
        if shown.width > WIDTH:
            shown = shown.resize((WIDTH, round(shown.height * WIDTH / shown.width)))
        kept = BytesIO()
        shown.quantize(COLOURS, dither=Image.Dither.NONE).save(kept, "png", optimize=True)
    return base64.b64encode(kept.getvalue()).decode()


def tidied(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """The notebook without what differs between two runs."""
    notebook.metadata = {"language_info": {"name": "python"}}
    for k, cell in enumerate(notebook.cells):
        cell.id, cell.metadata = f"cell-{k}", {}
        for output in cell.get("outputs", ()):
            data = output.get("data", {})
            output.metadata = {}
            if "image/png" in data:
                data["image/png"] = small(data["image/png"])
            if "text/plain" in data:
                data["text/plain"] = ADDRESS.sub("", data["text/plain"])
    return notebook


def executed(path: Path) -> nbformat.NotebookNode:
    """A percent file, run in a folder of its own."""
    notebook = jupytext.read(path)
    with tempfile.TemporaryDirectory() as folder:
        client = NotebookClient(notebook, timeout=300, resources={"metadata": {"path": folder}})
        return tidied(client.execute())


def main(names: list[str]) -> None:
    """Run the notebooks whose names are given, or all."""
    for path in sorted(FOLDER.glob("*.py")):
        if not names or path.stem in names:
            nbformat.write(executed(path), path.with_suffix(".ipynb"))
            print(path.with_suffix(".ipynb").name)


if __name__ == "__main__":
    main(sys.argv[1:])
