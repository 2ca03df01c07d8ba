// What training costs in the primal and in the dual, in multiplications and additions.
//
// N points with D features, a polynomial map phi of degree p with F = binomial(D + p, p) - 1
// features, e epochs of stochastic subgradient descent (Milan Straka, "Primal versus Dual
// Formulation"):
//
//     primal  e N F                     every epoch visits every point
//     dual    between N D and N^2 D     one kernel row at least, every kernel value at most
//
// The primal solver here is Pegasos with the bias as a last weight: with lambda = 1 / (C N),
//
//     w <- (1 - 1/k) w + [y_i w'x_i < 1] y_i x_i / (lambda k)      for k = 1, 2, ...

export function features(d: number, degree: number): number {
  let f = 1;
  for (let k = 1; k <= degree; k++) f = (f * (d + k)) / k;
  return Math.round(f) - 1;
}

export interface Counts {
  primal: number;
  least: number;
  most: number;
}

export function counts(n: number, d: number, degree: number, epochs: number): Counts {
  return { primal: epochs * n * features(d, degree), least: n * d, most: n * n * d };
}

/** The number of points from which on the primal costs less than the whole kernel matrix. */
export function crossing(d: number, degree: number, epochs: number): number {
  return (epochs * features(d, degree)) / d;
}

/** phi(x) of (1 + x'z)^degree without the constant: sqrt of the multinomials times monomials. */
export function polynomialMap(x: Float64Array, d: number, degree: number): Float64Array {
  const powers = monomials(d, degree);
  const n = x.length / d;
  const phi = new Float64Array(n * powers.length);
  powers.forEach((m, k) => {
    const scale = Math.sqrt(multinomial(m, degree));
    for (let i = 0; i < n; i++) {
      let value = scale;
      for (let j = 0; j < d; j++) for (let t = 0; t < m[j]; t++) value *= x[i * d + j];
      phi[i * powers.length + k] = value;
    }
  });
  return phi;
}

function monomials(d: number, degree: number): number[][] {
  let all: number[][] = [[]];
  for (let j = 0; j < d; j++) {
    all = all.flatMap((m) => {
      const left = degree - m.reduce((s, t) => s + t, 0);
      return Array.from({ length: left + 1 }, (_, t) => [...m, t]);
    });
  }
  return all.filter((m) => m.some((t) => t > 0));
}

function multinomial(m: number[], degree: number): number {
  const factorial = (k: number): number => (k < 2 ? 1 : k * factorial(k - 1));
  const rest = degree - m.reduce((s, t) => s + t, 0);
  return factorial(degree) / m.reduce((product, t) => product * factorial(t), factorial(rest));
}

export interface Problem {
  phi: Float64Array;
  /** +-1 */
  y: Float64Array;
  C: number;
}

/** Pegasos for `epochs` passes over the rows in order; the last weight is the bias. */
export function pegasos({ phi, y, C }: Problem, epochs: number): Float64Array {
  const n = y.length;
  const f = phi.length / n;
  const w = new Float64Array(f + 1);
  const lambda = 1 / (C * n);
  for (let k = 1; k <= epochs * n; k++) {
    const i = (k - 1) % n;
    const violated = y[i] * decision(w, phi, i, f) < 1;
    const shrink = 1 - 1 / k;
    const step = violated ? y[i] / (lambda * k) : 0;
    for (let j = 0; j < f; j++) w[j] = shrink * w[j] + step * phi[i * f + j];
    w[f] = shrink * w[f] + step;
  }
  return w;
}

/** 1/2 |w|^2 + C sum_i max(0, 1 - y_i (w'phi_i + b)), the bias not part of |w|. */
export function primalValue(w: Float64Array, { phi, y, C }: Problem): number {
  const f = w.length - 1;
  const square = w.subarray(0, f).reduce((sum, v) => sum + v * v, 0);
  const slack = y.reduce((sum, t, i) => sum + Math.max(0, 1 - t * decision(w, phi, i, f)), 0);
  return 0.5 * square + C * slack;
}

function decision(w: Float64Array, phi: Float64Array, i: number, f: number): number {
  let value = w[f];
  for (let j = 0; j < f; j++) value += w[j] * phi[i * f + j];
  return value;
}
