"""Probabilities in C and JavaScript: the formulas of calibration.py and onnx_probability.py."""

from maxmargin.calibration import SETTINGS
from maxmargin.io.formula import Formula
from maxmargin.io.source_language import Language


def tables(formula: Formula, t: Language) -> str:
    """Return the declarations of the constants."""
    how = formula.calibration
    assert how is not None
    if how.marks is not None:
        return t.array("MARKS", how.marks)
    if how.sigmoids is not None:
        return t.array("PROB_A", how.sigmoids[0]) + t.array("PROB_B", how.sigmoids[1])
    if how.bent is not None:
        return "".join(t.array(f"PROB_{n.upper()}", v) for n, v in how.bent._asdict().items())
    assert how.isotonic is not None
    found = t.array("POINT_V", how.isotonic.values) + t.array("POINT_R", how.isotonic.p)
    return found + t.array("POINT_END", how.isotonic.ends, "int")


def size(formula: Formula) -> int:
    """Return the number of constants."""
    how = formula.calibration
    if how is None:
        return 0
    if how.bent is not None:
        return 4 * len(how.bent.b)
    return 2 * (len(formula.coef) if how.isotonic is None else len(how.isotonic.values))


def lines(formula: Formula, t: Language) -> str:
    """Return the lines that fill p, given the values f."""
    how, k = formula.calibration, len(formula.labels)
    assert how is not None
    if how.marks is not None:
        return _from_marks(len(how.marks), t) + _agreeing(k, t)
    least, pairs = repr(SETTINGS.least), k * (k - 1) // 2
    read = _between(t) if how.isotonic is not None else _sigmoid(t, how.bent is not None)
    found = f"  {t.zeros(pairs, 'r')}\n"
    if how.differences:
        found += f"  {t.index} k = 0;\n  {t.loop('a', k)} {t.loop('b', k, 'a + 1')} {{\n"
        found += f"    {t.let} v = f[a] - f[b];\n"
    else:
        found += f"  {t.loop('k', pairs)} {{\n    {t.let} v = f[k];\n"
    found += (
        f"{read}    if (!(v > {least})) v = {least};\n    if (v > 1 - {least}) v = 1 - {least};\n"
        f"    r[k{'++' if how.differences else ''}] = v;\n  }}\n"
    )
    couple = "  p[0] = r[0];\n  p[1] = 1 - r[0];\n" if k == 2 else _coupled(k, t)
    return found + couple + _agreeing(k, t)


def _sigmoid(t: Language, bent: bool) -> str:
    """Return the line that makes r of pair k of its value v, in v."""
    bend = f" + PROB_D[k] * {t.math}asinh(PROB_S[k] * v)" if bent else ""
    return f"    v = 1 / (1 + {t.math}exp(PROB_A[k] * v{bend} + PROB_B[k]));\n"


def _between(t: Language) -> str:
    """Return the lines that do it by points."""
    return (
        f"    {t.index} begin = k > 0 ? POINT_END[k - 1] : 0, end = POINT_END[k], i = begin;\n"
        "    while (i < end && POINT_V[i] < v) i++;\n"
        "    if (i == begin) v = POINT_R[begin];\n"
        "    else if (i == end) v = POINT_R[end - 1];\n"
        "    else v = POINT_R[i - 1] + (v - POINT_V[i - 1]) * (POINT_R[i] - POINT_R[i - 1]) /\n"
        "        (POINT_V[i] - POINT_V[i - 1]);\n"
    )


def _from_marks(count: int, t: Language) -> str:
    """Return the lines for outside and inside: the share of marks that the value reaches."""
    surest = repr(SETTINGS.surest)
    return (
        f"  p[1] = 0;\n  {t.loop('c', count)} if (f[0] >= MARKS[c]) p[1] += 1;\n"
        f"  p[1] /= {count};\n  if (p[1] < {surest}) p[1] = {surest};\n"
        f"  if (p[1] > 1 - {surest}) p[1] = 1 - {surest};\n  p[0] = 1 - p[1];\n"
    )


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
