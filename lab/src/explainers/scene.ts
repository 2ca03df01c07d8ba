// The space of the lift as SVG: a box, the lifted points, the plane. An orthographic view.
//
// While height h runs from 0 to 1, a point is drawn at (1 - h) (x1, x2, 0) + h phi(x). Each axis is
// scaled to [-1, 1]: with p = centre + half q the plane w'p + b = 0 becomes
// (w half)'q + (w'centre + b) = 0.

import { s } from "../ui/dom";
import { glyph } from "../ui/marks";
import type { Point } from "../ui/url";
import { basis, dot, type Lift, planeInBox, type Vector } from "./math/space";

export interface Cloud {
  points: readonly Point[];
  map: Lift;
  w: Vector;
  b: number;
}

export interface Angles {
  /** Degrees. */
  turn: number;
  tilt: number;
}

const [WIDTH, HEIGHT, UNIT] = [400, 360, 97];
const DEGREE = Math.PI / 180;
const KEY_STEP = 5;
const DRAG = 0.5; // degrees for a pixel

export class Scene {
  readonly element: SVGSVGElement;

  constructor(
    private readonly angles: Angles,
    private readonly turned: () => void,
  ) {
    this.element = s("svg", {
      viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
      class: "plot scene",
      role: "application",
      "aria-roledescription": "space",
      tabindex: 0,
      "aria-label": "The lifted points in space; arrow keys turn it",
    });
    this.element.addEventListener("keydown", (event) => this.key(event));
    this.drag();
  }

  private key(event: KeyboardEvent): void {
    const moves: Record<string, [number, number]> = {
      ArrowLeft: [KEY_STEP, 0],
      ArrowRight: [-KEY_STEP, 0],
      ArrowUp: [0, -KEY_STEP],
      ArrowDown: [0, KEY_STEP],
    };
    const by = moves[event.key];
    if (!by) return;
    event.preventDefault();
    this.turn(...by);
  }

  private turn(around: number, up: number): void {
    const { turn, tilt } = this.angles;
    this.angles.turn = Math.round((((turn + around) % 360) + 360) % 360);
    this.angles.tilt = Math.round(Math.max(-90, Math.min(90, tilt + up)));
    this.turned();
  }

  private drag(): void {
    let last: PointerEvent | null = null;
    const { element } = this;
    element.addEventListener("pointerdown", (event) => {
      last = event;
      element.setPointerCapture(event.pointerId);
    });
    element.addEventListener("pointermove", (event) => {
      if (!last || event.pointerId !== last.pointerId) return;
      const [dx, dy] = [event.clientX - last.clientX, event.clientY - last.clientY];
      if (Math.abs(dx) + Math.abs(dy) < 2) return;
      last = event;
      this.turn(-DRAG * dx, DRAG * dy);
    });
    const end = (): void => {
      last = null;
    };
    element.addEventListener("pointerup", end);
    element.addEventListener("pointercancel", end);
  }

  draw({ points, map, w, b }: Cloud, height: number): void {
    const { centre, half } = scaling(points, map);
    const q = (p: Vector): Vector => each((k) => (p[k] - centre[k]) / half[k]);
    const camera = { azimuth: this.angles.turn * DEGREE, elevation: this.angles.tilt * DEGREE };
    const { r, t, n } = basis(camera);
    const at = (p: Vector): [number, number] => [
      WIDTH / 2 + UNIT * dot(r, p),
      HEIGHT / 2 - UNIT * dot(t, p),
    ];
    const normal = each((k) => w[k] * half[k]);
    const offset = dot(w, centre) + b;
    const facing = Math.sign(dot(normal, n)) || 1;
    const placed = points.map((point) => {
      const place = q(between(point, map, height));
      const front = (dot(normal, place) + offset) * facing > 0;
      return { point, place, front, depth: dot(n, place) };
    });
    placed.sort((one, other) => one.depth - other.depth);
    const mark = ({ point, place }: (typeof placed)[number]): SVGElement => {
      const [x, y] = at(place);
      return glyph(x, y, point.k, 5);
    };
    const whole = height === 1;
    this.element.replaceChildren(
      ...edges(at, n, map),
      ...placed.filter(({ front }) => !front || !whole).map(mark),
      whole ? polygon(planeInBox(normal, offset), at) : "",
      ...placed.filter(({ front }) => front && whole).map(mark),
    );
  }
}

const each = (make: (k: number) => number): Vector => [make(0), make(1), make(2)];

function between({ x, y }: Point, map: Lift, height: number): Vector {
  const [flat, up] = [[x, y, 0], map.of(x, y)];
  return each((k) => (1 - height) * flat[k] + height * up[k]);
}

/** Middle and half length of each axis, over the flat and the lifted points, with some room. */
function scaling(points: readonly Point[], map: Lift): { centre: Vector; half: Vector } {
  const all = points.flatMap((p) => [between(p, map, 0), between(p, map, 1)]);
  const ends = (k: number) => [
    Math.min(...all.map((p) => p[k])),
    Math.max(...all.map((p) => p[k])),
  ];
  return {
    centre: each((k) => (ends(k)[0] + ends(k)[1]) / 2),
    half: each((k) => 0.55 * (ends(k)[1] - ends(k)[0])),
  };
}

type Project = (p: Vector) => [number, number];

/** The edges of the box, those behind first and paler, and the names of the axes. */
function edges(at: Project, n: Vector, map: Lift): SVGElement[] {
  const lines: { depth: number; node: SVGElement }[] = [];
  for (let axis = 0; axis < 3; axis++) {
    for (const u of [-1, 1]) {
      for (const v of [-1, 1]) {
        const end = (e: number): Vector =>
          each((k) => (k === axis ? e : k === (axis + 1) % 3 ? u : v));
        const [[x1, y1], [x2, y2]] = [at(end(-1)), at(end(1))];
        const depth = dot(n, end(0));
        const node = s("line", { x1, y1, x2, y2, class: depth < 0 ? "edge far" : "edge" });
        lines.push({ depth, node });
      }
    }
  }
  lines.sort((one, other) => one.depth - other.depth);
  const names = map.axes.map((name, axis) => axisName(name, axis, at));
  return [...lines.map(({ node }) => node), ...names];
}

/** The name beside the edge along the axis that is farthest out, the lowest of these. */
function axisName(name: string, axis: number, at: Project): SVGElement {
  const [cx, cy] = [WIDTH / 2, HEIGHT / 2];
  const middles = [-1, 1].flatMap((u) =>
    [-1, 1].map((v) => at(each((k) => (k === axis ? 0 : k === (axis + 1) % 3 ? u : v)))),
  );
  const out = ([x, y]: [number, number]): number => Math.hypot(x - cx, y - cy) + 0.1 * (y - cy);
  const [x, y] = middles.reduce((one, other) => (out(other) > out(one) + 1e-9 ? other : one));
  const size = Math.hypot(x - cx, y - cy) || 1;
  const anchor = x < cx - 30 ? "end" : x > cx + 30 ? "start" : "middle";
  const place = { x: x + (14 * (x - cx)) / size, y: y + (16 * (y - cy)) / size + 4 };
  return s("text", { ...place, class: "axis-name", "text-anchor": anchor }, name);
}

function polygon(corners: readonly Vector[], at: Project): SVGElement {
  const places = corners.map((p) =>
    at(p)
      .map((v) => v.toFixed(1))
      .join(","),
  );
  return s("polygon", { points: places.join(" "), class: "plane" });
}
