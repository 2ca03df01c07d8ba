"""Intervals in C and JavaScript: the bisection of intervals.py."""

import numpy as np

from maxmargin.intervals import SETTINGS, Folds
from maxmargin.io.source_language import Language

QUANTILE = """{head} {{
  {let} best = {infinity}, slack = 0;
  {folds} if ({absolute}(v[k]) > slack) slack = {absolute}(v[k]);
  slack *= {rounding};
  {folds} {{
    {index} low = k > 0 ? FOLD_END[k - 1] : 0, high = FOLD_END[k], end = high;
    while (low < high) {{
      {index} middle = (low + high) >> 1;
      {let} t = v[k] + ERROR[middle], sum = 0;
      {others} {{
        {index} first = j > 0 ? FOLD_END[j - 1] : 0, a = first, b = FOLD_END[j];
        while (a < b) {{
          {index} m = (a + b) >> 1;
          if (ERROR[m] <= t - v[j] + slack) a = m + 1;
          else b = m;
        }}
        if (a > first) sum += WEIGHT[a - 1];
      }}
      if (sum >= need) high = middle;
      else low = middle + 1;
    }}
    if (low < end && v[k] + ERROR[low] < best) best = v[k] + ERROR[low];
  }}
  return best;
}}

"""
INTERVAL = """  {let} need = confidence * {total} * (1 - {rounding});
  {v}
  {folds} v[k] = f[k + 1];
  {let} upper = quantile(v, need);
  {folds} v[k] = -v[k];
  {let} lower = -quantile(v, need);
  if (lower > upper) lower = upper = (lower + upper) / 2;
"""


def size(folds: Folds) -> int:
    """Return the number of constants."""
    return 2 * len(folds.error) + len(folds.end)


def constants(folds: Folds, t: Language) -> str:
    """Return the declarations: errors, fold by fold, and the sums of the weights up to each."""
    begin = np.append(0, folds.end[:-1])
    parts = [folds.weight[a:b] for a, b in zip(begin, folds.end, strict=True)]
    sums = np.concatenate([np.cumsum(part) for part in parts])
    found = t.array("ERROR", folds.error) + t.array("WEIGHT", sums)
    return found + t.array("FOLD_END", folds.end, "int")


def function(folds: Folds, t: Language, given: str, decision: str) -> str:
    """Return the functions; ``given`` declares a sample and ``decision`` finds its values f."""
    count = len(folds.end)
    words = {
        "let": t.let,
        "index": t.index,
        "absolute": t.absolute,
        "rounding": repr(SETTINGS.rounding),
        "infinity": "HUGE_VAL" if t.c else "Infinity",
        "folds": t.loop("k", count),
        "others": t.loop("j", count),
        "total": repr(float(folds.weight.sum()) + 1),
        "v": t.zeros(count, "v"),
    }
    c_head = "static double quantile(const double *v, double need)"
    text = QUANTILE.format(head=c_head if t.c else "function quantile(v, need)", **words)
    lines = f"{decision}{INTERVAL.format(**words)}"
    if t.c:
        head = f"void maxmargin_interval({given}, double confidence, double *ends)"
        return f"{text}{head} {{\n{lines}  ends[0] = lower;\n  ends[1] = upper;\n}}\n"
    head = f"function interval({given}, confidence)"
    return f"{text}{head} {{\n{lines}  return [lower, upper];\n}}\n\n"
