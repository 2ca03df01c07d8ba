// Sequential minimal optimisation with a working set selection: algorithm 13 of "Support Vector
// Machines (SVM): Theory and Algorithms", with the two usual rules for choosing the pair.
//
// Write v_i = t_i - sum_j a_j t_j k_ij, the b that would put point i on its margin, and
//
//     I_up  = {t_i = 1, a_i < C} or {t_i = -1, a_i > 0}     t_i a_i can grow
//     I_low = {t_i = 1, a_i > 0} or {t_i = -1, a_i < C}     t_i a_i can shrink
//
// a is optimal if and only if no v of I_up lies above one of I_low; b is between the two. The rules:
//
//     "first"    maximal violating pair (Keerthi et al. 2001)
//                i = argmax of v over I_up,  j = argmin of v over I_low
//     "second"   second order (Fan et al. 2005)
//                the same i,  j = argmax over v_j < v_i of (v_i - v_j)^2 / (k_ii + k_jj - 2 k_ij)
//
// The second maximises the gain of the dual over all pairs with i, before clipping. The pair moves as
// on the slides (pair.ts): with b = (max v over I_up + min v over I_low) / 2 the errors are
// E_k = b - v_k. The algorithm stops when max over I_up - min over I_low <= tol.

import { pairMove } from "./pair";
import { softMargin, type PairMove, type Problem, type Step, type Trace } from "./trace";

/** Lower bound on the curvature of a pair: that of equal points is zero. */
const FLAT = 1e-12;

export type Selection = "first" | "second";

export interface SmoOptions {
  readonly selection: Selection;
  readonly tol: number;
  readonly maxSteps: number;
}

export function smo(problem: Problem, { selection, tol, maxSteps }: SmoOptions): Trace {
  const { n, t, K } = problem;
  const a = new Float64Array(n);
  let v = t.slice();
  const steps: Step[] = [];
  let evaluations = n; // the diagonal
  let move: PairMove | null = null;
  for (let iteration = 0; ; iteration++) {
    const ranked = v.map(withoutRounding);
    const { i, j: lowest } = extremes(problem, a, ranked);
    const b = 0.5 * (v[i] + v[lowest]);
    const state = softMargin(problem, a, b);
    steps.push({ iteration, move, variables: a.slice(), b, evaluations, passed: [], ...state });
    if (v[i] - v[lowest] <= tol) return { steps, ending: "converged" };
    if (iteration === maxSteps) return { steps, ending: "steps" };
    const j = selection === "first" ? lowest : largestGain(problem, a, ranked, i);
    move = pairMove(problem, a, b, i, j);
    const rho = t[i] * (move.a_i_new - a[i]); // = -t_j (a_j new - a_j)
    v = v.map((v_k, k) => v_k - (K[i * n + k] - K[j * n + k]) * rho);
    [a[i], a[j]] = [move.a_i_new, move.a_j_new];
    evaluations += 2 * n;
  }
}

/**
 * A pair that moves freely ends with v_i = v_j but for rounding, so ties are the rule: rounded
 * values give them to the first point, on every machine.
 */
function withoutRounding(value: number): number {
  return Math.round(value * 1e10) / 1e10;
}

/** i = argmax of v over I_up, j = argmin of v over I_low. */
function extremes(problem: Problem, a: Float64Array, v: Float64Array) {
  let [i, j] = [-1, -1];
  for (let k = 0; k < problem.n; k++) {
    if (canGrow(problem, a, k) && (i < 0 || v[k] > v[i])) i = k;
    if (canShrink(problem, a, k) && (j < 0 || v[k] < v[j])) j = k;
  }
  return { i, j };
}

/** The second order rule: the j whose pair with i gains most. */
function largestGain(problem: Problem, a: Float64Array, v: Float64Array, i: number): number {
  const { n, K } = problem;
  let [best, j] = [-Infinity, -1];
  for (let k = 0; k < n; k++) {
    if (!canShrink(problem, a, k) || v[k] >= v[i]) continue;
    const curvature = Math.max(K[i * n + i] + K[k * n + k] - 2 * K[i * n + k], FLAT);
    const gain = (v[i] - v[k]) ** 2 / curvature;
    if (gain > best) [best, j] = [gain, k];
  }
  return j;
}

function canGrow({ t, C }: Problem, a: Float64Array, k: number): boolean {
  return t[k] > 0 ? a[k] < C : a[k] > 0;
}

function canShrink({ t, C }: Problem, a: Float64Array, k: number): boolean {
  return t[k] > 0 ? a[k] > 0 : a[k] < C;
}
