// The kernel trick seen from the side: points of the plane lifted into space, where a plane
// separates them, and what that plane is in the plane of the points.
//
//     f(x) = w'phi(x) + b,   and for phi(x) = (x1^2, x2^2, sqrt(2) x1 x2):  phi(x)'phi(z) = (x'z)^2

import { makeSet } from "../data/sets";
import { type Data, fit, type Fit } from "../svm/fit";
import { segments, select, shortNumber } from "../ui/controls";
import { eachFrame } from "../ui/dom";
import { numberParam, type Point, wordParam } from "../ui/url";
import { drawMachine, machine, planeData, pointNodes, signed, supportVectors } from "./drawing";
import type { Explainer, Row, Stage } from "./frame";
import { type Lift, LIFTS, type Vector } from "./math/space";
import { type Cloud, Scene } from "./scene";

const SETS = ["xor", "rings"] as const;
const LIFT_NAMES = ["product", "squares", "quadratic"] as const;
const SQUARE = { kind: "poly", gamma: 1, coef0: 0, degree: 2 } as const;
const PRICE = 10;
const DEFAULTS = { set: "xor", lift: "product", height: 1, turn: 30, tilt: 20 };

export const lift: Explainer = {
  name: "lift",
  title: "Lifting XOR and rings into space",
  summary: "Points that no line separates, lifted to where a plane does. Turn the space yourself.",
  lecture: "fan",
  section: "SVM with Kernels",
  text: [
    "No line separates the corners of XOR, nor a ring from what it surrounds. A map $\\phi$ gives each " +
      "point a third coordinate, computed from the first two, and in space a plane may separate " +
      "what no line could. Seen in the plane of the points again, that flat boundary is a curve.",
    "$$f(x) = w^\\top\\phi(x) + b = \\sum_i a_i y_i\\, \\underbrace{\\phi(x_i)^\\top\\phi(x)}_{k(x_i,\\,x)} + b",
    "The machine only ever needs the inner products $\\phi(x_i)^\\top\\phi(x)$, and a kernel computes " +
      "them without going into space: for $\\phi(x) = (x_1^2,\\ x_2^2,\\ \\sqrt2\\,x_1x_2)$ the inner " +
      "product is $(x_i^\\top x)^2$. The numbers below compare the plane in space with the kernel in the plane.",
  ],
  tasks: [
    "Slide the height from 0 to 1 and watch the points rise. Drag the picture, or use the arrow " +
      "keys, to turn it until you look along the plane.",
    "Lift XOR by $x_1^2 + x_2^2$. How many points are wrong now, and why?",
    "Choose the third map: it works for both sets, and gives the same values as the kernel $(x^\\top z)^2$.",
  ],
  mount(stage: Stage) {
    const { params } = stage;
    const state = {
      set: wordParam(params, "set", SETS, "xor"),
      lift: wordParam(params, "lift", LIFT_NAMES, "product"),
      height: numberParam(params, "height", DEFAULTS.height, 0, 1),
      turn: numberParam(params, "turn", DEFAULTS.turn, -360, 360),
      tilt: numberParam(params, "tilt", DEFAULTS.tilt, -90, 90),
    };
    addChoices(stage, state, () => redraw());
    const scene = new Scene(state, () => look());
    stage.figure(
      scene.element,
      "The lifted points and the plane that separates them. Drag to turn.",
    );
    const plane = planeFigure(stage);
    let cloud: Cloud;
    const look = eachFrame(() => {
      scene.draw(cloud, state.height);
      stage.save(state, DEFAULTS);
    });
    const redraw = eachFrame(() =>
      stage.attempt(() => {
        const points = pointsOf(state.set);
        const map = LIFTS[state.lift];
        const data = lifted(points, map);
        const found = fit(machine({ C: PRICE }), data);
        cloud = { points, map, ...planeOf(found) };
        drawMachine(plane, "machine", found, (grid) => liftAll(grid, map));
        plane.draw("points", ...pointNodes(plane, points, found.parts[0]));
        report(stage, found, points, state.lift);
        stage.share(machine({ kernel: SQUARE, C: PRICE }), points);
        look();
      }),
    );
    plane.onResize(redraw);
    redraw();
  },
};

type State = { set: (typeof SETS)[number]; lift: (typeof LIFT_NAMES)[number]; height: number };

function addChoices(stage: Stage, state: State, redraw: () => void): void {
  const sets = segments({
    label: "Points",
    choices: [
      { value: "xor", label: "XOR" },
      { value: "rings", label: "Rings" },
    ],
    value: state.set,
    change: (value) => {
      state.set = value;
      redraw();
    },
  });
  const maps = select({
    label: "Map into space",
    choices: LIFT_NAMES.map((value) => ({ value, label: LIFTS[value].name })),
    value: state.lift,
    change: (value) => {
      state.lift = value;
      redraw();
    },
  });
  stage.controls.append(sets.element, maps.element);
  const height = { label: "Height (0: still flat, 1: lifted)", least: 0, most: 1, step: 0.02 };
  stage.slider(state, "height", height, redraw);
}

function planeFigure(stage: Stage) {
  return stage.plot(
    {
      label: "The points in the plane, and the boundary that the plane in space leaves there",
      x: [-1.7, 1.7],
      y: [-1.7, 1.7],
      equal: true,
      aspect: 1.15,
      layers: ["machine", "points"],
      xLabel: "x₁",
      yLabel: "x₂",
    },
    "The same machine in the plane: where $w^\\top\\phi(x) + b$ is 0 (solid) and $\\pm1$ (dashed).",
  );
}

const pointsOf = (set: State["set"]): Point[] =>
  set === "xor" ? makeSet("xor", 40, 0.22, 3) : makeSet("rings", 60, 0.08, 2);

function liftAll(points: Float64Array, map: Lift): Float64Array {
  const all = new Float64Array((3 * points.length) / 2);
  for (let i = 0; 2 * i < points.length; i++)
    all.set(map.of(points[2 * i], points[2 * i + 1]), 3 * i);
  return all;
}

function lifted(points: readonly Point[], map: Lift): Data {
  const flat = planeData(points);
  return { x: liftAll(flat.x, map), d: 3, y: flat.y };
}

/** w = sum_i coef_i phi(x_i) and b. */
function planeOf({ parts: [part], data }: Fit): { w: Vector; b: number } {
  const w = [0, 0, 0];
  part.coef.forEach((c, i) => {
    for (let k = 0; k < 3; k++) w[k] += c * data.x[3 * part.rows[i] + k];
  });
  return { w: w as unknown as Vector, b: part.intercept };
}

function report(stage: Stage, found: Fit, points: readonly Point[], name: State["lift"]): void {
  const part = found.parts[0];
  const { w, b } = planeOf(found);
  const wrong = part.slack.filter((xi) => xi > 1).length;
  stage.numbers(
    [
      ["w", "Normal $w$ of the plane", `(${w.map(signed).join(", ")})`],
      ["b", "Bias $b$", signed(b)],
      ["wrong", "Points on the wrong side", `${wrong} of ${points.length}`],
      ["support", "Support vectors", String(supportVectors(part).length)],
      ["width", "Width of the margin in space $2/\\|w\\|$", shortNumber(2 * (part.margin ?? 0))],
      ...(name === "quadratic" ? [difference(found, points)] : []),
    ],
    `${wrong} of ${points.length} points are on the wrong side of the plane.`,
  );
}

/** The machine in space against the kernel (x'z)^2 in the plane: they are the same. */
function difference({ parts: [part] }: Fit, points: readonly Point[]): Row {
  const kernel = fit(machine({ kernel: SQUARE, C: PRICE }), planeData(points));
  const apart = Math.max(...part.decision.map((f, i) => Math.abs(f - kernel.parts[0].decision[i])));
  const name = "Largest difference of $f(x_i)$ from the kernel $(x^\\top z)^2$ in the plane";
  return ["apart", name, shortNumber(apart, 2)];
}
