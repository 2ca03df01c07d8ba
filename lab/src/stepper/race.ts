// A race: two algorithms on the same data, their gaps over steps and over kernel values.
//
// The gap is primal - dual of each algorithm's own problem; for Pegasos, which has no dual, the
// distance of the primal from its optimum. Kernel values are those that the algorithm computes if it
// stores none; a method that keeps w computes one inner product where others need a kernel value
// for each support vector.

import { h } from "../ui/dom";
import { ALGORITHMS } from "./algorithms";
import { chosen, gap } from "./algorithms/trace";
import { list, no, num } from "./numbers";
import { Figure } from "./pictures/picture";
import { Plane } from "./pictures/plane";
import type { Stage } from "./single";
import { stepAt, type Clock, type Run } from "./state";

/** Gaps below the first are drawn at it; below the second, rounding is all that is left. */
const FLOOR = 1e-5;
const ROUNDING = 1e-9;

/** The clock's last tick. */
export function raceLength(runs: readonly Run[], clock: Clock): number {
  const last = runs.map(({ trace: { steps } }) =>
    clock === "steps" ? steps.length - 1 : steps[steps.length - 1].evaluations,
  );
  return Math.max(...last);
}

export function raceStage(runs: readonly Run[], clock: Clock, seek: (tick: number) => void): Stage {
  const planes = runs.map(
    ({ key }, k) => new Plane(`plane-${k + 1}`, `${"AB"[k]}: ${ALGORITHMS[key].name}`),
  );
  const bySteps = new GapCurves(runs, "steps", clock === "steps" ? seek : null);
  const byValues = new GapCurves(runs, "evaluations", clock === "evaluations" ? seek : null);
  const table = h("table", {});
  const board = h(
    "section",
    { class: "panel step-board", "aria-label": "The state of the race" },
    h("h2", {}, "Side by side"),
    table,
    h("p", { class: "step-about" }, ABOUT),
  );
  const element = h(
    "div",
    { class: "step-stage step-race" },
    ...planes.map((plane) => plane.element),
    bySteps.element,
    byValues.element,
    board,
  );
  return {
    element,
    draw: (tick) => {
      const at = runs.map(({ trace }) => stepAt(trace, tick, clock));
      runs.forEach((run, k) => planes[k].draw(run, at[k]));
      bySteps.draw(at);
      byValues.draw(at);
      table.replaceChildren(...rows(runs, at));
    },
    close: () => [...planes, bySteps, byValues].forEach((picture) => picture.close()),
  };
}

const ABOUT =
  "Each gap is that of the algorithm’s own problem: methods without b solve another one than SMO. " +
  "Pegasos has no dual; its optimum stands in for it. " +
  "Kernel values: as many as the method computes if it stores none; an inner product w·x counts as one.";

/** Who is ahead, in a sentence. */
export function verdict(runs: readonly Run[], tick: number, clock: Clock): string {
  const at = runs.map(({ trace }) => stepAt(trace, tick, clock));
  const [A, B] = runs.map(({ key }, k) => `${"AB"[k]} (${ALGORITHMS[key].name})`);
  const [first, second] = runs.map(({ trace }, k) => Math.max(gap(trace.steps[at[k]]), ROUNDING));
  const done = runs.flatMap(({ trace }, k) =>
    trace.ending === "converged" && at[k] === trace.steps.length - 1 ? [[A, B][k]] : [],
  );
  const after = clock === "steps" ? `After ${tick} steps` : `After ${tick} kernel values`;
  const finished = done.length
    ? ` ${list(done)} ${done.length > 1 ? "have" : "has"} finished.`
    : "";
  if (Math.abs(first - second) <= 1e-6 * Math.max(first, second))
    return `${after} both have a gap of ${num(first)}.${finished}`;
  const [leader, small, large] = first < second ? [A, first, second] : [B, second, first];
  return `${after} ${leader} is ahead: its gap is ${num(small)}, the other’s ${num(large)}.${finished}`;
}

function rows(runs: readonly Run[], at: readonly number[]): HTMLElement[] {
  const steps = runs.map(({ trace }, k) => trace.steps[at[k]]);
  const lines: [string, (k: number) => string][] = [
    ["Step", (k) => `${at[k]} of ${runs[k].trace.steps.length - 1}`],
    ["Kernel values", (k) => String(steps[k].evaluations)],
    ["Moved", (k) => list(chosen(steps[k]).map(no)) || "–"],
    ["Primal", (k) => num(steps[k].primal)],
    ["Dual", (k) => num(steps[k].dual)],
    ["Gap", (k) => num(gap(steps[k]))],
    ["Violation", (k) => (Number.isNaN(steps[k].violation) ? "–" : num(steps[k].violation))],
  ];
  const head = runs.map(({ key }, k) =>
    h("th", { scope: "col" }, `${"AB"[k]}: ${ALGORITHMS[key].name}`),
  );
  return [
    h("tr", {}, h("td", {}), ...head),
    ...lines.map(([name, value]) =>
      h("tr", {}, h("th", { scope: "row" }, name), ...runs.map((_, k) => h("td", {}, value(k)))),
    ),
  ];
}

/** The gaps of both runs on a logarithmic axis. */
class GapCurves {
  private readonly figure: Figure;

  constructor(
    private readonly runs: readonly Run[],
    private readonly over: Clock,
    seek: ((tick: number) => void) | null,
  ) {
    const unit = over === "steps" ? "steps" : "kernel values";
    this.figure = new Figure(`gap-${over}`, {
      ...{ label: `The gap over ${unit}`, x: [0, 1], y: [0, 1], aspect: 1.5, xLabel: unit },
      ...{ yLabel: "log₁₀ of the gap", layers: ["curves", "points"] },
    });
    this.figure.caption =
      "A is the full line, B the dashed one; the lower is ahead. Gaps below $10^{-5}$ are drawn there.";
    if (seek) {
      const go = ({ x }: { x: number }) => seek(Math.round(x));
      this.figure.plot.onPointer({ down: go, move: go });
      this.figure.element.classList.add("step-seek");
    }
  }

  get element(): HTMLElement {
    return this.figure.element;
  }

  draw(at: readonly number[]): void {
    this.figure.show(() => this.paint(at));
  }

  close(): void {
    this.figure.close();
  }

  private paint(at: readonly number[]): void {
    const { plot } = this.figure;
    const lines = this.runs.map(({ trace: { steps } }) => ({
      xs: steps.map((step, k) => (this.over === "steps" ? k : step.evaluations)),
      ys: steps.map((step) => Math.log10(Math.max(gap(step), FLOOR))),
    }));
    const all = lines.flatMap(({ ys }) => ys);
    const most = Math.max(...lines.flatMap(({ xs }) => xs));
    plot.setBox([0, Math.max(1, most)], [Math.min(...all) - 0.3, Math.max(...all) + 0.3]);
    plot.draw("curves", ...lines.map(({ xs, ys }, k) => plot.curve(xs, ys, `step-run-${k}`)));
    plot.draw(
      "points",
      ...lines.flatMap(({ xs, ys }, k) => [
        plot.ring(xs[at[k]], ys[at[k]], `step-dot step-run-${k}`, 5),
        plot.text(xs[at[k]], ys[at[k]], "AB"[k], "step-letter", 8, k ? 18 : -8),
      ]),
    );
    const said = lines.map(({ ys }, k) => `${"AB"[k]} ${num(10 ** ys[at[k]])}`).join(", ");
    plot.label = `The gap over ${this.over === "steps" ? "steps" : "kernel values"}: now ${said}`;
  }
}
