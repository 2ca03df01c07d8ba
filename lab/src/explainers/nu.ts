// What nu means, for nu-SVC and nu-SVR:
//
//     share of margin errors  <=  nu  <=  share of support vectors
//
// A margin error is a point with xi > 0: inside the margin (or wrong), or outside the tube.
// nu-SVC is feasible for nu <= 2 min(n+, n-) / n (Chang and Lin).

import { makeSet } from "../data/sets";
import { type Data, fit, type Fit } from "../svm/fit";
import { segments, shortNumber } from "../ui/controls";
import { eachFrame } from "../ui/dom";
import type { Plot } from "../ui/plot";
import { numberParam, type Point, wordParam } from "../ui/url";
import {
  drawCurve,
  drawMachine,
  legend,
  lineData,
  machine,
  planeData,
  pointNodes,
  rbf,
  supportVectors,
} from "./drawing";
import type { Explainer, Stage } from "./frame";

const MACHINES = ["nu-svc", "nu-svr"] as const;
type Kind = (typeof MACHINES)[number];
const [LEAST, MOST, STEPS] = [0.02, 1, 40];
const SLACK = 1e-6;
const DEFAULTS = { machine: "nu-svc", nu: 0.3, gamma: 1 };

export interface Shares {
  errors: number;
  support: number;
}

export function shares({ parts: [part] }: Fit): Shares {
  const n = part.slack.length;
  return {
    errors: part.slack.filter((xi) => xi > SLACK).length / n,
    support: supportVectors(part).length / n,
  };
}

export const nu: Explainer = {
  name: "nu",
  title: "What ν promises",
  summary: "At most a share ν of the points are margin errors, at least a share ν support vectors.",
  lecture: "theory",
  section: "ν-Support Vector Classification",
  text: [
    "$C$ has no scale that one could guess. Schölkopf and others replaced it by $\\nu$, and made the " +
      "width of the margin (or of the tube) part of what is optimised:",
    "$$\\begin{gathered} \\min_{w,\\,b,\\,\\rho}\\ \\tfrac12\\|w\\|^2 - \\nu\\rho + \\tfrac1n\\sum_i \\xi_i \\\\[2pt] " +
      "\\xi_i = \\max\\bigl(0,\\ \\rho - y_i f(x_i)\\bigr),\\quad \\rho \\ge 0 \\end{gathered}",
    "Now the parameter is a share of the data. At most a share $\\nu$ of the points are margin errors " +
      "($\\xi_i > 0$), and at least a share $\\nu$ are support vectors; as the data grow, both shares " +
      "usually tend to $\\nu$. In regression the same holds for points outside the tube, whose width the " +
      "machine finds by itself. For classification $\\nu$ cannot exceed $2\\min(n_+, n_-)/n$.",
  ],
  tasks: [
    "Move $\\nu$ and check that $\\nu$ always lies between the two shares.",
    "Choose regression and raise $\\nu$: more points may lie outside, and the tube narrows.",
    "Make the kernel narrow ($\\gamma$ = 50). Why are there so many more support vectors than $\\nu$ asks for?",
  ],
  mount(stage: Stage) {
    const { params } = stage;
    const state = {
      machine: wordParam(params, "machine", MACHINES, "nu-svc"),
      nu: numberParam(params, "nu", DEFAULTS.nu, LEAST, MOST),
      gamma: numberParam(params, "gamma", DEFAULTS.gamma, 0.01, 100),
    };
    const kind = segments({
      label: "Machine",
      choices: [
        { value: "nu-svc", label: "Classification" },
        { value: "nu-svr", label: "Regression" },
      ],
      value: state.machine,
      change: (value) => {
        state.machine = value;
        redraw();
      },
    });
    stage.controls.append(kind.element);
    const picture = pictureFigure(stage);
    const curves = curveFigure(stage);
    let path: Path | null = null;
    const redraw = eachFrame(() =>
      stage.attempt(() => {
        const points = pointsOf(state.machine);
        const data = state.machine === "nu-svc" ? planeData(points) : lineData(points);
        const found = solve(state.machine, state.nu, state.gamma, data);
        if (path?.key !== `${state.machine} ${state.gamma}`) path = pathOf(state, data);
        if (state.machine === "nu-svc") drawClasses(picture, found, points);
        else drawTube(picture, found, points);
        drawShares(curves, path, state.nu, shares(found));
        report(stage, found);
        stage.share(found.spec, points);
        stage.save(state, DEFAULTS);
      }),
    );
    const share = { label: "Share", tex: "\\nu", least: LEAST, most: MOST, step: 0.01 };
    stage.slider(state, "nu", share, redraw);
    stage.slider(
      state,
      "gamma",
      { label: "Kernel", tex: "\\gamma", least: 0.01, most: 100 },
      redraw,
    );
    picture.onResize(redraw);
    curves.onResize(redraw);
    redraw();
  },
};

const pointsOf = (kind: Kind): Point[] =>
  kind === "nu-svc" ? makeSet("gaussians", 50, 0.55, 2) : makeSet("sine", 50, 0.25, 7);

function solve(kind: Kind, nu: number, gamma: number, data: Data): Fit {
  return fit(machine({ machine: kind, nu, C: 10, kernel: rbf(gamma) }), data);
}

interface Path {
  key: string;
  nu: number[];
  shares: Shares[];
}

/** Both shares over nu. */
function pathOf(state: { machine: Kind; gamma: number }, data: Data): Path {
  const values = Array.from(
    { length: STEPS },
    (_, i) => LEAST + ((MOST - LEAST) * i) / (STEPS - 1),
  );
  const found = values.map((value) => shares(solve(state.machine, value, state.gamma, data)));
  return { key: `${state.machine} ${state.gamma}`, nu: values, shares: found };
}

function pictureFigure(stage: Stage): Plot {
  return stage.plot(
    {
      label: "The points and the machine",
      x: [-2, 2],
      y: [-1.5, 1.5],
      aspect: 1.35,
      layers: ["machine", "points"],
    },
    "Rings mark support vectors; a dashed ring is one at its bound: on the wrong side of its margin " +
      "(or outside the tube), or just on it.",
  );
}

function curveFigure(stage: Stage): Plot {
  return stage.plot(
    {
      label: "Share of margin errors and of support vectors over nu",
      x: [0, 1],
      y: [0, 1],
      aspect: 1.35,
      layers: ["curves", "now"],
      xLabel: "ν",
      yLabel: "share of the points",
    },
    "The share of support vectors stays above the diagonal, the share of margin errors below it.",
  );
}

function drawClasses(plot: Plot, found: Fit, points: readonly Point[]): void {
  plot.setBox([-2, 2], [-1.5, 1.5], "x₁", "x₂");
  drawMachine(plot, "machine", found);
  plot.draw("points", ...pointNodes(plot, points, found.parts[0]));
}

function drawTube(plot: Plot, found: Fit, points: readonly Point[]): void {
  plot.setBox([0, 6.3], [-2, 2], "x", "target z");
  drawCurve(plot, "machine", found);
  plot.draw("points", ...pointNodes(plot, points, found.parts[0]));
}

function drawShares(plot: Plot, path: Path, at: number, now: Shares): void {
  plot.draw(
    "curves",
    plot.segment(0, 0, 1, 1, "diagonal"),
    plot.curve(
      path.nu,
      path.shares.map((share) => share.support),
      "strong class-line-0",
    ),
    plot.curve(
      path.nu,
      path.shares.map((share) => share.errors),
      "strong dashed class-line-1",
    ),
    ...legend(plot, [
      ["support vectors", "class-line-0"],
      ["margin errors", "dashed class-line-1"],
    ]),
  );
  plot.draw(
    "now",
    plot.segment(at, 0, at, 1, "now"),
    plot.ring(at, now.support, "marker class-0", 5),
    plot.ring(at, now.errors, "marker class-1", 5),
  );
}

function report(stage: Stage, found: Fit): void {
  const part = found.parts[0];
  const n = part.slack.length;
  const { errors, support } = shares(found);
  const { nu: value, machine: kind } = found.spec;
  const percent = (share: number): string =>
    `${Math.round(share * n)} of ${n} = ${shortNumber(share)}`;
  const regression = kind === "nu-svr";
  stage.numbers(
    [
      ["errors", regression ? "Outside the tube" : "Margin errors", percent(errors)],
      ["nu", "$\\nu$", shortNumber(value)],
      ["support", "Support vectors", percent(support)],
      [
        "order",
        "Errors $\\le \\nu \\le$ support vectors",
        errors <= value + 1e-9 && value <= support + 1e-9 ? "holds" : "does not hold",
      ],
      regression
        ? ["found", "Half width of the tube, found", shortNumber(part.epsilon ?? 0, 4)]
        : ["found", "The $C$ that gives the same machine", shortNumber(part.bound[0], 4)],
    ],
    `Share of errors ${shortNumber(errors)}, nu ${shortNumber(value)}, share of support vectors ${shortNumber(support)}.`,
  );
}
