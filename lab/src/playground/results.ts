// What a fit found: status, support vectors, slacks, objective values and the gap between them.

import { shortNumber } from "../ui/controls";
import { type Child, h } from "../ui/dom";
import { formula } from "../ui/formula";
import { kinds } from "./kkt";
import { isRegression } from "./state";
import type { Solved, Store } from "./store";

const MEANING: Record<string, string> = {
  optimal: "The gap proves it: no other machine has a smaller primal value.",
  stationary: "The kernel is indefinite. The conditions hold, but the optimum may be a local one.",
  stalled: "Rounding keeps the gap from closing further. Lower C, or scale the data.",
  max_iter: "The solver ran out of steps. Lower C or gamma.",
};
const TITLES: Record<string, string> = {
  optimal: "Optimal",
  stationary: "Stationary",
  stalled: "Stalled",
  max_iter: "Not converged",
};

/** Numbers of a fit that the page and the live region name. */
export interface Summary {
  free: number;
  bound: number;
  slack: number;
  /** Training points on the wrong side; null in regression. */
  errors: number | null;
}

export function summarise(solved: Solved): Summary {
  const { fit, state } = solved;
  const all = kinds(fit.parts, state.points.length);
  const slack = fit.parts.reduce((sum, part) => sum + part.slack.reduce((a, b) => a + b, 0), 0);
  return {
    free: all.filter((kind) => kind === "free").length,
    bound: all.filter((kind) => kind === "bound").length,
    slack,
    errors: isRegression(fit.spec.machine) ? null : errorsOf(solved),
  };
}

/** Points whose own label the machine does not give; outliers of the one-class machine. */
function errorsOf({ fit, predictions }: Solved): number {
  const label = (i: number) => (fit.spec.machine === "one-class" ? 1 : fit.data.y[i]);
  return predictions.filter((predicted, i) => predicted !== label(i)).length;
}

/** One sentence for screen readers. */
export function spoken(solved: Solved): string {
  const { free, bound, slack, errors } = summarise(solved);
  const n = solved.state.points.length;
  const wrong = errors === null ? "" : `, ${errors} on the wrong side`;
  return (
    `${TITLES[solved.fit.status]}: ${free + bound} of ${n} points are support vectors${wrong}; ` +
    `sum of slacks ${shortNumber(slack)}.`
  );
}

/** One line below the plot on small screens. */
export function inBrief(solved: Solved): string {
  const { free, bound, slack } = summarise(solved);
  const gap = shortNumber(solved.fit.gap, 1);
  return `${free + bound} support vectors · Σξ = ${shortNumber(slack, 4)} · gap ${gap}`;
}

export function resultsPanel(store: Store): HTMLElement {
  const body = h("div", { class: "results" });
  const update = () => {
    const { solved } = store;
    if (solved) body.replaceChildren(...found(solved));
    else if ("message" in store.outcome) {
      const { wrong, message } = store.outcome;
      const title = wrong ? "No solution" : "Nothing to fit yet";
      body.replaceChildren(
        h("h2", {}, title),
        h("p", { class: wrong ? "note wrong" : "note" }, message),
      );
    }
  };
  store.on("outcome", update);
  return h("section", { class: "panel", "aria-label": "Result" }, body);
}

const sub = (text: string) => h("span", { class: "sub" }, text);

function found(solved: Solved): HTMLElement[] {
  const { fit, state } = solved;
  const { free, bound, slack, errors } = summarise(solved);
  const [part] = fit.parts;
  const regression = isRegression(fit.spec.machine);
  const rows: [Child[], string][] = [
    [["Support vectors"], `${free + bound} of ${state.points.length}`],
    [[sub(regression ? "free, on the tube" : "free, on the margin")], String(free)],
    [[sub("at the bound")], String(bound)],
    [["Sum of slacks ", formula("\\sum \\xi_i")], shortNumber(slack, 4)],
  ];
  const outside = fit.spec.machine === "one-class" ? "Outside the region" : "Misclassified";
  if (errors !== null) rows.push([[outside], String(errors)]);
  if (regression) rows.push([["Tube ", formula("\\varepsilon")], shortNumber(part.epsilon!, 4)]);
  if (part.margin !== undefined && fit.parts.length === 1) {
    rows.push([["Margin ", formula("1 / \\lVert w \\rVert")], shortNumber(part.margin, 4)]);
  }
  const proof: [Child[], string][] = [
    [["Primal ", formula("P")], shortNumber(fit.primal, 7)],
    [["Dual ", formula("D")], shortNumber(fit.dual, 7)],
    [["Gap ", formula("P - D")], shortNumber(fit.gap, 2)],
    [["KKT violation"], shortNumber(fit.violation, 2)],
    [["Pair steps"], String(fit.steps)],
    [
      ["Time"],
      `${fit.milliseconds < 10 ? fit.milliseconds.toFixed(1) : Math.round(fit.milliseconds)} ms`,
    ],
  ];
  const list = (entries: [Child[], string][]) =>
    h("dl", {}, ...entries.flatMap(([name, value]) => [h("dt", {}, ...name), h("dd", {}, value)]));
  const status = h("span", { class: `status ${fit.status}` }, TITLES[fit.status]);
  return [
    h("p", { class: "verdict" }, status, ` ${MEANING[fit.status]}`),
    list(rows),
    h("h2", {}, "Certificate"),
    list(proof),
  ];
}
