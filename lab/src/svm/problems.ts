// Every SVM as one quadratic problem, written as data: the table of maxmargin/kernel/problems.py.
//
// In signed dual variables b_i = y_i a_i each of them is
//
//   minimise    1/2 b' K[row, row] b + linear' b
//   subject to  lower <= b <= upper,  the sum of b in each group is that of start
//
//   problem      linear             lower, upper            group   row             start
//   C-SVC        -y                 min(0, yC), max(0, yC)  0       0..n-1          0
//   nu-SVC       0                  min(0, y), max(0, y)    y < 0   0..n-1          fill(nu n / 2)
//   hard margin  0                  -inf, 0 or 0, inf       y < 0   0..n-1          1 in each class
//   one-class    0                  0, 1                    0       0..n-1          fill(nu n)
//   eps-SVR      eps - z, -eps - z  [0, C], [-C, 0]         0       0..n-1, 0..n-1  0
//   nu-SVR       -z, -z             [0, C], [-C, 0]         0, 1    0..n-1, 0..n-1  fill(nu n C / 2)

import type { Box } from "./core";

export interface DualProblem extends Box {
  readonly linear: Float64Array;
  readonly row: Int32Array;
  readonly start: Float64Array;
  /** nu-SVC and hard margin: the answer comes in an arbitrary scale and is read in margins. */
  readonly inMarginUnits: boolean;
}

const filled = (n: number, value: (i: number) => number) =>
  Float64Array.from({ length: n }, (_, i) => value(i));
const numbers = (n: number) => Int32Array.from({ length: n }, (_, i) => i);

/** Spread a total over n variables in their order, each up to its capacity. */
function fill(total: number, capacity: number, n: number): Float64Array {
  return filled(n, (i) => Math.min(Math.max(total - i * capacity, 0), capacity));
}

/** Soft margin: 1/2 |w|^2 + C sum max(0, 1 - y_i f_i). */
export function cSvc(y: Float64Array, C: number): DualProblem {
  const n = y.length;
  return {
    linear: y.map((sign) => -sign),
    lower: y.map((sign) => (sign < 0 ? -C : 0)),
    upper: y.map((sign) => (sign > 0 ? C : 0)),
    begin: Int32Array.of(0, n),
    row: numbers(n),
    start: new Float64Array(n),
    inMarginUnits: false,
  };
}

/** The nearest points of the reduced convex hulls of the classes, bounds 1: nu-SVC. */
export function nuSvc(y: Float64Array, nu: number): DualProblem {
  const total = (nu * y.length) / 2;
  return hulls(y, 1, (members) => fill(total, 1, members));
}

/** The nearest points of the convex hulls of the classes. */
export function hardMargin(y: Float64Array): DualProblem {
  const problem = hulls(y, Infinity, (members) => new Float64Array(members));
  problem.start[0] = 1;
  problem.start[y.length - 1] = -1;
  return problem;
}

function hulls(
  y: Float64Array,
  bound: number,
  start: (members: number) => Float64Array,
): DualProblem {
  const all = [...y.keys()];
  const [positive, negative] = [all.filter((i) => y[i] > 0), all.filter((i) => y[i] < 0)];
  const [p, n] = [positive.length, y.length];
  return {
    linear: new Float64Array(n),
    lower: filled(n, (i) => (i < p ? 0 : -bound)),
    upper: filled(n, (i) => (i < p ? bound : 0)),
    begin: Int32Array.of(0, p, n),
    row: Int32Array.from([...positive, ...negative]),
    start: Float64Array.from([...start(p), ...start(n - p).map((value) => -value)]),
    inMarginUnits: true,
  };
}

/** The largest feasible nu of nu-SVC. */
export function largestNu(y: Float64Array): number {
  const positive = y.filter((sign) => sign > 0).length;
  return (2 * Math.min(positive, y.length - positive)) / y.length;
}

/** The hyperplane that separates all but a share nu of the points from the origin. */
export function oneClass(n: number, nu: number): DualProblem {
  return {
    linear: new Float64Array(n),
    lower: new Float64Array(n),
    upper: filled(n, () => 1),
    begin: Int32Array.of(0, n),
    row: numbers(n),
    start: fill(nu * n, 1, n),
    inMarginUnits: false,
  };
}

/** The tube: 1/2 |w|^2 + C sum max(0, |z_i - f_i| - epsilon). */
export function epsSvr(z: Float64Array, C: number, epsilon: number): DualProblem {
  const n = z.length;
  return {
    ...twoEach(n, C),
    linear: filled(2 * n, (i) => (i < n ? epsilon - z[i] : -epsilon - z[i - n])),
    begin: Int32Array.of(0, 2 * n),
    start: new Float64Array(2 * n),
  };
}

/** The tube whose width is found by the problem: at most a share nu of the points is outside. */
export function nuSvr(z: Float64Array, C: number, nu: number): DualProblem {
  const n = z.length;
  const half = fill((nu * n * C) / 2, C, n);
  return {
    ...twoEach(n, C),
    linear: filled(2 * n, (i) => -z[i % n]),
    begin: Int32Array.of(0, n, 2 * n),
    start: filled(2 * n, (i) => (i < n ? half[i] : -half[i - n])),
  };
}

/** Two variables for each point, the first positive. */
function twoEach(
  n: number,
  C: number,
): Pick<DualProblem, "lower" | "upper" | "row" | "inMarginUnits"> {
  return {
    lower: filled(2 * n, (i) => (i < n ? 0 : -C)),
    upper: filled(2 * n, (i) => (i < n ? C : 0)),
    row: Int32Array.from({ length: 2 * n }, (_, i) => i % n),
    inMarginUnits: false,
  };
}

/** The coefficient of each of n points: the sum of the variables that share it. */
export function fold(problem: DualProblem, b: Float64Array, n: number): Float64Array {
  const coef = new Float64Array(n);
  for (let k = 0; k < b.length; k++) coef[problem.row[k]] += b[k];
  return coef;
}
