// Fits of every machine of the lab, by the core of maxmargin.

import { kernelBlock, load } from "./core";
import { type Data, type Fit, type Kernel, LabError, type Spec } from "./types";
import wasm from "../../build/core.wasm";

export type { Data, Fit, Kernel, Machine, Part, Spec, Status } from "./types";
export { LabError } from "./types";

/** Load the core; everything below is synchronous from then on. */
export async function ready(): Promise<void> {
  await load(wasm);
}

/** The machine of `spec` on `data`. Throws LabError where that has no solution. */
export function fit(_spec: Spec, _data: Data): Fit {
  throw new LabError("Not there yet.");
}

/** f at each of the points (row-major, as many coordinates as the data), one array for each part. */
export function decisionValues(_fit: Fit, _points: Float64Array): Float64Array[] {
  throw new LabError("Not there yet.");
}

/** The class of each point, the prediction of a regression, or +1 and -1 of a one-class machine. */
export function predict(_fit: Fit, _points: Float64Array): Float64Array {
  throw new LabError("Not there yet.");
}

/** k(x_i, x_j) of n points of d coordinates, row after row. */
export function kernelMatrix(kernel: Kernel, x: Float64Array, d: number): Float64Array {
  const values = kernelBlock(kernel, d, x, x);
  if (!values) throw new LabError("A kernel value is too large: lower gamma or the degree.");
  return values;
}
