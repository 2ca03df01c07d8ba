// Dual coordinate descent for the linear soft margin without a bias: algorithm 12 of "Support
// Vector Machines (SVM): Theory and Algorithms", after Hsieh et al. (2008).
//
// Without b the constraint sum_i a_i y_i = 0 is gone and one multiplier can move alone (42):
//
//     minimise   1/2 a'Q a - 1'a    subject to   0 <= a_i <= C,         Q_ij = y_i y_j x_i'x_j
//
// Keeping w = sum_i a_i y_i x_i, the derivative costs one inner product and so does the update:
//
//     g   = y_i w'x_i - 1
//     p   = min(g, 0) if a_i = 0,  max(g, 0) if a_i = C,  g otherwise
//     a_i <- min(max(a_i - g / Q_ii, 0), C)                 if p != 0
//     w   <- w + (a_i - a_i old) y_i x_i
//
// p is the projected gradient: it is zero for all i exactly at the optimum. The lecture names three
// rules for the index: in turn ("cyclic"), each sweep in a new random order ("permutation"), and
// drawn at random each time ("random"). The largest projected gradient is the trace's violation. A
// constant feature of one gives a bias, whose weight is then
// part of |w|^2.

import { Random } from "./random";
import { softMargin, type Problem, type SingleMove, type Step, type Trace } from "./trace";

export type Rule = "cyclic" | "permutation" | "random";

export interface DualOptions {
  readonly rule: Rule;
  /** Add a constant feature of one. */
  readonly bias: boolean;
  /** Stop when after a sweep of n steps no projected gradient is larger than this. */
  readonly tol: number;
  readonly seed: number;
  readonly maxSteps: number;
}

export function dualCoordinateDescent(problem: Problem, options: DualOptions): Trace {
  const { n, t: y, C } = problem;
  const { X, width } = features(problem, options.bias);
  const shifted = withConstant(problem, options.bias);
  const a = new Float64Array(n);
  const w = new Float64Array(width);
  const random = new Random(options.seed);
  const steps: Step[] = [];
  const keep = (move: SingleMove | null) => {
    const [iteration, b] = [steps.length, options.bias ? w[width - 1] : 0];
    const state = softMargin(shifted, a, 0);
    const evaluations = n + iteration; // the diagonal, then one inner product a step
    steps.push({ iteration, move, variables: a.slice(), b, evaluations, passed: [], ...state });
  };
  keep(null);
  for (;;) {
    for (const i of order(options.rule, n, random)) {
      const x_i = X.subarray(i * width, (i + 1) * width);
      const g = y[i] * dot(w, x_i) - 1;
      const p = a[i] === 0 ? Math.min(g, 0) : a[i] === C ? Math.max(g, 0) : g;
      const Q_ii = dot(x_i, x_i);
      const a_i_unclipped = p === 0 ? a[i] : Q_ii > 0 ? a[i] - g / Q_ii : Infinity;
      const a_i_new = Math.min(Math.max(a_i_unclipped, 0), C);
      const move = { kind: "single", i, y_i: y[i], g, p, Q_ii, a_i: a[i] } as const;
      for (let k = 0; k < width; k++) w[k] += (a_i_new - a[i]) * y[i] * x_i[k];
      a[i] = a_i_new;
      keep({ ...move, a_i_unclipped, a_i_new });
      if (steps.length > options.maxSteps) return { steps, ending: "steps" };
    }
    if (steps[steps.length - 1].violation <= options.tol) return { steps, ending: "converged" };
  }
}

/** The rows x_i, with a constant feature of one at the end if there is a bias. */
export function features({ n, d, x }: Problem, bias: boolean) {
  const width = d + (bias ? 1 : 0);
  const X = new Float64Array(n * width).fill(1);
  for (let i = 0; i < n; i++) X.set(x.subarray(i * d, (i + 1) * d), i * width);
  return { X, width };
}

export function dot(u: Float64Array, v: Float64Array): number {
  return u.reduce((sum, value, k) => sum + value * v[k], 0);
}

/** The problem with a constant feature of one, which adds 1 to every kernel value. */
export function withConstant(problem: Problem, bias: boolean): Problem {
  return bias ? { ...problem, K: problem.K.map((value) => value + 1) } : problem;
}

function order(rule: Rule, n: number, random: Random): number[] {
  if (rule === "permutation") return random.permutation(n);
  return Array.from({ length: n }, (_, i) => (rule === "cyclic" ? i : random.integer(0, n)));
}
