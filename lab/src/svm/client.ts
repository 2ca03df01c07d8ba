// Fits in a worker, for views.

import type { Data, Fit, Spec } from "./types";

export interface Answer {
  readonly fit: Fit;
  /** Decision values at the points of the grid, one array for each part. */
  readonly values: Float64Array[];
  /** Predictions at the points of the grid. */
  readonly labels: Float64Array;
}

/**
 * Fits in a worker. The newest request wins: a request that a newer one overtook is never answered.
 */
export class Client {
  /** Rejects with LabError where the problem has no solution. */
  fitAndEvaluate(_spec: Spec, _data: Data, _grid: Float64Array): Promise<Answer> {
    return Promise.reject(new Error("Not there yet."));
  }
}
