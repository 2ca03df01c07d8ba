// The box [0, C]^2 of a pair: the segment that sum_i a_i t_i = 0 leaves, the multipliers before the
// step, the top of the dual along the segment, and where the step ends. The contour lines are those
// of the dual as a function of a_i and a_j, all others fixed:
//
//     D(a_i + u, a_j + v) - D = g_i u + g_j v - 1/2 (k_ii u^2 + 2 t_i t_j k_ij u v + k_jj v^2)
//
// with the derivatives g_k = 1 - t_k (y(x_k) - b) = t_k (b - E_k).

import { s } from "../../ui/dom";
import type { PairMove } from "../algorithms/trace";
import { no, num, tex } from "../numbers";
import type { Run } from "../state";
import { Figure, type Picture } from "./picture";

const LEVELS = 9;
const ZOOM = 2; // what is shown, as a multiple of the largest multiplier
const OUTSIDE = 0.3; // how much of the plane around the box is shown, as a share of C

export class Box implements Picture {
  private readonly figure = new Figure("box", {
    ...{ label: "The box of the pair", x: [0, 1], y: [0, 1], aspect: 1.15 },
    ...{ equal: true, xLabel: "aᵢ", yLabel: "aⱼ", layers: ["contours", "box", "points"] },
  });

  get element(): HTMLElement {
    return this.figure.element;
  }

  draw(run: Run, at: number): void {
    const { move } = run.trace.steps[at];
    const pair = move?.kind === "pair" ? move : null;
    this.figure.show(() => this.paint(pair, run.problem.C));
    this.figure.caption = pair ? caption(pair, run.problem.C) : "No pair moves here. Go forward.";
  }

  close(): void {
    this.figure.close();
  }

  private paint(move: PairMove | null, C: number): void {
    const { plot } = this.figure;
    const size = move ? shown(move, C) : C;
    const range: [number, number] = [-OUTSIDE * size, (1 + OUTSIDE) * size];
    const names = move ? [`a${no(move.i)} (point i)`, `a${no(move.j)} (point j)`] : ["aᵢ", "aⱼ"];
    plot.setBox(range, range, names[0], names[1]);
    const square = s("rect", {
      ...{ x: plot.px(0), y: plot.py(C), class: "step-square" },
      ...{ width: plot.px(C) - plot.px(0), height: plot.py(0) - plot.py(C) },
    });
    plot.draw("contours", ...(move ? this.contours(move) : []));
    plot.draw("box", square, ...(move ? this.line(move) : []));
    plot.draw("points", ...(move ? this.points(move) : []));
    plot.label = move
      ? `The box of points ${no(move.i)} and ${no(move.j)}: ${outcome(move)}`
      : "The box of the pair, empty: no pair moves in this step";
  }

  private contours(move: PairMove): SVGElement[] {
    const { plot } = this.figure;
    const grid = plot.grid(50);
    const values = new Float64Array(grid.points.length / 2);
    for (let m = 0; m < values.length; m++)
      values[m] = gain(move, grid.points[2 * m] - move.a_i, grid.points[2 * m + 1] - move.a_j);
    const [low, high] = [Math.min(...values), Math.max(...values)];
    const level = (k: number) => high - (high - low) * ((k + 0.5) / LEVELS) ** 2;
    return Array.from({ length: LEVELS }, (_, k) =>
      plot.contour(grid, values, level(k), "step-contour"),
    );
  }

  /** The line of the constraint, and its part inside the box. */
  private line(move: PairMove): SVGElement[] {
    const { plot } = this.figure;
    const { a_i, a_j, t_i, t_j, L, H } = move;
    const other = (a: number) => a_i - t_i * t_j * (a - a_j);
    const far = 10 * (Math.abs(a_j) + plot.box.y[1] - plot.box.y[0]);
    return [
      plot.segment(other(a_j - far), a_j - far, other(a_j + far), a_j + far, "step-constraint"),
      plot.segment(other(L), L, other(H), H, "step-segment"),
    ];
  }

  private points(move: PairMove): SVGElement[] {
    const { plot } = this.figure;
    const { a_i, a_j, t_i, t_j, a_i_new, a_j_new, a_j_unclipped: free } = move;
    const free_i = a_i - t_i * t_j * (free - a_j);
    const [x, y] = [plot.box.x, plot.box.y];
    const seen = free_i > x[0] && free_i < x[1] && free > y[0] && free < y[1];
    const cross = seen ? [plot.text(free_i, free, "×", "step-cross", 0, 7)] : [];
    return [
      ...cross,
      plot.ring(a_i, a_j, "step-before", 6),
      plot.ring(a_i_new, a_j_new, "step-after", 6.5),
    ];
  }
}

/** How much of [0, C] is shown: less than all where both multipliers stay near 0. */
function shown({ a_i, a_j, a_i_new, a_j_new }: PairMove, C: number): number {
  const largest = Math.max(a_i, a_j, a_i_new, a_j_new);
  const size = ZOOM * largest || C;
  return (1 + OUTSIDE) * size < C ? size : C;
}

/** D(a_i + u, a_j + v) - D. */
function gain(move: PairMove, u: number, v: number): number {
  const { t_i, t_j, E_i, E_j, k_ii, k_jj, k_ij, b_old } = move;
  const [g_i, g_j] = [t_i * (b_old - E_i), t_j * (b_old - E_j)];
  return g_i * u + g_j * v - 0.5 * (k_ii * u * u + 2 * t_i * t_j * k_ij * u * v + k_jj * v * v);
}

const clipped = (move: PairMove) => move.a_j_unclipped > move.H || move.a_j_unclipped < move.L;

function outcome(move: PairMove): string {
  const from = `a of point j goes from ${num(move.a_j)} to ${num(move.a_j_new)}`;
  return clipped(move)
    ? `${from}, clipped from ${num(move.a_j_unclipped)}`
    : `${from}, not clipped`;
}

function caption(move: PairMove, C: number): string {
  const part =
    shown(move, C) < C ? ` Only the corner near 0 is shown; the box ends at $C = ${tex(C)}$.` : "";
  const end = clipped(move)
    ? `the top of the dual, $a_j = ${tex(move.a_j_unclipped)}$ (×), is outside, so the step ends where the segment does (●)`
    : "the step ends at the top of the dual along it (●)";
  return `From ○ along the segment; ${end}. Contour lines: the dual, all other multipliers fixed.${part}`;
}
