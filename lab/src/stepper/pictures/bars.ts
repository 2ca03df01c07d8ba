// The multipliers as bars, in the colours of their classes; the chosen ones stand out, and a mark
// shows where they were before the step. For weights of a regression the bars have signs.

import { s } from "../../ui/dom";
import { chosen } from "../algorithms/trace";
import { no, num } from "../numbers";
import type { Run } from "../state";
import { Figure, type Picture } from "./picture";

/** The first draws of Pegasos give a few points much more than C: bars are cut, in units of C. */
const MOST = 3;
/** Fewer bars than this get room beside them, so that each is not too wide. */
const FEWEST = 7;
/** Pixels for the number of a point. */
const NUMBER = 24;
/** Room for the numbers of the points, as a share of the height. */
const FOOT = 0.12;

export class Bars implements Picture {
  private readonly figure = new Figure("bars", {
    ...{ label: "The multipliers", x: [0, 1], y: [0, 1], layers: ["bars", "marks"] },
    aspect: (width) => (width > 500 ? 3.2 : 1.9),
  });

  private run: Run | null = null;
  private range: [number, number] = [0, 1];

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
    const quadratic = run.key.startsWith("coordinate");
    if (run !== this.run) [this.run, this.range] = [run, range(run, quadratic)];
    const [low, high] = this.range;
    const room = Math.max(0, FEWEST - now.length) / 2;
    const foot = low - FOOT * (high - low);
    plot.setBox([0.3 - room, now.length + 0.7 + room], [foot, high + 0.06 * (high - low)]);
    const across = (y: number, name: string) => plot.segment(-9, y, now.length + 9, y, name);
    plot.draw(
      "bars",
      !quadratic && across(run.problem.C, "step-bound"),
      across(0, "step-zero"),
      ...Array.from(now, (value, i) => this.bar(run, value, i, moved.includes(i))),
    );
    const every = Math.ceil((now.length * NUMBER) / plot.width);
    const number = (_: number, i: number) =>
      (i + 1) % every === 0 && plot.text(i + 1, foot, no(i), "step-index", 0, -4);
    const ghost = (i: number) => plot.segment(i + 0.6, before[i], i + 1.4, before[i], "step-ghost");
    plot.draw("marks", ...Array.from(now, number), ...moved.map(ghost));
    plot.label = moved.length
      ? `Bars: ${moved.map((i) => `number ${no(i)} is now ${num(now[i])}, before ${num(before[i])}`).join("; ")}`
      : "Bars of all multipliers; none moves in this step";
  }

  private bar(run: Run, value: number, i: number, moved: boolean): SVGElement {
    const { plot } = this.figure;
    const [top, bottom] = [plot.py(Math.max(value, 0)), plot.py(Math.min(value, 0))];
    const which = run.problem.t[i] > 0 ? "class-1" : "class-0";
    const across = { x: plot.px(i + 0.65), width: plot.px(0.7) - plot.px(0) };
    const name = `step-bar ${which} ${moved ? "step-chosen" : ""}`;
    return s("rect", { ...across, y: top, height: bottom - top, class: name });
  }
}

/** From the lowest to the highest bar of the whole trace; to C where that is a bound. */
function range(run: Run, quadratic: boolean): [number, number] {
  let [low, high] = [0, quadratic ? 0 : run.problem.C];
  run.trace.steps.forEach((_, k) => {
    const values = heights(run, k);
    low = Math.min(low, ...values);
    high = Math.max(high, ...values);
  });
  return [low, quadratic ? high : Math.min(high, MOST * run.problem.C)];
}

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
