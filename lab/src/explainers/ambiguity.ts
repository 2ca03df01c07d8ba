// Several classes from machines for two: where their answers do not name one class.
// The mathematics is in math/answers.ts.

import { random } from "../data/random";
import { makeSet } from "../data/sets";
import { regionsOf } from "../playground/regions";
import { decisionValues, fit, type Fit, predict } from "../svm/fit";
import { segments, select } from "../ui/controls";
import { eachFrame, newId, s } from "../ui/dom";
import type { Plot } from "../ui/plot";
import { numberParam, type Point, wordParam } from "../ui/url";
import { cross, follow, type Spot } from "./cross";
import { machine, planeData, signed } from "./drawing";
import type { Explainer, Row, Stage } from "./frame";
import {
  type Answers,
  BOX,
  countAnswers,
  largest,
  restVerdict,
  votesAt,
  voteVerdict,
} from "./math/answers";

const CELLS = 110;
const SETS = ["three", "row", "uneven", "five"] as const;
const SCHEMES = ["ovr", "ovo"] as const;
const SHAPES = ["circle", "square", "triangle", "diamond", "inverted triangle"];
const DEFAULTS = { set: "three", scheme: "ovr", C: 1, x: 0, y: 0.2 };
type State = { set: (typeof SETS)[number]; scheme: (typeof SCHEMES)[number]; C: number } & Spot;

export const ambiguity: Explainer = {
  name: "ambiguity",
  title: "Where several classes are ambiguous",
  summary: "One machine for each class, or one for each pair: where do their answers contradict?",
  lecture: "straka",
  section: "Multiclass SVM",
  text: [
    "A support vector machine tells two classes apart; for $K$ classes one combines several. " +
      "One-versus-rest trains $K$ machines, each asking “class $k$, or any other?” One-versus-one " +
      "trains a machine for each of the $\\binom K2$ pairs and lets them vote.",
    "$$\\begin{aligned} \\text{one-versus-rest:}&\\quad \\arg\\max_k\\, f_k(x) \\\\ " +
      "\\text{one-versus-one:}&\\quad \\arg\\max_k\\, \\#\\{l : f_{kl}(x) > 0\\} \\end{aligned}",
    "Trained independently, the machines contradict each other in the hatched regions: no machine of " +
      "one-versus-rest claims the point, or several do; or the votes of one-versus-one are tied. " +
      "Some rule must decide there, and its choice is the colour beneath: the largest value for " +
      "one-versus-rest, the first of the tied classes for one-versus-one.",
  ],
  tasks: [
    "Move the cross into a hatched region and read what each machine says.",
    "Choose three classes in a row. The middle machine of one-versus-rest has no line to use: what " +
      "does it answer? Compare with one-versus-one.",
    "Choose three uneven classes and one-versus-one: in the hatched triangle each class has one vote.",
  ],
  mount(stage: Stage) {
    const { params } = stage;
    const state: State = {
      set: wordParam(params, "set", SETS, "three"),
      scheme: wordParam(params, "scheme", SCHEMES, "ovr"),
      C: numberParam(params, "C", DEFAULTS.C, 0.01, 1000),
      x: numberParam(params, "x", DEFAULTS.x, ...BOX.x),
      y: numberParam(params, "y", DEFAULTS.y, ...BOX.y),
    };
    addChoices(stage, state, () => redraw());
    const plot = planeFigure(stage);
    const hatches = addHatches(plot);
    let found: Fit;
    let answers: Answers;
    const ask = (): void => {
      plot.draw("cross", ...cross(plot, state));
      report(stage, found, answers, state);
      stage.save(state, DEFAULTS);
    };
    const redraw = eachFrame(() =>
      stage.attempt(() => {
        const points = pointsOf(state.set);
        found = fit(machine({ C: state.C, multiclass: state.scheme }), planeData(points));
        answers = countAnswers(found);
        drawRegions(plot, found, hatches);
        plot.draw("points", ...points.map(({ x, y, k }) => plot.glyph(x, y, k, 5)));
        stage.share(found.spec, points);
        ask();
      }),
    );
    stage.slider(
      state,
      "C",
      { label: "Price of slack", tex: "C", least: 0.01, most: 1000 },
      redraw,
    );
    follow(
      plot,
      state,
      eachFrame(() => stage.attempt(ask)),
    );
    plot.onResize(redraw);
    redraw();
  },
};

function addChoices(stage: Stage, state: State, redraw: () => void): void {
  const scheme = segments({
    label: "Scheme",
    choices: [
      { value: "ovr", label: "One-versus-rest" },
      { value: "ovo", label: "One-versus-one" },
    ],
    value: state.scheme,
    change: (value) => {
      state.scheme = value;
      redraw();
    },
  });
  const set = select({
    label: "Points",
    choices: [
      { value: "three", label: "Three classes" },
      { value: "row", label: "Three classes in a row" },
      { value: "uneven", label: "Three uneven classes" },
      { value: "five", label: "Five classes" },
    ],
    value: state.set,
    change: (value) => {
      state.set = value;
      redraw();
    },
  });
  stage.controls.append(scheme.element, set.element);
}

function pointsOf(set: State["set"]): Point[] {
  if (set === "five") return makeSet("five", 60, 0.22, 1);
  const { normal } = random(3);
  const rounded = (value: number): number => Number(value.toFixed(3));
  const centres = {
    three: [
      [-1.1, 0.6, 0.32],
      [0.9, 0.8, 0.22],
      [0.2, -0.85, 0.3],
    ],
    row: [
      [-1.25, 0, 0.25],
      [0, 0.1, 0.25],
      [1.25, 0, 0.25],
    ],
    uneven: [
      [-1.3, -0.9, 0.2],
      [1, 0.7, 0.37],
      [0.2, 0.4, 0.13],
    ],
  }[set];
  return Array.from({ length: 45 }, (_, i) => {
    const [x, y, width] = centres[i % 3];
    return { x: rounded(x + width * normal()), y: rounded(y + width * normal()), k: i % 3 };
  });
}

function planeFigure(stage: Stage): Plot {
  return stage.plot(
    {
      label: "The regions of the classes, ambiguous ones hatched; the arrow keys move the cross",
      ...BOX,
      aspect: 1.28,
      interactive: true,
      layers: ["regions", "hatches", "lines", "points", "cross"],
      xLabel: "x₁",
      yLabel: "x₂",
    },
    "Hatched one way: no machine says yes. Hatched both ways: several say yes, or votes are tied. " +
      "Lines are where each machine is undecided.",
  );
}

/** Two patterns of lines; returns how to fill with them. */
function addHatches(plot: Plot): { single: string; double: string } {
  const pattern = (id: string, d: string): SVGElement =>
    s(
      "pattern",
      { id, width: 8, height: 8, patternUnits: "userSpaceOnUse" },
      s("path", { d, class: "hatch" }),
    );
  const [single, double] = [newId("hatch"), newId("hatch")];
  const down = "M-2,2L2,-2M0,8L8,0M6,10L10,6";
  const up = "M-2,6L2,10M0,0L8,8M6,-2L10,2";
  plot.element.querySelector("defs")!.append(pattern(single, down), pattern(double, down + up));
  return { single: `url(#${single})`, double: `url(#${double})` };
}

function drawRegions(plot: Plot, found: Fit, hatches: { single: string; double: string }): void {
  const grid = plot.grid(CELLS);
  const values = decisionValues(found, grid.points);
  const { classes, unclear } = regionsOf(
    found.parts.map((part) => part.classes),
    values,
    found.classes,
  );
  plot.draw(
    "regions",
    ...classes.map((field, k) => plot.region(grid, field, 0, `region class-${k}`)),
  );
  const filled = (field: Float64Array, fill: string): SVGPathElement => {
    const path = plot.region(grid, field, 0, "hatched");
    path.setAttribute("fill", fill);
    return path;
  };
  if (found.spec.multiclass === "ovr") {
    const most = values[0].map((_, i) => largest(values, i)[0]);
    const second = values[0].map((_, i) => largest(values, i)[1]);
    plot.draw(
      "hatches",
      filled(
        most.map((f) => -f),
        hatches.single,
      ),
      filled(second, hatches.double),
    );
  } else plot.draw("hatches", unclear && filled(unclear, hatches.double));
  plot.draw(
    "lines",
    ...found.parts.map((part, p) => {
      const [k, other] = part.classes ?? [0, -1];
      return plot.contour(grid, values[p], 0, other < 0 ? `strong class-line-${k}` : "pair");
    }),
  );
}

const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;

function report(stage: Stage, found: Fit, answers: Answers, at: Spot): void {
  const place = Float64Array.of(at.x, at.y);
  const values = decisionValues(found, place);
  const rest = found.spec.multiclass === "ovr";
  const says: Row[] = found.parts.map((part, p) => {
    const f = values[p][0];
    const [k, other] = part.classes!;
    if (rest)
      return [`f${k}`, `Machine of the ${SHAPES[k]}s`, `${signed(f)}: ${f > 0 ? "yes" : "no"}`];
    const name = `${SHAPES[k]} against ${SHAPES[other]}`;
    return [`f${k}${other}`, `Machine ${name}`, `${signed(f)}: ${SHAPES[f > 0 ? k : other]}`];
  });
  const verdict = rest ? restVerdict(values) : voteVerdict(votesAt(found, values, 0));
  const winner = SHAPES[predict(found, place)[0]];
  const whole: Row[] = rest
    ? [
        ["none", "No machine says yes", `${percent(answers.none)} of the picture`],
        ["several", "Several say yes", `${percent(answers.several)} of the picture`],
      ]
    : [["tied", "Votes are tied", `${percent(answers.tied)} of the picture`]];
  stage.numbers(
    [...whole, ...says, ["verdict", "At the cross", `${verdict}; prediction: ${winner}`]],
    `At the cross: ${verdict}; the prediction is ${winner}.`,
  );
}
