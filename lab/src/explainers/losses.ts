// The losses of classification, sample by sample. The mathematics is in math/losses.ts.

import { select, shortNumber } from "../ui/controls";
import { eachFrame, s } from "../ui/dom";
import type { Plot } from "../ui/plot";
import { wordParam } from "../ui/url";
import { legend, signed } from "./drawing";
import type { Explainer, Stage } from "./frame";
import { LOSSES } from "./math/losses";

const NAMES = ["zero_one", "hinge", "squared_hinge", "logistic", "squared"] as const;
type Name = (typeof NAMES)[number];

const LABELS = [1, 1, 1, 1, -1, -1, -1, -1];
const START = [2.4, 1.2, 0.5, -0.6, -2.1, -1.3, -0.4, 0.8];
const LARGEST = 3;

export const losses: Explainer = {
  name: "losses",
  title: "What a sample costs: the losses",
  summary: "Drag a sample along its decision value and see what each loss makes it pay.",
  lecture: "straka",
  section: "Binary Classification Loss Functions Comparison",
  text: [
    "A linear classifier is trained by minimising a loss over its samples. With labels $y = \\pm1$ and $f(x) = w^\\top x + b$ " +
      "every loss here depends on the product $m = y f(x)$ alone, the margin of the sample: positive " +
      "if the sign is right, and large if the machine is sure.",
    "$$\\min_{w,\\,b}\\ C\\sum_i \\ell\\bigl(y_i f(x_i)\\bigr) + \\tfrac12\\|w\\|^2",
    "What we would like to count are errors, but their loss is flat, so that no gradient points to " +
      "a better machine. The hinge lies above it, is convex, and asks nothing once $m \\ge 1$: this is " +
      "why only a few samples become support vectors. The logistic loss never quite stops asking. " +
      "The squared loss even punishes samples for being right with too much certainty.",
  ],
  tasks: [
    "Drag one sample far to its right side: $f = 3$ for a square. Which losses fall to zero, and which one grows?",
    "Drag it far to the wrong side. Which loss cares most about this outlier? Which two grow along a line?",
    "Put every sample at $m \\ge 1$. The hinge loss is zero now: the classes are separated with a margin.",
  ],
  mount(stage: Stage) {
    const state = { loss: wordParam(stage.params, "loss", NAMES, "hinge"), f: read(stage.params) };
    const chosen = select({
      label: "Loss shown on the samples",
      choices: NAMES.map((value) => ({ value, label: LOSSES[value].name })),
      value: state.loss,
      change: (value) => {
        state.loss = value;
        redraw();
      },
    });
    stage.controls.append(chosen.element);
    const line = lineFigure(stage);
    const curves = curveFigure(stage);
    const redraw = eachFrame(() => {
      drawLine(line, state.f, state.loss, handles);
      drawCurves(curves, state.f, state.loss);
      report(stage, state.f, state.loss);
      const f = state.f.map((value) => value.toFixed(2)).join(",");
      stage.save(
        { loss: state.loss, f },
        { loss: "hinge", f: START.map((v) => v.toFixed(2)).join(",") },
      );
    });
    const set = (i: number, value: number): void => {
      state.f[i] = Number(Math.max(-LARGEST, Math.min(LARGEST, value)).toFixed(2));
      redraw();
    };
    const handles = LABELS.map((_, i) => handle(i, state.f, (value) => set(i, value)));
    dragging(line, state.f, set);
    line.onResize(redraw);
    curves.onResize(redraw);
    redraw();
  },
};

/** The decision values of the URL, or the first ones. */
function read(params: URLSearchParams): number[] {
  const values = (params.get("f") ?? "").split(",").map(Number);
  const good = values.length === START.length && values.every((v) => Math.abs(v) <= LARGEST);
  return good ? values : [...START];
}

function lineFigure(stage: Stage): Plot {
  return stage.plot(
    {
      label: "Eight samples over their decision values; drag them, or focus one and use arrow keys",
      x: [-LARGEST - 0.2, LARGEST + 0.2],
      y: [-0.25, 4.4],
      layers: ["loss", "samples"],
      aspect: 1.5,
      xLabel: "decision value f(x)",
      yLabel: "loss",
    },
    "Each sample stands at its decision value; its stem is the loss it pays. Solid line: the loss of " +
      "squares ($y = +1$), dashed line: of circles ($y = -1$). Drag the samples.",
  );
}

function curveFigure(stage: Stage): Plot {
  return stage.plot(
    {
      label: "The five losses over the margin y f(x)",
      x: [-LARGEST - 0.2, LARGEST + 0.2],
      y: [-0.25, 4.4],
      layers: ["curves", "samples"],
      aspect: 1.5,
      xLabel: "margin m = y f(x)",
      yLabel: "loss",
    },
    "All five losses over the margin, with the samples on the chosen one: both classes share one axis.",
  );
}

/** A sample as a slider that takes the focus. */
function handle(i: number, f: readonly number[], set: (value: number) => void): SVGGElement {
  const name = LABELS[i] > 0 ? "square, y = +1" : "circle, y = −1";
  const node = s("g", {
    role: "slider",
    tabindex: 0,
    class: "handle",
    "aria-label": `Sample ${i + 1}, ${name}: decision value`,
    "aria-valuemin": -LARGEST,
    "aria-valuemax": LARGEST,
  });
  node.addEventListener("keydown", (event) => {
    const step = event.shiftKey ? 0.5 : 0.1;
    const up = event.key === "ArrowRight" || event.key === "ArrowUp";
    if (!up && event.key !== "ArrowLeft" && event.key !== "ArrowDown") return;
    event.preventDefault();
    set(f[i] + (up ? step : -step));
  });
  return node;
}

function drawLine(plot: Plot, f: readonly number[], name: Name, handles: SVGGElement[]): void {
  const loss = LOSSES[name].of;
  const xs = plot.abscissae(241);
  plot.draw(
    "loss",
    plot.segment(-9, 0, 9, 0, "axis"),
    plot.curve(
      xs,
      xs.map((x) => loss(x)),
      "strong class-line-1",
    ),
    plot.curve(
      xs,
      xs.map((x) => loss(-x)),
      "strong dashed class-line-0",
    ),
  );
  handles.forEach((node, i) => {
    const k = LABELS[i] > 0 ? 1 : 0;
    const value = loss(LABELS[i] * f[i]);
    node.setAttribute("aria-valuenow", String(f[i]));
    node.setAttribute("aria-valuetext", `${f[i]}, loss ${value.toFixed(2)}`);
    node.replaceChildren(
      plot.segment(f[i], 0, f[i], value, `stem class-line-${k}`),
      plot.ring(f[i], 0, "grip", 15),
      plot.glyph(f[i], 0, k, 8),
      plot.text(f[i], value, value > 0.005 ? value.toFixed(2) : "", "value", 5, -5),
    );
  });
  if (!handles[0].isConnected) plot.draw("samples", ...handles);
}

function drawCurves(plot: Plot, f: readonly number[], name: Name): void {
  const xs = plot.abscissae(241);
  const lines = NAMES.map((other, k) => {
    const values = xs.map((m) => LOSSES[other].of(m));
    return plot.curve(xs, values, `loss-${k} ${other === name ? "chosen" : "other"}`);
  });
  const swatches = NAMES.map((other, k): [string, string] => [
    LOSSES[other].name,
    `loss-${k} ${other === name ? "chosen" : ""}`,
  ]);
  plot.draw("curves", plot.segment(-9, 0, 9, 0, "axis"), ...lines, ...legend(plot, swatches, true));
  plot.draw(
    "samples",
    ...f.map((value, i) => {
      const m = LABELS[i] * value;
      return plot.glyph(m, LOSSES[name].of(m), LABELS[i] > 0 ? 1 : 0, 6);
    }),
  );
}

/** The pointer takes the nearest sample. */
function dragging(plot: Plot, f: readonly number[], set: (i: number, value: number) => void): void {
  let held = -1;
  const nearest = (x: number): number =>
    f.reduce((best, value, i) => (Math.abs(value - x) < Math.abs(f[best] - x) ? i : best), 0);
  plot.element.classList.add("draggable");
  plot.element.setAttribute("role", "group"); // it holds sliders
  plot.onPointer({
    down: ({ x }) => {
      const i = nearest(x);
      held = Math.abs(plot.px(f[i]) - plot.px(x)) < 24 ? i : -1;
    },
    move: ({ x }) => held >= 0 && set(held, x),
    up: () => (held = -1),
  });
}

function report(stage: Stage, f: readonly number[], name: Name): void {
  const margins = f.map((value, i) => LABELS[i] * value);
  const total = (of: Name): number => margins.reduce((sum, m) => sum + LOSSES[of].of(m), 0);
  stage.numbers(
    NAMES.map((of) => [
      of,
      `${of === name ? "▸ " : ""}Sum of the ${LOSSES[of].name} losses $${LOSSES[of].tex}$`,
      shortNumber(total(of), 4),
    ]),
    `Margins ${margins.map(signed).join(", ")}. The sum of the ${LOSSES[name].name} losses is ${total(name).toFixed(2)}.`,
  );
}
