// The objective along the one direction of a step: a parabola, its top (or bottom), the bounds.
//
//     value(z) = value(from) + slope (z - from) + 1/2 curvature (z - from)^2

import type { Move, Step } from "../algorithms/trace";
import { no, num, tex } from "../numbers";
import type { Run } from "../state";
import { Figure, type Picture } from "./picture";

interface Line {
  readonly name: string;
  readonly from: number;
  readonly free: number;
  readonly to: number;
  readonly low: number;
  readonly high: number;
  readonly slope: number;
  readonly curvature: number;
}

export class Parabola implements Picture {
  private readonly figure = new Figure("parabola", {
    ...{ label: "The objective along the step", x: [0, 1], y: [0, 1], aspect: 1.9 },
    ...{ layers: ["bounds", "curve", "points"] },
  });

  get element(): HTMLElement {
    return this.figure.element;
  }

  draw(run: Run, at: number): void {
    const [before, step] = [run.trace.steps[at - 1], run.trace.steps[at]];
    const line = step.move ? along(step.move, run.problem.C) : null;
    const dual = step.move?.kind !== "coordinate";
    this.figure.title = dual ? "The dual along the step" : "$L$ along the step";
    this.figure.caption = line
      ? `$${line.name}$ goes from $${tex(line.from)}$ (○) to $${tex(line.to)}$ (●).`
      : "Nothing moves here. Go forward.";
    this.figure.show(() => this.paint(line, line ? objective(before, dual) : 0));
  }

  close(): void {
    this.figure.close();
  }

  private paint(line: Line | null, start: number): void {
    const { plot } = this.figure;
    if (!line) {
      plot.draw("bounds");
      plot.draw("curve");
      plot.draw("points");
      plot.label = "The objective along the step: nothing moves";
      return;
    }
    const { from, free, to, low, high, slope, curvature } = line;
    const value = (z: number) => start + slope * (z - from) + 0.5 * curvature * (z - from) ** 2;
    const [left, right] = frame(line);
    const xs = Float64Array.from({ length: 81 }, (_, k) => left + ((right - left) * k) / 80);
    const ys = xs.map(value);
    const [least, most] = [Math.min(...ys), Math.max(...ys)];
    const room = 0.08 * (most - least || 1);
    plot.setBox(
      [left, right],
      [least - room, most + room],
      line.name.replace("\\alpha", "α").replace(/[{}_]/g, ""),
    );
    const seen = [low, high].filter((bound) => bound >= left && bound <= right);
    plot.draw(
      "bounds",
      ...seen.map((z) => plot.segment(z, least - room, z, most + room, "step-bound")),
    );
    plot.draw("curve", plot.curve(xs, ys, "step-parabola"));
    const top = free >= left && free <= right && free !== to;
    plot.draw(
      "points",
      top && plot.text(free, value(free), "×", "step-cross", 0, 7),
      plot.ring(from, value(from), "step-before", 6),
      plot.ring(to, value(to), "step-after", 6.5),
    );
    plot.label = `A parabola: from ${num(from)} to ${num(to)}; its extremum is at ${tex(free)}`;
  }
}

function objective(before: Step, dual: boolean): number {
  return dual ? before.dual : before.primal;
}

function along(move: Move, C: number): Line | null {
  const { i } = move;
  switch (move.kind) {
    case "pair": {
      const { a_j: from, a_j_unclipped: free, a_j_new: to, L: low, H: high } = move;
      const slope = move.t_j * (move.E_i - move.E_j);
      return { name: `a_{${no(move.j)}}`, from, free, to, low, high, slope, curvature: move.eta };
    }
    case "single": {
      const { a_i: from, a_i_unclipped: free, a_i_new: to } = move;
      const shape = { slope: -move.g, curvature: -move.Q_ii };
      return { name: `\\alpha_{${no(i)}}`, from, free, to, low: 0, high: C, ...shape };
    }
    case "coordinate": {
      const { w_i: from, w_i_new: to } = move;
      const shape = { slope: move.g, curvature: move.A_ii };
      return { name: `w_{${no(i)}}`, from, free: to, to, low: -Infinity, high: Infinity, ...shape };
    }
    default:
      return null;
  }
}

/** What to show: the bounds if there are any, else twice the way; the top where it is near. */
function frame({ from, free, to, low, high }: Line): [number, number] {
  const bounded = Number.isFinite(low) && Number.isFinite(high);
  const way = Math.abs(to - from) || 0.1;
  const [a, b] = bounded ? [low, high] : [Math.min(from, to) - way, Math.max(from, to) + way];
  const length = b - a || way;
  const near = Number.isFinite(free) && free > a - 0.6 * length && free < b + 0.6 * length;
  const [left, right] = near ? [Math.min(a, free), Math.max(b, free)] : [a, b];
  return [left - 0.15 * length, right + 0.15 * length];
}
