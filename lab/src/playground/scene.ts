// Draws the playground: regions, boundary and margins, slacks, points and their rings.

import type { Part } from "../svm/types";
import { shortNumber } from "../ui/controls";
import { newId, s } from "../ui/dom";
import { type Interval, Plot } from "../ui/plot";
import { kinds } from "./kkt";
import { regionsOf } from "./regions";
import { labelPlaces } from "./labels";
import { slackPath, type Slope, slopeOf } from "./slack";
import { isRegression, type State } from "./state";
import type { Solved, Store } from "./store";

const MOST_LABELS = 60; // slacks with their numbers beside them
const MOST_PATHS = 150;
const STEP = 12; // pixels of a step along a slack
const NARROW = 480; // pixels of a plot with smaller marks
const LAYERS = ["regions", "hatch", "lines", "slacks", "points", "numbers", "marks"];

/** The problems whose margins and slacks are drawn. */
export function shownParts({ fit, state }: Solved): readonly Part[] {
  const chosen = fit.parts[state.part];
  return chosen ? [chosen] : fit.parts;
}

export class Scene {
  readonly plot = new Plot({
    label: "The plane with its points",
    x: [-1, 1],
    y: [-1, 1],
    equal: true,
    aspect: 4 / 3,
    layers: LAYERS,
    interactive: true,
    xLabel: "x₁",
    yLabel: "x₂",
  });
  private readonly hatch = newId("hatch");
  private box: State["box"] | null = null;
  private regression: boolean | null = null;
  /** Whether the newest fit has regions where the vote is unclear. */
  unclear = false;
  /** Where the keyboard would add a point; null: not shown. */
  cursor: [number, number] | null = null;

  constructor(private readonly store: Store) {}

  /** Bring the axes in line with the state. */
  frame(): void {
    const { box, spec } = this.store.state;
    const regression = isRegression(spec.machine);
    if (this.regression !== regression) this.plot.setEqual(!regression);
    if (this.box !== box || this.regression !== regression) {
      const names = regression ? ["x", "target"] : ["x₁", "x₂"];
      this.plot.setBox(box.x, box.y, ...(names as [string, string]));
    }
    this.box = box;
    this.regression = regression;
  }

  /** Draw the newest fit and its slacks. */
  drawFit(): void {
    const { solved, state } = this.store;
    for (const layer of ["regions", "hatch", "lines"]) this.plot.draw(layer);
    this.drawSlacks(solved && state.slacks ? solved : null);
    this.unclear = false;
    if (!solved) return;
    const machine = solved.fit.spec.machine;
    if (isRegression(machine)) this.drawTube(solved);
    else if (machine === "one-class") this.drawLevel(solved);
    else if (solved.fit.classes === 2) this.drawTwo(solved);
    else this.drawSeveral(solved);
  }

  private drawTube({ fit, values, grid, state }: Solved): void {
    const [f, epsilon] = [values[0], fit.parts[0].epsilon!];
    const [low, high] = [f.map((v) => v - epsilon), f.map((v) => v + epsilon)];
    const xs = grid.points;
    if (state.margins) {
      this.plot.draw("regions", this.plot.band(xs, low, high, "region class-0"));
    }
    this.plot.draw(
      "lines",
      state.margins && this.plot.curve(xs, low, "margin"),
      state.margins && this.plot.curve(xs, high, "margin"),
      this.plot.curve(xs, f, "boundary"),
    );
  }

  private drawLevel({ values, grid }: Solved): void {
    this.plot.draw("regions", this.plot.region(grid, values[0], 0, "region class-0"));
    this.plot.draw("lines", this.plot.contour(grid, values[0], 0, "boundary"));
  }

  private drawTwo({ fit, values, grid, problem, state }: Solved): void {
    const [f, [up, down]] = [values[0], fit.parts[0].classes!];
    const minus = f.map((v) => -v);
    this.plot.draw(
      "regions",
      this.plot.region(grid, f, 0, `region class-${problem.present[up]}`),
      this.plot.region(grid, minus, 0, `region class-${problem.present[down]}`),
    );
    this.plot.draw("lines", ...this.margins(grid, f, state.margins));
  }

  private margins(grid: Solved["grid"], f: Float64Array, shown: boolean) {
    const dashed = shown ? [-1, 1].map((v) => this.plot.contour(grid, f, v, "margin")) : [];
    return [...dashed, this.plot.contour(grid, f, 0, "boundary")];
  }

  private drawSeveral({ fit, values, grid, problem, state }: Solved): void {
    const pairs = fit.parts.map((part) => part.classes);
    const { classes, unclear } = regionsOf(pairs, values, fit.classes);
    const fill = (f: Float64Array, k: number) =>
      this.plot.region(grid, f, 0, `region class-${problem.present[k]}`);
    this.plot.draw("regions", ...classes.map(fill));
    const chosen = values[state.part];
    const edges = classes.map((f) => this.plot.contour(grid, f, 0, chosen ? "edge" : "boundary"));
    const own = chosen ? this.margins(grid, chosen, state.margins) : [];
    this.plot.draw("lines", ...edges, ...own);
    this.unclear = unclear !== null;
    if (unclear) {
      const hatched = this.plot.region(grid, unclear, 0, "");
      hatched.setAttribute("fill", `url(#${this.hatch})`);
      this.plot.draw("hatch", this.pattern(), hatched);
    }
  }

  /** Diagonal lines for regions where the vote is unclear. */
  private pattern(): SVGDefsElement {
    const lines = s("path", { d: "M0,7L7,0", class: "hatch-line" });
    const tile = { width: 7, height: 7, patternUnits: "userSpaceOnUse" };
    return s("defs", {}, s("pattern", { id: this.hatch, ...tile }, lines));
  }

  /** Draw points, rings and marks: cheap enough for every frame. */
  drawPoints(): void {
    const { state, solved, editing } = this.store;
    const one = state.spec.machine === "one-class" || isRegression(state.spec.machine);
    const radius = this.plot.width < NARROW ? 4.4 : 5.5;
    const glyphs = state.points.map((p) => this.plot.glyph(p.x, p.y, one ? 0 : p.k, radius));
    const current = solved && solved.state.points.length === state.points.length ? solved : null;
    const rings = current
      ? kinds(shownParts(current), state.points.length).map((kind, i) => {
          const { x, y } = state.points[i];
          const name = kind === "bound" ? "ring at-bound" : "ring";
          return kind !== "none" && this.plot.ring(x, y, name, radius + 3.5);
        })
      : [];
    this.plot.draw("points", ...rings, ...glyphs);
    const marked = [editing.hovered, editing.selected].map((i, which) => {
      const p = state.points[i];
      return p && this.plot.ring(p.x, p.y, which ? "selected" : "hovered", 13);
    });
    const cross = this.cursor && this.plot.text(...this.cursor, "+", "cursor", 0, 8);
    this.plot.draw("marks", ...marked, cross);
  }

  private drawSlacks(solved: Solved | null): void {
    const lines: SVGElement[] = [];
    const numbers: SVGElement[] = [];
    const place = labelPlaces();
    for (const part of solved ? shownParts(solved) : []) {
      const outside = Array.from(part.slack, (_, i) => i).filter((i) => part.slack[i] > 1e-6);
      const slope = slopeOf(solved!.fit.spec.kernel, part, solved!.fit.data.x);
      for (const i of outside.slice(0, this.store.editing.busy ? MOST_LABELS : MOST_PATHS)) {
        const line = this.slackLine(solved!, part, i, slope);
        if (line) lines.push(line);
        if (outside.length > MOST_LABELS) continue;
        const { x, y } = solved!.state.points[part.rows[i]];
        const text = shortNumber(part.slack[i], 2);
        const free = place(this.plot.px(x), this.plot.py(y), text.length);
        if (free) numbers.push(this.plot.text(x, y, text, "slack-number", ...free));
      }
    }
    this.plot.draw("slacks", ...lines);
    this.plot.draw("numbers", ...numbers);
  }

  private slackLine({ fit, state }: Solved, part: Part, i: number, slope: Slope) {
    const { x, y } = state.points[part.rows[i]];
    if (isRegression(fit.spec.machine)) {
      const f = part.decision[i];
      const edge = f + Math.sign(y - f) * part.epsilon!;
      return this.plot.segment(x, y, x, edge, "slack");
    }
    const level = fit.spec.machine === "one-class" ? 0 : 1;
    const straight = fit.spec.kernel.kind === "linear";
    const longest = straight ? Infinity : STEP * this.plot.unit;
    const path = slackPath(slope, [x, y], part.sign[i], level, longest);
    if (!path) return null;
    return this.plot.curve(
      path.map((p) => p[0]),
      path.map((p) => p[1]),
      "slack",
    );
  }

  /** The number of the point under a pixel, or -1. */
  pointAt(px: number, py: number, reach: number): number {
    let [found, nearest] = [-1, reach];
    this.store.state.points.forEach((p, i) => {
      const distance = Math.hypot(this.plot.px(p.x) - px, this.plot.py(p.y) - py);
      if (distance < nearest) [found, nearest] = [i, distance];
    });
    return found;
  }

  /** The numbers of all points within reach of the segment between two pixels. */
  pointsAlong(a: [number, number], b: [number, number], reach: number): number[] {
    const [dx, dy] = [b[0] - a[0], b[1] - a[1]];
    const near = ({ x, y }: { x: number; y: number }) => {
      const [px, py] = [this.plot.px(x) - a[0], this.plot.py(y) - a[1]];
      const t = Math.min(1, Math.max(0, (px * dx + py * dy) / (dx * dx + dy * dy || 1)));
      return Math.hypot(px - t * dx, py - t * dy) <= reach;
    };
    return this.store.state.points.map((p, i) => (near(p) ? i : -1)).filter((i) => i >= 0);
  }

  /** Coordinates inside the frame. */
  inside(x: number, y: number): [number, number] {
    const { box } = this.plot;
    const within = (v: number, [a, b]: Interval) => Math.min(b, Math.max(a, v));
    return [within(x, box.x), within(y, box.y)];
  }
}
