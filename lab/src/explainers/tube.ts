// The tube of regression.
//
//     minimise 1/2 |w|^2 + C sum_i xi_i,   xi_i = max(0, |z_i - f(x_i)| - epsilon)
//
// A rule for epsilon from the noise (Cherkassky and Ma, 2004): 3 sigma sqrt(log(n) / n).

import { makeSet } from "../data/sets";
import { fit, type Fit } from "../svm/fit";
import { button, shortNumber } from "../ui/controls";
import { eachFrame } from "../ui/dom";
import type { Plot } from "../ui/plot";
import { numberParam, type Point } from "../ui/url";
import { drawCurve, lineData, machine, pointNodes, rbf, supportVectors } from "./drawing";
import type { Explainer, Stage } from "./frame";

const COUNT = 40;
const DEFAULTS = { epsilon: 0.2, C: 10, gamma: 0.5, noise: 0.2 };
type State = typeof DEFAULTS;

/** The rule of Cherkassky and Ma. */
export const ruleOfNoise = (sigma: number, n: number): number =>
  3 * sigma * Math.sqrt(Math.log(n) / n);

export const tube: Explainer = {
  name: "tube",
  title: "The tube of regression",
  summary: "Errors below epsilon cost nothing: widen the tube and watch support vectors disappear.",
  lecture: "straka",
  section: "SVM For Regression",
  text: [
    "Support vector regression forgives errors up to $\\varepsilon$. Around the curve $f$ lies a tube of " +
      "half width $\\varepsilon$; targets inside pay nothing, targets outside pay their distance to the tube.",
    "$$\\begin{gathered} \\min_{w,\\,b}\\ \\tfrac12\\|w\\|^2 + C\\sum_i \\xi_i \\\\[2pt] " +
      "\\xi_i = \\max\\bigl(0,\\ |z_i - f(x_i)| - \\varepsilon\\bigr) \\end{gathered}",
    "Only points on the wall of the tube or outside it are support vectors; all others could be " +
      "taken away and the curve would stay. A good $\\varepsilon$ is proportional to the noise: “Theory and " +
      "Algorithms” quotes Cherkassky and Ma, who propose $3\\sigma\\sqrt{\\ln n / n}$. $C$ bounds the pull of a " +
      "single point: no dual variable exceeds it.",
  ],
  tasks: [
    "Set $\\varepsilon$ to 0: every point is a support vector. Then widen the tube to 1. What does the curve do, and why?",
    "Press “ε from the noise” at different noises and count the support vectors.",
    "Lower $C$ to 0.05: the curve no longer follows the wave, however narrow the tube.",
  ],
  mount(stage: Stage) {
    const { params } = stage;
    const state: State = {
      epsilon: numberParam(params, "epsilon", DEFAULTS.epsilon, 0, 2),
      C: numberParam(params, "C", DEFAULTS.C, 0.01, 1000),
      gamma: numberParam(params, "gamma", DEFAULTS.gamma, 0.01, 100),
      noise: numberParam(params, "noise", DEFAULTS.noise, 0, 0.6),
    };
    const curve = curveFigure(stage);
    const loss = lossFigure(stage);
    const redraw = eachFrame(() =>
      stage.attempt(() => {
        const points = makeSet("sine", COUNT, state.noise, 5);
        const { epsilon, C, gamma } = state;
        const found = fit(
          machine({ machine: "eps-svr", kernel: rbf(gamma), C, epsilon }),
          lineData(points),
        );
        drawTube(curve, found, points);
        drawLoss(loss, found, epsilon);
        report(stage, found, state);
        stage.share(found.spec, points);
        stage.save(state, DEFAULTS);
      }),
    );
    const half = {
      label: "Half width of the tube",
      tex: "\\varepsilon",
      least: 0,
      most: 1,
      step: 0.01,
      ceiling: 2,
    };
    const width = stage.slider(state, "epsilon", half, redraw);
    const rule = button("ε from the noise", () => {
      state.epsilon = Number(ruleOfNoise(state.noise, COUNT).toFixed(3));
      width.set(state.epsilon);
      redraw();
    });
    stage.slider(
      state,
      "C",
      { label: "Price of slack", tex: "C", least: 0.01, most: 1000 },
      redraw,
    );
    stage.slider(
      state,
      "gamma",
      { label: "Kernel", tex: "\\gamma", least: 0.01, most: 100 },
      redraw,
    );
    const noise = { label: "Noise of the data", tex: "\\sigma", least: 0, most: 0.6, step: 0.02 };
    stage.slider(state, "noise", noise, redraw);
    stage.controls.append(rule);
    curve.onResize(redraw);
    loss.onResize(redraw);
    redraw();
  },
};

function curveFigure(stage: Stage): Plot {
  return stage.plot(
    {
      label: "A noisy sine wave, the regression curve and its tube",
      x: [0, 6.3],
      y: [-2, 2],
      aspect: 1.4,
      layers: ["tube", "slacks", "points"],
      xLabel: "x",
      yLabel: "target z",
    },
    "The curve and its tube. Lines show what points outside pay; rings mark support vectors, dashed " +
      "ones those at the bound $C$.",
  );
}

function lossFigure(stage: Stage): Plot {
  return stage.plot(
    {
      label: "The epsilon-insensitive loss and the residuals of the points on it",
      x: [-1.6, 1.6],
      y: [-0.1, 1.5],
      aspect: 1.7,
      layers: ["loss", "points"],
      xLabel: "residual z − f(x)",
      yLabel: "loss ξ",
    },
    "The $\\varepsilon$-insensitive loss: each point at its residual. The flat part is the tube.",
  );
}

function drawTube(plot: Plot, found: Fit, points: readonly Point[]): void {
  drawCurve(plot, "tube", found);
  const part = found.parts[0];
  const outside = [...part.slack.keys()].filter((i) => part.slack[i] > 1e-6);
  plot.draw(
    "slacks",
    ...outside.map((i) => {
      const { x, y } = points[i];
      const towards = Math.sign(part.decision[i] - y);
      return plot.segment(x, y, x, y + towards * part.slack[i], "slack");
    }),
  );
  plot.draw("points", ...pointNodes(plot, points, part));
}

function drawLoss(plot: Plot, found: Fit, epsilon: number): void {
  const xs = plot.abscissae(401);
  const { decision, slack } = found.parts[0];
  const residuals = found.data.y.map((z, i) => z - decision[i]);
  plot.draw(
    "loss",
    plot.segment(-9, 0, 9, 0, "axis"),
    plot.segment(-epsilon, -1, -epsilon, 9, "now"),
    plot.segment(epsilon, -1, epsilon, 9, "now"),
    plot.curve(
      xs,
      xs.map((r) => Math.max(0, Math.abs(r) - epsilon)),
      "strong",
    ),
  );
  plot.draw("points", ...[...residuals].map((r, i) => plot.glyph(r, slack[i], 0, 5)));
}

function report(stage: Stage, found: Fit, state: State): void {
  const part = found.parts[0];
  const outside = part.slack.filter((xi) => xi > 1e-6).length;
  const support = supportVectors(part).length;
  const total = part.slack.reduce((sum, xi) => sum + xi, 0);
  stage.numbers(
    [
      ["support", "Support vectors", `${support} of ${COUNT}`],
      ["outside", "Points outside the tube", `${outside} of ${COUNT}`],
      ["slack", "Sum of slacks $\\sum_i\\xi_i$", total.toFixed(3)],
      ["primal", "Primal value", shortNumber(found.primal, 5)],
      ["gap", "Duality gap", shortNumber(found.gap, 2)],
      ["rule", "Rule $3\\sigma\\sqrt{\\ln n/n}$", ruleOfNoise(state.noise, COUNT).toFixed(3)],
    ],
    `${support} of ${COUNT} points are support vectors, ${outside} lie outside the tube. ` +
      `The sum of slacks is ${total.toFixed(2)}.`,
  );
}
