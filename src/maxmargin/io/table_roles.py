"""Which column of a table is the target, which holds weights or queries, which are features.

Columns are given by name, or by their number from 1 (from the right if negative). Without a given
target, it is the column with the name of the model's target, or else one called target, label,
class or y. Otherwise the last column is the target if there is no model, or if the table has one
column more than the model has features. This is a guess and warns. "none" means that there is no
target.

If a model (or a file of ranges) has names of features and the table has names, the features are
found by name, in any order. Columns that remain are left out with a warning and never used as the
target.
"""

import warnings
from dataclasses import dataclass
from typing import NamedTuple

from maxmargin.suggestions import did_you_mean

TARGET_NAMES = ("target", "label", "class", "y")


@dataclass(frozen=True)
class Options:
    """Options for reading a file.

    Attributes
    ----------
    format : str or None
        One of READERS; by default it is detected.
    target : str, int or None
        The target's column in a table, by name or number, or "none"; see above for the default.
    header : bool or None
        Whether the first line of a CSV file holds names. By default it does if it has no number, or
        a word above a number.
    n_features : int or None
        The number of features of the model, if there is one.
    zero_based : bool or None
        Whether svmlight indices start at 0; by default the whole file decides.
    features : list of str or None
        Names of the features of the model or the ranges, if they have some.
    known_target : str or None
        Name of the target of the model or the ranges, if they have one.
    ignore : tuple of str
        Columns to leave out, by name or number; one text may hold several, separated by commas.
    weight : str, int or None
        The column of the sample weights, by name or number.
    query : str, int or None
        The column of the queries of a ranking, by name or number.
    source : str
        The file's name in messages.
    """

    format: str | None = None
    target: str | int | None = None
    header: bool | None = None
    n_features: int | None = None
    zero_based: bool | None = None
    features: list[str] | None = None
    known_target: str | None = None
    ignore: tuple[str, ...] = ()
    weight: str | int | None = None
    query: str | int | None = None
    source: str = ""


class Roles(NamedTuple):
    """The role of each column, by position."""

    features: list[int]
    target: int | None
    weight: int | None
    query: int | None


def roles_of(width: int, names: list[str] | None, options: Options) -> Roles:
    """Return the role of each column; columns that do not exist or have two roles are errors."""
    table = _Columns(width, names, options)
    source, ignored = options.source, table.ignored()
    weight = None if options.weight is None else table.place(options.weight)
    query = None if options.query is None else table.place(options.query)
    wanted = None if options.target in (None, "none") else table.place(options.target)
    taken: dict[int, str] = {}
    for column, what in ((wanted, "the target"), (weight, "the weights"), (query, "the queries")):
        if column is None:
            continue
        if column in ignored:
            verb = "is" if column == wanted else "holds"
            raise ValueError(
                f"{table.called(column)} of {source} {verb} {what} and cannot be ignored: choose "
                "one of the two"
            )
        if column in taken:
            raise ValueError(
                f"{table.called(column)} of {source} cannot be both {taken[column]} and {what}"
            )
        taken[column] = what
    rest = [k for k in range(width) if k not in ignored and k not in (weight, query)]
    if names and options.features:
        return Roles(*table.for_a_model(rest, wanted, names), weight, query)
    target = wanted if options.target is not None else table.usual_target(rest)
    return Roles([k for k in rest if k != target], target, weight, query)


class _Columns(NamedTuple):
    """The columns of a table."""

    width: int
    names: list[str] | None
    options: Options

    def place(self, wanted: str | int | None) -> int:
        """Return the position of a column given by name or number."""
        width, names, source = self.width, self.names, self.options.source
        if names and wanted in names:
            return names.index(str(wanted))
        try:
            number = int(str(wanted))
        except ValueError:
            known = "it has no header, give the column's number"
            known = f"its columns are {', '.join(names[:20])}" if names else known
            hint = did_you_mean(wanted, names or [])
            raise ValueError(f"{source} has no column {wanted!r}: {known}.{hint}") from None
        if not 1 <= abs(number) <= width:
            raise ValueError(
                f"there is no column {number}: {source} has {width} columns, counted from 1, or "
                "from -1 at the right"
            )
        return number - 1 if number > 0 else width + number

    def called(self, column: int | None) -> str:
        """Return a column's name for messages."""
        assert column is not None
        return f"column {column + 1 if self.names is None else repr(self.names[column])}"

    def ignored(self) -> set[int]:
        """Return the columns to leave out; a text that is not a column's name may list several."""
        known = self.names or []
        return {
            self.place(part.strip())
            for text in self.options.ignore
            for part in ([text] if text in known else text.split(","))
        }

    def for_a_model(
        self, rest: list[int], wanted: int | None, names: list[str]
    ) -> tuple[list[int], int | None]:
        """Find the features by name, and the target; warn about other columns."""
        source, known = self.options.source, self.options.known_target
        found = find_features([names[k] for k in rest], self.options.features or [], source)
        features = [rest[k] for k in found]
        left = [k for k in rest if k not in features]
        if wanted in features:
            raise ValueError(
                f"{names[wanted]!r} of {source} cannot be the target: it is a feature of the model"
            )
        target = wanted if self.options.target is not None else self.named_target(left)
        stray = [names[k] for k in left if k != target]
        if stray:
            no_target = "" if known is None else f", nor its target {known!r},"
            no_feature, are = (
                ("is not a feature", "is") if len(stray) == 1 else ("are not features", "are")
            )
            warnings.warn(
                f"{source}: {_some(stray)} {no_feature} of the model{no_target} and {are} left out "
                "(--ignore silences this, --target names a target)",
                stacklevel=2,
            )
        return features, target

    def named_target(self, columns: list[int]) -> int | None:
        """Return the column with the name of the model's target, or a usual name."""
        if not self.names:
            return None
        exact = {self.names[k]: k for k in columns}
        if self.options.known_target in exact:
            return exact[self.options.known_target]
        lowered = {self.names[k].lower(): k for k in reversed(columns)}
        return next((lowered[name] for name in TARGET_NAMES if name in lowered), None)

    def usual_target(self, columns: list[int]) -> int | None:
        """Return the target if none was chosen: by name, or else the last column.

        The last column is a guess and warns.
        """
        named = self.named_target(columns)
        if named is not None or self.options.n_features == len(columns) or not columns:
            return named
        last = columns[-1]
        if len(columns) > 1:
            key = self.names[last] if self.names else str(last + 1)
            warnings.warn(
                f"{self.options.source}: {self.called(last)}, the last one, is taken as the "
                f"target; --target {key} confirms this, --target none means no target",
                stacklevel=2,
            )
        return last


def check_names(names: list[str], source: str) -> None:
    """Raise an error if two columns have the same name."""
    if len(set(names)) < len(names):
        twice = next(name for k, name in enumerate(names) if name in names[:k])
        raise ValueError(
            f"{source} has two columns called {twice!r}: give each column its own name"
        )


def find_features(names: list[str], wanted: list[str], source: str) -> list[int]:
    """Return the positions of the model's features among a table's columns."""
    place = {name: k for k, name in enumerate(names)}
    missing = [name for name in wanted if name not in place]
    if missing:
        raise ValueError(
            f"{source} has no column {_some(missing)}, which the training data had: its columns "
            f"are {_some(names)}"
        )
    return [place[name] for name in wanted]


def _some(names: list[str]) -> str:
    """Return the first names, for messages."""
    more = f" and {len(names) - 10} more" if len(names) > 10 else ""
    return ", ".join(map(repr, names[:10])) + more
