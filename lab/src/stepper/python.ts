// "Copy as Python": a program with maxmargin.textbook that makes the trace of the page and prints
// the step that is shown. The textbook draws the same random numbers.

import type { Kernel } from "../svm/types";
import { array, pythonNumber } from "../ui/python";
import { ALGORITHMS, DRAWS, TOL } from "./algorithms";
import { stepAt, type Run, type State } from "./state";

/** The program for one run. */
export function pythonOf(run: Run, state: State): string {
  const at = state.rival ? stepAt(run.trace, state.step, state.clock) : state.step;
  const two = run.key.startsWith("coordinate") && run.settings.target === "two";
  return [
    `# ${ALGORITHMS[run.key].name}, step ${at}: from the stepper of the maxmargin lab.`,
    "import numpy as np",
    "",
    "from maxmargin import textbook",
    "",
    ...(two ? [] : data(run)),
    ...call(run),
    "print(trace)",
    ...show(run, at),
    "",
  ].join("\n");
}

function data({ problem: { n, x, t } }: Run): string[] {
  const rows = Array.from({ length: n }, (_, i) => {
    const [x1, x2] = [x[2 * i], x[2 * i + 1]];
    return `[${pythonNumber(x1)}, ${pythonNumber(x2)}]`;
  });
  return [array("X", rows), array("t", Array.from(t, String))];
}

function kernelOf({ kind, gamma, degree }: Kernel): string {
  if (kind === "rbf") return `textbook.kernels.rbf(${pythonNumber(gamma)})`;
  const sigma = pythonNumber(1 / Math.sqrt(gamma));
  if (kind === "poly") return `textbook.kernels.polynomial(${degree}, sigma=${sigma})`;
  return "textbook.kernels.linear";
}

function call(run: Run): string[] {
  const { key, kernel, problem, settings } = run;
  const C = pythonNumber(problem.C);
  const seed = `seed=${settings.seed}`;
  const soft = `X, t, C=${C}, kernel=${kernelOf(kernel)}, tol=${TOL}`;
  const lam = `lam=1 / (len(t) * ${C})`;
  const bias = `bias=${settings.bias ? "True" : "False"}`;
  switch (key) {
    case "simplified":
      return [`model, trace = textbook.simplified_smo(${soft}, ${seed})`];
    case "smo-first":
    case "smo-second": {
      const selection = key === "smo-first" ? "maximal violating pair" : "second order";
      return [`model, trace = textbook.smo(${soft}, selection="${selection}")`];
    }
    case "pegasos":
      return [
        `model, trace = textbook.pegasos(X, t, ${lam}, steps=${DRAWS}, ${bias}, ${seed}, trace=1)`,
      ];
    case "kernel-pegasos":
      return [
        "model, trace = textbook.kernel_pegasos(",
        `    X, t, ${lam}, kernel=${kernelOf(kernel)}, steps=${DRAWS}, ${seed}, trace=1`,
        ")",
      ];
    case "coordinate-cyclic":
    case "coordinate-largest":
      return descent(run);
    default: {
      const order = { "dual-cyclic": "cyclic", "dual-permutation": "permutation" }[key as string];
      return [
        "model, trace = textbook.dual_coordinate_descent(",
        `    X, t, C=${C}, ${bias}, order="${order ?? "random"}", tol=${TOL}, ${seed}`,
        ")",
      ];
    }
  }
}

/** Two variables as a function; the regression has an entry of its own in the textbook. */
function descent({ key, kernel, problem, settings }: Run): string[] {
  const order = `order="${key === "coordinate-cyclic" ? "cyclic" : "largest decrease"}"`;
  const r = pythonNumber(settings.correlation);
  if (settings.target === "two")
    return [
      `A = np.array([[1, ${r}], [${r}, 1]])`,
      `w, trace = textbook.coordinate_descent(lambda w: 0.5 * w @ A @ w, [-0.9, 1.6], ${order})`,
    ];
  const k = settings.bias ? `lambda X, Z: ${kernelOf(kernel)}(X, Z) + 1` : kernelOf(kernel);
  return [
    "model, trace = textbook.kernel_regression(",
    `    X, t, lam=1 / ${pythonNumber(problem.C)}, kernel=${k}, ${order}, tol=${TOL}`,
    ")",
  ];
}

/** The lines that print the step; the textbook keeps some steps under other numbers. */
function show({ key }: Run, at: number): string[] {
  if (key.startsWith("dual"))
    return [
      "# The textbook keeps whole sweeps; the page shows each point of a sweep.",
      "print(trace.steps[-1])",
    ];
  return [
    "# Points are numbered from 0 here, from 1 on the page.",
    `print(next(step for step in trace.steps if step.iteration == ${Math.max(at, 1)}))`,
  ];
}
