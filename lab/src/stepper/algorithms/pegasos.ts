// Pegasos: stochastic subgradient steps on the primal.
//
// Algorithms 10 and 11 of "Support Vector Machines (SVM): Theory and Algorithms". The objective is
//
//     P(w) = lambda/2 |w|^2 + 1/n sum_i max(0, 1 - y_i w'x_i),      lambda = 1 / (n C)
//
// The trace holds n C P(w), which is the soft margin's primal. There is no bias; a constant feature
// gives one, whose weight is then part of |w|^2.
//
// Algorithm 10. Draw i; with eta_k = 1 / (lambda k)
//
//     w <- (1 - eta_k lambda) w + eta_k y_i x_i    if y_i w'x_i < 1,
//     w <- (1 - eta_k lambda) w                    otherwise.
//
// Algorithm 11, the same with kernels. After k steps w = 1 / (lambda k) sum_j alpha_j y_j phi(x_j),
// where alpha_j counts how often j was drawn with a loss, so step k tests
//
//     y_i 1 / (lambda (k - 1)) sum_j alpha_j y_j k(x_j, x_i) < 1,    alpha_i <- alpha_i + 1 if so.
//
// Pegasos has no dual. The trace's dual is the optimum, found beforehand by coordinate descent, so
// that primal - dual is the distance from it.

import { dot, features, withConstant } from "./dual_coordinate_descent";
import { Random } from "./random";
import {
  rowTimes,
  softMargin,
  supportCount,
  type CountMove,
  type DrawMove,
  type Problem,
  type Step,
  type Trace,
} from "./trace";

export interface PegasosOptions {
  /** Add a constant feature of one. */
  readonly bias: boolean;
  readonly seed: number;
  /** Number of points to draw. */
  readonly maxSteps: number;
}

export function pegasos(problem: Problem, { bias, seed, maxSteps }: PegasosOptions): Trace {
  const { n, t: y, C } = problem;
  const [lambda, random] = [1 / (n * C), new Random(seed)];
  const { X, width } = features(problem, bias);
  let [w, coef] = [new Float64Array(width), new Float64Array(n)];
  const state = states(withConstant(problem, bias));
  const steps: Step[] = [];
  const keep = (move: DrawMove | null) => {
    const [iteration, b] = [steps.length, bias ? w[width - 1] : 0];
    steps.push({ iteration, move, variables: w, b, evaluations: iteration, ...state(coef) });
  };
  keep(null);
  for (let k = 1; k <= maxSteps; k++) {
    const i = random.integer(0, n);
    const x_i = X.subarray(i * width, (i + 1) * width);
    const eta = 1 / (lambda * k);
    const margin = y[i] * dot(w, x_i);
    const loss = margin < 1;
    const before = w;
    const shrink = 1 - eta * lambda;
    w = w.map((value, m) => shrink * value + (loss ? eta * y[i] * x_i[m] : 0));
    coef = coef.map((value, m) => shrink * value + (loss && m === i ? eta * y[i] : 0));
    keep({ kind: "draw", i, y_i: y[i], k, lambda, eta, margin, loss, before, after: w });
  }
  return { steps, ending: "steps" };
}

export function kernelPegasos(problem: Problem, { seed, maxSteps }: PegasosOptions): Trace {
  const { n, t: y, C } = problem;
  const [lambda, random] = [1 / (n * C), new Random(seed)];
  const alpha = new Float64Array(n);
  const state = states(problem);
  const steps: Step[] = [];
  let evaluations = 0;
  const coefAfter = (k: number) =>
    alpha.map((count, j) => (count * y[j]) / (lambda * Math.max(k, 1)));
  const keep = (iteration: number, move: CountMove | null) => {
    const kept = { variables: alpha.slice(), b: 0, evaluations };
    steps.push({ iteration, move, ...kept, ...state(coefAfter(iteration)) });
  };
  keep(0, null);
  for (let k = 1; k <= maxSteps; k++) {
    const i = random.integer(0, n);
    const margin = y[i] * rowTimes(problem, i, coefAfter(k - 1));
    evaluations += supportCount(alpha);
    const loss = margin < 1;
    const before = alpha[i];
    if (loss) alpha[i] += 1;
    keep(k, { kind: "count", i, y_i: y[i], k, lambda, margin, loss, before, after: alpha[i] });
  }
  return { steps, ending: "steps" };
}

/** The objectives of coefficients y_i a_i; the violation is that of the best multipliers, 0. */
function states(problem: Problem) {
  const dual = optimum(problem);
  return (coef: Float64Array) => {
    const a = coef.map((value, i) => value * problem.t[i]);
    const { primal } = softMargin(problem, a, 0);
    return { coef, primal, dual, violation: NaN, passed: [] };
  };
}

const SWEEPS = 5000;
const CLOSE = 1e-10;

/** The dual's maximum without b: coordinate descent until no derivative is left. */
function optimum(problem: Problem): number {
  const { n, t: y, K, C } = problem;
  const [a, g] = [new Float64Array(n), new Float64Array(n).fill(-1)];
  for (let sweep = 0, largest = Infinity; sweep < SWEEPS && largest > CLOSE; sweep++) {
    largest = 0;
    for (let i = 0; i < n; i++) {
      const Q_ii = K[i * n + i];
      const to = Q_ii > 0 ? Math.min(Math.max(a[i] - g[i] / Q_ii, 0), C) : g[i] < 0 ? C : a[i];
      const move = to - a[i];
      largest = Math.max(largest, Math.abs(move) * Q_ii);
      a[i] = to;
      for (let j = 0; j < n; j++) g[j] += y[i] * y[j] * K[i * n + j] * move;
    }
  }
  return softMargin(problem, a, 0).dual;
}
