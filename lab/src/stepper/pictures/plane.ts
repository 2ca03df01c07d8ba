// The plane: the points, the boundary y(x) = 0 of the step, its margins, and the chosen points.

import { kernelBlock } from "../../svm/core";
import { s } from "../../ui/dom";
import type { Grid, Interval } from "../../ui/plot";
import type { Step } from "../algorithms/trace";
import { chosen } from "../algorithms/trace";
import { no } from "../numbers";
import type { Run } from "../state";
import { Figure, type Picture } from "./picture";

const COLUMNS = 64;
const MOST_NUMBERED = 30;

export class Plane implements Picture {
  private readonly figure: Figure;
  private grid: Grid | null = null;
  /** k(grid point, x_j), kept while neither the points nor the size change. */
  private block: Float64Array | null = null;
  private size = "";
  private run: Run | null = null;

  constructor(name = "plane", label = "The plane") {
    this.figure = new Figure(name, {
      ...{ label, x: [0, 1], y: [0, 1], equal: true, aspect: 1.15 },
      ...{ xLabel: "x₁", yLabel: "x₂", layers: ["fill", "points", "marks"] },
    });
  }

  get element(): HTMLElement {
    return this.figure.element;
  }

  set title(text: string) {
    this.figure.title = text;
  }

  draw(run: Run, at: number): void {
    if (run !== this.run) this.frame(run);
    this.figure.show(() => this.paint(run, run.trace.steps[at]));
    this.figure.caption = run.key.startsWith("coordinate")
      ? "Full line: $y(\\mathbf x) = 0$; dashed: $\\pm1$. A ring: $w_i \\ne 0$."
      : "Full line: $y(\\mathbf x) = 0$; dashed: $\\pm1$. A ring: $a_i > 0$; a dashed one: $a_i \\ge C$.";
  }

  close(): void {
    this.figure.close();
  }

  private frame(run: Run): void {
    const { n, x } = run.problem;
    const column = (c: number) => Array.from({ length: n }, (_, i) => x[2 * i + c]);
    this.figure.plot.setBox(around(column(0)), around(column(1)));
    [this.run, this.block] = [run, null];
  }

  private paint({ kernel, problem }: Run, step: Step): void {
    const { plot } = this.figure;
    const size = `${plot.width} ${plot.height}`;
    if (!this.block || size !== this.size) {
      this.size = size;
      this.grid = plot.grid(COLUMNS);
      this.block = kernelBlock(kernel, 2, this.grid.points, problem.x);
    }
    const values = decisionValues(this.block!, step, problem.n);
    const grid = this.grid!;
    const flat = values.every((value) => value === values[0]);
    plot.draw(
      "fill",
      !flat && plot.region(grid, values, 0, "region class-1"),
      !flat && plot.region(grid, values.map((v) => -v), 0, "region class-0"), // prettier-ignore
      !flat && plot.contour(grid, values, 0, "boundary"),
      !flat && plot.contour(grid, values, 1, "margin"),
      !flat && plot.contour(grid, values, -1, "margin"),
    );
    plot.draw("points", ...this.points(problem, step));
    plot.draw("marks", ...this.marks(problem.x, step));
    const moved = chosen(step).map(no).join(" and ");
    const text = moved ? `; the chosen points are ${moved}` : "";
    plot.label = `The plane with ${problem.n} points and the boundary after step ${step.iteration}${text}`;
  }

  private points({ n, x, t, C }: Run["problem"], { coef, move }: Step): SVGElement[] {
    const { plot } = this.figure;
    const bounded = move?.kind !== "coordinate";
    const drawn: SVGElement[] = [];
    for (let i = 0; i < n; i++) {
      const [x1, x2, a] = [x[2 * i], x[2 * i + 1], Math.abs(coef[i] ?? 0)];
      drawn.push(plot.glyph(x1, x2, t[i] > 0 ? 1 : 0));
      if (a > 0) drawn.push(plot.ring(x1, x2, bounded && a >= C ? "ring at-bound" : "ring"));
      if (n <= MOST_NUMBERED) drawn.push(plot.text(x1, x2, no(i), "step-number", 9, -8));
    }
    return drawn;
  }

  /** i and j: wide rings in the colours of the box's axes, and their letters. */
  private marks(x: Float64Array, step: Step): SVGElement[] {
    const { plot } = this.figure;
    const letters = step.move?.kind === "coordinate" ? [] : ["i", "j"];
    return chosen(step).flatMap((index, which) => {
      const letter = letters[which];
      if (!letter) return [];
      const [x1, x2] = [x[2 * index], x[2 * index + 1]];
      const [px, py] = [plot.px(x1), plot.py(x2)];
      return [
        s("circle", { cx: px, cy: py, r: 13, class: `step-mark mark-${letter}` }),
        plot.text(x1, x2, letter, `step-letter mark-${letter}`, -21, 5),
      ];
    });
  }
}

/** y(x) = sum_i coef_i k(x_i, x) + b at the points of the grid. */
function decisionValues(block: Float64Array, { coef, b }: Step, n: number): Float64Array {
  const values = new Float64Array(block.length / n);
  for (let m = 0; m < values.length; m++) {
    let sum = b;
    for (let j = 0; j < n; j++) if (coef[j]) sum += coef[j] * block[m * n + j];
    values[m] = sum;
  }
  return values;
}

function around(values: number[]): Interval {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const room = 0.15 * (high - low || 1);
  return [low - room, high + room];
}
