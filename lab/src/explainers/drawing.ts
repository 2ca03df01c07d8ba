// What the pictures of several explainers share: data for the solver, regions, margins, points.

import type { Data, Fit, Part, Spec } from "../svm/fit";
import { decisionValues } from "../svm/fit";
import { s } from "../ui/dom";
import type { Interval, Plot } from "../ui/plot";
import type { Point } from "../ui/url";

export const LINEAR = { kind: "linear", gamma: 1, coef0: 0, degree: 1 } as const;

const CELLS = 70;

/** A machine; what is not given has the defaults of the lab. */
export function machine(given: Partial<Spec>): Spec {
  return {
    machine: "c-svc",
    kernel: LINEAR,
    C: 1,
    nu: 0.5,
    epsilon: 0.1,
    multiclass: "ovo",
    ...given,
  };
}

export const rbf = (gamma: number) => ({ kind: "rbf", gamma, coef0: 0, degree: 1 }) as const;

/** Points of classes in the plane as data of the solver. */
export function planeData(points: readonly Point[]): Data {
  return {
    x: Float64Array.from(points.flatMap(({ x, y }) => [x, y])),
    d: 2,
    y: Float64Array.from(points, ({ k }) => k),
  };
}

/** Points (x, target) of a regression as data of the solver. */
export function lineData(points: readonly Point[]): Data {
  return {
    x: Float64Array.from(points, ({ x }) => x),
    d: 1,
    y: Float64Array.from(points, ({ y }) => y),
  };
}

/** The interval of some values with room around them. */
export function around(values: readonly number[], room = 0.08): Interval {
  const [least, most] = [Math.min(...values), Math.max(...values)];
  return [least - room * (most - least), most + room * (most - least)];
}

/** Evenly spaced exponents of ten: 10^a, ..., 10^b. */
export function decades(a: number, b: number, count: number): number[] {
  return Array.from({ length: count }, (_, i) => 10 ** (a + ((b - a) * i) / (count - 1)));
}

/** A tick of an axis in log10: whole decades are labelled. */
export function decadeTick(t: number): string | null {
  const digits = "⁰¹²³⁴⁵⁶⁷⁸⁹";
  if (!Number.isInteger(t)) return null;
  if (Math.abs(t) <= 2) return String(10 ** t);
  return `10${t < 0 ? "⁻" : ""}${[...String(Math.abs(t))].map((c) => digits[Number(c)]).join("")}`;
}

/** Row i is a support vector at its upper bound. */
export function atBound(part: Part, i: number): boolean {
  return Math.abs(part.coef[i]) >= part.bound[i] * (1 - 1e-9);
}

export function supportVectors(part: Part): number[] {
  return Array.from(part.coef.keys()).filter((i) => part.coef[i] !== 0);
}

/** Regions, boundary and margins of a machine for two classes, into a layer of the plot. */
export function drawMachine(
  plot: Plot,
  layer: string,
  fit: Fit,
  lift: (points: Float64Array) => Float64Array = (points) => points,
): void {
  const grid = plot.grid(CELLS);
  const values = decisionValues(fit, lift(grid.points))[0];
  const [plus, minus] = fit.parts[0].classes ?? [1, 0];
  plot.draw(
    layer,
    plot.region(grid, values, 0, `region class-${plus}`),
    plot.region(
      grid,
      values.map((f) => -f),
      0,
      `region class-${minus}`,
    ),
    plot.contour(grid, values, 1, "margin"),
    plot.contour(grid, values, -1, "margin"),
    plot.contour(grid, values, 0, "boundary"),
  );
}

/** Curve and tube of a regression, into a layer of the plot. */
export function drawCurve(plot: Plot, layer: string, fit: Fit): void {
  const xs = plot.abscissae();
  const f = decisionValues(fit, xs)[0];
  const epsilon = fit.parts[0].epsilon ?? 0;
  const [low, high] = [f.map((v) => v - epsilon), f.map((v) => v + epsilon)];
  plot.draw(
    layer,
    plot.band(xs, low, high, "region class-0"),
    plot.curve(xs, low, "margin"),
    plot.curve(xs, high, "margin"),
    plot.curve(xs, f, "boundary"),
  );
}

/** The points, with rings around support vectors; a dashed ring is one at its bound. */
export function pointNodes(plot: Plot, points: readonly Point[], part: Part): SVGElement[] {
  const glyphs = points.map(({ x, y, k }) => plot.glyph(x, y, k));
  const rings = supportVectors(part).map((i) => {
    const { x, y } = points[part.rows[i]];
    return plot.ring(x, y, atBound(part, i) ? "ring at-bound" : "ring");
  });
  return [...glyphs, ...rings];
}

/** A vertical bar from zero to `value` at abscissa x. */
export function bar(plot: Plot, x: number, value: number, className: string): SVGRectElement {
  const [left, right] = [plot.px(x - 0.36), plot.px(x + 0.36)];
  const [top, bottom] = [plot.py(Math.max(0, value)), plot.py(Math.min(0, value))];
  const place = { x: left, y: top, width: right - left, height: Math.max(0.5, bottom - top) };
  return s("rect", { ...place, class: `bar ${className}` });
}

/** A number with its sign and three decimals. */
export const signed = (value: number): string =>
  `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(3)}`;

interface Label {
  x: number;
  y: number;
  text: string;
}

const LETTER = 6.6; // pixels
const LINE = 12;

/** Texts beside their points, on a side where neither a point nor another text is, if there is one. */
export function labels(
  plot: Plot,
  points: readonly Point[],
  texts: readonly Label[],
): SVGElement[] {
  const taken = points.map(({ x, y }) => ({ x: plot.px(x), y: plot.py(y), w: 7, h: 7 }));
  return texts.map(({ x, y, text }) => {
    const half = (LETTER * text.length) / 2;
    const sides = [
      [11 + half, -11],
      [-11 - half, -11],
      [11 + half, 13],
      [-11 - half, 13],
      [0, -17],
      [0, 19],
    ];
    const hits = ([dx, dy]: number[]): number => {
      const [px, py] = [plot.px(x) + dx, plot.py(y) + dy];
      return taken.filter(
        (box) => Math.abs(box.x - px) < half + box.w && Math.abs(box.y - py) < LINE / 2 + box.h,
      ).length;
    };
    const best = sides.reduce((one, other) => (hits(other) < hits(one) ? other : one));
    taken.push({ x: plot.px(x) + best[0], y: plot.py(y) + best[1], w: half, h: LINE / 2 });
    return plot.text(x, y, text, "value", best[0] - half, best[1] + 4);
  });
}

/** Names of lines with a piece of each, in the upper left or right corner of the plot. */
export function legend(
  plot: Plot,
  lines: readonly [string, string][],
  right = false,
): SVGElement[] {
  const { x, y } = plot.box;
  const top = plot.py(y[1]) + 18;
  const widest = Math.max(...lines.map(([name]) => name.length));
  const left = right ? plot.px(x[1]) - LETTER * widest - 48 : plot.px(x[0]) + 10;
  return lines.flatMap(([name, className], k) => {
    const at = top + 17 * k;
    return [
      s("line", { x1: left, x2: left + 26, y1: at - 4, y2: at - 4, class: `swatch ${className}` }),
      s("text", { x: left + 33, y: at, class: "legend-name" }, name),
    ];
  });
}
