"""The five lectures that these pages follow, under the keys by which the docstrings cite them."""

from typing import NamedTuple


class Lecture(NamedTuple):
    """A document as it names itself."""

    key: str
    author: str
    """Empty where the document names none."""
    title: str
    year: int | None
    """None where the document has no date."""

    def __str__(self) -> str:
        author = f"{self.author}, " if self.author else ""
        year = f" ({self.year})" if self.year else ""
        return f'{author}"{self.title}"{year}'


LECTURES = {
    lecture.key: lecture
    for lecture in (
        Lecture("straka", "Milan Straka", "Soft-margin SVM, SMO", 2022),
        Lecture("theory", "", "Support Vector Machines (SVM): Theory and Algorithms", None),
        Lecture("boyd_graber", "Jordan Boyd-Graber", "Optimizing Support Vector Machines", None),
        Lecture("revisited", "", "Soft Margin Revisited", 2024),
        Lecture(
            "fan",
            "Jicong Fan",
            "DDA3020 Machine Learning, Lecture 07: Support Vector Machine",
            2025,
        ),
    )
}
"""In the order in which the pages cite them."""
