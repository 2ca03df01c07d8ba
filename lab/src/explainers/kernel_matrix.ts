// The kernel matrix and its eigenvalues: Mercer's condition in numbers.
//
//     K_ij = k(x_i, x_j);   k is a kernel only if no K has a negative eigenvalue,
//     since  v'Kv = |sum_i v_i phi(x_i)|^2 >= 0   for every v

import { makeSet } from "../data/sets";
import { fit, type Fit, type Kernel, kernelMatrix } from "../svm/fit";
import { select, shortNumber } from "../ui/controls";
import { eachFrame, s } from "../ui/dom";
import type { Plot } from "../ui/plot";
import { numberParam, type Point, wordParam } from "../ui/url";
import { bar, machine, planeData } from "./drawing";
import type { Explainer, Stage } from "./frame";
import { type Eigen, symmetricEigen } from "./math/eigen";

const KINDS = ["linear", "poly", "rbf", "sigmoid"] as const;
const NAMES = { linear: "Linear", poly: "Polynomial", rbf: "Gaussian (RBF)", sigmoid: "Sigmoid" };
const DEFAULTS = { kernel: "rbf", gamma: 1, coef0: 0, degree: 2 };
const COUNT = 24;
/** An eigenvalue is negative if it is below -NOISE times the largest: rounding makes smaller ones. */
const NOISE = 1e-12;

type State = { kernel: (typeof KINDS)[number]; gamma: number; coef0: number; degree: number };

export const kernelMatrixExplainer: Explainer = {
  name: "matrix",
  title: "The kernel matrix and its eigenvalues",
  summary: "See a kernel as a picture, then break Mercer’s condition with a sigmoid.",
  lecture: "theory",
  section: "Kernel trick",
  text: [
    "All that a support vector machine knows about its points is the matrix $K_{ij} = k(x_i, x_j)$. " +
      "Ordered by class, a good kernel shows two bright blocks: points of one class resemble each " +
      "other more than points of the other class.",
    "$$\\begin{aligned} v^\\top K v &= \\sum_{i,j} v_i v_j\\, \\phi(x_i)^\\top\\phi(x_j) \\\\ " +
      "&= \\Bigl\\|\\sum_i v_i\\, \\phi(x_i)\\Bigr\\|^2 \\ge 0 \\end{aligned}",
    "If $k$ is an inner product in some space, then $v^\\top K v$ is a squared length, and no eigenvalue of $K$ " +
      "can be negative. This is Mercer’s condition. It holds for the linear, polynomial ($c \\ge 0$) and " +
      "Gaussian kernels. The sigmoid $\\tanh(\\gamma\\, x^\\top z + c)$ breaks it: there is no space, the dual problem is " +
      "no longer concave, and no gap can certify a global optimum. maxmargin then says “stationary”, never “optimal”.",
  ],
  tasks: [
    "Make the Gaussian kernel narrow ($\\gamma$ = 100): the matrix comes close to the identity, and every eigenvalue to one.",
    "Make it wide ($\\gamma$ = 0.01): one eigenvalue is left. What has the matrix become?",
    "Choose the sigmoid with $c = -1$ and count the negative eigenvalues. What does the certificate say?",
  ],
  mount(stage: Stage) {
    const { params } = stage;
    const state: State = {
      kernel: wordParam(params, "kernel", KINDS, "rbf"),
      gamma: numberParam(params, "gamma", DEFAULTS.gamma, 0.01, 100),
      coef0: numberParam(params, "coef0", DEFAULTS.coef0, -3, 3),
      degree: numberParam(params, "degree", DEFAULTS.degree, 1, 6),
    };
    const points = [...makeSet("gaussians", COUNT, 0.4, 6)].sort((p, q) => p.k - q.k || p.x - q.x);
    const data = planeData(points);
    const map = mapFigure(stage);
    const spectrum = spectrumFigure(stage);
    const cell = { i: 0, j: 0 };
    const redraw = eachFrame(() =>
      stage.attempt(() => {
        const kernel = kernelOf(state);
        const K = kernelMatrix(kernel, data.x, 2);
        const eigen = symmetricEigen(K, COUNT);
        const found = fit(machine({ kernel, C: 1 }), data);
        drawMap(map, K, cell);
        drawSpectrum(spectrum, eigen);
        report(stage, K, eigen, found, cell);
        stage.share(found.spec, points);
        stage.save(state, DEFAULTS);
      }),
    );
    addControls(stage, state, redraw);
    pickCell(map, cell, redraw);
    map.onResize(redraw);
    spectrum.onResize(redraw);
    redraw();
  },
};

function kernelOf({ kernel, gamma, coef0, degree }: State): Kernel {
  return { kind: kernel, gamma, coef0, degree: Math.round(degree) };
}

function addControls(stage: Stage, state: State, redraw: () => void): void {
  const kind = select({
    label: "Kernel",
    choices: KINDS.map((value) => ({ value, label: NAMES[value] })),
    value: state.kernel,
    change: (value) => {
      state.kernel = value;
      show();
      redraw();
    },
  });
  stage.controls.append(kind.element);
  const gamma = stage.slider(
    state,
    "gamma",
    { label: "Scale", tex: "\\gamma", least: 0.01, most: 100 },
    redraw,
  );
  const shift = { label: "Shift", tex: "c", least: -3, most: 3, step: 0.1 };
  const coef0 = stage.slider(state, "coef0", shift, redraw);
  const power = { label: "Degree", tex: "p", least: 1, most: 6, step: 1, integer: true };
  const degree = stage.slider(state, "degree", power, redraw);
  const show = (): void => {
    gamma.show(state.kernel !== "linear");
    coef0.show(state.kernel === "poly" || state.kernel === "sigmoid");
    degree.show(state.kernel === "poly");
  };
  show();
}

function mapFigure(stage: Stage): Plot {
  const tick = (t: number): string | null =>
    Number.isInteger(t) && t > 0 && t <= COUNT ? String(t) : null;
  return stage.plot(
    {
      label: "The kernel matrix; arrow keys choose an entry",
      x: [0.5, COUNT + 0.5],
      y: [COUNT + 0.5, 0.5],
      aspect: 1.12,
      interactive: true,
      layers: ["cells", "chosen"],
      xLabel: "point j (circles, then squares)",
      yLabel: "point i",
      tickX: tick,
      tickY: tick,
    },
    "$K_{ij}$ as colour: orange is positive, blue negative, stronger is larger. Choose an entry to read it.",
  );
}

function spectrumFigure(stage: Stage): Plot {
  return stage.plot(
    {
      label: "The eigenvalues of the kernel matrix, largest first",
      x: [0.3, COUNT + 0.7],
      y: [0, 1],
      aspect: 1.7,
      layers: ["bars"],
      xLabel: "eigenvalues, largest first",
      yLabel: "λ",
      tickX: (t) => (Number.isInteger(t) ? String(t) : null),
    },
    "The eigenvalues of $K$. A negative one, drawn in blue, breaks Mercer’s condition.",
  );
}

function drawMap(plot: Plot, K: Float64Array, cell: { i: number; j: number }): void {
  const most = Math.max(...K.map(Math.abs)) || 1;
  const rect = (i: number, j: number): { x: number; y: number; width: number; height: number } => {
    const [x, y] = [plot.px(j + 0.5), plot.py(i + 0.5)];
    return { x, y, width: plot.px(j + 1.5) - x, height: plot.py(i + 1.5) - y };
  };
  const cells = [...K].map((value, at) => {
    const place = rect(Math.floor(at / COUNT), at % COUNT);
    const side = value < 0 ? "class-0" : "class-1";
    return s("rect", {
      ...place,
      class: `cell ${side}`,
      "shape-rendering": "crispEdges",
      "fill-opacity": (Math.abs(value) / most).toFixed(3),
    });
  });
  const half = COUNT / 2 + 0.5;
  plot.draw(
    "cells",
    ...cells,
    plot.segment(half, 0, half, COUNT + 1, "divide"),
    plot.segment(0, half, COUNT + 1, half, "divide"),
  );
  plot.draw("chosen", s("rect", { ...rect(cell.i, cell.j), class: "chosen-cell" }));
}

function drawSpectrum(plot: Plot, { values }: Eigen): void {
  const [most, least] = [values[0], Math.min(0, values[values.length - 1])];
  const room = 0.08 * (most - least);
  plot.setBox([0.3, COUNT + 0.7], [least < -NOISE * most ? least - room : 0, most + room]);
  const bars = [...values].map((value, k) =>
    bar(plot, k + 1, value, value < 0 ? "class-0" : "class-1"),
  );
  plot.draw("bars", ...bars, plot.segment(0, 0, COUNT + 1, 0, "axis"));
}

/** Pointer and arrow keys choose an entry of the matrix. */
function pickCell(plot: Plot, cell: { i: number; j: number }, redraw: () => void): void {
  const go = (i: number, j: number): void => {
    const inside = (k: number): number => Math.max(0, Math.min(COUNT - 1, Math.round(k)));
    [cell.i, cell.j] = [inside(i), inside(j)];
    redraw();
  };
  const place = ({ x, y }: Pick<Point, "x" | "y">): void => go(y - 1, x - 1);
  plot.onPointer({ down: place, move: place, hover: (at) => at && place(at) });
  plot.element.addEventListener("keydown", (event) => {
    const moves: Record<string, [number, number]> = {
      ArrowUp: [-1, 0],
      ArrowDown: [1, 0],
      ArrowLeft: [0, -1],
      ArrowRight: [0, 1],
    };
    const by = moves[event.key];
    if (!by) return;
    event.preventDefault();
    go(cell.i + by[0], cell.j + by[1]);
  });
}

function report(
  stage: Stage,
  K: Float64Array,
  { values }: Eigen,
  found: Fit,
  cell: { i: number; j: number },
) {
  const [most, least] = [values[0], values[COUNT - 1]];
  const size = Math.max(Math.abs(most), Math.abs(least));
  const negative = values.filter((value) => value < -NOISE * size).length;
  const sum = values.reduce((total, value) => total + value, 0);
  const { i, j } = cell;
  stage.numbers(
    [
      ["most", "Largest eigenvalue", shortNumber(most, 5)],
      [
        "least",
        "Least eigenvalue",
        negative ? shortNumber(least, 5) : `${shortNumber(Math.max(0, least), 5)}`,
      ],
      ["negative", "Negative eigenvalues", `${negative} of ${COUNT}`],
      ["trace", "Sum of eigenvalues = trace of $K$", shortNumber(sum, 5)],
      [
        "status",
        "Status of the fit at $C = 1$",
        `${found.status} (gap ${shortNumber(found.gap, 2)})`,
      ],
      ["entry", `Entry $K_{${i + 1},${j + 1}}$`, shortNumber(K[i * COUNT + j], 4)],
    ],
    `${negative} of ${COUNT} eigenvalues are negative; the least is ${shortNumber(least)}. ` +
      `The fit is ${found.status}.`,
  );
}
