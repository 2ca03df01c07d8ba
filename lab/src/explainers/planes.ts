// Cutting planes: a convex objective from below. The mathematics is in math/planes.ts.

import { button, shortNumber } from "../ui/controls";
import { eachFrame, s } from "../ui/dom";
import type { Interval, Plot } from "../ui/plot";
import { numberParam } from "../ui/url";
import { legend } from "./drawing";
import type { Explainer, Stage } from "./frame";
import { known, lowest, type Plane, planeAt, risk, type Sample } from "./math/planes";

const NEGATIVE = [
  1.34, -3.26, -0.28, -1.27, -1.15, -0.92, -2.72, -0.93, -1.57, 2.62, -0.47, -1.05, -0.98, -1.37,
  -1.76,
];
const POSITIVE = [
  0.31, 1.18, 0.46, 1.66, 0.5, 0.72, 2.25, 1.25, 0.19, 0.52, 1.24, 2.64, 0.43, 0.46, 1.7,
];
const SAMPLES: readonly Sample[] = [
  ...NEGATIVE.map((x) => ({ x, y: -1 })),
  ...POSITIVE.map((x) => ({ x, y: 1 })),
];
const RANGE: Interval = [-0.4, 2.4]; // of w
const MOST_PLANES = 12;
const DEFAULTS = { C: 0.05, w: 0 };
const CLOSE = 1e-3; // the relative gap at which the page says that the machine is found

interface State {
  C: number;
  w: number;
  planes: Plane[];
}

export const planes: Explainer = {
  name: "planes",
  title: "Cutting planes: a lower bound that grows",
  summary: "Touch the objective from below, plane after plane, until both bounds meet.",
  lecture: "theory",
  section: "SVM-Perf (Joachims, 2006)",
  text: [
    "SVM-Perf passes over the samples a few times, and each pass becomes one plane. " +
      "The risk $R$, the sum of the hinge losses, is convex: every plane that touches it lies below it. " +
      "Here the machine has a single weight $w$, so a plane is a line.",
    "$$\\begin{gathered} P(w) = \\tfrac12 w^2 + C\\,R(w) \\\\[2pt] R(w) = \\sum_i \\max(0, 1 - y_i w x_i) \\\\[2pt] " +
      "R(w) \\ge \\mathrm{offset}_j + \\mathrm{slope}_j\\, w \\end{gathered}",
    "Replace $R$ by the largest of a few planes. The problem becomes small, and its minimum $D$ lies " +
      "below that of $P$. Go to this minimum, touch $R$ there, and you have one plane more. $P(w) - D$ says " +
      "how far $w$ can be from the best. A plane sums over all samples, so a few of them are enough " +
      "for very many samples. Structured machines are trained in the same way.",
  ],
  tasks: [
    "Press “Add a plane and go on” until the bounds meet. How many planes did it take?",
    "Start again. Drag $w$ and add planes where you like: can you close the gap with two?",
    "Raise $C$ to 1: the kinks of $R$ count for more. Does it take more planes?",
  ],
  mount(stage: Stage) {
    const state: State = {
      C: numberParam(stage.params, "C", DEFAULTS.C, 0.01, 1),
      w: numberParam(stage.params, "w", DEFAULTS.w, ...RANGE),
      planes: read(stage.params).map((at) => planeAt(SAMPLES, at)),
    };
    const objective = objectiveFigure(stage);
    const touched = riskFigure(stage);
    const bounds = boundsFigure(stage);
    const redraw = eachFrame(() => {
      drawObjective(objective, state, handle);
      drawRisk(touched, state);
      drawBounds(bounds, state);
      report(stage, state);
      const at = state.planes.map((plane) => plane.at.toFixed(6)).join(",");
      stage.save({ C: state.C, w: Number(state.w.toFixed(6)), at }, { ...DEFAULTS, at: "" });
    });
    const move = (w: number): void => {
      state.w = Math.max(RANGE[0], Math.min(RANGE[1], w));
      redraw();
    };
    const handle = slider(state, move);
    buttons(stage, state, move);
    const price = { label: "Price of slack", tex: "C", least: 0.01, most: 1 };
    stage.slider(state, "C", price, redraw);
    dragging(objective, move);
    objective.onResize(redraw);
    touched.onResize(redraw);
    bounds.onResize(redraw);
    redraw();
  },
};

/** Where the planes of the URL touch. */
function read(params: URLSearchParams): number[] {
  const values = (params.get("at") ?? "").split(",").filter(Boolean).map(Number);
  const good = values.every((w) => w >= RANGE[0] && w <= RANGE[1]);
  return good ? values.slice(0, MOST_PLANES) : [];
}

function buttons(stage: Stage, state: State, move: (w: number) => void): void {
  const add = (): void => {
    if (state.planes.length < MOST_PLANES) state.planes.push(planeAt(SAMPLES, state.w));
  };
  const go = (): void => move(lowest(state.planes, state.C).w);
  stage.controls.append(
    button("Add a plane and go on", () => (add(), go()), {
      title: "Touch the risk at w, then go to the minimum of what the planes know",
    }),
    " ",
    button("Add a plane at w", () => (add(), move(state.w))),
    " ",
    button("Go to the minimum", go, { title: "Where the lower bound is smallest" }),
    " ",
    button("Start again", () => {
      state.planes = [];
      move(DEFAULTS.w);
    }),
  );
}

function objectiveFigure(stage: Stage): Plot {
  return stage.plot(
    {
      label: "The objective over w and the lower bound of the planes; drag w, or use arrow keys",
      x: RANGE,
      y: [0, 2],
      layers: ["bound", "curves", "w"],
      aspect: 1.25,
      xLabel: "weight w",
      yLabel: "objective",
    },
    "Solid: the objective $P$. Dashed, above the shaded part: what the planes know of it; the square " +
      "is its minimum $D$. Drag the circle.",
  );
}

function riskFigure(stage: Stage): Plot {
  return stage.plot(
    {
      label: "The risk over w and the planes that touch it",
      x: RANGE,
      y: [-2, 45],
      layers: ["planes", "curves", "dots"],
      aspect: 1.5,
      xLabel: "weight w",
      yLabel: "risk R(w)",
    },
    "The risk of thirty samples, and the planes in their order. A dot shows where a plane touches.",
  );
}

function boundsFigure(stage: Stage): Plot {
  return stage.plot(
    {
      label: "Upper and lower bound over the number of planes",
      x: [0, 8],
      y: [0, 2],
      layers: ["curves"],
      aspect: 1.7,
      xLabel: "planes",
      yLabel: "bounds",
    },
    "The lowest objective among the touched points falls, $D$ grows: the best lies between.",
  );
}

/** The weight as a slider that takes the focus. */
function slider(state: State, move: (w: number) => void): SVGGElement {
  const node = s("g", {
    role: "slider",
    tabindex: 0,
    class: "handle",
    "aria-label": "Weight w",
    "aria-valuemin": RANGE[0],
    "aria-valuemax": RANGE[1],
  });
  node.addEventListener("keydown", (event) => {
    const step = event.shiftKey ? 0.2 : 0.02;
    const up = event.key === "ArrowRight" || event.key === "ArrowUp";
    if (!up && event.key !== "ArrowLeft" && event.key !== "ArrowDown") return;
    event.preventDefault();
    move(state.w + (up ? step : -step));
  });
  return node;
}

function dragging(plot: Plot, move: (w: number) => void): void {
  plot.element.classList.add("draggable");
  plot.element.setAttribute("role", "group"); // it holds a slider
  plot.onPointer({ down: ({ x }) => move(x), move: ({ x }) => move(x) });
}

const primal = ({ C, w }: State): number => 0.5 * w * w + C * risk(SAMPLES, w);

function drawObjective(plot: Plot, state: State, handle: SVGGElement): void {
  const { C, w, planes: found } = state;
  const top = 1.25 * C * SAMPLES.length;
  if (plot.box.y[1] !== top) plot.setBox(RANGE, [0, top]);
  const xs = plot.abscissae(401);
  const below = xs.map((v) => 0.5 * v * v + C * known(found, v));
  const least = lowest(found, C);
  plot.draw(
    "bound",
    plot.band(
      xs,
      xs.map(() => 0),
      below,
      "region class-0",
    ),
  );
  plot.draw(
    "curves",
    plot.curve(xs, below, "strong dashed class-line-0"),
    plot.curve(
      xs,
      xs.map((v) => 0.5 * v * v + C * risk(SAMPLES, v)),
      "strong",
    ),
    plot.segment(RANGE[0], least.D, least.w, least.D, "now"),
    plot.glyph(least.w, least.D, 1, 6),
    plot.text(least.w, least.D, `D = ${least.D.toFixed(3)}`, "value", 9, 16),
    ...legend(plot, [
      ["P(w)", "loss-0"],
      [`${found.length} plane${found.length === 1 ? "" : "s"}`, "dashed class-line-0"],
    ]),
  );
  const P = primal(state);
  handle.setAttribute("aria-valuenow", w.toFixed(3));
  handle.setAttribute("aria-valuetext", `${w.toFixed(3)}, objective ${P.toFixed(3)}`);
  handle.replaceChildren(
    plot.segment(w, 0, w, P, "now"),
    plot.ring(w, P, "grip", 16),
    plot.ring(w, P, "marker", 7),
    plot.text(w, P, `P = ${P.toFixed(3)}`, "value", 11, -9),
  );
  if (!handle.isConnected) plot.draw("w", handle);
}

function drawRisk(plot: Plot, { w, planes: found }: State): void {
  const xs = plot.abscissae(401);
  const line = ({ offset, slope }: Plane, k: number): SVGElement =>
    plot.segment(
      RANGE[0],
      offset + slope * RANGE[0],
      RANGE[1],
      offset + slope * RANGE[1],
      `curve class-line-${k % 5}`,
    );
  plot.draw("planes", plot.segment(-9, 0, 9, 0, "axis"), ...found.map(line));
  plot.draw(
    "curves",
    plot.curve(
      xs,
      xs.map((v) => risk(SAMPLES, v)),
      "strong",
    ),
    plot.segment(w, -9, w, 99, "now"),
  );
  plot.draw(
    "dots",
    ...found.flatMap(({ at, offset, slope }, k) => [
      plot.ring(at, offset + slope * at, `marker class-${k % 5}`, 5),
      plot.text(at, offset + slope * at, String(k + 1), "value", 6, -7),
    ]),
  );
}

/** D after each plane, and the lowest objective at the points that were touched until then. */
function drawBounds(plot: Plot, { C, planes: found }: State): void {
  const rounds = Array.from({ length: found.length + 1 }, (_, k) => k);
  const D = rounds.map((k) => lowest(found.slice(0, k), C).D);
  const touched = found.map(({ at }) => primal({ C, w: at, planes: [] }));
  const upper = touched.map((_, k) => Math.min(...touched.slice(0, k + 1)));
  const top = 1.25 * C * SAMPLES.length;
  const right = Math.max(6, found.length + 1);
  if (plot.box.x[1] !== right || plot.box.y[1] !== top) plot.setBox([0, right], [0, top]);
  plot.draw(
    "curves",
    plot.curve(rounds.slice(1), upper, "strong"),
    plot.curve(rounds, D, "strong dashed class-line-0"),
    ...upper.map((value, k) => plot.ring(k + 1, value, "marker", 4)),
    ...D.map((value, k) => plot.glyph(k, value, 1, 4)),
  );
}

function report(stage: Stage, state: State): void {
  const { D } = lowest(state.planes, state.C);
  const P = primal(state);
  const gap = P - D;
  const last = state.planes.at(-1);
  const met = gap <= CLOSE * P;
  stage.numbers(
    [
      ["planes", "Planes", String(state.planes.length)],
      ["w", "Weight $w$", state.w.toFixed(4)],
      ["P", "Objective $P(w)$, the upper bound", shortNumber(P, 5)],
      ["D", "Minimum $D$ of the planes, the lower bound", shortNumber(D, 5)],
      ["gap", "Gap $P(w) - D$", shortNumber(gap, 3)],
      [
        "last",
        "The last plane",
        last
          ? `${last.offset} ${last.slope < 0 ? "−" : "+"} ${Math.abs(last.slope).toFixed(2)} w`
          : "none",
      ],
      [
        "verdict",
        "Answer",
        met ? "the bounds meet: w is the best" : "the best P lies between them",
      ],
    ],
    `${state.planes.length} planes. The objective is ${P.toFixed(3)}, the lower bound ${D.toFixed(3)}.` +
      (met ? " They meet." : ""),
  );
}
