// Ticks, grid lines and labels of a plot.

import type { ScaleLinear } from "d3-scale";
import { s } from "./dom";

type Scale = ScaleLinear<number, number>;

const ACROSS = 90; // pixels between ticks, about
const UP = 70;

export interface AxisNames {
  xLabel?: string | undefined;
  yLabel?: string | undefined;
  /** The name of a tick, null: no tick there; for axes of logarithms or of whole numbers. */
  tickX?: (t: number) => string | null;
  tickY?: (t: number) => string | null;
}

export function drawAxes(
  axes: SVGGElement,
  x: Scale,
  y: Scale,
  height: number,
  { xLabel, yLabel, tickX, tickY }: AxisNames,
): void {
  const [left, right] = x.range();
  const [bottom, top] = y.range();
  const nodes: SVGElement[] = [];
  for (const [t, name] of ticks(x, ACROSS, tickX)) {
    nodes.push(s("line", { x1: x(t), x2: x(t), y1: bottom, y2: top, class: "gridline" }));
    nodes.push(s("text", { x: x(t), y: bottom + 17, class: "tick tick-x" }, name));
  }
  for (const [t, name] of ticks(y, UP, tickY)) {
    nodes.push(s("line", { x1: left, x2: right, y1: y(t), y2: y(t), class: "gridline" }));
    nodes.push(s("text", { x: left - 7, y: y(t) + 4, class: "tick tick-y" }, name));
  }
  if (xLabel) {
    nodes.push(s("text", { x: (left + right) / 2, y: height - 7, class: "axis-label" }, xLabel));
  }
  if (yLabel) {
    const turned = `translate(13,${(top + bottom) / 2}) rotate(-90)`;
    nodes.push(s("text", { transform: turned, class: "axis-label" }, yLabel));
  }
  axes.replaceChildren(...nodes);
}

/** Round values of a scale with their names, about one in `spacing` pixels. */
function ticks(scale: Scale, spacing: number, name?: AxisNames["tickX"]): [number, string][] {
  const [a, b] = scale.range();
  const count = Math.max(3, Math.round(Math.abs(b - a) / spacing));
  const format = scale.tickFormat(count);
  const nameOf = name ?? ((t: number) => format(t).replace(/^[-−]0$/, "0"));
  return scale.ticks(count).flatMap((t): [number, string][] => {
    const text = nameOf(t);
    return text === null ? [] : [[t, text]];
  });
}
