// Primal and dual value, gap and KKT violation from decision values: the formulas of
// maxmargin/kernel/certificate.py, which share no code with the solver. With decision values f_i,
// coefficients b_i, a_i = y_i b_i and |w|^2 = sum_i b_i (f_i - bias), the gap is
//
//   C-SVC      sum_i (C_i - a_i) max(0, 1 - y_i f_i) + a_i max(0, y_i f_i - 1)
//   eps-SVR    sum_i C max(0, |r_i| - eps) + eps |b_i| - b_i r_i             r_i = z_i - f_i
//   one-class  sum_i a_i f_i + max(0, -f_i)                                  f_i with the offset
//   hard       |w|^2/2 (1/m^2) - D,  m = min_i y_i f_i: the solution scaled to be feasible
//
// nu-SVC is certified as the C-SVC with C = sum_i |b_i| / (nu n). nu-SVR is certified as the
// eps-SVR with the width it found, plus eps (nu n C - sum_i |b_i|).

import type { Status } from "./types";

export interface Certificate {
  readonly primal: number;
  readonly dual: number;
  readonly gap: number;
  readonly violation: number;
  readonly slack: Float64Array;
  /** |w|^2 */
  readonly norm: number;
  /** Whether both values are 0 up to rounding: then there is no objective to compare the gap with. */
  readonly isZero: boolean;
}

/** f(x) = sum_i coef_i k(x_i, x) + intercept, with its values at the points. */
export interface Decision {
  readonly coef: Float64Array;
  readonly intercept: number;
  readonly values: Float64Array;
  readonly epsilon?: number;
}

const ZERO = 1e-14; // share of the terms of a sum that rounding may leave where the sum is 0
const AT_BOUND = 1e-9; // share of its bound within which a coefficient of nu-SVC is at it

function sum(n: number, term: (i: number) => number): number {
  let total = 0;
  for (let i = 0; i < n; i++) total += term(i);
  return total;
}

function greatest(n: number, value: (i: number) => number): number {
  let found = 0;
  for (let i = 0; i < n; i++) found = Math.max(found, value(i));
  return found;
}

function squaredNorm({ coef, intercept, values }: Decision): number {
  return sum(coef.length, (i) => coef[i] * (values[i] - intercept));
}

/** C-SVC, or the hard margin where C is infinite; y is +1 or -1. */
export function classification(y: Float64Array, C: Float64Array, found: Decision): Certificate {
  const { coef, values } = found;
  const n = y.length;
  const norm = squaredNorm(found);
  const [a, distance] = [y.map((sign, i) => sign * coef[i]), y.map((sign, i) => sign * values[i])];
  const slack = distance.map((value) => Math.max(0, 1 - value));
  const dual = sum(n, (i) => a[i]) - norm / 2;
  if (C.every((bound) => bound === Infinity)) {
    const least = Math.min(...distance);
    const primal = least > 0 ? norm / 2 / least / least : Infinity;
    const violation = greatest(n, (i) => (a[i] > 0 ? Math.abs(distance[i] - 1) : slack[i]));
    return { primal, dual, gap: primal - dual, violation, slack, norm, isZero: false };
  }
  const excess = distance.map((value) => Math.max(0, value - 1));
  return {
    primal: norm / 2 + sum(n, (i) => C[i] * slack[i]),
    dual,
    gap: sum(n, (i) => (C[i] - a[i]) * slack[i] + a[i] * excess[i]),
    violation: greatest(n, (i) => Math.max(a[i] < C[i] ? slack[i] : 0, a[i] > 0 ? excess[i] : 0)),
    slack,
    norm,
    isZero: false,
  };
}

/** The bounds C of the C-SVC with the solution of a nu-SVC. */
export function boundsOfNu(coef: Float64Array, nu: number): Float64Array {
  const C = sum(coef.length, (i) => Math.abs(coef[i])) / (nu * coef.length);
  return coef.map((value) => (Math.abs(Math.abs(value) - C) <= AT_BOUND * C ? Math.abs(value) : C));
}

/** eps-SVR; with `total` = nu n C nu-SVR, whose price for epsilon that is. */
export function regression(
  z: Float64Array,
  C: number,
  found: Decision,
  total?: number,
): Certificate {
  const { coef, values, epsilon = 0 } = found;
  const n = z.length;
  const norm = squaredNorm(found);
  const r = z.map((target, i) => target - values[i]);
  const slack = r.map((value) => Math.max(0, Math.abs(value) - epsilon));
  const size = sum(n, (i) => Math.abs(coef[i]));
  const price = total === undefined ? 0 : epsilon * (total - size);
  const violations = (i: number) => {
    const [up, down] = [Math.max(coef[i], 0), Math.max(-coef[i], 0)];
    return Math.max(
      up < C ? r[i] - epsilon : 0,
      up > 0 ? epsilon - r[i] : 0,
      down < C ? -r[i] - epsilon : 0,
      down > 0 ? epsilon + r[i] : 0,
    );
  };
  const primal = norm / 2 + sum(n, (i) => C * slack[i]) + epsilon * (total ?? 0);
  const dual =
    sum(n, (i) => z[i] * coef[i]) - norm / 2 - (total === undefined ? epsilon * size : 0);
  const constant = sum(n, (i) => C * (Math.abs(found.intercept) + Math.abs(z[i])));
  const terms = sum(n, (i) => Math.abs(coef[i] * z[i]));
  return {
    primal,
    dual,
    gap: sum(n, (i) => C * slack[i] + epsilon * Math.abs(coef[i]) - coef[i] * r[i]) + price,
    violation: greatest(n, violations),
    slack,
    norm,
    isZero: Math.abs(primal) <= ZERO * constant && Math.abs(dual) <= ZERO * terms,
  };
}

/**
 * One-class: the values include the offset -rho, the coefficients sum to nu n; `diagonal` is the
 * greatest k(x, x).
 */
export function oneClass(nu: number, diagonal: number, found: Decision): Certificate {
  const { coef, values, intercept } = found;
  const n = coef.length;
  const norm = squaredNorm(found);
  const slack = values.map((value) => Math.max(0, -value));
  const primal = norm / 2 + intercept * nu * n + sum(n, (i) => slack[i]);
  const zero = ZERO * diagonal * nu * n;
  return {
    primal,
    dual: -norm / 2,
    gap: sum(n, (i) => coef[i] * values[i] + slack[i]),
    violation: greatest(n, (i) =>
      Math.max(coef[i] < 1 ? slack[i] : 0, coef[i] > 0 ? values[i] : 0),
    ),
    slack,
    norm,
    isZero: Math.abs(primal) <= zero * (nu * n + n) && norm / 2 <= zero * nu * n,
  };
}

/**
 * What the numbers say, as maxmargin/verdict.py judges them: optimal or stationary where the
 * violation is within tol and the gap within 10 tol of the objective, or the gap is rounding.
 */
export function verdict(
  found: Certificate,
  tol: number,
  convex: boolean,
  ended: "max_iter" | "stalled" | null,
): Status {
  const size = Math.max(Math.abs(found.primal), Math.abs(found.dual), 2 ** -1022);
  const relative = found.isZero ? 0 : Math.abs(found.gap) / size;
  const converged = found.violation <= tol && relative <= 10 * tol;
  const exact = relative <= 1e-12 && !found.isZero;
  if (converged || exact) return convex ? "optimal" : "stationary";
  return ended ?? "stalled";
}
