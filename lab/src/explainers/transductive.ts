// Transduction: points without labels move the boundary. The mathematics is in math/transductive.ts.

import { random } from "../data/random";
import { button, shortNumber } from "../ui/controls";
import { eachFrame } from "../ui/dom";
import type { Plot } from "../ui/plot";
import { numberParam, type Point } from "../ui/url";
import { machine } from "./drawing";
import type { Explainer, Stage } from "./frame";
import { labelSwitching, type Points, type Step, worst } from "./math/transductive";

const COUNT = 40; // points without a label, half of them in each strip
const C = 10;
const MOST_STEPS = 200;
const DEFAULTS = { step: 0, price: 1, gap: 2, seed: 17 };
type State = typeof DEFAULTS;

export const transductive: Explainer = {
  name: "transductive",
  title: "Transduction: labels that switch",
  summary:
    "Two labels and forty points without: switch labels in pairs until the boundary is in the gap.",
  lecture: "fan",
  section: "8 Others: semi-supervised SVM",
  text: [
    "Labels are rare, points are not. A transductive machine also uses points without labels: it " +
      "chooses their labels $s_j$ so that the margin gets wide, which keeps the boundary out of crowds.",
    "$$\\begin{gathered} \\min_{w,\\,b,\\,s}\\ \\tfrac12\\|w\\|^2 + C\\sum_i \\xi_i + C^*\\sum_j \\xi^*_j \\\\[2pt] " +
      "\\xi^*_j = \\max\\bigl(0,\\ 1 - s_j(w\\cdot u_j + b)\\bigr),\\quad s_j = \\pm1 \\end{gathered}",
    "Joachims (1999) begins with the machine of the labelled points, here two. It labels the others, half " +
      "of them each way. While a pair of opposite labels has $\\xi^*_m + \\xi^*_k > 2$, switching both " +
      "lowers the objective. $C^*$ begins small and doubles, so that the labelled points decide first.",
    "The problem is not convex: the end is a stationary point, and not always the best one.",
  ],
  tasks: [
    "Press “Next switch” until none is left, and watch the boundary turn into the gap.",
    "Try other points: for some of them the algorithm ends in a wrong place. Does a wider gap help?",
    "Lower $C^*$ to 0.01. Are there still switches?",
  ],
  mount(stage: Stage) {
    const { params } = stage;
    const state: State = {
      step: Math.round(numberParam(params, "step", DEFAULTS.step, 0, MOST_STEPS)),
      price: numberParam(params, "price", DEFAULTS.price, 0.001, 10),
      gap: numberParam(params, "gap", DEFAULTS.gap, 0.5, 4),
      seed: Math.round(numberParam(params, "seed", DEFAULTS.seed, 1, 99)),
    };
    const plane = planeFigure(stage);
    const curve = curveFigure(stage);
    let made = "";
    let points: Points;
    let steps: Step[] = [];
    const redraw = eachFrame(() =>
      stage.attempt(() => {
        const asked = `${state.price} ${state.gap} ${state.seed}`;
        if (made !== asked) {
          points = strips(state);
          steps = labelSwitching(points, C, state.price);
          made = asked;
        }
        state.step = Math.min(state.step, steps.length - 1);
        position.set(state.step);
        drawPlane(plane, points, steps, state.step);
        drawCurve(curve, steps, state.step);
        report(stage, points, steps, state.step);
        stage.share(machine({ C }), shared(points, steps[state.step]));
        stage.save(state, DEFAULTS);
      }),
    );
    const go = (step: number): void => {
      state.step = Math.max(0, Math.min(steps.length - 1, step));
      redraw();
    };
    const after = (): number => {
      const next = steps.findIndex(({ switched }, k) => k > state.step && switched);
      return next < 0 ? steps.length - 1 : next;
    };
    stage.controls.append(
      button("Next switch", () => go(after())),
      " ",
      button("To the end", () => go(steps.length - 1)),
      " ",
      button("Back to two labels", () => go(0)),
      " ",
      button("Other points", () => {
        state.seed = (state.seed % 99) + 1;
        go(0);
      }),
    );
    const range = { label: "Step", least: 0, most: 30, step: 1, ceiling: MOST_STEPS };
    const position = stage.slider(state, "step", range, redraw);
    const most = { label: "Price of slack without a label", tex: "C^*", least: 0.001, most: 10 };
    stage.slider(state, "price", most, redraw);
    stage.slider(
      state,
      "gap",
      { label: "Distance of the strips", least: 0.5, most: 4, step: 0.1 },
      redraw,
    );
    plane.onResize(redraw);
    curve.onResize(redraw);
    redraw();
  },
};

/** Two strips without labels, and a labelled point at an end of each. */
function strips({ gap, seed }: State): Points {
  const { normal } = random(seed);
  const round = (value: number): number => Number(value.toFixed(2));
  const free = Array.from({ length: COUNT }, (_, j) => {
    const side = j < COUNT / 2 ? -1 : 1;
    return [round(1.2 * normal()), round((side * gap) / 2 + 0.25 * normal())];
  });
  const labelled = [
    [-1.5, round(-gap / 2)],
    [1.5, round(gap / 2)],
  ];
  return { x: Float64Array.from([...labelled, ...free].flat()), y: [-1, 1] };
}

/** The points with the labels of a step, for the playground. */
function shared({ x, y }: Points, { labels }: Step): Point[] {
  return [...y, ...labels].map((label, i) => ({
    x: x[2 * i],
    y: x[2 * i + 1],
    k: label > 0 ? 1 : 0,
  }));
}

function planeFigure(stage: Stage): Plot {
  return stage.plot(
    {
      label: "Two labelled points, forty others with the labels of this step, boundary and margins",
      x: [-3.4, 3.4],
      y: [-2.6, 2.6],
      equal: true,
      layers: ["machine", "points", "marks"],
      xLabel: "x₁",
      yLabel: "x₂",
    },
    "Large: the labelled points. Small: the others with the labels that they have now. Rings: switched " +
      "so far; thick rings: the pair of this step.",
  );
}

function curveFigure(stage: Stage): Plot {
  return stage.plot(
    {
      label: "The objective over the steps",
      x: [0, 20],
      y: [0, 1],
      layers: ["curve", "now"],
      aspect: 1.7,
      xLabel: "step",
      yLabel: "objective",
    },
    "The objective: a switch (square) lowers it, doubling $C^*$ (circle) raises it.",
  );
}

function drawPlane(plot: Plot, { x, y }: Points, steps: readonly Step[], at: number): void {
  const { w, b, labels, switched } = steps[at];
  const grid = plot.grid(60);
  const values = Float64Array.from(
    { length: grid.points.length / 2 },
    (_, i) => w[0] * grid.points[2 * i] + w[1] * grid.points[2 * i + 1] + b,
  );
  plot.draw(
    "machine",
    plot.region(grid, values, 0, "region class-1"),
    plot.region(
      grid,
      values.map((f) => -f),
      0,
      "region class-0",
    ),
    plot.contour(grid, values, 1, "margin"),
    plot.contour(grid, values, -1, "margin"),
    plot.contour(grid, values, 0, "boundary"),
  );
  const place = (j: number): [number, number] => [x[2 * (2 + j)], x[2 * (2 + j) + 1]];
  plot.draw(
    "points",
    ...Array.from(labels, (label, j) => plot.glyph(...place(j), label > 0 ? 1 : 0, 4.5)),
    ...y.map((label, i) => plot.glyph(x[2 * i], x[2 * i + 1], label > 0 ? 1 : 0, 10)),
  );
  const changed = [...labels.keys()].filter((j) => labels[j] !== steps[0].labels[j]);
  plot.draw(
    "marks",
    ...changed.map((j) => plot.ring(...place(j), "ring", 8)),
    ...(switched ?? []).map((j) => plot.ring(...place(j), "ring now-switched", 11)),
  );
}

function drawCurve(plot: Plot, steps: readonly Step[], at: number): void {
  const values = steps.map(({ objective }) => objective);
  const top = 1.1 * Math.max(...values);
  if (plot.box.x[1] !== steps.length || plot.box.y[1] !== top)
    plot.setBox([-0.5, steps.length], [0, top]);
  plot.draw(
    "curve",
    plot.curve([...values.keys()], values, "axis"),
    ...steps.map(({ objective, switched }, k) =>
      plot.glyph(k, objective, switched ? 1 : 0, switched ? 5 : 3.5),
    ),
  );
  plot.draw("now", plot.segment(at, 0, at, top, "now"), plot.ring(at, values[at], "ring", 9));
}

function report(stage: Stage, { x }: Points, steps: readonly Step[], at: number): void {
  const { labels, price, slack, objective } = steps[at];
  const done = steps.slice(0, at + 1).filter(({ switched }) => switched).length;
  const all = steps.filter(({ switched }) => switched).length;
  const agree = labels.filter((label, j) => label > 0 === j >= COUNT / 2).length;
  const pair = slack.length ? slack[worst(labels, slack, 1)] + slack[worst(labels, slack, -1)] : 0;
  stage.numbers(
    [
      ["step", "Step", `${at} of ${steps.length - 1}`],
      ["switches", "Switches", `${done} of ${all}`],
      ["price", "Price $C^*$ now", at ? shortNumber(price, 3) : "none"],
      ["objective", "Objective", shortNumber(objective, 6)],
      ["pair", "Largest $\\xi^*_m + \\xi^*_k$ of a pair", at ? pair.toFixed(3) : "none"],
      ["agree", "Labels that agree with their strip", `${agree} of ${x.length / 2 - 2}`],
    ],
    `Step ${at} of ${steps.length - 1}, ${done} switches. ${agree} of ${COUNT} labels agree with ` +
      `their strip.`,
  );
}
