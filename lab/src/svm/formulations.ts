// Every machine as a record: its dual problem, how its decision function is read off a solution,
// how that is certified. The counterpart of maxmargin/kernel/formulations.py.

import * as certificate from "./certificate";
import type { Certificate, Decision } from "./certificate";
import * as problems from "./problems";
import { type DualProblem, fold } from "./problems";
import { margin } from "./solution";
import type { Solution } from "./solver";
import { LabError, type Spec } from "./types";

export interface Formulation {
  readonly problem: DualProblem;
  readonly read: (solution: Solution) => Decision;
  /** The largest magnitude of each coefficient, in the units of the decision. */
  readonly bound: (decision: Decision) => Float64Array;
  readonly certify: (decision: Decision) => Certificate;
  /** Why a problem whose (reduced) convex hulls meet has no solution. */
  readonly noSolution?: string;
  /** A problem with the same solution where float64 does not resolve this one. */
  readonly fallback?: Formulation;
}

const constant = (n: number, value: number) => new Float64Array(n).fill(value);

/** C-SVC, nu-SVC or hard margin between points of signs +1 and -1. */
export function classifier(spec: Spec, sign: Float64Array, names: string): Formulation {
  const n = sign.length;
  if (spec.machine === "nu-svc") return nuSvc(spec.nu, sign, names);
  const hard = spec.machine === "hard-margin";
  const problem = hard ? problems.hardMargin(sign) : problems.cSvc(sign, spec.C);
  const bound = () => constant(n, hard ? Infinity : spec.C);
  return {
    problem,
    read: hard ? readMargin(problem) : readLevel(problem),
    bound,
    certify: (decision) => certificate.classification(sign, bound(), decision),
    noSolution:
      `No hyperplane separates ${names}: their convex hulls in feature space meet, so there is no ` +
      "hard margin. Use C-SVC, or a richer kernel (for RBF a larger gamma).",
  };
}

function nuSvc(nu: number, sign: Float64Array, names: string): Formulation {
  const largest = problems.largestNu(sign);
  if (nu > largest * (1 + 1e-12))
    throw new LabError(
      `nu = ${short(nu)} is infeasible for ${names}: the largest feasible nu is ${short(largest)}, ` +
        "twice the share of the smaller class. Lower nu, or add points to the smaller class.",
    );
  const problem = problems.nuSvc(sign, Math.min(nu, largest));
  const bound = (decision: Decision) => certificate.boundsOfNu(decision.coef, nu);
  return {
    problem,
    read: readMargin(problem),
    bound,
    certify: (decision) => certificate.classification(sign, bound(decision), decision),
    noSolution:
      `With nu = ${short(nu)} the reduced convex hulls of ${names} meet, so the margin is 0 and ` +
      "w = 0. Raise nu, or use a richer kernel (for RBF a larger gamma).",
  };
}

/** eps-SVR or nu-SVR on targets z. */
export function regressor(spec: Spec, z: Float64Array): Formulation {
  const { C, nu, epsilon } = spec;
  const n = z.length;
  const bound = () => constant(n, C);
  if (spec.machine === "eps-svr") {
    const problem = problems.epsSvr(z, C, epsilon);
    const certify = (decision: Decision) => certificate.regression(z, C, decision);
    return { problem, read: readLevel(problem, epsilon), bound, certify };
  }
  const problem = problems.nuSvr(z, C, nu);
  const certify = (decision: Decision) => certificate.regression(z, C, decision, nu * n * C);
  // Where the tube closes, both variables of a point may be as large as C while their difference
  // is small: the same model with epsilon = 0 keeps the digits that this costs.
  const closed = problems.epsSvr(z, C, 0);
  const fallback = { problem: closed, read: readLevel(closed, 0), bound, certify };
  return { problem, read: readTube(problem), bound, certify, fallback };
}

/** The one-class machine on n points with kernel matrix K. */
export function novelty(nu: number, n: number, K: Float64Array): Formulation {
  const problem = problems.oneClass(n, nu);
  let diagonal = 0;
  for (let i = 0; i < n; i++) diagonal = Math.max(diagonal, Math.abs(K[i * n + i]));
  return {
    problem,
    read: readInside(problem, K),
    bound: () => constant(n, 1),
    certify: (decision) => certificate.oneClass(nu, diagonal, decision),
  };
}

type Read = Formulation["read"];

/** C-SVC, one-class and eps-SVR: the intercept is the level. */
function readLevel(problem: DualProblem, epsilon?: number): Read {
  return ({ b, kernelPart, levels }) => ({
    coef: fold(problem, b, kernelPart.length),
    intercept: levels[0],
    values: kernelPart.map((value) => value + levels[0]),
    ...(epsilon === undefined ? {} : { epsilon }),
  });
}

/** nu-SVC and hard margin: everything in units of the margin r. */
function readMargin(problem: DualProblem): Read {
  return ({ b, kernelPart, levels }) => {
    const found = margin(levels);
    const r = found > 0 ? found : 1; // the solver stopped before the classes were apart
    const intercept = (levels[0] + levels[1]) / 2 / r;
    return {
      coef: fold(problem, b, kernelPart.length).map((value) => value / r),
      intercept,
      values: kernelPart.map((value) => value / r + intercept),
    };
  };
}

/** nu-SVR: the two levels are the edges of the tube. */
function readTube(problem: DualProblem): Read {
  return ({ b, kernelPart, levels: [up, down] }) => ({
    coef: fold(problem, b, kernelPart.length),
    intercept: (up + down) / 2,
    values: kernelPart.map((value) => value + (up + down) / 2),
    epsilon: Math.max(0, (up - down) / 2),
  });
}

/**
 * One-class: the level, moved outward until every point on the boundary is an inlier, whatever
 * rounding says (maxmargin/boundary.py).
 */
function readInside(problem: DualProblem, K: Float64Array): Read {
  return (solution) => {
    const found = readLevel(problem)(solution);
    const n = found.coef.length;
    let below = 0;
    for (let i = 0; i < n; i++) {
      if (solution.b[i] >= problem.upper[i]) continue;
      let size = 0;
      for (let j = 0; j < n; j++) size += Math.abs(found.coef[j] * K[j * n + i]);
      below = Math.max(below, 1e-14 * size - found.values[i]);
    }
    const move = below + 1e-13 * Math.abs(found.intercept);
    return {
      ...found,
      intercept: found.intercept + move,
      values: found.values.map((value) => value + move),
    };
  };
}

function short(value: number): string {
  return String(Number(value.toPrecision(4)));
}
