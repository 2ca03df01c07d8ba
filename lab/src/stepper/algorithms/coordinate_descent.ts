// Coordinate descent: minimise a function of several variables by one variable at a time.
//
// Straka's slides, before the SMO algorithm:
//
//     loop until convergence
//         for i in 1, ..., D:
//             w_i <- argmin over w_i of L(w_1, ..., w_D)
//
// "Note that we might want to choose w_i in a different order, for example by trying to choose w_i
// providing the largest decrease of L." Here L is quadratic with a symmetric, positive definite A, so
// that the inner argmin is one division and its decrease is known beforehand:
//
//     L(w) = 1/2 w'A w - q'w,   g = A w - q,   w_i <- w_i - g_i / A_ii,   decrease g_i^2 / (2 A_ii)

import type { CoordinateMove, Step, Trace } from "./trace";

export type Order = "cyclic" | "largest";

/** L(w) = 1/2 w'A w - q'w of D variables; A row after row. */
export interface Quadratic {
  readonly D: number;
  readonly A: Float64Array;
  readonly q: Float64Array;
  readonly start: Float64Array;
  /** The variables are weights of kernels and of a constant: y(x) = sum_i w_i (k(x_i, x) + 1). */
  readonly constant: boolean;
}

export interface CoordinateOptions {
  readonly order: Order;
  /** Stop when no derivative is larger than this. */
  readonly tol: number;
  readonly maxSteps: number;
}

export function coordinateDescent(L: Quadratic, options: CoordinateOptions): Trace {
  const { D, A } = L;
  const w = L.start.slice();
  const least = value(L, minimum(L));
  const steps: Step[] = [];
  const keep = (move: CoordinateMove | null, g: Float64Array) => {
    const iteration = steps.length;
    const violation = g.reduce((most, g_i) => Math.max(most, Math.abs(g_i)), 0);
    const b = L.constant ? w.reduce((sum, w_i) => sum + w_i, 0) : 0;
    const kept = { variables: w.slice(), coef: w.slice(), b, passed: [] };
    const objectives = { primal: value(L, w), dual: least, violation };
    steps.push({ iteration, move, evaluations: D * iteration, ...kept, ...objectives });
  };
  let g = gradient(L, w);
  keep(null, g);
  while (steps[steps.length - 1].violation > options.tol) {
    if (steps.length > options.maxSteps) return { steps, ending: "steps" };
    const decrease = g.map((g_i, i) => g_i ** 2 / (2 * A[i * D + i]));
    const i = options.order === "cyclic" ? (steps.length - 1) % D : argmax(decrease);
    const [w_i, A_ii] = [w[i], A[i * D + i]];
    w[i] -= g[i] / A_ii;
    const move = { kind: "coordinate", i, g: g[i], A_ii, w_i, w_i_new: w[i], decrease } as const;
    g = gradient(L, w);
    keep(move, g);
  }
  return { steps, ending: "converged" };
}

export function value({ D, A, q }: Quadratic, w: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < D; i++) {
    sum -= q[i] * w[i];
    for (let j = 0; j < D; j++) sum += 0.5 * w[i] * A[i * D + j] * w[j];
  }
  return sum;
}

function gradient({ D, A, q }: Quadratic, w: Float64Array): Float64Array {
  return q.map((q_i, i) => w.reduce((sum, w_j, j) => sum + A[i * D + j] * w_j, -q_i));
}

function argmax(values: Float64Array): number {
  return values.reduce((best, value, i) => (value > values[best] ? i : best), 0);
}

/** A^-1 q by Gauss' elimination; a positive definite matrix needs no exchange of rows. */
function minimum({ D, A, q }: Quadratic): Float64Array {
  const [M, w] = [A.slice(), q.slice()];
  for (let k = 0; k < D; k++)
    for (let i = k + 1; i < D; i++) {
      const factor = M[i * D + k] / M[k * D + k];
      for (let j = k; j < D; j++) M[i * D + j] -= factor * M[k * D + j];
      w[i] -= factor * w[k];
    }
  for (let i = D - 1; i >= 0; i--) {
    for (let j = i + 1; j < D; j++) w[i] -= M[i * D + j] * w[j];
    w[i] /= M[i * D + i];
  }
  return w;
}
