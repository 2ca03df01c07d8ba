// The optimality conditions of each point, as a table.
//
//              a_i = 0        0 < a_i < C    a_i = C
// C-SVC etc.   y_i f_i >= 1   y_i f_i = 1    y_i f_i <= 1
// one-class    f_i >= 0       f_i = 0        f_i <= 0
// regression   |r_i| <= eps   |r_i| = eps    |r_i| >= eps      r_i = target - f_i,  a_i = |b_i|
//
// With m_i = y_i f_i - 1, f_i or eps - |r_i| they all read: m_i >= 0, m_i = 0, m_i <= 0.

import type { Machine, Part } from "../svm/types";
import { isRegression } from "./state";

/** No support vector, one with 0 < a < C, one with a = C. */
export type Kind = "none" | "free" | "bound";

export interface Row {
  /** The number of the point. */
  index: number;
  a: number;
  /** y_i f_i, f_i, or the residual r_i. */
  value: number;
  slack: number;
  kind: Kind;
  /** The condition that holds at the solution, for example "y f ≥ 1". */
  condition: string;
  violation: number;
}

/** Share of the bound within which a dual variable is at it. */
const AT_BOUND = 1e-9;

export function kindOf(part: Part, i: number): Kind {
  const a = Math.abs(part.coef[i]);
  if (a === 0) return "none";
  return a >= part.bound[i] * (1 - AT_BOUND) ? "bound" : "free";
}

const RELATIONS: Record<Kind, string> = { none: "≥", free: "=", bound: "≤" };
const REVERSED: Record<Kind, string> = { none: "≤", free: "=", bound: "≥" };

export function rowsOf(machine: Machine, part: Part, y: Float64Array): Row[] {
  return Array.from(part.rows, (_, i) => rowOf(machine, part, y, i));
}

/** The condition of the i-th point of a problem. */
export function rowOf(machine: Machine, part: Part, y: Float64Array, i: number): Row {
  const index = part.rows[i];
  const kind = kindOf(part, i);
  const f = part.decision[i];
  let [value, m, condition] = [f, f, `f ${RELATIONS[kind]} 0`];
  if (isRegression(machine)) {
    value = y[index] - f;
    m = part.epsilon! - Math.abs(value);
    condition = `|r| ${REVERSED[kind]} ε`;
  } else if (machine !== "one-class") {
    value = part.sign[i] * f;
    m = value - 1;
    condition = `y f ${RELATIONS[kind]} 1`;
  }
  const amiss = { none: Math.max(0, -m), free: Math.abs(m), bound: Math.max(0, m) };
  const a = Math.abs(part.coef[i]);
  return { index, a, value, slack: part.slack[i], kind, condition, violation: amiss[kind] };
}

/** What a value of a row is called. */
export const valueName = (machine: Machine): string =>
  isRegression(machine) ? "r" : machine === "one-class" ? "f(x)" : "y f(x)";

/** The kind of each point over several problems: free where it is free in one of them. */
export function kinds(parts: readonly Part[], n: number): Kind[] {
  const found = new Array<Kind>(n).fill("none");
  for (const part of parts) {
    part.rows.forEach((row, i) => {
      const kind = kindOf(part, i);
      if (kind === "free" || (kind === "bound" && found[row] === "none")) found[row] = kind;
    });
  }
  return found;
}
