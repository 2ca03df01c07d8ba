"""Probabilities in C and JavaScript: the formulas of calibration.py and onnx_probability.py."""

from maxmargin.calibration import SETTINGS
from maxmargin.io.formula import Formula
from maxmargin.io.source_language import Language


def tables(formula: Formula, t: Language) -> str:
    """Return the declarations of the constants."""
    assert formula.sigmoids is not None
    return t.array("PROB_A", formula.sigmoids.a) + t.array("PROB_B", formula.sigmoids.b)


def lines(formula: Formula, t: Language) -> str:
    """Return the lines that fill p, given the values f."""
    assert formula.classes is not None
    k, least = len(formula.classes), repr(SETTINGS.least)
    each = t.loop("c", len(formula.coef))
    found = (
        f"  {t.zeros(len(formula.coef), 'r')}\n  {each} {{\n"
        f"    r[c] = 1 / (1 + {t.math}exp(PROB_A[c] * f[c] + PROB_B[c]));\n"
        f"    if (!(r[c] > {least})) r[c] = {least};\n"
        f"    if (r[c] > 1 - {least}) r[c] = 1 - {least};\n  }}\n"
    )
    couple = "  p[0] = r[0];\n  p[1] = 1 - r[0];\n" if k == 2 else _coupled(k, t)
    return found + couple + _agreeing(k, t)


def _coupled(k: int, t: Language) -> str:
    """Return the lines that solve (Q + e e') p = e by elimination, and divide p by its sum."""
    w = k + 1
    return (
        f"  {t.zeros(k * w, 'm')}\n  {t.loop('i', k * w)} m[i] = 1;\n"
        f"  {t.index} pair = 0;\n"
        f"  {t.loop('a', k)} {t.loop('b', k, 'a + 1')} {{\n"
        f"    {t.let} ab = r[pair], ba = 1 - ab;\n    pair++;\n"
        f"    m[a * {w} + a] += ba * ba;\n    m[b * {w} + b] += ab * ab;\n"
        f"    m[a * {w} + b] -= ab * ba;\n    m[b * {w} + a] -= ab * ba;\n  }}\n"
        f"  {t.loop('i', k)} {t.loop('j', k)} if (j != i) {{\n"
        f"    {t.let} share = m[j * {w} + i] / m[i * {w} + i];\n"
        f"    {t.loop('c', w, 'i')} m[j * {w} + c] -= share * m[i * {w} + c];\n  }}\n"
        f"  {t.let} total = 0;\n"
        f"  {t.loop('i', k)} {{\n    p[i] = m[i * {w} + {k}] / m[i * {w} + i];\n"
        f"    if (!(p[i] > 0)) p[i] = 0;\n    total += p[i];\n  }}\n"
        f"  {t.loop('i', k)} p[i] /= total;\n"
    )


def _agreeing(k: int, t: Language) -> str:
    """Return the lines that make the label's probability the greatest; see calibration.py."""
    most = repr(1 - SETTINGS.lead)
    return (
        f"  {t.index} best = place(f), top = 0;\n"
        f"  {t.loop('c', k, 1)} if (p[c] > p[top]) top = c;\n"
        f"  if (top != best) {{\n    {t.zeros(k, 'used')}\n    {t.let} shared = p[best];\n"
        f"    used[best] = 1;\n"
        f"    {t.loop('n', k, 1)} {{\n      {t.index} next = -1;\n"
        f"      {t.loop('c', k)} if (!used[c] && (next < 0 || p[c] > p[next])) next = c;\n"
        f"      if (p[next] <= shared) break;\n      used[next] = 1;\n"
        f"      shared = (shared * n + p[next]) / (n + 1);\n    }}\n"
        f"    p[best] = 1;\n    {t.loop('c', k)} if (c != best) {{\n"
        f"      if (p[c] > {most} * shared) p[c] = {most} * shared;\n"
        f"      p[best] -= p[c];\n    }}\n  }}\n"
    )
