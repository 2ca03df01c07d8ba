// From the points of the playground to the data of a fit.
//
// The solver numbers the classes that occur 0, 1, ..., m - 1; `present` leads back to the classes
// of the playground, and with them to colours and glyphs.

import type { Data, Spec } from "../svm/types";
import type { Point } from "../ui/url";
import { isRegression } from "./state";

export interface Problem {
  data: Data;
  /** The playground's class of each class of the solver. */
  present: number[];
}

/** The problem, or a sentence that says which points are missing. */
export function problemOf({ machine }: Spec, points: readonly Point[]): Problem | string {
  if (points.length === 0) return "Click or tap in the plot to add points, or choose a data set.";
  if (isRegression(machine)) {
    if (points.length < 2) return "Add a second point: one target has nothing to follow.";
    const x = Float64Array.from(points, (p) => p.x);
    return { data: { x, d: 1, y: Float64Array.from(points, (p) => p.y) }, present: [] };
  }
  const x = Float64Array.from(points.flatMap((p) => [p.x, p.y]));
  if (machine === "one-class") {
    return { data: { x, d: 2, y: new Float64Array(points.length) }, present: [0] };
  }
  const present = [...new Set(points.map((p) => p.k))].sort((a, b) => a - b);
  if (present.length < 2) {
    return "Add points of a second class: choose it above the plot, then click.";
  }
  const y = Float64Array.from(points, (p) => present.indexOf(p.k));
  return { data: { x, d: 2, y }, present };
}
