// Sequential minimal optimisation, simplified: a violator and a random partner.
//
// The algorithm of Straka's slides ("Sequential Minimal Optimization Update Rules") and of
// Boyd-Graber's (9) to (19). Sweep over i = 1, ..., n; where the conditions of i fail by more than
// tol,
//
//     a_i < C and t_i E_i < -tol,   or   a_i > 0 and t_i E_i > tol,
//
// draw a partner j != i and move the pair (pair.ts). Then
//
//     b = b1 if 0 < a_i < C,  b2 if 0 < a_j < C,  their mean otherwise
//
// It stops when a sweep finds no such i, or after many sweeps in which no multiplier changed. A random
// partner may fail where another would succeed, so stopping does not prove optimality: look at the
// gap.

import { error, pairMove } from "./pair";
import { Random } from "./random";
import {
  softMargin,
  supportCount,
  type PairMove,
  type Passed,
  type Problem,
  type Step,
  type Trace,
} from "./trace";

/** A pair that moves E_i - E_j by less than this share of tol has not moved. */
const PROGRESS = 0.1;
/** It stops after this many idle sweeps for each point: a violator should meet every partner. */
export const PASSES = 10;

export interface SimplifiedOptions {
  readonly tol: number;
  readonly seed: number;
  readonly maxSteps: number;
}

export function simplifiedSmo(problem: Problem, options: SimplifiedOptions): Trace {
  const { n, t, C } = problem;
  const { tol, maxSteps } = options;
  const most = PASSES * n;
  const random = new Random(options.seed);
  const a = new Float64Array(n);
  let [b, passes, violators, evaluations] = [0, 0, n, 0];
  let passed: Passed[] = [];
  const steps: Step[] = [];
  const keep = (iteration: number, move: PairMove | null) => {
    const state = softMargin(problem, a, b);
    steps.push({ iteration, move, variables: a.slice(), b, evaluations, passed, ...state });
    passed = [];
  };
  keep(0, null);
  while (violators > 0 && passes < most) {
    const before = steps.length;
    violators = 0;
    for (let i = 0; i < n; i++) {
      const E_i = error(problem, a, b, i);
      evaluations += supportCount(a);
      const violates = (a[i] < C && t[i] * E_i < -tol) || (a[i] > 0 && t[i] * E_i > tol);
      if (!violates) {
        passed.push({ i, j: null });
        continue;
      }
      violators++;
      const j = (i + random.integer(1, n)) % n;
      const move = pairMove(problem, a, b, i, j);
      evaluations += supportCount(a) + 3; // E_j and eta
      if (!progress(move, C, tol)) {
        passed.push({ i, j });
        continue;
      }
      [a[i], a[j], b] = [move.a_i_new, move.a_j_new, bias(move, C)];
      keep(steps.length, move);
      if (steps.length > maxSteps) return { steps, ending: "steps" };
    }
    passes = steps.length === before ? passes + 1 : 0;
  }
  keep(steps.length - 1, null);
  return { steps, ending: "converged" };
}

/** Whether the pair moves: enough to matter, or onto a bound. */
function progress(move: PairMove, C: number, tol: number): boolean {
  const { L, H, eta, a_i, a_j, a_i_new, a_j_new } = move;
  if (L >= H || eta >= 0 || a_j_new === a_j) return false;
  const reached = (to: number, from: number) => (to === 0 || to === C) && to !== from;
  const enough = Math.abs(eta * (a_j_new - a_j)) >= PROGRESS * tol;
  return reached(a_i_new, a_i) || reached(a_j_new, a_j) || enough;
}

function bias(move: PairMove, C: number): number {
  if (0 < move.a_i_new && move.a_i_new < C) return move.b1;
  if (0 < move.a_j_new && move.a_j_new < C) return move.b2;
  return 0.5 * (move.b1 + move.b2);
}
