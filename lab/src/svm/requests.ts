// What the page asks of the worker, and what it answers.

import { decisionValues, fit, predictionOf } from "./fit";
import { type Data, type Fit, LabError, type Spec } from "./types";

export interface Request {
  readonly number: number;
  readonly spec: Spec;
  readonly data: Data;
  readonly grid: Float64Array;
}

export interface Answer {
  readonly fit: Fit;
  /** Decision values at the points of the grid, one array for each part. */
  readonly values: Float64Array[];
  /** Predictions at the points of the grid. */
  readonly labels: Float64Array;
}

/** An answer, or the message of a LabError. */
export type Reply = { readonly number: number } & (
  { readonly answer: Answer } | { readonly problem: string }
);

export function answerTo({ number, spec, data, grid }: Request): Reply {
  try {
    const found = fit(spec, data);
    const values = decisionValues(found, grid);
    return { number, answer: { fit: found, values, labels: predictionOf(found, values) } };
  } catch (error) {
    if (error instanceof LabError) return { number, problem: error.message };
    throw error;
  }
}
