// A cross that the pointer and the arrow keys move over a plot.

import { s } from "../ui/dom";
import type { Plot } from "../ui/plot";

export type Spot = { x: number; y: number };

const [STEP, LARGE_STEP] = [0.05, 0.25];

export function cross(plot: Plot, at: Spot): SVGElement[] {
  const [px, py] = [plot.px(at.x), plot.py(at.y)];
  return [
    s("path", { d: `M${px - 11},${py}H${px + 11}M${px},${py - 11}V${py + 11}`, class: "cross" }),
    s("circle", { cx: px, cy: py, r: 5, class: "cross" }),
  ];
}

/** Pointer and arrow keys (with Shift: larger steps) move the spot inside the frame. */
export function follow(plot: Plot, at: Spot, moved: () => void): void {
  const go = (x: number, y: number): void => {
    const box = plot.box;
    at.x = Number(Math.min(box.x[1], Math.max(box.x[0], x)).toFixed(3));
    at.y = Number(Math.min(box.y[1], Math.max(box.y[0], y)).toFixed(3));
    moved();
  };
  plot.onPointer({
    down: ({ x, y }) => go(x, y),
    move: ({ x, y }) => go(x, y),
    hover: (place) => place && go(place.x, place.y),
  });
  plot.element.addEventListener("keydown", (event) => {
    const by = arrow(event);
    if (!by) return;
    event.preventDefault();
    go(at.x + by[0], at.y + by[1]);
  });
}

/** The step of an arrow key in the plane, or null. */
export function arrow({ key, shiftKey }: KeyboardEvent): [number, number] | null {
  const step = shiftKey ? LARGE_STEP : STEP;
  if (key === "ArrowLeft") return [-step, 0];
  if (key === "ArrowRight") return [step, 0];
  if (key === "ArrowUp") return [0, step];
  return key === "ArrowDown" ? [0, -step] : null;
}
