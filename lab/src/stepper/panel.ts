// The controls: algorithm, data, kernel, C, and what the algorithm asks for.

import { SETS } from "../data/sets";
import { linearSlider, logSlider, select, toggle, type Choice, type Control } from "../ui/controls";
import { h } from "../ui/dom";
import { prose } from "../ui/formula";
import { formatHash, writePoints } from "../ui/url";
import { ALGORITHMS, KEYS, type AlgorithmKey } from "./algorithms";
import { DATA_NAMES, LEAST_C, MOST_C, chooseData, type DataName, type State } from "./state";

export interface Panel {
  readonly element: HTMLElement;
  /** Shows a state. */
  set(state: State): void;
}

type Change = (part: Partial<State>) => void;

const NONE = "none";

/** The panel; `change` gets what the user changed. */
export function panel(state: State, change: Change): Panel {
  const algorithm = algorithmControls(state, change);
  const data = dataControls(state, change);
  const kernel = kernelControls(state, change);
  const group = (title: string, { elements }: Part) =>
    h("section", { class: "panel" }, h("h2", {}, title), ...elements);
  const groups = [
    group("Algorithm", algorithm),
    group("Data", data),
    group("Kernel and C", kernel),
  ];
  const element = h("div", { class: "step-controls" }, ...groups);
  const set = (next: State) => {
    [algorithm, data, kernel].forEach((part) => part.set(next));
    groups[1].hidden = groups[2].hidden = withoutData(next);
  };
  set(state);
  return { element, set };
}

/** Coordinate descent on two variables needs neither points nor a kernel. */
function withoutData({ algorithm, target }: State): boolean {
  return ALGORITHMS[algorithm].family === "quadratic" && target === "two";
}

interface Part {
  readonly elements: HTMLElement[];
  set(state: State): void;
}

function algorithmControls(state: State, change: Change): Part {
  const choices = (keys: readonly AlgorithmKey[]): Choice<AlgorithmKey>[] =>
    keys.map((value) => ({ value, label: ALGORITHMS[value].name }));
  const algorithm = select<AlgorithmKey>({
    ...{ label: "Algorithm", choices: choices(KEYS), value: state.algorithm },
    change: (value) => change({ algorithm: value, rival: null }),
  });
  const rival = select<AlgorithmKey | typeof NONE>({
    ...{ label: "Race against", choices: [], value: NONE },
    change: (value) => change({ rival: value === NONE ? null : value }),
  });
  const constant = toggle({
    ...{ label: "Constant feature, for a bias", value: state.bias },
    change: (bias) => change({ bias }),
  });
  const seed = linearSlider({
    ...{ label: "Seed of the draws", least: 0, most: 50, ceiling: 999, integer: true, value: 0 },
    change: (value) => change({ seed: value }),
  });
  const target = select({
    ...{ label: "What is minimised", value: state.target },
    choices: [
      { value: "two", label: "A function of two variables" },
      { value: "regression", label: "Kernel regression, λ = 1/C" },
    ],
    change: (value) => change({ target: value }),
  });
  const correlation = linearSlider({
    ...{ label: "Correlation of the two variables", tex: "r", least: -0.95, most: 0.95 },
    ...{ step: 0.05, value: state.correlation, change: (value) => change({ correlation: value }) },
  });
  const about = h("p", { class: "step-about" });
  const controls = [algorithm, rival, target, correlation, constant, seed];
  const set = (next: State) => {
    const method = ALGORITHMS[next.algorithm];
    const others = KEYS.filter((key) => ALGORITHMS[key].family === method.family);
    const rivals = choices(others.filter((key) => key !== next.algorithm));
    const none = { value: NONE, label: "Nobody" } as const;
    rival.setChoices([none, ...rivals], next.rival ?? NONE);
    algorithm.set(next.algorithm);
    constant.set(next.bias);
    seed.set(next.seed);
    target.set(next.target);
    correlation.set(next.correlation);
    const methods = next.rival ? [method, ALGORITHMS[next.rival]] : [method];
    const quadratic = method.family === "quadratic";
    constant.show(methods.some((m) => m.constant) && !withoutData(next));
    seed.show(methods.some((m) => m.random));
    target.show(quadratic);
    correlation.show(withoutData(next));
    about.replaceChildren(...prose(`${method.idea} (${method.lecture}.)`));
  };
  const [first, ...rest] = controls.map((control: Control<never>) => control.element);
  return { elements: [first, about, ...rest], set };
}

const LABELS: Partial<Record<DataName, string>> = {
  three: "Three points, by hand",
  own: "Points of the playground",
};

function dataControls(state: State, change: Change): Part {
  const named = (value: DataName) => ({
    value,
    label: LABELS[value] ?? SETS[value as keyof typeof SETS].label,
  });
  const data = select<DataName>({
    ...{ label: "Points", choices: [], value: state.data },
    change: (value) => value !== "own" && change(chooseData(value)),
  });
  const link = h("a", {}, "Change these points in the playground");
  const note = h("p", { class: "step-about" });
  const element = h("p", {}, link);
  const set = (next: State) => {
    const shown = DATA_NAMES.filter((name) => name !== "own" || next.data === "own");
    data.setChoices(shown.map(named), next.data);
    const { kind, gamma, coef0, degree } = next.kernel;
    const params = { kernel: kind, gamma, coef0, degree, C: next.C };
    const text = Object.entries(params).map(([key, value]) => [key, String(value)]);
    const query = new URLSearchParams([...text, ["points", writePoints(next.points)]]);
    link.setAttribute("href", formatHash("play", query));
    const plus = next.points.filter(({ k }) => k === 1).length;
    note.textContent = `${next.points.length} points: ${plus} of class +1, ${next.points.length - plus} of class −1.`;
  };
  return { elements: [data.element, note, element], set };
}

function kernelControls(state: State, change: Change): Part {
  const kind = select({
    ...{ label: "Kernel", value: state.kernel.kind },
    choices: [
      { value: "linear", label: "Linear" },
      { value: "poly", label: "Polynomial" },
      { value: "rbf", label: "Gaussian (RBF)" },
    ],
    change: (value) => change({ kernel: { ...current, kind: value } }),
  });
  const gamma = logSlider({
    ...{ label: "Gamma", tex: "\\gamma", least: 0.01, most: 100, floor: 1e-3, ceiling: 1e3 },
    value: state.kernel.gamma,
    change: (value) => change({ kernel: { ...current, gamma: value } }),
  });
  const degree = linearSlider({
    ...{ label: "Degree", least: 1, most: 6, integer: true, value: state.kernel.degree },
    change: (value) => change({ kernel: { ...current, degree: value } }),
  });
  const C = logSlider({
    ...{ label: "Price of slack", tex: "C", least: LEAST_C, most: MOST_C, value: state.C },
    change: (value) => change({ C: value }),
  });
  const note = h("p", { class: "step-about" });
  let current = state.kernel;
  const set = (next: State) => {
    current = next.kernel;
    const methods = [next.algorithm, ...(next.rival ? [next.rival] : [])];
    const linear = methods.filter((key) => !ALGORITHMS[key].kernels);
    const used = linear.length < methods.length;
    kind.set(current.kind);
    gamma.set(current.gamma);
    degree.set(current.degree);
    C.set(next.C);
    kind.disable(!used);
    gamma.show(used && current.kind !== "linear");
    degree.show(used && current.kind === "poly");
    const names = linear.map((key) => ALGORITHMS[key].name).join(" and ");
    note.textContent = names && `${names}: always the linear kernel.`;
  };
  return { elements: [kind.element, gamma.element, degree.element, C.element, note], set };
}
