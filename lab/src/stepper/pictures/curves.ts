// Primal and dual over the steps: they enclose the optimum, and meet there.

import { gap } from "../algorithms/trace";
import { tex } from "../numbers";
import type { Run } from "../state";
import { Figure, type Picture } from "./picture";

export class Curves implements Picture {
  private readonly figure = new Figure("curves", {
    ...{ label: "Primal and dual", x: [0, 1], y: [0, 1], aspect: 1.9, xLabel: "step" },
    ...{ layers: ["band", "curves", "points"] },
  });

  /** `seek` is called with the step that the user points at. */
  constructor(seek: (step: number) => void) {
    const go = ({ x }: { x: number }) => seek(Math.round(x));
    this.figure.plot.onPointer({ down: go, move: go });
    this.figure.element.classList.add("step-seek");
  }

  get element(): HTMLElement {
    return this.figure.element;
  }

  draw(run: Run, at: number): void {
    this.figure.show(() => this.paint(run, at));
    const step = run.trace.steps[at];
    const names = namesOf(run);
    this.figure.title = `${names[0]} and ${names[1]}`;
    this.figure.caption =
      `${names[0]} $${tex(step.primal)}$ (—), ${names[1]} $${tex(step.dual)}$ (– –), ` +
      `${names[2]} $${tex(gap(step))}$.`;
  }

  close(): void {
    this.figure.close();
  }

  private paint({ trace: { steps } }: Run, at: number): void {
    const { plot } = this.figure;
    const xs = steps.map((_, k) => k);
    const [primal, dual] = [steps.map((step) => step.primal), steps.map((step) => step.dual)];
    const [low, top] = [Math.min(...dual), Math.max(...dual)];
    const high = Math.min(Math.max(...primal), top + tallest(primal, dual));
    const room = 0.06 * (high - low || 1);
    plot.setBox([0, Math.max(1, steps.length - 1)], [low - room, high + room]);
    plot.draw("band", plot.band(xs, dual, primal, "step-gap"));
    plot.draw(
      "curves",
      plot.curve(xs, primal, "step-primal"),
      plot.curve(xs, dual, "step-dual"),
      plot.segment(at, low - room, at, high + room, "step-now"),
    );
    plot.draw(
      "points",
      plot.ring(at, primal[at], "step-dot", 4),
      plot.ring(at, dual[at], "step-dot", 4),
    );
    plot.label =
      `Primal and dual over ${steps.length - 1} steps; at step ${at} they are ` +
      `${tex(primal[at])} and ${tex(dual[at])}`;
  }
}

/**
 * How far above the dual's maximum the primal is shown, because early peaks would flatten the rest:
 * some times what the dual climbs, or what nine steps in ten stay below if it is constant.
 */
function tallest(primal: readonly number[], dual: readonly number[]): number {
  const climb = Math.max(...dual) - Math.min(...dual);
  const distances = primal.map((value, k) => value - dual[k]).sort((a, b) => a - b);
  return climb > 0 ? 2.5 * climb : 1.5 * distances[Math.floor(0.9 * distances.length)] || 1;
}

/** What the two curves and their difference are called. */
export function namesOf({ key }: Run): [string, string, string] {
  if (key.startsWith("coordinate")) return ["L", "its minimum", "distance"];
  if (key.includes("pegasos")) return ["Primal", "the optimum", "distance"];
  return ["Primal", "dual", "gap"];
}
