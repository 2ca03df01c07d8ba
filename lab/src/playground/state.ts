// What the playground shows, as one record, and its form in the URL.
//
// A data set of the lectures is named by set, n, noise and seed. Once its points are edited the set
// is "own", and the points themselves are in the URL. Parameters that the machine does not use are
// left out. A broken URL gives the defaults, never an error.

import { type Box, makeSet, type SetName, SET_NAMES, SETS } from "../data/sets";
import { MOST_POINTS } from "../svm/check";
import type { Kernel, Machine, Spec } from "../svm/types";
import { MOST_CLASSES } from "../ui/marks";
import { numberParam, type Point, readPoints, wordParam, writePoints } from "../ui/url";

export const MACHINES: readonly Machine[] = [
  "c-svc",
  "nu-svc",
  "hard-margin",
  "one-class",
  "eps-svr",
  "nu-svr",
];
export const KERNELS: readonly Kernel["kind"][] = ["linear", "poly", "rbf", "sigmoid"];

export interface State {
  spec: Spec;
  /** The width of the Gaussian is shown as sigma: gamma = 1 / (2 sigma^2). */
  asSigma: boolean;
  set: SetName | "own";
  n: number;
  noise: number;
  seed: number;
  points: readonly Point[];
  box: Box;
  margins: boolean;
  slacks: boolean;
  /** Which problem of several classes is drawn and tabled; -1: all. */
  part: number;
}

export const LIMITS = {
  C: [1e-3, 1e4],
  gamma: [1e-3, 1e3],
  coef0: [-10, 10],
  degree: [1, 10],
  nu: [0.01, 1],
  epsilon: [0, 10],
  n: [4, 400],
  noise: [0, 2],
  seed: [0, 9999],
} as const;

export const isRegression = (machine: Machine) => machine === "eps-svr" || machine === "nu-svr";
export const usesC = (machine: Machine) => machine === "c-svc" || isRegression(machine);
export const usesNu = (machine: Machine) => ["nu-svc", "one-class", "nu-svr"].includes(machine);

/** Which parameters of the kernel there are. */
export const kernelUses = (kind: Kernel["kind"]) => ({
  gamma: kind !== "linear",
  coef0: kind === "poly" || kind === "sigmoid",
  degree: kind === "poly",
});

export function initial(): State {
  const kernel: Kernel = { kind: "rbf", gamma: 1, coef0: 1, degree: 3 };
  const spec: Spec = { machine: "c-svc", kernel, C: 1, nu: 0.3, epsilon: 0.2, multiclass: "ovo" };
  const shown = { asSigma: false, margins: true, slacks: false, part: -1 };
  return withSet(
    { spec, ...shown, n: 60, noise: 0, seed: 1, points: [], box: SETS.xor.box, set: "own" },
    "moons",
  );
}

/** The same with a data set, its noise that of the set unless given. */
export function withSet(state: State, set: SetName, noise = SETS[set].noise ?? 0): State {
  const points = makeSet(set, state.n, noise, state.seed);
  return { ...state, set, noise, points, box: boxFor(set, points), part: -1 };
}

/** The box of a set, larger where noise carries points out of it. */
function boxFor(set: SetName, points: readonly Point[]): Box {
  const { box } = SETS[set];
  const reach = (values: number[], [a, b]: readonly [number, number]): [number, number] => {
    const [least, most] = [Math.min(...values), Math.max(...values)];
    const room = 0.03 * (b - a);
    return [least < a ? least - room : a, most > b ? most + room : b];
  };
  return {
    x: reach(
      points.map((p) => p.x),
      box.x,
    ),
    y: reach(
      points.map((p) => p.y),
      box.y,
    ),
  };
}

/** The same with points of the user's own. */
export const withPoints = (state: State, points: readonly Point[], box = state.box): State => ({
  ...state,
  set: "own",
  points,
  box,
});

/** A box with some room around points. */
export function boxAround(points: readonly Point[]): Box {
  const interval = (values: number[]): [number, number] => {
    const [least, most] = [Math.min(...values), Math.max(...values)];
    const room = 0.08 * (most - least) || Math.max(1, Math.abs(least) / 10);
    return [Number((least - room).toPrecision(6)), Number((most + room).toPrecision(6))];
  };
  return { x: interval(points.map((p) => p.x)), y: interval(points.map((p) => p.y)) };
}

export function toParams(state: State): URLSearchParams {
  const { spec, set } = state;
  const { machine, kernel } = spec;
  const uses = kernelUses(kernel.kind);
  const entries: [string, string | number | false][] = [
    ["machine", machine],
    ["kernel", kernel.kind],
    ["C", usesC(machine) && spec.C],
    ["nu", usesNu(machine) && spec.nu],
    ["epsilon", machine === "eps-svr" && spec.epsilon],
    ["gamma", uses.gamma && kernel.gamma],
    ["coef0", uses.coef0 && kernel.coef0],
    ["degree", uses.degree && kernel.degree],
    ["multiclass", spec.multiclass === "ovr" && "ovr"],
    ["sigma", state.asSigma && 1],
    ["margins", !state.margins && "no"],
    ["slacks", state.slacks && "yes"],
    ["part", state.part >= 0 && state.part],
    ["set", set !== "own" && set],
  ];
  if (set === "own") {
    entries.push(["points", writePoints(state.points)]);
    entries.push(["box", [...state.box.x, ...state.box.y].join(",")]);
  } else if (SETS[set].noise !== undefined) {
    entries.push(["n", state.n], ["noise", state.noise], ["seed", state.seed]);
  }
  const kept = entries.filter(([, value]) => value !== false);
  return new URLSearchParams(kept.map(([name, value]) => [name, String(value)]));
}

export function fromParams(params: URLSearchParams): State {
  const basic = initial();
  const number = (name: keyof typeof LIMITS, otherwise: number) =>
    numberParam(params, name, otherwise, ...LIMITS[name]);
  const machine = wordParam(params, "machine", MACHINES, basic.spec.machine);
  const kernel: Kernel = {
    kind: wordParam(params, "kernel", KERNELS, basic.spec.kernel.kind),
    gamma: number("gamma", basic.spec.kernel.gamma),
    coef0: number("coef0", basic.spec.kernel.coef0),
    degree: Math.round(number("degree", basic.spec.kernel.degree)),
  };
  const spec: Spec = {
    machine,
    kernel,
    C: number("C", basic.spec.C),
    nu: number("nu", basic.spec.nu),
    epsilon: number("epsilon", basic.spec.epsilon),
    multiclass: wordParam(params, "multiclass", ["ovo", "ovr"], "ovo"),
  };
  const state: State = {
    ...basic,
    spec,
    asSigma: params.get("sigma") === "1",
    margins: params.get("margins") !== "no",
    slacks: params.get("slacks") === "yes",
    n: Math.round(number("n", basic.n)),
    seed: Math.round(number("seed", basic.seed)),
  };
  const part = Math.round(numberParam(params, "part", -1, -1, 9));
  return { ...withData(state, params), part };
}

/** The points that the URL names or holds; a set that suits the machine where it has none. */
function withData(state: State, params: URLSearchParams): State {
  const text = params.get("points");
  const points = text === null ? null : readPoints(text, MOST_CLASSES, MOST_POINTS);
  if (points) {
    const box = readBox(params.get("box")) ?? (points.length ? boxAround(points) : state.box);
    return withPoints(state, points, box);
  }
  const set = wordParam(params, "set", SET_NAMES, defaultSet(state.spec.machine));
  const noise = numberParam(params, "noise", SETS[set].noise ?? 0, ...LIMITS.noise);
  return withSet(state, set, noise);
}

/** The set with which a machine begins. */
export function defaultSet(machine: Machine): SetName {
  if (isRegression(machine)) return "sine";
  return machine === "one-class" ? "outliers" : machine === "hard-margin" ? "separable" : "moons";
}

function readBox(text: string | null): Box | null {
  const ends = (text ?? "").split(",").map(Number);
  const [a, b, c, d] = ends;
  const fine = ends.length === 4 && ends.every((v) => Number.isFinite(v) && Math.abs(v) <= 1e7);
  return fine && a < b && c < d ? { x: [a, b], y: [c, d] } : null;
}
