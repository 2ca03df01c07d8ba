// The trace of an algorithm: its state after each step, to go forward and back, plot and compare.
//
// For the soft margin with multipliers a, labels t and y(x_i) = sum_j a_j t_j k(x_j, x_i) + b:
//
//     |w|^2      sum_ij a_i a_j t_i t_j k(x_i, x_j)
//     primal     1/2 |w|^2 + C sum_i max(0, 1 - t_i y(x_i))
//     dual       sum_i a_i - 1/2 |w|^2
//     gap        primal - dual, zero exactly at the optimum
//     violation  the largest breach of  a_i < C => t_i y(x_i) >= 1  and  a_i > 0 => t_i y(x_i) <= 1

/** A soft margin to solve: n points of d coordinates, labels -1 and +1, the kernel matrix. */
export interface Problem {
  readonly n: number;
  readonly d: number;
  readonly x: Float64Array;
  readonly t: Float64Array;
  readonly K: Float64Array;
  readonly C: number;
}

/** A pair i, j of SMO, with everything that the slide writes down. */
export interface PairMove {
  readonly kind: "pair";
  readonly i: number;
  readonly j: number;
  readonly t_i: number;
  readonly t_j: number;
  readonly E_i: number;
  readonly E_j: number;
  readonly k_ii: number;
  readonly k_jj: number;
  readonly k_ij: number;
  readonly eta: number;
  readonly L: number;
  readonly H: number;
  /** The multipliers before the step. */
  readonly a_i: number;
  readonly a_j: number;
  /** The maximum of the dual along the pair, without and with the box. */
  readonly a_j_unclipped: number;
  readonly a_j_new: number;
  readonly a_i_new: number;
  readonly b_old: number;
  readonly b1: number;
  readonly b2: number;
}

/** One multiplier of dual coordinate descent. */
export interface SingleMove {
  readonly kind: "single";
  readonly i: number;
  readonly y_i: number;
  /** The derivative, the projected one, and the second one. */
  readonly g: number;
  readonly p: number;
  readonly Q_ii: number;
  readonly a_i: number;
  readonly a_i_unclipped: number;
  readonly a_i_new: number;
}

/** A drawn point of Pegasos. */
interface Draw {
  readonly i: number;
  readonly y_i: number;
  readonly k: number;
  readonly lambda: number;
  /** y_i y(x_i) before the step; below 1 the point has a loss. */
  readonly margin: number;
  readonly loss: boolean;
}

/** Linear Pegasos: w before and after. */
export interface DrawMove extends Draw {
  readonly kind: "draw";
  readonly eta: number;
  readonly before: Float64Array;
  readonly after: Float64Array;
}

/** Kernel Pegasos: how often the point has been counted. */
export interface CountMove extends Draw {
  readonly kind: "count";
  readonly before: number;
  readonly after: number;
}

/** One coordinate of L(w) = 1/2 w'Aw - q'w. */
export interface CoordinateMove {
  readonly kind: "coordinate";
  readonly i: number;
  readonly g: number;
  readonly A_ii: number;
  readonly w_i: number;
  readonly w_i_new: number;
  /** How much L would fall by each of the coordinates alone. */
  readonly decrease: Float64Array;
}

export type Move = PairMove | SingleMove | DrawMove | CountMove | CoordinateMove;

/** The state after a step. */
export interface Step {
  readonly iteration: number;
  /** What the step moved; null for the start, and for a last look that moved nothing. */
  readonly move: Move | null;
  /** The multipliers a of a dual method, the weights w of a primal one, the counts of Pegasos. */
  readonly variables: Float64Array;
  /** y(x) = sum_i coef_i k(x_i, x) + b. */
  readonly coef: Float64Array;
  readonly b: number;
  readonly primal: number;
  readonly dual: number;
  readonly violation: number;
  /** Kernel values that the method has computed so far, if it stores none of them. */
  readonly evaluations: number;
  /** Points that were looked at and left alone since the step before. */
  readonly passed: readonly Passed[];
}

/** A point left alone: its conditions hold, or its pair (i, j) could not move. */
export interface Passed {
  readonly i: number;
  readonly j: number | null;
}

/** Why the trace ends: the algorithm's own test, or the largest number of steps. */
export type Ending = "converged" | "steps";

export interface Trace {
  readonly steps: readonly Step[];
  readonly ending: Ending;
}

export const gap = (step: Step): number => step.primal - step.dual;

/** The points (or coordinates) that a step moved. */
export function chosen(step: Step): number[] {
  if (step.move === null) return [];
  return step.move.kind === "pair" ? [step.move.i, step.move.j] : [step.move.i];
}

/** sum_j coef_j k(x_j, x_i): row i of the kernel matrix times the coefficients. */
export function rowTimes(problem: Problem, i: number, coef: Float64Array): number {
  let sum = 0;
  for (let j = 0; j < problem.n; j++) sum += problem.K[i * problem.n + j] * coef[j];
  return sum;
}

/** The objectives and the violation of multipliers a, as above. */
export function softMargin(problem: Problem, a: Float64Array, b: number) {
  const { n, t, C } = problem;
  const coef = a.map((a_i, i) => a_i * t[i]);
  let [squaredNorm, hinge, sum, violation] = [0, 0, 0, 0];
  for (let i = 0; i < n; i++) {
    const value = rowTimes(problem, i, coef);
    const margin = t[i] * (value + b);
    squaredNorm += coef[i] * value;
    hinge += Math.max(0, 1 - margin);
    sum += a[i];
    if (a[i] < C) violation = Math.max(violation, 1 - margin);
    if (a[i] > 0) violation = Math.max(violation, margin - 1);
  }
  return {
    coef,
    primal: 0.5 * squaredNorm + C * hinge,
    dual: sum - 0.5 * squaredNorm,
    violation,
  };
}

/** How many multipliers are not zero: the kernel values that one y(x) needs. */
export function supportCount(a: Float64Array): number {
  return a.reduce((count, value) => count + (value !== 0 ? 1 : 0), 0);
}
