// Answers of several machines that do not name one class.
//
//     one-versus-rest  K machines f_k; several may say yes (f_k > 0), or none
//     one-versus-one   K (K - 1) / 2 machines f_kl; each votes for k or l, and votes may be tied
//
// Shares are counted at the middles of COLUMNS x ROWS cells of BOX.

import { decisionValues, type Fit, votes } from "../../svm/fit";
import type { Interval } from "../../ui/plot";

export const BOX: { x: Interval; y: Interval } = { x: [-2, 2], y: [-1.5, 1.5] };
const [COLUMNS, ROWS] = [160, 120];

export interface Answers {
  /** Share of places where no machine says yes; where several do (one-versus-rest). */
  none: number;
  several: number;
  /** Share of places where the most votes are tied (one-versus-one). */
  tied: number;
}

/** The two largest values at place i. */
export function largest(values: readonly Float64Array[], i: number): [number, number] {
  let [first, second] = [-Infinity, -Infinity];
  for (const f of values) {
    second = Math.max(second, Math.min(first, f[i]));
    first = Math.max(first, f[i]);
  }
  return [first, second];
}

/** The votes of each class at place i (one-versus-one). */
export const votesAt = (found: Fit, values: readonly Float64Array[], i: number): number[] =>
  votes(
    values.map((f) => f.subarray(i, i + 1)),
    found.classes,
  ).map(([count]) => count);

/** The shares of the box where the answers of a machine name no class, or several. */
export function countAnswers(found: Fit): Answers {
  const middles = new Float64Array(2 * COLUMNS * ROWS);
  const middle = ([a, b]: Interval, i: number, n: number): number => a + ((b - a) * (i + 0.5)) / n;
  for (let i = 0; i < COLUMNS * ROWS; i++) {
    middles[2 * i] = middle(BOX.x, i % COLUMNS, COLUMNS);
    middles[2 * i + 1] = middle(BOX.y, Math.floor(i / COLUMNS), ROWS);
  }
  const values = decisionValues(found, middles);
  const share = (test: (i: number) => boolean): number => {
    let count = 0;
    for (let i = 0; i < COLUMNS * ROWS; i++) if (test(i)) count += 1;
    return count / (COLUMNS * ROWS);
  };
  const tied = (i: number): boolean => {
    const here = votesAt(found, values, i);
    return here.filter((count) => count === Math.max(...here)).length > 1;
  };
  const rest = found.spec.multiclass === "ovr";
  return {
    none: rest ? share((i) => largest(values, i)[0] <= 0) : 0,
    several: rest ? share((i) => largest(values, i)[1] > 0) : 0,
    tied: rest ? 0 : share(tied),
  };
}

/** What the machines of one-versus-rest say at one place, in words. */
export function restVerdict(values: readonly Float64Array[]): string {
  const yes = values.filter((f) => f[0] > 0).length;
  return yes === 1
    ? "one machine says yes"
    : yes
      ? `${yes} machines say yes`
      : "no machine says yes";
}

/** What the votes at one place come to, in words. */
export function voteVerdict(counts: number[]): string {
  const most = Math.max(...counts);
  const tie = counts.filter((v) => v === most).length;
  const count = `${most} ${most === 1 ? "vote" : "votes"}`;
  return tie > 1 ? `${tie} classes tied with ${count} each` : `one class leads with ${count}`;
}
