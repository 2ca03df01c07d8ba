// The Gaussian kernel as weighted neighbours, and what its width does.
//
//     f(x) = sum_i weight_i(x) + b,   weight_i(x) = y_i a_i exp(-gamma |x - x_i|^2),
//     gamma = 1 / (2 sigma^2)

import { makeSet } from "../data/sets";
import { fit, type Fit } from "../svm/fit";
import { shortNumber } from "../ui/controls";
import { eachFrame, h } from "../ui/dom";
import type { Plot } from "../ui/plot";
import { numberParam, type Point } from "../ui/url";
import {
  around,
  bar,
  drawMachine,
  machine,
  planeData,
  pointNodes,
  rbf,
  signed,
  supportVectors,
} from "./drawing";
import { cross, follow, type Spot } from "./cross";
import type { Explainer, Stage } from "./frame";

const SHOWN = 12;
const NEAREST = 5;
const DEFAULTS = { gamma: 2, C: 1, x: 0.6, y: 0.1 };

type State = typeof DEFAULTS;

interface Weight {
  i: number;
  distance: number;
  kernel: number;
  weight: number;
}

/** The weight of each support vector at (x, y), the largest first. */
export function weightsAt(found: Fit, x: number, y: number): Weight[] {
  const {
    parts: [part],
    data,
    spec,
  } = found;
  const all = supportVectors(part).map((i) => {
    const row = part.rows[i];
    const distance = Math.hypot(x - data.x[2 * row], y - data.x[2 * row + 1]);
    const kernel = Math.exp(-spec.kernel.gamma * distance ** 2);
    return { i: row, distance, kernel, weight: part.coef[i] * kernel };
  });
  return all.sort((a, b) => Math.abs(b.weight) - Math.abs(a.weight));
}

/** How many of the nearest points are of class 1. */
export function neighbours(points: readonly Point[], x: number, y: number): number {
  const far = ({ x: a, y: b }: Point): number => Math.hypot(x - a, y - b);
  const nearest = [...points].sort((p, q) => far(p) - far(q)).slice(0, NEAREST);
  return nearest.filter(({ k }) => k === 1).length;
}

export const gaussian: Explainer = {
  name: "gaussian",
  title: "The Gaussian kernel as weighted neighbours",
  summary: "Move a point: each support vector votes with a weight that fades with its distance.",
  lecture: "straka",
  section: "SVM With RBF",
  text: [
    "A machine with a Gaussian (RBF) kernel asks its support vectors for their opinion. Each one " +
      "votes for its own class, and its vote fades with the distance to $x$:",
    "$$f(x) = \\sum_i \\underbrace{y_i a_i\\, e^{-\\gamma\\|x - x_i\\|^2}}_{\\text{weight of }x_i} + b," +
      "\\qquad \\gamma = \\frac{1}{2\\sigma^2}",
    "This is a better variant of the $k$ nearest neighbours: nobody has to choose $k$, near points " +
      "count more than far ones, and points that the boundary does not need have no vote. The width " +
      "$\\sigma$ says what “near” means. A wide kernel lets everyone speak everywhere, and the " +
      "boundary is almost straight; a narrow one listens to the very nearest only, and each point " +
      "gets an island of its own.",
  ],
  tasks: [
    "Move the cross over the picture (with the pointer, or the arrow keys) and watch the votes change.",
    "Raise $\\gamma$ to 50. Far from all points every weight is zero: what is $f(x)$ there?",
    "Lower $\\gamma$ to 0.05. How many support vectors does the cross listen to now?",
  ],
  mount(stage: Stage) {
    const points = makeSet("moons", 60, 0.18, 4);
    const data = planeData(points);
    const state = {
      gamma: numberParam(stage.params, "gamma", DEFAULTS.gamma, 0.01, 100),
      C: numberParam(stage.params, "C", DEFAULTS.C, 0.01, 1000),
      x: numberParam(stage.params, "x", DEFAULTS.x, -10, 10),
      y: numberParam(stage.params, "y", DEFAULTS.y, -10, 10),
    };
    const plane = planeFigure(stage, points);
    const bars = barFigure(stage);
    const table = h("tbody");
    stage.append(weightTable(table));
    let found: Fit;
    const ask = (): void => {
      const weights = weightsAt(found, state.x, state.y);
      drawCross(plane, points, weights, state);
      drawBars(bars, points, weights);
      table.replaceChildren(...weights.slice(0, SHOWN).map((w, rank) => tableRow(w, rank, points)));
      report(stage, found, points, weights, state);
      stage.save(state, DEFAULTS);
    };
    const refit = (): void => {
      found = fit(machine({ kernel: rbf(state.gamma), C: state.C }), data);
      drawMachine(plane, "machine", found);
      plane.draw("points", ...pointNodes(plane, points, found.parts[0]));
      stage.share(found.spec, points);
      ask();
    };
    const redraw = eachFrame(() => stage.attempt(refit));
    const gamma = { label: "Narrowness of the kernel", tex: "\\gamma", least: 0.01, most: 100 };
    stage.slider(state, "gamma", gamma, redraw);
    stage.slider(
      state,
      "C",
      { label: "Price of slack", tex: "C", least: 0.01, most: 1000 },
      redraw,
    );
    follow(
      plane,
      state,
      eachFrame(() => stage.attempt(ask)),
    );
    plane.onResize(redraw);
    bars.onResize(redraw);
    redraw();
  },
};

function planeFigure(stage: Stage, points: readonly Point[]): Plot {
  return stage.plot(
    {
      label: "Two moons and the boundary; the arrow keys move the cross",
      x: around(
        points.map((p) => p.x),
        0.12,
      ),
      y: around(
        points.map((p) => p.y),
        0.12,
      ),
      equal: true,
      interactive: true,
      layers: ["machine", "weights", "points", "cross"],
      xLabel: "x₁",
      yLabel: "x₂",
    },
    "Lines join the cross $x$ to the support vectors; their thickness shows the weight.",
  );
}

function barFigure(stage: Stage): Plot {
  return stage.plot(
    {
      label: "The largest weights at the cross",
      x: [0.3, SHOWN + 0.7],
      y: [-1, 1],
      layers: ["bars"],
      aspect: 1.7,
      xLabel: "support vectors, the largest weight first",
      yLabel: "weight",
      tickX: (t) => (Number.isInteger(t) ? String(t) : null),
    },
    `The ${SHOWN} largest weights at the cross: squares pull $f(x)$ up, circles pull it down.`,
  );
}

function drawCross(plot: Plot, points: readonly Point[], weights: Weight[], at: Spot): void {
  const most = Math.max(...weights.map(({ weight }) => Math.abs(weight)), 1e-12);
  const visible = weights.filter(({ weight }) => Math.abs(weight) > 0.02 * most);
  plot.draw(
    "weights",
    ...visible.map(({ i, weight }) => {
      const line = plot.segment(at.x, at.y, points[i].x, points[i].y, `tie class-${points[i].k}`);
      line.setAttribute("stroke-width", String((7 * Math.abs(weight)) / most));
      return line;
    }),
  );
  plot.draw("cross", ...cross(plot, at));
}

function drawBars(plot: Plot, points: readonly Point[], weights: Weight[]): void {
  const shown = weights.slice(0, SHOWN);
  const most = Math.max(...shown.map(({ weight }) => Math.abs(weight)), 1e-3);
  plot.setBox([0.3, SHOWN + 0.7], [-1.15 * most, 1.15 * most]);
  const zero = plot.segment(0, 0, SHOWN + 1, 0, "axis");
  const bars = shown.map(({ i, weight }, rank) =>
    bar(plot, rank + 1, weight, `class-${points[i].k}`),
  );
  plot.draw("bars", ...bars, zero);
}

function weightTable(body: HTMLElement): HTMLElement {
  const heads = ["Rank", "Point", "Class", "Distance", "k(x, xᵢ)", "Weight yᵢaᵢk"];
  return h(
    "details",
    { class: "panel explain-table" },
    h("summary", {}, "The weights as a table"),
    h(
      "table",
      {},
      h("thead", {}, h("tr", {}, ...heads.map((t) => h("th", { scope: "col" }, t)))),
      body,
    ),
  );
}

function tableRow({ i, distance, kernel, weight }: Weight, rank: number, points: readonly Point[]) {
  const name = points[i].k === 1 ? "square" : "circle";
  const cells = [rank + 1, i + 1, name, distance.toFixed(3), kernel.toFixed(4), weight.toFixed(4)];
  return h("tr", {}, ...cells.map((cell) => h("td", {}, String(cell))));
}

function report(stage: Stage, found: Fit, points: readonly Point[], weights: Weight[], at: State) {
  const sum = (some: Weight[]): number => some.reduce((total, { weight }) => total + weight, 0);
  const [up, down] = [
    sum(weights.filter((w) => w.weight > 0)),
    sum(weights.filter((w) => w.weight < 0)),
  ];
  const b = found.parts[0].intercept;
  const f = up + down + b;
  const votes = neighbours(points, at.x, at.y);
  const heard = weights.filter(({ weight }) => Math.abs(weight) > 0.01).length;
  const winner = (one: boolean): string => (one ? "square" : "circle");
  stage.numbers(
    [
      ["f", "Decision value $f(x)$", `${signed(f)} (${winner(f > 0)})`],
      ["up", "Votes for the squares", signed(up)],
      ["down", "Votes for the circles", signed(down)],
      ["b", "Bias $b$", signed(b)],
      ["heard", "Weights above 0.01", `${heard} of ${weights.length} support vectors`],
      ["sigma", "Width $\\sigma = 1/\\sqrt{2\\gamma}$", shortNumber(1 / Math.sqrt(2 * at.gamma))],
      [
        "knn",
        `The ${NEAREST} nearest points`,
        `${votes} squares, so ${winner(2 * votes > NEAREST)}`,
      ],
    ],
    `At ${at.x.toFixed(2)}, ${at.y.toFixed(2)} the decision value is ${f.toFixed(3)}: ${winner(f > 0)}. ` +
      `${heard} support vectors have a weight above 0.01.`,
  );
}
