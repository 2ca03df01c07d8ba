// What C trades: the sum of slacks against the width of the margin, on twenty points.
//
//     minimise 1/2 |w|^2 + C sum_i xi_i,   xi_i = max(0, 1 - y_i (w'x_i + b)),   width 2 / |w|

import { makeSet } from "../data/sets";
import { type Data, fit, type Fit } from "../svm/fit";
import { segments, shortNumber } from "../ui/controls";
import { eachFrame } from "../ui/dom";
import type { Interval, Plot } from "../ui/plot";
import { numberParam, type Point } from "../ui/url";
import {
  decades,
  decadeTick,
  drawMachine,
  labels,
  machine,
  planeData,
  pointNodes,
} from "./drawing";
import type { Explainer, Stage } from "./frame";

const [LEAST, MOST] = [0.01, 1000];
const PRINTED = ["50", "5", "1"] as const;

const sum = (values: Float64Array): number => values.reduce((total, v) => total + v, 0);
const width = (found: Fit): number => 2 * (found.parts[0].margin ?? 0);
const slacks = (found: Fit): number => sum(found.parts[0].slack);

export const effectOfC: Explainer = {
  name: "c",
  title: "What C trades",
  summary: "Sum of slacks against width of the margin: 6.37, 7.07 and 10.58 at C = 50, 5 and 1.",
  lecture: "revisited",
  section: "Observation of changes in decision boundary according to changes in C",
  text: [
    "No line separates these twenty points. The soft margin lets a point cross its margin, at a " +
      "price: its slack $\\xi_i$ says how far it has crossed, and $C$ is what a unit of slack costs.",
    "$$\\begin{gathered} \\min_{w,\\,b}\\ \\tfrac12\\|w\\|^2 + C\\sum_i \\xi_i \\\\[2pt] " +
      "\\xi_i = \\max\\bigl(0,\\ 1 - y_i(w\\cdot x_i + b)\\bigr) \\end{gathered}",
    "A point with $\\xi = 0$ lies on its margin or beyond it, one with $0 < \\xi < 1$ inside the " +
      "margin but on its own side, one with $\\xi > 1$ on the wrong side. The width of the margin " +
      "is $2/\\|w\\|$. A large $C$ makes slack expensive: the machine accepts a narrow margin to save " +
      "some. A small $C$ makes it cheap: the margin grows and takes in more points.",
  ],
  tasks: [
    "Move $C$ from 50 to 1 and watch the dashed margins part: the lecture prints the sums of slacks " +
      "6.37, 7.07 and 10.58 at $C$ = 50, 5 and 1.",
    "Lower $C$ to 0.01: the margin is wider than the picture. Which class does the machine answer " +
      "everywhere now, and why this one?",
    "Go from $C$ = 100 to 1000. Why does almost nothing change any more?",
  ],
  mount(stage: Stage) {
    const points = makeSet("revisited", 20, 0, 0);
    const data = planeData(points);
    const state = { C: numberParam(stage.params, "C", 50, LEAST, MOST) };
    const preset = () => PRINTED.find((value) => Number(value) === state.C) ?? ("" as "50");
    const presets = segments({
      label: "The lecture’s values of C",
      choices: PRINTED.map((value) => ({ value, label: `C = ${value}` })),
      value: preset(),
      change: (value) => choose(Number(value)),
    });
    stage.controls.append(presets.element);
    const plane = planeFigure(stage);
    const mark = pathPlots(stage, data, (C) => choose(C));
    const redraw = eachFrame(() =>
      stage.attempt(() => {
        const found = fit(machine(state), data);
        drawPlane(plane, found, points);
        mark(found);
        presets.set(preset());
        stage.share(found.spec, points);
        stage.save(state, { C: 50 });
        report(stage, found);
      }),
    );
    const price = { label: "Price of slack", tex: "C", least: LEAST, most: MOST };
    const slider = stage.slider(state, "C", price, redraw);
    const choose = (C: number): void => {
      state.C = C;
      slider.set(C);
      redraw();
    };
    plane.onResize(redraw);
    redraw();
  },
};

function planeFigure(stage: Stage): Plot {
  return stage.plot(
    {
      label: "Twenty points, the boundary, the margins and the slack of each point",
      x: [0.05, 1],
      y: [0.15, 0.98],
      equal: true,
      layers: ["machine", "slacks", "points", "values"],
      xLabel: "x₁",
      yLabel: "x₂",
    },
    "Lines lead from each point with slack to its margin; the number is its $\\xi$. Rings mark " +
      "support vectors, dashed ones those with $a_i = C$.",
  );
}

/** The curves over C: what is drawn, and how it lies on its axis. */
const CURVES = [
  {
    name: "sum of slacks Σξ",
    caption: "The sum of slacks falls as $C$ grows. Click in the curve to choose $C$.",
    y: [0, 20] as Interval,
    of: slacks,
    place: (value: number) => value,
    tickY: undefined,
  },
  {
    name: "width 2/‖w‖",
    caption: "So does the width of the margin. Both axes are logarithmic here.",
    y: [-1, 2] as Interval,
    of: width,
    place: Math.log10,
    tickY: decadeTick,
  },
];

/** The curves over C; returns what marks the current C on them. */
function pathPlots(stage: Stage, data: Data, choose: (C: number) => void) {
  const ends: Interval = [Math.log10(LEAST), Math.log10(MOST)];
  const C = decades(...ends, 61);
  const fits = C.map((c) => fit(machine({ C: c }), data));
  const plots = CURVES.map(({ name, caption, y, of, place, tickY }) => {
    const common = { x: ends, y, layers: ["curve", "now"], aspect: 1.9, tickX: decadeTick };
    const ticks = tickY ? { tickY } : {};
    const label = `The ${name} over C`;
    const plot = stage.plot({ ...common, ...ticks, label, xLabel: "C", yLabel: name }, caption);
    const clicked = ({ x }: { x: number }): void =>
      choose(Number((10 ** Math.min(ends[1], Math.max(ends[0], x))).toPrecision(2)));
    plot.onPointer({ down: clicked, move: clicked });
    const values = fits.map((found) => place(of(found)));
    const base = (): void => plot.draw("curve", plot.curve(C.map(Math.log10), values, "strong"));
    plot.onResize(base);
    base();
    return { plot, of, place };
  });
  return (found: Fit): void => {
    const at = Math.log10(found.spec.C);
    for (const { plot, of, place } of plots) {
      const value = of(found);
      plot.draw(
        "now",
        plot.segment(at, plot.box.y[0], at, plot.box.y[1], "now"),
        plot.ring(at, place(value), "marker", 5),
        plot.text(at, place(value), value.toFixed(2), "value", at > 1.5 ? -38 : 9, -9),
      );
    }
  };
}

/** The machine, and each slack as a line from the point to its margin. */
function drawPlane(plot: Plot, found: Fit, points: readonly Point[]): void {
  const part = found.parts[0];
  const w = weights(found);
  const square = w[0] ** 2 + w[1] ** 2;
  drawMachine(plot, "machine", found);
  const crossed = [...part.slack.keys()].filter((i) => part.slack[i] > 1e-6);
  plot.draw(
    "slacks",
    ...crossed.map((i) => {
      const { x, y } = points[i];
      const step = (part.sign[i] * part.slack[i]) / square; // y_i f rises by xi along it
      return plot.segment(x, y, x + step * w[0], y + step * w[1], "slack");
    }),
  );
  plot.draw("points", ...pointNodes(plot, points, part));
  plot.draw(
    "values",
    ...labels(
      plot,
      points,
      crossed.map((i) => ({ ...points[i], text: part.slack[i].toFixed(2) })),
    ),
  );
}

/** w = sum_i coef_i x_i. */
function weights({ parts: [part], data }: Fit): [number, number] {
  const w: [number, number] = [0, 0];
  part.coef.forEach((c, i) => {
    w[0] += c * data.x[2 * part.rows[i]];
    w[1] += c * data.x[2 * part.rows[i] + 1];
  });
  return w;
}

function report(stage: Stage, found: Fit): void {
  const part = found.parts[0];
  const inside = part.slack.filter((xi) => xi > 1e-6 && xi <= 1).length;
  const wrong = part.slack.filter((xi) => xi > 1).length;
  const total = slacks(found);
  const { C } = found.spec;
  stage.numbers(
    [
      ["slack", "Sum of slacks $\\sum_i\\xi_i$", total.toFixed(2)],
      ["width", "Width of the margin $2/\\|w\\|$", width(found).toFixed(3)],
      ["inside", "Inside the margin, $0 < \\xi \\le 1$", `${inside} of ${part.slack.length}`],
      ["wrong", "On the wrong side, $\\xi > 1$", `${wrong} of ${part.slack.length}`],
      ["half", "First goal $\\tfrac12\\|w\\|^2$", shortNumber(found.primal - C * total, 4)],
      ["cost", "Second goal $C\\sum_i\\xi_i$", shortNumber(C * total, 4)],
      ["primal", "Together (what is minimised)", shortNumber(found.primal, 5)],
    ],
    `C is ${shortNumber(C)}. The sum of slacks is ${total.toFixed(2)}, the width of the margin ` +
      `${width(found).toFixed(3)}; ${wrong} points are on the wrong side.`,
  );
}
