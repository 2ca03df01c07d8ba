// "Copy as Python": a program that fits with maxmargin what the page shows, and draws it.
//
// Numbers are written with all their digits, so that the program solves the very same problem.
// tol is small because the page solves to rounding as well.

import type { Data, Kernel, Spec } from "../svm/types";

const LINE = 96;

/** A number as Python reads it back exactly. */
export function pythonNumber(value: number): string {
  if (value === Infinity) return 'float("inf")';
  return String(value).replace("e+", "e");
}

/** The arguments of a kernel: kernel="rbf", gamma=1. */
export function kernelArguments({ kind, gamma, coef0, degree }: Kernel): [string, string][] {
  const all: [string, string][] = [
    ["kernel", `"${kind}"`],
    ["gamma", pythonNumber(gamma)],
    ["coef0", pythonNumber(coef0)],
    ["degree", pythonNumber(degree)],
  ];
  const used = { linear: 1, rbf: 2, sigmoid: 3, poly: 4 }[kind];
  return all.slice(0, used);
}

interface Estimator {
  name: string;
  own: [string, string][];
  display: string;
}

function estimatorOf(spec: Spec, classes: number): Estimator {
  const [C, nu] = [pythonNumber(spec.C), pythonNumber(spec.nu)];
  const display = classes > 2 ? "ClassesDisplay" : "DecisionDisplay";
  const ovr: [string, string][] =
    classes > 2 && spec.multiclass === "ovr" ? [["multiclass", '"ovr"']] : [];
  switch (spec.machine) {
    case "c-svc":
      return { name: "SVC", own: [["C", C], ...ovr], display };
    case "nu-svc":
      return { name: "NuSVC", own: [["nu", nu], ...ovr], display };
    case "hard-margin":
      return { name: "SVC", own: [["C", 'float("inf")'], ...ovr], display };
    case "one-class":
      return { name: "OneClassSVM", own: [["nu", nu]], display: "OutlierDisplay" };
    case "eps-svr":
      return {
        name: "SVR",
        own: [
          ["C", C],
          ["epsilon", pythonNumber(spec.epsilon)],
        ],
        display: "TubeDisplay",
      };
    case "nu-svr":
      return {
        name: "NuSVR",
        own: [
          ["C", C],
          ["nu", nu],
        ],
        display: "TubeDisplay",
      };
  }
}

/** Items in lines of at most LINE letters, each indented by four blanks. */
function wrapped(items: string[]): string {
  const lines: string[] = [];
  let line = "   ";
  for (const item of items) {
    if (line.length + item.length + 2 > LINE) {
      lines.push(line);
      line = "   ";
    }
    line += ` ${item},`;
  }
  return [...lines, line].join("\n");
}

/** name = np.array([...]), in lines that are not too long. */
export function array(name: string, items: string[]): string {
  return `${name} = np.array([\n${wrapped(items)}\n])`;
}

/** The program. `labels` are the labels of the classes 0, 1, ... of the data. */
export function pythonCode(spec: Spec, data: Data, labels: readonly number[]): string {
  const { name, own, display } = estimatorOf(spec, labels.length);
  const settings = [...own, ...kernelArguments(spec.kernel), ["tol", "1e-9"]];
  const call = settings.map(([key, value]) => `${key}=${value}`).join(", ");
  const supervised = spec.machine !== "one-class";
  const points = Array.from(
    { length: data.x.length / data.d },
    (_, i) =>
      `[${Array.from(data.x.subarray(data.d * i, data.d * (i + 1)), pythonNumber).join(", ")}]`,
  );
  const targets = Array.from(data.y, (y) => pythonNumber(data.d === 1 ? y : labels[y]));
  const fitted = supervised ? "X, y" : "X";
  return [
    "# Copied from the maxmargin lab.",
    "import matplotlib.pyplot as plt",
    "import numpy as np",
    "",
    `from maxmargin import ${name}`,
    `from maxmargin.plots import ${display}`,
    "",
    array("X", points),
    ...(supervised ? [array("y", targets)] : []),
    "",
    `model = ${name}(${call}).fit(${fitted})`,
    "print(model.certificate_)",
    "",
    `${display}.from_estimator(model, ${fitted})`,
    "plt.show()",
    "",
  ].join("\n");
}
