// What can be read off the variables b and the gradient G = K[row, row] b + linear of a problem;
// maxmargin/kernel/solution.py has the mathematics.
//
// At the optimum there is a number u for each group with G_i <= u where b_i can shrink and G_i >= u
// where it can grow. The level of the group is -u: the mean of -G over the free variables, or the
// middle of the interval in which u may lie.

import type { DualProblem } from "./problems";

/** Of one group. */
interface Extremes {
  readonly least: number; // G that can grow
  readonly greatest: number; // G that can shrink
  readonly free: number;
  readonly freeSum: number;
}

function extremes(problem: DualProblem, b: Float64Array, G: Float64Array, g: number): Extremes {
  let [least, greatest, free, freeSum] = [Infinity, -Infinity, 0, 0];
  for (let k = problem.begin[g]; k < problem.begin[g + 1]; k++) {
    const [grow, shrink] = [b[k] < problem.upper[k], b[k] > problem.lower[k]];
    if (grow) least = Math.min(least, G[k]);
    if (shrink) greatest = Math.max(greatest, G[k]);
    if (grow && shrink) {
      free += 1;
      freeSum += G[k];
    }
  }
  return { least, greatest, free, freeSum };
}

function groups<T>(problem: DualProblem, each: (g: number) => T): T[] {
  return Array.from({ length: problem.begin.length - 1 }, (_, g) => each(g));
}

/** The level of each group. */
export function levels(problem: DualProblem, b: Float64Array, G: Float64Array): number[] {
  return groups(problem, (g) => {
    const { least, greatest, free, freeSum } = extremes(problem, b, G, g);
    if (free) return -freeSum / free;
    const [low, high] = [-least, -greatest];
    if (Number.isFinite(low) && Number.isFinite(high)) return (low + high) / 2;
    return Number.isFinite(high) ? high : low;
  });
}

/** r, half the distance between the levels of the classes: the unit of nu-SVC and hard margin. */
export function margin(levels: readonly number[]): number {
  return (levels[1] - levels[0]) / 2;
}

/** The greatest G that can shrink minus the least that can grow, over the groups. */
export function violation(problem: DualProblem, b: Float64Array, G: Float64Array): number {
  const ends = groups(problem, (g) => extremes(problem, b, G, g));
  return Math.max(...ends.map((end) => end.greatest - end.least));
}

/** The dual objective, 1/2 b'Qb + linear'b. */
export function objective(problem: DualProblem, b: Float64Array, G: Float64Array): number {
  let sum = 0;
  for (let k = 0; k < b.length; k++) sum += b[k] * (G[k] + problem.linear[k]);
  return sum / 2;
}

/** The duality gap at the levels, in the problem's own units. */
export function dualityGap(problem: DualProblem, b: Float64Array, G: Float64Array): number {
  const level = levels(problem, b, G);
  let sum = 0;
  for (let g = 0; g < level.length; g++)
    for (let k = problem.begin[g]; k < problem.begin[g + 1]; k++) {
      const slope = G[k] + level[g];
      const best = slope > 0 ? problem.lower[k] : slope < 0 ? problem.upper[k] : b[k];
      if (!Number.isFinite(best)) return Infinity;
      sum += slope * (b[k] - best);
    }
  return sum;
}
