// Eigenvalues and eigenvectors of a symmetric matrix by Jacobi's rotations.
//
// A rotation in the plane of the coordinates p and q makes a_pq zero:
//
//     theta = (a_qq - a_pp) / (2 a_pq),   t = sign(theta) / (|theta| + sqrt(theta^2 + 1))
//     c = 1 / sqrt(t^2 + 1),   s = t c
//
// t is the smaller root of t^2 + 2 theta t - 1 = 0. A sweep rotates once for every pair. The sum of
// the squares off the diagonal falls with each rotation, in the end quadratically, so that a few
// sweeps reach the precision of the machine.

export interface Eigen {
  /** The eigenvalues, largest first. */
  values: Float64Array;
  /** vectors[k] belongs to values[k] and has length one. */
  vectors: Float64Array[];
}

const SWEEPS = 60;

/** Eigenvalues and eigenvectors of the symmetric n x n matrix, stored row by row. */
export function symmetricEigen(matrix: Float64Array, n: number): Eigen {
  const a = Float64Array.from(matrix);
  const v = new Float64Array(n * n);
  for (let i = 0; i < n; i++) v[i * n + i] = 1;
  const small = 1e-15 * norm(a);
  for (let sweep = 0; sweep < SWEEPS && offDiagonal(a, n) > small; sweep++) {
    for (let p = 0; p < n; p++) for (let q = p + 1; q < n; q++) rotate(a, v, n, p, q);
  }
  const order = Array.from({ length: n }, (_, i) => i);
  order.sort((i, j) => a[j * n + j] - a[i * n + i]);
  return {
    values: Float64Array.from(order, (i) => a[i * n + i]),
    vectors: order.map((k) => Float64Array.from({ length: n }, (_, i) => v[i * n + k])),
  };
}

function rotate(a: Float64Array, v: Float64Array, n: number, p: number, q: number): void {
  const apq = a[p * n + q];
  if (apq === 0) return;
  const theta = (a[q * n + q] - a[p * n + p]) / (2 * apq);
  const t = (theta < 0 ? -1 : 1) / (Math.abs(theta) + Math.hypot(theta, 1));
  const c = 1 / Math.hypot(t, 1);
  const s = t * c;
  for (let k = 0; k < n; k++) mix(a, k * n + p, k * n + q, c, s);
  for (let k = 0; k < n; k++) mix(a, p * n + k, q * n + k, c, s);
  for (let k = 0; k < n; k++) mix(v, k * n + p, k * n + q, c, s);
}

function mix(a: Float64Array, i: number, j: number, c: number, s: number): void {
  const x = a[i];
  const y = a[j];
  a[i] = c * x - s * y;
  a[j] = s * x + c * y;
}

function norm(a: Float64Array): number {
  return Math.sqrt(a.reduce((sum, x) => sum + x * x, 0));
}

function offDiagonal(a: Float64Array, n: number): number {
  let sum = 0;
  for (let i = 0; i < n; i++) for (let j = 0; j < n; j++) if (i !== j) sum += a[i * n + j] ** 2;
  return Math.sqrt(sum);
}
