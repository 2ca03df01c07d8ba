// Coordinate descent on two variables: the contour lines of L and the path, which turns by a right
// angle at every step.

import { quadratic } from "../algorithms";
import { value } from "../algorithms/coordinate_descent";
import { num } from "../numbers";
import type { Run } from "../state";
import { Figure, type Picture } from "./picture";

const LEVELS = 12;

export class Descent implements Picture {
  private readonly figure = new Figure("descent", {
    ...{ label: "The path of the two variables", x: [-2, 2], y: [-2, 2], equal: true },
    ...{ aspect: 1.15, xLabel: "w₁", yLabel: "w₂", layers: ["contours", "path", "points"] },
  });

  get element(): HTMLElement {
    return this.figure.element;
  }

  draw(run: Run, at: number): void {
    this.figure.caption =
      "Each step goes along one axis to where it touches a contour line: there $L$ is smallest on " +
      "the way. The more the two variables are correlated, the shorter the steps.";
    this.figure.show(() => this.paint(run, at));
  }

  close(): void {
    this.figure.close();
  }

  private paint(run: Run, at: number): void {
    const { plot } = this.figure;
    const L = quadratic(run.problem, run.settings);
    const grid = plot.grid(60);
    const values = new Float64Array(grid.points.length / 2);
    for (let m = 0; m < values.length; m++)
      values[m] = value(L, grid.points.subarray(2 * m, 2 * m + 2));
    const start = value(L, L.start);
    const levels = Array.from({ length: LEVELS }, (_, k) => 1.8 * start * ((k + 1) / LEVELS) ** 2);
    plot.draw(
      "contours",
      ...levels.map((level) => plot.contour(grid, values, level, "step-contour")),
    );
    const path = run.trace.steps.slice(0, at + 1).map((step) => step.variables);
    const [xs, ys] = [path.map((w) => w[0]), path.map((w) => w[1])];
    plot.draw("path", plot.curve(xs, ys, "step-path"));
    const [before, now] = [path[Math.max(0, at - 1)], path[at]];
    plot.draw(
      "points",
      plot.text(0, 0, "×", "step-cross", 0, 7),
      plot.ring(before[0], before[1], "step-before", 6),
      plot.ring(now[0], now[1], "step-after", 6.5),
    );
    plot.label = `Contour lines and the path after ${at} steps: w is ${num(now[0])}, ${num(now[1])}`;
  }
}
