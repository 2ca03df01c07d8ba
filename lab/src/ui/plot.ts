// A plot of the plane as SVG: axes, regions, contour lines, curves and points, all vectors.
//
// The plot fills the width of its parent. Its frame shows at least the box of data x by y; with
// `equal` one unit is as long on both axes, and the box grows in one direction. Everything is drawn
// into named layers, in data coordinates:
//
//     const plot = new Plot({ label: "…", x: [-1, 1], y: [-1, 1], layers: ["fill", "dots"] });
//     root.append(plot.element);
//     const grid = plot.grid(80);                          // where to evaluate a function
//     plot.draw("fill", plot.region(grid, values, 0, "region class-1"));
//     plot.draw("dots", plot.glyph(0.3, 0.4, 1), plot.ring(0.3, 0.4));
//     plot.onPointer({ down: (at) => …, move: …, up: …, hover: … });   // `at` in data coordinates
//     plot.onResize(redraw);                               // the box of data may have changed
//
// Grids reach one cell beyond the frame: contours close outside, where the clip hides it.

import { scaleLinear, type ScaleLinear } from "d3-scale";
import { type Child, newId, s } from "./dom";
import { type AxisNames, drawAxes } from "./axes";
import { type Grid, outline } from "./contour";
import { glyph } from "./marks";
import { followPointer, type Place, type PointerHandlers } from "./pointer";

export type { Grid, Place, PointerHandlers };

export type Interval = [number, number];

export interface PlotOptions extends AxisNames {
  /** What a screen reader says. */
  label: string;
  x: Interval;
  y: Interval;
  /** Names of layers from back to front. */
  layers: string[];
  equal?: boolean;
  /** Width divided by height; a function of the width where it should depend on it. */
  aspect?: number | ((width: number) => number);
  /** The plot takes the keyboard focus and all touches. */
  interactive?: boolean;
}

const SMALLEST = 240;
const ROOM = { left: 40, right: 10, top: 10, bottom: 32 };

export class Plot {
  readonly element: SVGSVGElement;
  width = 640;
  height = 480;
  private readonly options: PlotOptions;
  private x: ScaleLinear<number, number> = scaleLinear();
  private y: ScaleLinear<number, number> = scaleLinear();
  private readonly layers = new Map<string, SVGGElement>();
  private readonly axes = s("g", { class: "axes" });
  private readonly frame = s("rect", { class: "frame" });
  private readonly window = s("rect");
  private readonly resized: (() => void)[] = [];
  private readonly observer: ResizeObserver;

  constructor(options: PlotOptions) {
    this.options = { ...options };
    const clip = newId("clip");
    const role = options.interactive
      ? { role: "application", tabindex: 0, "aria-roledescription": "plot" }
      : { role: "img" };
    this.element = s(
      "svg",
      {
        class: `plot${options.interactive ? " interactive" : ""}`,
        "aria-label": options.label,
        ...role,
      },
      s("defs", {}, s("clipPath", { id: clip }, this.window)),
      this.frame,
      this.axes,
    );
    for (const name of options.layers) {
      const layer = s("g", { class: `layer layer-${name}` });
      this.layers.set(name, layer);
      this.element.append(s("g", { "clip-path": `url(#${clip})` }, layer));
    }
    this.observer = new ResizeObserver(() => this.fitToParent());
    this.observer.observe(this.element);
    this.layOut();
  }

  /** Stop watching the size. */
  close(): void {
    this.observer.disconnect();
  }

  set label(text: string) {
    this.element.setAttribute("aria-label", text);
  }

  /** Show another box of data. */
  setBox(
    x: Interval,
    y: Interval,
    xLabel = this.options.xLabel,
    yLabel = this.options.yLabel,
  ): void {
    Object.assign(this.options, { x, y, xLabel, yLabel });
    this.layOut();
  }

  setEqual(equal: boolean): void {
    this.options.equal = equal;
    this.layOut();
  }

  /** Call after the size, and with it the visible box, has changed. */
  onResize(callback: () => void): void {
    this.resized.push(callback);
  }

  /** The visible box of data. */
  get box(): { x: Interval; y: Interval } {
    return { x: this.x.domain() as Interval, y: this.y.domain() as Interval };
  }

  px = (x: number): number => this.x(x);
  py = (y: number): number => this.y(y);

  /** Data coordinates of a pixel. */
  at = (px: number, py: number): [number, number] => [this.x.invert(px), this.y.invert(py)];

  /** The length of one pixel in units of x. */
  get unit(): number {
    return Math.abs(this.x.invert(1) - this.x.invert(0));
  }

  /** Replace what a layer holds. */
  draw(layer: string, ...children: Child[]): void {
    const nodes = children.filter((child): child is Node | string => !!child);
    this.layers.get(layer)?.replaceChildren(...nodes);
  }

  /** A grid of about `columns` square cells across the frame, and one cell beyond it. */
  grid(columns: number): Grid {
    const [left, right] = this.x.range() as Interval;
    const [bottom, top] = this.y.range() as Interval;
    const cell = (right - left) / columns;
    const rows = Math.ceil((bottom - top) / cell) + 3;
    const across = columns + 3;
    const points = new Float64Array(2 * across * rows);
    for (let j = 0, at = 0; j < rows; j += 1) {
      for (let i = 0; i < across; i += 1, at += 2) {
        points[at] = this.x.invert(left + (i - 1) * cell);
        points[at + 1] = this.y.invert(top + (j - 1) * cell);
      }
    }
    return { points, columns: across, rows };
  }

  /** Evenly spaced x over the frame, for curves. */
  abscissae(count = 200): Float64Array {
    const [a, b] = this.x.domain() as Interval;
    return Float64Array.from({ length: count }, (_, i) => a + ((b - a) * i) / (count - 1));
  }

  /** The region where the values on a grid are at least `level`. */
  region(grid: Grid, values: ArrayLike<number>, level: number, className: string): SVGPathElement {
    return s("path", {
      d: outline(grid, values, level, this.px, this.py),
      class: className,
      "fill-rule": "evenodd",
    });
  }

  /** The line where the values on a grid cross `level`. */
  contour(grid: Grid, values: ArrayLike<number>, level: number, className: string): SVGPathElement {
    return s("path", {
      d: outline(grid, values, level, this.px, this.py),
      class: `contour ${className}`,
    });
  }

  /** A line through points of data. */
  curve(xs: ArrayLike<number>, ys: ArrayLike<number>, className: string): SVGPathElement {
    const places = Array.from(
      xs,
      (x, i) => `${this.px(x).toFixed(2)},${this.py(ys[i]).toFixed(2)}`,
    );
    return s("path", {
      d: places.length ? `M${places.join("L")}` : "",
      class: `curve ${className}`,
    });
  }

  /** The band between two functions of x. */
  band(
    xs: ArrayLike<number>,
    low: ArrayLike<number>,
    high: ArrayLike<number>,
    className: string,
  ): SVGPathElement {
    const at = (x: number, y: number) => `${this.px(x).toFixed(2)},${this.py(y).toFixed(2)}`;
    const up = Array.from(xs, (x, i) => at(x, high[i]));
    const down = Array.from(xs, (x, i) => at(x, low[i])).reverse();
    return s("path", { d: `M${[...up, ...down].join("L")}Z`, class: className });
  }

  segment(x1: number, y1: number, x2: number, y2: number, className: string): SVGLineElement {
    const ends = { x1: this.px(x1), y1: this.py(y1), x2: this.px(x2), y2: this.py(y2) };
    return s("line", { ...ends, class: className });
  }

  /** The glyph of class k at a point of data. */
  glyph(x: number, y: number, k: number, radius = 5.5, className = ""): SVGPathElement {
    return glyph(this.px(x), this.py(y), k, radius, className);
  }

  ring(x: number, y: number, className = "ring", radius = 9): SVGCircleElement {
    return s("circle", { cx: this.px(x), cy: this.py(y), r: radius, class: className });
  }

  /** Text at a point of data, moved by (dx, dy) pixels. */
  text(x: number, y: number, text: string, className: string, dx = 0, dy = 0): SVGTextElement {
    return s("text", { x: this.px(x) + dx, y: this.py(y) + dy, class: className }, text);
  }

  /** Pointer events in data coordinates; a pointer that goes down is followed until it is up. */
  onPointer(handlers: PointerHandlers): void {
    followPointer(this, handlers);
  }

  /** Whether a pixel lies inside the axes. */
  inFrame(px: number, py: number): boolean {
    const [left, right] = this.x.range() as Interval;
    const [bottom, top] = this.y.range() as Interval;
    return px >= left && px <= right && py >= top && py <= bottom;
  }

  private fitToParent(): void {
    const width = Math.max(SMALLEST, Math.round(this.element.getBoundingClientRect().width));
    if (width === this.width) return;
    this.width = width;
    this.layOut();
    for (const callback of this.resized) callback();
  }

  private layOut(): void {
    const { aspect = 4 / 3, equal, xLabel, yLabel } = this.options;
    this.height = Math.round(
      this.width / (typeof aspect === "function" ? aspect(this.width) : aspect),
    );
    this.element.setAttribute("viewBox", `0 0 ${this.width} ${this.height}`);
    const left = ROOM.left + (yLabel ? 14 : 0);
    const bottom = this.height - ROOM.bottom - (xLabel ? 12 : 0);
    const [across, up] = [this.width - left - ROOM.right, bottom - ROOM.top];
    let { x, y } = this.options;
    if (equal) {
      const unit = Math.max((x[1] - x[0]) / across, (y[1] - y[0]) / up);
      x = widened(x, unit * across);
      y = widened(y, unit * up);
    }
    this.x = scaleLinear(x, [left, left + across]);
    this.y = scaleLinear(y, [bottom, ROOM.top]);
    const frame = { x: left, y: ROOM.top, width: across, height: up };
    for (const [name, value] of Object.entries(frame)) {
      this.frame.setAttribute(name, String(value));
      this.window.setAttribute(name, String(value));
    }
    drawAxes(this.axes, this.x, this.y, this.height, this.options);
  }
}

/** An interval of the given length around the same middle. */
function widened([a, b]: Interval, length: number): Interval {
  const middle = (a + b) / 2;
  return [middle - length / 2, middle + length / 2];
}
