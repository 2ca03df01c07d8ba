// The hinge loss max(0, 1 - m) of the margin m = y_i y(x_i): every point on the curve, the drawn
// point large, and where it was before the step.

import { chosen } from "../algorithms/trace";
import { no, num } from "../numbers";
import type { Run } from "../state";
import { Figure, type Picture } from "./picture";

const REACH = 3; // margins beyond this are drawn at the edge

export class Hinge implements Picture {
  private readonly figure = new Figure("hinge", {
    ...{ label: "The losses of all points", x: [-1.5, 3], y: [0, 2.5], aspect: 1.15 },
    ...{ xLabel: "margin y·y(x)", yLabel: "loss", layers: ["curve", "points", "marks"] },
  });

  get element(): HTMLElement {
    return this.figure.element;
  }

  draw(run: Run, at: number): void {
    this.figure.caption =
      "Every point on the hinge $\\max(0, 1 - y_i y(\\mathbf x_i))$; only points left of 1 pull. " +
      "○ is the drawn point before the step, ● after.";
    this.figure.show(() => this.paint(run, at));
  }

  close(): void {
    this.figure.close();
  }

  private paint(run: Run, at: number): void {
    const { plot } = this.figure;
    const now = margins(run, at);
    const [i] = chosen(run.trace.steps[at]);
    const place = (m: number) => Math.min(Math.max(m, -REACH), REACH);
    const low = Math.min(-0.5, ...Array.from(now, place));
    plot.setBox([low - 0.2, REACH + 0.2], [-0.15, 1.15 - low]);
    const xs = [low - 0.2, 1, REACH + 0.2];
    const loss = (m: number) => Math.max(0, 1 - m);
    plot.draw("curve", plot.curve(xs, xs.map(loss), ""), plot.segment(1, -1, 1, 9, "step-bound"));
    plot.draw(
      "points",
      ...Array.from(now, (m, k) =>
        plot.glyph(place(m), loss(place(m)), run.problem.t[k] > 0 ? 1 : 0, 4.5, "step-pale"),
      ),
    );
    if (i === undefined) {
      plot.draw("marks");
      plot.label = "The hinge loss of all points at the start";
      return;
    }
    const old = margins(run, at - 1)[i];
    plot.draw(
      "marks",
      plot.ring(place(old), loss(place(old)), "step-before", 6),
      plot.ring(place(now[i]), loss(place(now[i])), "step-after", 6.5),
    );
    plot.label = `The hinge loss: the margin of point ${no(i)} goes from ${num(old)} to ${num(now[i])}`;
  }
}

/** t_i y(x_i) of all points. */
function margins({ problem, trace }: Run, at: number): Float64Array {
  const { n, t, K } = problem;
  const { coef, b } = trace.steps[at];
  return t.map((t_i, i) => {
    let value = b;
    for (let j = 0; j < n; j++) value += coef[j] * K[i * n + j];
    return t_i * value;
  });
}
