// The algorithms of the stepper: one entry each, with its name, its lecture and what it can do.

import { coordinateDescent, type Order, type Quadratic } from "./coordinate_descent";
import { dualCoordinateDescent, withConstant, type Rule } from "./dual_coordinate_descent";
import { kernelPegasos, pegasos } from "./pegasos";
import { simplifiedSmo } from "./simplified_smo";
import { smo, type Selection } from "./smo";
import type { Problem, Trace } from "./trace";

export type AlgorithmKey =
  | "simplified"
  | "smo-first"
  | "smo-second"
  | "dual-cyclic"
  | "dual-permutation"
  | "dual-random"
  | "pegasos"
  | "kernel-pegasos"
  | "coordinate-cyclic"
  | "coordinate-largest";

/** What coordinate descent minimises: two variables, or kernel regression on the data. */
export type Target = "two" | "regression";

export interface Settings {
  readonly seed: number;
  /** A constant feature for the methods without b. */
  readonly bias: boolean;
  readonly target: Target;
  /** The correlation of the two variables. */
  readonly correlation: number;
}

/** What a method minimises; only methods of one family can race. */
export type Family = "soft margin" | "quadratic";

export interface Algorithm {
  readonly name: string;
  readonly family: Family;
  /** Where it is from. */
  readonly lecture: string;
  /** The idea, in a sentence or two; formulas between dollar signs. */
  readonly idea: string;
  /** Takes any kernel; otherwise the linear one. */
  readonly kernels: boolean;
  /** Has no b of its own: a constant feature stands in for it. */
  readonly constant: boolean;
  /** Draws random numbers. */
  readonly random: boolean;
  run(problem: Problem, settings: Settings): Trace;
}

/** A violation, or a derivative, that counts as none. */
export const TOL = 1e-3;
const MOST_PAIRS = 2000;
const MOST_SINGLES = 3000;
export const DRAWS = 600;

const STRAKA = "Straka, “Soft-margin SVM, SMO”";
const BOYD_GRABER = "Boyd-Graber, “Optimizing Support Vector Machines”";
const THEORY = "“Support Vector Machines (SVM): Theory and Algorithms”";

function pairs(selection: Selection, name: string, idea: string): Algorithm {
  return {
    ...{ name, idea, family: "soft margin", lecture: `${THEORY}, algorithm 13` },
    ...{ kernels: true, constant: false, random: false },
    run: (problem) => smo(problem, { selection, tol: TOL, maxSteps: MOST_PAIRS }),
  };
}

function singles(rule: Rule, name: string, idea: string): Algorithm {
  return {
    ...{ name, idea, family: "soft margin", lecture: `${THEORY}, algorithm 12` },
    ...{ kernels: false, constant: true, random: rule !== "cyclic" },
    run: (problem, { bias, seed }) =>
      dualCoordinateDescent(problem, { rule, bias, seed, tol: TOL, maxSteps: MOST_SINGLES }),
  };
}

function coordinates(order: Order, name: string, idea: string): Algorithm {
  return {
    ...{ name, idea, family: "quadratic", lecture: STRAKA },
    ...{ kernels: true, constant: true, random: false },
    run: (problem, settings) =>
      coordinateDescent(quadratic(problem, settings), {
        ...{ order, tol: TOL, maxSteps: MOST_SINGLES },
      }),
  };
}

/**
 * Two variables: A = (1, r; r, 1), q = 0, from (-0.9, 1.6). Kernel regression of the labels, with
 * lambda = 1 / C: A = K + lambda I, q = t, from 0; its minimum has y(x) = sum_i w_i k(x_i, x).
 */
export function quadratic(problem: Problem, settings: Settings): Quadratic {
  if (settings.target === "two") {
    const r = settings.correlation;
    const A = Float64Array.of(1, r, r, 1);
    const start = Float64Array.of(-0.9, 1.6);
    return { D: 2, A, q: new Float64Array(2), start, constant: false };
  }
  const { n: D, C, t } = problem;
  const A = withConstant(problem, settings.bias).K.slice();
  for (let i = 0; i < D; i++) A[i * D + i] += 1 / C;
  return { D, A, q: t, start: new Float64Array(D), constant: settings.bias };
}

export const ALGORITHMS: Record<AlgorithmKey, Algorithm> = {
  simplified: {
    name: "Simplified SMO",
    family: "soft margin",
    lecture: `${STRAKA}; ${BOYD_GRABER}`,
    idea:
      "Sweep over the points. Where one violates its condition, draw a partner at random and move " +
      "the two multipliers to the best place on their segment.",
    ...{ kernels: true, constant: false, random: true },
    run: (problem, { seed }) => simplifiedSmo(problem, { tol: TOL, seed, maxSteps: MOST_PAIRS }),
  },
  "smo-first": pairs(
    "first",
    "SMO, maximal violating pair",
    "Every point names the $b$ that would put it on its margin. The two that disagree most, and " +
      "can move towards each other, are the pair.",
  ),
  "smo-second": pairs(
    "second",
    "SMO, second order",
    "The first point is the one that violates most; its partner is the one with which the dual " +
      "gains most, were there no box.",
  ),
  "dual-cyclic": singles(
    "cyclic",
    "Dual coordinate descent, in turn",
    "Without $b$ one multiplier can move alone. Take the points in turn.",
  ),
  "dual-permutation": singles(
    "permutation",
    "Dual coordinate descent, random order",
    "Without $b$ one multiplier can move alone. Take the points in a new random order each sweep.",
  ),
  "dual-random": singles(
    "random",
    "Dual coordinate descent, drawn at random",
    "Without $b$ one multiplier can move alone. Draw a point at random each time.",
  ),
  pegasos: {
    name: "Pegasos",
    family: "soft margin",
    lecture: `${THEORY}, algorithm 10`,
    idea:
      "Draw a point, shrink $\\mathbf w$ a little, and if the point is inside its margin, move " +
      "$\\mathbf w$ towards it. The steps become shorter as $1/k$.",
    ...{ kernels: false, constant: true, random: true },
    run: (problem, { bias, seed }) => pegasos(problem, { bias, seed, maxSteps: DRAWS }),
  },
  "kernel-pegasos": {
    name: "Pegasos with kernels",
    family: "soft margin",
    lecture: `${THEORY}, algorithm 11`,
    idea:
      "Pegasos without $\\mathbf w$: only count how often each point was drawn with a loss. The " +
      "counts are the weights of the kernels.",
    ...{ kernels: true, constant: false, random: true },
    run: (problem, { seed }) => kernelPegasos(problem, { bias: false, seed, maxSteps: DRAWS }),
  },
  "coordinate-cyclic": coordinates(
    "cyclic",
    "Coordinate descent, in turn",
    "Minimise a function of several variables by one variable at a time, in turn.",
  ),
  "coordinate-largest": coordinates(
    "largest",
    "Coordinate descent, largest decrease",
    "Minimise a function of several variables by one variable at a time: always the one that " +
      "lowers it most.",
  ),
};

export const KEYS = Object.keys(ALGORITHMS) as AlgorithmKey[];
