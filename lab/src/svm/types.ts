// The records that the layers of the lab exchange.

export type Machine = "c-svc" | "nu-svc" | "hard-margin" | "one-class" | "eps-svr" | "nu-svr";

/** k(x, z) = x.z, (gamma x.z + coef0)^degree, exp(-gamma |x - z|^2) or tanh(gamma x.z + coef0). */
export interface Kernel {
  readonly kind: "linear" | "poly" | "rbf" | "sigmoid";
  readonly gamma: number;
  readonly coef0: number;
  readonly degree: number;
}

/** A machine and its parameters; those that the machine does not use are not looked at. */
export interface Spec {
  readonly machine: Machine;
  readonly kernel: Kernel;
  readonly C: number;
  readonly nu: number;
  readonly epsilon: number;
  readonly multiclass: "ovo" | "ovr";
}

export interface Data {
  /** n points of d coordinates, row after row. */
  readonly x: Float64Array;
  readonly d: number;
  /** The class 0, 1, 2, ... of each point, or its target (regression). One-class ignores it. */
  readonly y: Float64Array;
}

/** One solved problem: f(x) = sum_i coef_i k(x_rows[i], x) + intercept. */
export interface Part {
  /**
   * OvO: [the class where f > 0, the other]. OvR: [the class where f > 0, -1: all others].
   * null: regression and one-class.
   */
  readonly classes: readonly [number, number] | null;
  /** The points of this problem, as row numbers of the data. */
  readonly rows: Int32Array;
  /** y_i = +1 or -1; all +1 in regression and one-class. */
  readonly sign: Float64Array;
  /** y_i a_i of each point of `rows`; 0 where it is no support vector. */
  readonly coef: Float64Array;
  readonly intercept: number;
  /** The largest |coef_i|: C; Infinity for the hard margin; in units of the margin for nu-SVC. */
  readonly bound: Float64Array;
  /** f(x_i) of each point of `rows`. */
  readonly decision: Float64Array;
  /** max(0, 1 - y_i f_i); regression: max(0, |y_i - f_i| - epsilon); one-class: max(0, -f_i). */
  readonly slack: Float64Array;
  readonly primal: number;
  readonly dual: number;
  readonly gap: number;
  /** The largest violation of the KKT conditions, in units of decision values. */
  readonly violation: number;
  /** Pair steps of the solver. */
  readonly steps: number;
  /** Half the width of the tube (regression). */
  readonly epsilon?: number;
  /** 1 / |w|, the distance of the margin from the hyperplane in feature space (classification). */
  readonly margin?: number;
}

/**
 * "stationary": the kernel is indefinite, so that nothing certifies a global optimum; "stalled":
 * float64 does not reach the tolerance; "max_iter": the solver took as many steps as it may.
 */
export type Status = "optimal" | "stationary" | "stalled" | "max_iter";

export interface Fit {
  readonly spec: Spec;
  readonly data: Data;
  readonly parts: readonly Part[];
  /** Number of classes; 0 in regression and one-class. */
  readonly classes: number;
  readonly status: Status;
  /** Sums over the parts, the largest violation, the sum of steps. */
  readonly primal: number;
  readonly dual: number;
  readonly gap: number;
  readonly violation: number;
  readonly steps: number;
  readonly milliseconds: number;
}

/** Bad input, or a problem without a solution. The message is for the user. */
export class LabError extends Error {
  override name = "LabError";
}
