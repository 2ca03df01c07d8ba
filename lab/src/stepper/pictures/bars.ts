// The multipliers as bars, in the colours of their classes; the chosen ones stand out, and a mark
// shows where they were before the step. For weights of a regression the bars have signs.

import { s } from "../../ui/dom";
import { chosen } from "../algorithms/trace";
import { no, tex } from "../numbers";
import type { Run } from "../state";
import { Figure, type Picture } from "./picture";

/** The first draws of Pegasos give a few points much more than C: bars are cut here, in units of C. */
const MOST = 3;

export class Bars implements Picture {
  private readonly figure = new Figure("bars", {
    ...{ label: "The multipliers", x: [0, 1], y: [0, 1], layers: ["bars", "marks"] },
    aspect: (width) => (width > 500 ? 3.2 : 1.9),
  });

  get element(): HTMLElement {
    return this.figure.element;
  }

  draw(run: Run, at: number): void {
    const quadratic = run.key.startsWith("coordinate");
    this.figure.title = quadratic ? "The variables $w_i$" : "The multipliers $a_i$";
    this.figure.caption = caption(run);
    this.figure.show(() => this.paint(run, at));
  }

  close(): void {
    this.figure.close();
  }

  private paint(run: Run, at: number): void {
    const { plot } = this.figure;
    const [now, before] = [heights(run, at), heights(run, Math.max(0, at - 1))];
    const moved = chosen(run.trace.steps[at]);
    const all = run.trace.steps.map((_, k) => heights(run, k));
    const largest = Math.max(...all.flatMap((values) => [...values]), 0);
    const least = Math.min(...all.flatMap((values) => [...values]), 0);
    const quadratic = run.key.startsWith("coordinate");
    const high = quadratic
      ? largest
      : Math.max(Math.min(largest, MOST * run.problem.C), run.problem.C);
    plot.setBox(
      [0.3, now.length + 0.7],
      [1.08 * least, 1.08 * high || 1],
      quadratic ? "i" : "point",
    );
    const bar = (value: number, i: number) => {
      const [top, bottom] = [plot.py(Math.max(value, 0)), plot.py(Math.min(value, 0))];
      const which = quadratic && run.settings.target === "two" ? "" : classOf(run, i);
      const position = { x: plot.px(i + 0.65), width: plot.px(0.7) - plot.px(0) };
      const mark = moved.includes(i) ? "step-chosen" : "";
      return s("rect", {
        ...position,
        y: top,
        height: bottom - top,
        class: `step-bar ${which} ${mark}`,
      });
    };
    plot.draw(
      "bars",
      !quadratic && plot.segment(0, run.problem.C, now.length + 1, run.problem.C, "step-bound"),
      plot.segment(0, 0, now.length + 1, 0, "step-zero"),
      ...Array.from(now, bar),
    );
    const ghost = (i: number) => plot.segment(i + 0.6, before[i], i + 1.4, before[i], "step-ghost");
    plot.draw("marks", ...moved.map(ghost));
    plot.label = moved.length
      ? `Bars: ${moved.map((i) => `number ${no(i)} is now ${tex(now[i])}, before ${tex(before[i])}`).join("; ")}`
      : "Bars of all multipliers; none moves in this step";
  }
}

const classOf = (run: Run, i: number) => (run.problem.t[i] > 0 ? "class-1" : "class-0");

/** a_i = t_i coef_i, which is what the counts and the weights of Pegasos stand for; or w_i. */
function heights({ key, problem, trace }: Run, at: number): Float64Array {
  const { coef } = trace.steps[at];
  return key.startsWith("coordinate") ? coef : coef.map((value, i) => value * problem.t[i]);
}

function caption({ key }: Run): string {
  if (key === "kernel-pegasos")
    return "$a_i = n C \\alpha_i / k$: the share of the draws in which the point had a loss.";
  if (key === "pegasos")
    return "Pegasos keeps only $\\mathbf w = \\sum_i a_i y_i \\mathbf x_i$; these are its $a_i$.";
  if (key.startsWith("coordinate")) return "The line beside a bar: the value before the step.";
  return "The dashed line is $C$. The line across a bar: the value before the step.";
}
