// Label switching (Joachims 1999) with a linear kernel, as maxmargin.textbook.transductive does it:
//
//     minimise over w, b and s   1/2 |w|^2 + C sum_i xi_i + C* sum_j xi*_j,   p of the s_j are +1
//
// Train on the labelled points; the p unlabelled ones with the largest values become +1. Then double
// C* up to its value. Each time, while a pair with s_m = +1, s_k = -1 has slacks above 0 whose sum is
// above 2, switch both and train again. Every training is a soft margin with a price for each point,
// solved by the core of maxmargin.

import { classification } from "../../svm/certificate";
import { kernelMatrix } from "../../svm/kernels";
import { cSvc } from "../../svm/problems";
import { solve } from "../../svm/solver";
import { LINEAR } from "../drawing";

const DOUBLINGS = 10;
const CLOSE = 1e-6;

export interface Points {
  /** Coordinates, row after row, the labelled points first. */
  readonly x: Float64Array;
  /** The labels -1 and +1 of the labelled points. */
  readonly y: readonly number[];
}

export interface Step {
  /** The labels of the unlabelled points. */
  readonly labels: Float64Array;
  readonly price: number;
  /** The pair that was switched; null where C* was raised. */
  readonly switched: readonly [number, number] | null;
  readonly w: readonly [number, number];
  readonly b: number;
  readonly slack: Float64Array;
  readonly objective: number;
}

type Trained = Pick<Step, "w" | "b" | "slack" | "objective">;

/** A soft margin with a price for each point; the slacks are those of the unlabelled points. */
function train(
  x: Float64Array,
  sign: Float64Array,
  price: Float64Array,
  labelled: number,
): Trained {
  const n = sign.length;
  const problem = {
    ...cSvc(sign, 1),
    lower: sign.map((y, i) => (y < 0 ? -price[i] : 0)),
    upper: sign.map((y, i) => (y > 0 ? price[i] : 0)),
  };
  const { b, kernelPart, levels } = solve(problem, kernelMatrix(LINEAR, x, 2), n, true);
  const values = kernelPart.map((value) => value + levels[0]);
  const found = classification(sign, price, { coef: b, intercept: levels[0], values });
  const along = (d: number): number => b.reduce((sum, c, i) => sum + c * x[2 * i + d], 0);
  return {
    w: [along(0), along(1)],
    b: levels[0],
    slack: found.slack.subarray(labelled),
    objective: found.primal,
  };
}

/** All steps of the algorithm; the first is the machine of the labelled points alone. */
export function labelSwitching({ x, y }: Points, C: number, cStar: number): Step[] {
  const labelled = y.length;
  const count = x.length / 2 - labelled;
  const first = train(
    x.subarray(0, 2 * labelled),
    Float64Array.from(y),
    new Float64Array(labelled).fill(C),
    labelled,
  );
  const value = (j: number): number => {
    const at = 2 * (labelled + j);
    return first.w[0] * x[at] + first.w[1] * x[at + 1] + first.b;
  };
  const order = Array.from({ length: count }, (_, j) => j).sort((i, j) => value(j) - value(i));
  const p = Math.round((count * y.filter((label) => label > 0).length) / labelled);
  const s = new Float64Array(count).fill(-1);
  for (const j of order.slice(0, p)) s[j] = 1;
  const steps: Step[] = [{ ...first, labels: s.slice(), price: 0, switched: null }];
  const again = (price: number, switched: Step["switched"]): Step => {
    const sign = Float64Array.from([...y, ...s]);
    const prices = sign.map((_, i) => (i < labelled ? C : price));
    const step = { ...train(x, sign, prices, labelled), labels: s.slice(), price, switched };
    steps.push(step);
    return step;
  };
  for (let k = -DOUBLINGS; k <= 0; k++) {
    const price = cStar * 2 ** k;
    let { slack } = again(price, null);
    for (;;) {
      const m = worst(s, slack, 1);
      const l = worst(s, slack, -1);
      if (Math.min(slack[m], slack[l]) <= 0 || slack[m] + slack[l] <= 2 + CLOSE) break;
      [s[m], s[l]] = [-1, 1];
      ({ slack } = again(price, [m, l]));
    }
  }
  return steps;
}

/** The point with this label that has the largest slack. */
export function worst(s: Float64Array, slack: Float64Array, label: number): number {
  const members = [...s.keys()].filter((j) => s[j] === label);
  return members.reduce((best, j) => (slack[j] > slack[best] ? j : best));
}
