// The step of SMO for a chosen pair i, j, as on the slides of Straka and of Boyd-Graber.
//
// The constraint sum_i a_i t_i = 0 forbids moving one multiplier alone, so two move. With
// E_k = y(x_k) - t_k:
//
//     t_i == t_j:  L = max(0, a_i + a_j - C),  H = min(C, a_i + a_j)
//     t_i != t_j:  L = max(0, a_j - a_i),      H = min(C, C + a_j - a_i)
//     eta = 2 k_ij - k_ii - k_jj                        (the second derivative of the dual)
//     a_j new = clip(a_j - t_j (E_i - E_j) / eta, L, H)
//     a_i new = a_i - t_i t_j (a_j new - a_j)
//     b1 = b - E_i - t_i (a_i new - a_i) k_ii - t_j (a_j new - a_j) k_ij
//     b2 = b - E_j - t_i (a_i new - a_i) k_ij - t_j (a_j new - a_j) k_jj
//
// If eta = 0 the dual is a line along the pair, and its best end is L or H: the unclipped value is
// then infinite.

import { rowTimes, type PairMove, type Problem } from "./trace";

/** A multiplier this close to a bound, as a share of the pair's size, is moved onto the bound. */
const ROUNDING = 1e-12;

/** The bounds of a_j. */
export function segment(t_i: number, t_j: number, a_i: number, a_j: number, C: number) {
  return t_i === t_j
    ? { L: Math.max(0, a_i + a_j - C), H: Math.min(C, a_i + a_j) }
    : { L: Math.max(0, a_j - a_i), H: Math.min(C, C + a_j - a_i) };
}

/** E_k = y(x_k) - t_k. */
export function error(problem: Problem, a: Float64Array, b: number, k: number): number {
  const coef = a.map((a_j, j) => a_j * problem.t[j]);
  return rowTimes(problem, k, coef) + b - problem.t[k];
}

/** The best move of a_i and a_j, as above; the arrays stay as they are. */
export function pairMove(
  problem: Problem,
  a: Float64Array,
  b: number,
  i: number,
  j: number,
): PairMove {
  const { n, t, K, C } = problem;
  const [t_i, t_j, a_i, a_j] = [t[i], t[j], a[i], a[j]];
  const [E_i, E_j] = [error(problem, a, b, i), error(problem, a, b, j)];
  const [k_ii, k_jj, k_ij] = [K[i * n + i], K[j * n + j], K[i * n + j]];
  const { L, H } = segment(t_i, t_j, a_i, a_j, C);
  const eta = 2 * k_ij - k_ii - k_jj;
  const slope = t_j * (E_i - E_j);
  const a_j_unclipped = eta < 0 ? a_j - slope / eta : slope < 0 ? -Infinity : Infinity;
  const snap = (value: number) => snapped(value, Math.max(a_i, a_j), C);
  const a_j_new = snap(Math.min(Math.max(a_j_unclipped, L), H));
  const a_i_new = snap(a_i - t_i * t_j * (a_j_new - a_j));
  const [d_i, d_j] = [t_i * (a_i_new - a_i), t_j * (a_j_new - a_j)];
  const b1 = b - E_i - d_i * k_ii - d_j * k_ij;
  const b2 = b - E_j - d_i * k_ij - d_j * k_jj;
  return {
    ...{ kind: "pair", i, j, t_i, t_j, E_i, E_j, k_ii, k_jj, k_ij, eta, L, H, a_i, a_j },
    ...{ a_j_unclipped, a_j_new, a_i_new, b_old: b, b1, b2 },
  };
}

/** Moves a multiplier that is within rounding of a bound onto it. */
function snapped(value: number, size: number, C: number): number {
  if (value <= ROUNDING * size) return 0;
  return value >= C * (1 - ROUNDING) ? C : value;
}
