// The controls: machine and kernel with their parameters.

import { SETS } from "../data/sets";
import type { Kernel, Machine, Spec } from "../svm/types";
import { segments, select, toggle } from "../ui/controls";
import { h } from "../ui/dom";
import { formula, setFormula } from "../ui/formula";
import { patch, Sliding, specSliders } from "./sliders";
import { defaultSet, isRegression, type State, usesNu, withSet } from "./state";
import type { Store } from "./store";

const MACHINES: { value: Machine; label: string }[] = [
  { value: "c-svc", label: "C-SVC: soft margin" },
  { value: "nu-svc", label: "ν-SVC: soft margin by ν" },
  { value: "hard-margin", label: "Hard margin" },
  { value: "one-class", label: "One-class" },
  { value: "eps-svr", label: "ε-SVR: regression" },
  { value: "nu-svr", label: "ν-SVR: regression by ν" },
];

const KERNELS: { value: Kernel["kind"]; label: string; tex: string }[] = [
  { value: "linear", label: "Linear", tex: "k(x, z) = x^\\top z" },
  { value: "poly", label: "Poly", tex: "k(x, z) = (\\gamma\\, x^\\top z + c_0)^d" },
  { value: "rbf", label: "RBF", tex: "k(x, z) = e^{-\\gamma \\lVert x - z \\rVert^2}" },
  { value: "sigmoid", label: "Sigmoid", tex: "k(x, z) = \\tanh(\\gamma\\, x^\\top z + c_0)" },
];
const GAUSSIAN = "k(x, z) = e^{-\\lVert x - z \\rVert^2 / 2\\sigma^2}";

const AIMS: Record<Machine, string> = {
  "c-svc": "\\min\\ \\tfrac12 \\lVert w \\rVert^2 + C \\sum_i \\xi_i",
  "nu-svc": "\\min\\ \\tfrac12 \\lVert w \\rVert^2 - \\nu\\rho + \\tfrac1n \\sum_i \\xi_i",
  "hard-margin": "\\min\\ \\tfrac12 \\lVert w \\rVert^2,\\quad y_i f(x_i) \\ge 1",
  "one-class": "\\min\\ \\tfrac12 \\lVert w \\rVert^2 + \\sum_i \\xi_i - \\nu n \\rho",
  "eps-svr": "\\min\\ \\tfrac12 \\lVert w \\rVert^2 + C \\sum_i (|r_i| - \\varepsilon)_+",
  "nu-svr":
    "\\min\\ \\tfrac12 \\lVert w \\rVert^2 + C \\bigl(n\\nu\\varepsilon + \\sum_i \\xi_i\\bigr)",
};

/** Explainers of what is chosen: the last part of their address, and what they tell. */
function explainersOf({ machine, kernel }: Spec, several: boolean): [string, string][] {
  const found: [string, string][] = [];
  if (machine === "c-svc") found.push(["c", "what C trades"]);
  if (usesNu(machine)) found.push(["nu", "what ν promises"]);
  if (isRegression(machine)) found.push(["tube", "the tube"]);
  if (kernel.kind === "rbf") found.push(["gaussian", "the Gaussian"]);
  if (kernel.kind === "poly") found.push(["lift", "the lift into space"]);
  if (kernel.kind === "sigmoid") found.push(["matrix", "kernels that are none"]);
  if (several) found.push(["ambiguity", "ambiguous regions"]);
  return found;
}

export function machinePanel(store: Store): HTMLElement {
  const sliding = new Sliding(store);
  const spec = store.state.spec;
  const kernelChange = (change: Partial<Kernel>) =>
    patch(store, { kernel: { ...store.state.spec.kernel, ...change } });
  const machine = select<Machine>({
    label: "Machine",
    choices: MACHINES,
    value: spec.machine,
    change: (value) => store.commit(withMachine(patch(store, { machine: value }))),
  });
  const aim = h("div", { class: "aim" }, formula(AIMS[spec.machine]));
  const kernel = segments<Kernel["kind"]>({
    label: "Kernel",
    choices: KERNELS,
    value: spec.kernel.kind,
    change: (kind) => store.commit(kernelChange({ kind })),
  });
  const kernelAim = h("div", { class: "aim" }, formula(""));
  const sliders = specSliders(store, sliding, kernelChange);
  const asSigma = toggle({
    label: "Width σ instead of γ",
    value: store.state.asSigma,
    change: (value) => store.commit({ ...store.state, asSigma: value }),
  });
  const multiclass = segments<"ovo" | "ovr">({
    label: "Several classes",
    choices: [
      { value: "ovo", label: "One-vs-one" },
      { value: "ovr", label: "One-vs-rest" },
    ],
    value: spec.multiclass,
    change: (value) => store.commit({ ...patch(store, { multiclass: value }), part: -1 }),
  });
  const see = h("p", { class: "see" });
  const update = () => {
    const { spec: now, asSigma: width, points } = store.state;
    const { kind } = now.kernel;
    const named = KERNELS.find(({ value }) => value === kind)!;
    machine.set(now.machine);
    kernel.set(kind);
    multiclass.set(now.multiclass);
    setFormula(aim.firstElementChild as HTMLElement, AIMS[now.machine]);
    const shown = kind === "rbf" && width ? GAUSSIAN : named.tex;
    setFormula(kernelAim.firstElementChild as HTMLElement, shown);
    asSigma.set(width);
    asSigma.show(kind === "rbf");
    const several = new Set(points.map((p) => p.k)).size > 2;
    const separates = !isRegression(now.machine) && now.machine !== "one-class";
    multiclass.show(several && separates);
    for (const slider of sliders) slider.update(store.state);
    const links = explainersOf(now, several && separates);
    see.hidden = links.length === 0;
    see.replaceChildren(
      "Explained: ",
      ...links.flatMap(([name, text], i) => [
        i ? ", " : "",
        h("a", { href: `#/explain/${name}` }, text),
      ]),
    );
  };
  store.on("state", update);
  update();
  return h(
    "section",
    { class: "panel", "aria-label": "Machine and kernel" },
    machine.element,
    aim,
    ...sliders.slice(0, 3).map(({ element }) => element),
    kernel.element,
    kernelAim,
    ...sliders.slice(3).map(({ element }) => element),
    asSigma.element,
    multiclass.element,
    see,
  );
}

/** A machine with data that suit it: a set of the lectures is changed, own points are kept. */
function withMachine(state: State): State {
  if (state.set === "own") return state;
  const { machine } = state.spec;
  const fits = SETS[state.set].regression === isRegression(machine);
  return fits && (machine === "one-class") === (state.set === "outliers")
    ? state
    : withSet(state, defaultSet(machine));
}
