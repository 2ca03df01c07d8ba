"""The features of tables in C and JavaScript.

In C numbers and words are two arrays, each in the order of its columns, and a missing word is a
null pointer. In JavaScript a sample is an array of all columns, and null is missing.
"""

import json

from maxmargin.io.source_language import Language
from maxmargin.io.table_features import TableFeatures

C_FUNCTION = """
static int feature(const char *word, const char *const *words, const int *places, int count,
                   int missing, int other) {
  if (!word) return missing;
  for (int i = 0; i < count; i++)
    if (strcmp(words[i], word) == 0) return places[i];
  return other;
}
"""
JAVASCRIPT_FUNCTION = """
function feature(value, places, missing, other) {
  if (value == null || value !== value) return missing;
  const word = typeof value === "boolean" ? (value ? "True" : "False") : String(value);
  return places.has(word) ? places.get(word) : other;
}
"""


def size(table: TableFeatures) -> int:
    """The number of constants."""
    return len(table.gaps) + sum(len(words.places) for words in table.words)


def constants(table: TableFeatures, t: Language) -> str:
    """Return the declarations of the constants and of what looks words up."""
    found = t.array("GAPS", table.gaps, "int") if len(table.gaps) else ""
    if not t.c:
        found += t.array("NUMBERS", table.numbers, "int")
    for k, words in enumerate(table.words):
        if t.c:
            literals = ", ".join(map(t.text, words.places)) or '""'
            found += f"static const char *const WORDS{k}[] = {{{literals}}};\n"
            found += t.array(f"PLACES{k}", list(words.places.values()), "int")
        else:
            pairs = (f"[{t.text(word)}, {place}]" for word, place in words.places.items())
            found += f"const PLACES{k} = new Map([{', '.join(pairs)}]);\n"
    if not table.words:
        return found
    return found + (C_FUNCTION if t.c else JAVASCRIPT_FUNCTION)


def numbers(table: TableFeatures, t: Language) -> str:
    """Return the line that takes the numbers out of a sample, where it holds all columns."""
    if t.c:
        return "" if len(table.numbers) else "  (void)given;\n"
    known = f"{t.is_missing('row[i]')} ? NaN : row[i]"
    return f"  const given = NUMBERS.map((i) => ({known}));\n" if len(table.numbers) else ""


def lines(table: TableFeatures, t: Language) -> str:
    """Return the lines that set indicators and categories of x."""
    first, count, found = len(table.numbers), len(table.gaps), ""
    if count:
        value = "given[GAPS[i]]"
        found += f"  {t.loop('i', count)} x[{first} + i] = {value} != {value} ? 1 : 0;\n"
    for k, words in enumerate(table.words):
        end = f"{words.missing}, {words.other})"
        if t.c:
            known = f"words[{k}], WORDS{k}, PLACES{k}, {len(words.places)}, {end}"
        else:
            known = f"row[{table.categories[k]}], PLACES{k}, {end}"
        begin = "  int at = " if t.c and not k else "  let at = " if not k else "  at = "
        found += f"{begin}feature({known};\n  if (at >= 0) x[at] = 1;\n"
    return found


def about(table: TableFeatures) -> str:
    """Return which columns a sample has, for the comment at the top."""
    named = {"numbers": table.numbers, "words": table.categories}
    parts = [f"{key} {json.dumps([table.names[k] for k in some])}" for key, some in named.items()]
    return f" Columns: {', '.join(parts)}."
