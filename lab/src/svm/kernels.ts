// Kernels: what their parameters must be, and whether their matrices are positive semidefinite.

import { isDefinite, kernelBlock } from "./core";
import { type Kernel, LabError } from "./types";

const ROUNDING = 1e-15; // of kernel values

export function checkKernel(kernel: Kernel): void {
  if (!(kernel.kind in { linear: 0, poly: 0, rbf: 0, sigmoid: 0 }))
    throw new LabError(`There is no kernel "${kernel.kind}": linear, poly, rbf and sigmoid are.`);
  if (kernel.kind !== "linear" && !(kernel.gamma > 0 && Number.isFinite(kernel.gamma)))
    throw new LabError(`gamma must be a positive number, not ${kernel.gamma}.`);
  if ((kernel.kind === "poly" || kernel.kind === "sigmoid") && !Number.isFinite(kernel.coef0))
    throw new LabError(`coef0 must be a number, not ${kernel.coef0}.`);
  const degrees = Number.isInteger(kernel.degree) && kernel.degree >= 1 && kernel.degree <= 100;
  if (kernel.kind === "poly" && !degrees)
    throw new LabError(`The degree must be a whole number from 1 to 100, not ${kernel.degree}.`);
}

/** k(x_i, x_j) of n points of d coordinates, row after row. */
export function kernelMatrix(kernel: Kernel, x: Float64Array, d: number): Float64Array {
  checkKernel(kernel);
  const values = kernelBlock(kernel, d, x, x);
  if (!values) throw notFinite(kernel);
  return values;
}

export function notFinite(kernel: Kernel): LabError {
  const remedy = kernel.kind === "poly" ? ", or choose a smaller degree or gamma" : "";
  return new LabError(`A kernel value is too large for a number: scale the points${remedy}.`);
}

/** Whether every matrix of the kernel is positive semidefinite. */
export function isMercer(kernel: Kernel): boolean {
  if (kernel.kind === "poly") return kernel.coef0 >= 0;
  return kernel.kind !== "sigmoid";
}

/** Whether this matrix of n rows is positive semidefinite, up to the rounding of its entries. */
export function isPositiveSemidefinite(K: Float64Array, n: number): boolean {
  let greatest = 0;
  for (const value of K) greatest = Math.max(greatest, Math.abs(value));
  return isDefinite(K, n, 1e3 * ROUNDING * n * greatest + 2 ** -1022);
}
