// Primal against dual: what training costs as the data grow. The mathematics is in math/growth.ts.
//
// The first picture counts multiplications, the second measures two solvers in this page: Pegasos on
// phi(x), written in TypeScript, and maxmargin's dual solver with the kernel (1 + x'z)^p.

import { random } from "../data/random";
import { type Data, fit, type Status } from "../svm/fit";
import { button, shortNumber } from "../ui/controls";
import { eachFrame, h } from "../ui/dom";
import type { Plot } from "../ui/plot";
import { numberParam } from "../ui/url";
import { decadeTick, decades, legend, machine } from "./drawing";
import type { Explainer, Row, Stage } from "./frame";
import { counts, crossing, features, pegasos, polynomialMap, primalValue } from "./math/growth";

const DEFAULTS = { n: 1000, d: 5, degree: 2, epochs: 20 };
type State = typeof DEFAULTS;
const [LEAST, MOST] = [10, 1e5];
const SIZES = [60, 125, 250, 500, 1000];
const PRICE = 1;
const BUDGET = 40; // milliseconds for the repeats of one measurement

export interface Measured {
  n: number;
  primal: number;
  dual: number;
  /** How far the primal solver's objective is above the optimum, as a share of it. */
  excess: number;
  /** Of the dual solver. */
  status: Status;
}

export const growth: Explainer = {
  name: "growth",
  title: "Primal against dual as the data grow",
  summary: "The primal pays for features, the dual for points: counted, and measured in this page.",
  lecture: "straka",
  section: "Primal versus Dual Formulation",
  text: [
    "The same machine can be trained in two ways. The primal has one weight for each of the $F$ features " +
      "that a map $\\phi$ makes of $D$ inputs; the dual has one variable for each of the $N$ points and " +
      "meets $\\phi$ only inside the kernel, which costs $D$ multiplications however large $F$ is.",
    "$$\\begin{aligned} \\text{primal:}&\\quad e\\, N F \\text{ for } e \\text{ epochs} \\\\ " +
      "\\text{dual:}&\\quad \\text{between } N D \\text{ and } N^2 D \\end{aligned}",
    "So the primal grows in proportion to $N$, and the dual, once it needs most of the kernel matrix, with $N^2$. " +
      "The lines cross at $N = eF/D$. Polynomials of degree $p$ have $F = \\binom{D+p}{p} - 1$ features; the " +
      "Gaussian kernel has infinitely many, and then only the dual is left.",
  ],
  tasks: [
    "Raise the degree from 1 to 3: how far does the crossing move to the right?",
    "With degree 1, raise $D$ from 2 to 20. Why does the crossing stay where it is?",
    "Press “Measure” and compare the slopes: which of the two times grows faster than $N$?",
  ],
  mount(stage: Stage) {
    const { params } = stage;
    const state: State = {
      n: numberParam(params, "n", DEFAULTS.n, LEAST, MOST),
      d: Math.round(numberParam(params, "d", DEFAULTS.d, 1, 20)),
      degree: Math.round(numberParam(params, "degree", DEFAULTS.degree, 1, 3)),
      epochs: Math.round(numberParam(params, "epochs", DEFAULTS.epochs, 1, 100)),
    };
    const lines = countFigure(stage);
    const times = timeFigure(stage);
    const note = h("p", { class: "explain-note" }, "");
    let measured: Measured[] = [];
    let run = 0;
    const draw = (): void => {
      drawCounts(lines, state);
      drawTimes(times, measured);
      report(stage, state, measured);
    };
    const redraw = eachFrame(draw);
    const changed = (): void => {
      run += 1; // what was measured belongs to other settings
      measured = [];
      note.textContent = "";
      stage.save(state, DEFAULTS);
      redraw();
    };
    addSliders(stage, state, changed, redraw);
    const start = button("Measure in this page", () => {
      const mine = ++run;
      measured = [];
      void measureAll(state, (found) => {
        if (mine !== run || !lines.element.isConnected) return false;
        measured = [...measured, found];
        note.textContent = `Measured N = ${found.n}.`;
        redraw();
        return true;
      });
    });
    stage.controls.append(start, note);
    lines.onResize(redraw);
    times.onResize(redraw);
    redraw();
  },
};

function addSliders(stage: Stage, state: State, changed: () => void, redraw: () => void): void {
  const points = { label: "Points", tex: "N", least: LEAST, most: MOST, integer: true };
  const whole = (label: string, tex: string, least: number, most: number) => ({
    label,
    tex,
    least,
    most,
    step: 1,
    integer: true,
  });
  stage.slider(state, "n", points, () => {
    state.n = Math.round(state.n);
    stage.save(state, DEFAULTS);
    redraw();
  });
  stage.slider(state, "d", whole("Inputs", "D", 1, 20), changed);
  stage.slider(state, "degree", whole("Degree of the polynomial", "p", 1, 3), changed);
  stage.slider(state, "epochs", whole("Epochs of the primal", "e", 1, 100), changed);
}

const logAxis = {
  x: [Math.log10(LEAST), Math.log10(MOST)] as [number, number],
  tickX: decadeTick,
  tickY: decadeTick,
};

function countFigure(stage: Stage): Plot {
  return stage.plot(
    {
      ...logAxis,
      label: "Multiplications of primal and dual over the number of points",
      y: [1, 13],
      aspect: 1.4,
      layers: ["curves", "now"],
      xLabel: "points N",
      yLabel: "multiplications",
    },
    "Counted: the primal is a line, the dual lies in the band between $ND$ and $N^2D$. Both axes are logarithmic.",
  );
}

function timeFigure(stage: Stage): Plot {
  return stage.plot(
    {
      ...logAxis,
      label: "Measured times of both solvers over the number of points",
      x: [1.6, 3.2],
      y: [-2, 4],
      aspect: 1.4,
      layers: ["curves"],
      xLabel: "points N",
      yLabel: "milliseconds",
    },
    "Measured on this computer: Pegasos in TypeScript ($e$ epochs, then it stops wherever it is) and " +
      "maxmargin’s solver in WebAssembly (until certified). Compare slopes, not heights.",
  );
}

function drawCounts(plot: Plot, { n, d, degree, epochs }: State): void {
  const all = decades(Math.log10(LEAST), Math.log10(MOST), 41);
  const at = all.map((size) => counts(size, d, degree, epochs));
  const xs = all.map(Math.log10);
  const log = (key: "primal" | "least" | "most"): number[] => at.map((c) => Math.log10(c[key]));
  const meet = Math.log10(crossing(d, degree, epochs));
  const now = Math.log10(n);
  const here = counts(n, d, degree, epochs);
  plot.draw(
    "curves",
    plot.band(xs, log("least"), log("most"), "region class-0"),
    plot.curve(xs, log("most"), "strong class-line-0"),
    plot.curve(xs, log("least"), "class-line-0"),
    plot.curve(xs, log("primal"), "strong dashed class-line-1"),
    plot.text(xs[40], log("most")[40], "dual, at most N²D", "legend", -8, -9),
    plot.text(xs[22], log("least")[22], "dual, at least ND", "legend-name", 4, 18),
    plot.text(xs[40], log("primal")[40], "primal eNF", "legend", -8, -9),
  );
  plot.draw(
    "now",
    plot.segment(now, plot.box.y[0], now, plot.box.y[1], "now"),
    plot.ring(now, Math.log10(here.primal), "marker class-1", 5),
    plot.ring(now, Math.log10(here.most), "marker class-0", 5),
    plot.ring(now, Math.log10(here.least), "marker class-0", 5),
    plot.ring(meet, Math.log10(counts(10 ** meet, d, degree, epochs).primal), "ring", 8),
  );
}

function drawTimes(plot: Plot, measured: readonly Measured[]): void {
  const xs = measured.map(({ n }) => Math.log10(n));
  const log = (key: "primal" | "dual"): number[] =>
    measured.map((m) => Math.log10(Math.max(0.01, m[key])));
  plot.draw(
    "curves",
    plot.curve(xs, log("dual"), "strong class-line-0"),
    plot.curve(xs, log("primal"), "strong dashed class-line-1"),
    ...log("dual").map((y, i) => plot.ring(xs[i], y, "marker class-0", 5)),
    ...log("primal").map((y, i) => plot.ring(xs[i], y, "marker class-1", 5)),
    ...legend(plot, [
      ["dual (maxmargin)", "class-line-0"],
      ["primal (Pegasos)", "dashed class-line-1"],
    ]),
    measured.length ? null : plot.text(2.4, 1, "press “Measure in this page”", "hint"),
  );
}

/** Two overlapping clouds in d dimensions. */
function clouds(n: number, d: number): Data {
  const { normal } = random(n);
  const y = Float64Array.from({ length: n }, (_, i) => i % 2);
  const x = Float64Array.from({ length: n * d }, (_, at) => {
    const side = Math.floor(at / d) % 2 ? 1 : -1;
    return (0.7 * side + normal()) / Math.sqrt(d);
  });
  return { x, d, y };
}

/** Both solvers on n points; the shortest of several runs, so that no time is that of a first one. */
export function measure(n: number, { d, degree, epochs }: State): Measured {
  const data = clouds(n, d);
  const kernel = { kind: "poly", gamma: 1, coef0: 1, degree } as const;
  const y = data.y.map((k) => 2 * k - 1);
  const dual = timed(() => fit(machine({ kernel, C: PRICE }), data));
  const primal = timed(() => {
    const problem = { phi: polynomialMap(data.x, d, degree), y, C: PRICE };
    return primalValue(pegasos(problem, epochs), problem);
  });
  return {
    n,
    primal: primal.milliseconds,
    dual: dual.milliseconds,
    excess: primal.value / dual.value.primal - 1,
    status: dual.value.status,
  };
}

/** What a function returns, and its shortest time within a budget. */
function timed<T>(run: () => T): { value: T; milliseconds: number } {
  const end = performance.now() + BUDGET;
  let milliseconds = Infinity;
  for (;;) {
    const began = performance.now();
    const value = run();
    const now = performance.now();
    milliseconds = Math.min(milliseconds, now - began);
    if (now > end) return { value, milliseconds };
  }
}

/** One size after the other, with a pause for the page; ends when `tell` says so. */
async function measureAll(state: State, tell: (found: Measured) => boolean): Promise<void> {
  const frozen = { ...state };
  for (const n of SIZES) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    if (!tell(measure(n, frozen))) return;
  }
}

function report(stage: Stage, state: State, measured: readonly Measured[]): void {
  const { n, d, degree, epochs } = state;
  const at = counts(n, d, degree, epochs);
  const meet = crossing(d, degree, epochs);
  const last = measured[measured.length - 1];
  const whole = (value: number): string => Math.round(value).toLocaleString("en-US");
  stage.numbers(
    [
      ["features", "Features $F = \\binom{D+p}{p} - 1$", whole(features(d, degree))],
      [
        "variables",
        "Variables of the primal, of the dual",
        `${whole(features(d, degree) + 1)} and ${whole(n)}`,
      ],
      ["primal", "Primal $eNF$", whole(at.primal)],
      ["least", "Dual, at least $ND$", whole(at.least)],
      ["most", "Dual, at most $N^2D$", whole(at.most)],
      ["crossing", "They cross at $N = eF/D$", whole(meet)],
      ...(last ? measuredRows(last) : []),
    ],
    `With ${whole(n)} points the primal needs ${shortNumber(at.primal)} multiplications, the dual between ` +
      `${shortNumber(at.least)} and ${shortNumber(at.most)}.`,
  );
}

function measuredRows({ n, primal, dual, excess, status }: Measured): Row[] {
  const at = `$N = ${n}$`;
  const above = `${shortNumber(100 * excess, 2)} % above the optimum`;
  return [
    ["measured-primal", `Measured primal, ${at}`, `${shortNumber(primal)} ms, ${above}`],
    ["measured-dual", `Measured dual, ${at}`, `${shortNumber(dual)} ms, ${status}`],
  ];
}
