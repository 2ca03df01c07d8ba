// Solves a problem to rounding: bursts of pair steps and Newton steps in turn, by the core. These
// are the steps and the constants of the small problems of maxmargin/kernel/block.py and state.py.

import { Tile } from "./core";
import { type DualProblem, fold } from "./problems";
import { dualityGap, levels, margin, objective, violation } from "./solution";

export const TOL = 1e-3; // the default of maxmargin's estimators
export const GAP = 10; // the relative gap may be GAP * TOL
const BURST = 5; // pair steps for each variable before Newton steps
const GOAL = 1e-14; // violation aimed at, relative to the greatest gradient
const MEET = 1e-12; // hulls nearer than the square root of this, relative to the data's scale, meet
const SNAP = 1e-12; // share of its range, and of the largest variable, within which one is at a bound
const WINDOW = 100; // rounds in which the objective must fall by CREEP
const CREEP = 1e-10;
const MOST_STEPS = 1_000_000; // a few seconds with as many points as may be

export interface Solution {
  /** Why the solver gave up; null where it believes that the tolerance is reached. */
  readonly ended: "stalled" | "max_iter" | "degenerate" | null;
  readonly b: Float64Array;
  /** K b of each point. */
  readonly kernelPart: Float64Array;
  readonly levels: readonly number[];
  readonly steps: number;
  /** Whether negative curvature was met. */
  readonly indefinite: boolean;
}

/** The problem of n points with kernel matrix K; `convex` says that K is positive semidefinite. */
export function solve(problem: DualProblem, K: Float64Array, n: number, convex: boolean): Solution {
  const tile = new Tile(gathered(K, n, problem.row), problem);
  try {
    return new Solver(problem, K, n, convex, tile).run();
  } finally {
    tile.end();
  }
}

/** K[row, row]; K itself where these are all rows in order. */
function gathered(K: Float64Array, n: number, row: Int32Array): Float64Array {
  const m = row.length;
  if (m === n && row.every((r, k) => r === k)) return K;
  const Q = new Float64Array(m * m);
  for (let k = 0; k < m; k++) {
    const from = row[k] * n;
    for (let l = 0; l < m; l++) Q[k * m + l] = K[from + row[l]];
  }
  return Q;
}

class Solver {
  private steps = 0;
  private indefinite = false;
  private F: Float64Array;
  private readonly diagonal: number;

  constructor(
    private readonly problem: DualProblem,
    private readonly K: Float64Array,
    private readonly n: number,
    private readonly convex: boolean,
    private readonly tile: Tile,
  ) {
    let diagonal = 0;
    for (let i = 0; i < n; i++) diagonal = Math.max(diagonal, Math.abs(K[i * n + i]));
    this.diagonal = diagonal;
    tile.b.set(problem.start);
    this.F = this.product();
    tile.G.set(this.gradient());
  }

  run(): Solution {
    const ended = this.rounds();
    const b = this.snapped();
    const degenerate = this.hasNoMinimum() && ended !== "max_iter";
    return {
      ended: degenerate ? "degenerate" : ended,
      b,
      kernelPart: this.F,
      levels: levels(this.problem, b, this.gradient()),
      steps: this.steps,
      indefinite: this.indefinite,
    };
  }

  private rounds(): Solution["ended"] {
    const { problem, tile } = this;
    let [lowest, before, rounds] = [Infinity, Infinity, 0];
    for (;;) {
      this.pairSteps();
      if (!this.indefinite) {
        const goal = GOAL * greatest(tile.G);
        const { taken, convex } = tile.newton(goal, MOST_STEPS - this.steps);
        this.steps += taken;
        this.indefinite ||= !convex && !this.convex;
      }
      this.F = this.product();
      const G = this.gradient();
      tile.G.set(G);
      const b = tile.b;
      const small = violation(problem, b, G) <= TOL * this.unit();
      if (small && (this.indefinite || this.gapIsSmall())) return null;
      if (this.steps >= MOST_STEPS) return "max_iter";
      const value = objective(problem, b, G);
      if (this.hasNoMinimum() || !(value < lowest - 1e-12 * Math.abs(value))) return "stalled";
      lowest = value;
      if (++rounds % WINDOW === 0) {
        if (!(value < before - CREEP * Math.abs(value))) return "stalled";
        before = value;
      }
    }
  }

  /** A burst of pair steps; where the problem is not convex, as many as lower the objective. */
  private pairSteps(): void {
    const { problem, tile } = this;
    const most = BURST * problem.linear.length;
    const last = this.steps + most;
    let [lowest, now] = [Infinity, violation(problem, tile.b, tile.G)];
    for (;;) {
      let target = 0.9 * TOL * this.unit();
      if (now <= target || this.steps >= MOST_STEPS) return;
      if (problem.inMarginUnits) target = Math.max(target, 0.1 * now);
      const done = tile.pairSteps(target, Math.min(most, MOST_STEPS - this.steps));
      this.steps += done.taken;
      now = done.violation;
      this.indefinite ||= done.negative && !this.convex;
      const value = objective(problem, tile.b, tile.G);
      const falls = this.indefinite && value < lowest - 1e-12 * Math.abs(value);
      if (done.taken === 0 || (this.steps >= last && !falls)) return;
      lowest = Math.min(lowest, value);
    }
  }

  /** What the tolerance is measured in: 1, or the margin. */
  private unit(): number {
    if (!this.problem.inMarginUnits) return 1;
    return Math.max(margin(levels(this.problem, this.tile.b, this.tile.G)), 1e-300);
  }

  /** Whether the gap is small beside the objective, or rounding of an objective that is 0. */
  private gapIsSmall(): boolean {
    const { problem, tile } = this;
    const gap = dualityGap(problem, tile.b, tile.G);
    const dual = -objective(problem, tile.b, tile.G);
    const total = sumOfMagnitudes(tile.b);
    if (!Number.isFinite(gap) || gap <= MEET * this.diagonal * total * total) return true;
    return gap <= GAP * TOL * Math.max(Math.abs(dual + gap), Math.abs(dual));
  }

  /** Whether the hulls of a problem in units of the margin meet, as far as float64 can tell. */
  private hasNoMinimum(): boolean {
    if (!this.problem.inMarginUnits) return false;
    const { b } = this.tile;
    const half = sumOfMagnitudes(b) / 2;
    let norm = 0;
    for (let k = 0; k < b.length; k++) norm += b[k] * this.F[this.problem.row[k]];
    return half > 0 && norm <= MEET * this.diagonal * half * half;
  }

  /** K b of each point. */
  private product(): Float64Array {
    const { K, n } = this;
    const coef = fold(this.problem, this.tile.b, n);
    const F = new Float64Array(n);
    for (let j = 0; j < n; j++) {
      const c = coef[j];
      if (c !== 0) for (let i = 0, at = j * n; i < n; i++, at++) F[i] += c * K[at];
    }
    return F;
  }
  private gradient(): Float64Array {
    const { linear, row } = this.problem;
    return linear.map((value, k) => value + this.F[row[k]]);
  }

  /**
   * The variables, those within rounding of a bound on it: whether one is free must not depend on
   * its last bit. What they lose is given to the free variable of their group with the most room.
   */
  private snapped(): Float64Array {
    const { problem, tile } = this;
    const before = tile.b.slice();
    const largest = greatest(before);
    const { lower, upper, begin } = problem;
    const b = before.map((value, k) => {
      const near = SNAP * Math.min(upper[k] - lower[k], largest);
      if (value - lower[k] <= near) return lower[k];
      return upper[k] - value <= near ? upper[k] : value;
    });
    for (let g = 0; g + 1 < begin.length; g++) {
      let [missing, most, room] = [0, -1, 0];
      for (let k = begin[g]; k < begin[g + 1]; k++) {
        missing += before[k] - b[k];
        const own = Math.min(b[k] - lower[k], upper[k] - b[k]);
        if (own > room) [most, room] = [k, own];
      }
      if (Math.abs(missing) < room) b[most] += missing;
    }
    return b;
  }
}

function greatest(values: Float64Array): number {
  let found = 0;
  for (const value of values) found = Math.max(found, Math.abs(value));
  return found;
}

function sumOfMagnitudes(values: Float64Array): number {
  let sum = 0;
  for (const value of values) sum += Math.abs(value);
  return sum;
}
