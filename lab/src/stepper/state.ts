// The state of the stepper: what is stepped through, where it stands; to and from the URL.

import { makeSet, type SetName } from "../data/sets";
import { kernelMatrix } from "../svm/fit";
import { type Kernel, LabError } from "../svm/types";
import { formatHash, numberParam, readPoints, wordParam, writePoints, type Point } from "../ui/url";
import { ALGORITHMS, KEYS, type AlgorithmKey, type Settings, type Target } from "./algorithms";
import type { Problem, Trace } from "./algorithms/trace";

export type DataName = "three" | "own" | Extract<SetName, keyof typeof SIZES>;
export type Clock = "steps" | "evaluations";

export interface State extends Settings {
  readonly data: DataName;
  readonly points: readonly Point[];
  readonly kernel: Kernel;
  readonly C: number;
  readonly algorithm: AlgorithmKey;
  /** The other algorithm of a race. */
  readonly rival: AlgorithmKey | null;
  /** What a race counts. */
  readonly clock: Clock;
  /** The position of the player: a step, or a tick of a race's clock. */
  readonly step: number;
}

/** An algorithm run to its end. */
export interface Run {
  readonly key: AlgorithmKey;
  readonly kernel: Kernel;
  readonly problem: Problem;
  readonly trace: Trace;
  readonly settings: Settings;
}

export const MOST_POINTS = 100;
export const LEAST_C = 0.01;
export const MOST_C = 1000;
const LINEAR: Kernel = { kind: "linear", gamma: 1, coef0: 1, degree: 2 };

/** How many points of the playground's sets; few enough to watch each of them. */
const SIZES = { revisited: 20, separable: 12, gaussians: 16, xor: 16, rings: 20, moons: 20 };
const NOISE = { separable: 0.3, gaussians: 0.5, xor: 0.25, rings: 0.1, moons: 0.12, revisited: 0 };

/** The worked example of the textbook, for C = 3: a free pair, a clipped one, an equal share. */
const THREE: readonly Point[] = [
  { x: 0, y: 0, k: 1 },
  { x: 1, y: 0, k: 0 },
  { x: 0, y: 1, k: 0 },
];
const THREE_C = 3;

export const DATA_NAMES = ["three", ...Object.keys(SIZES), "own"] as readonly DataName[];

/** What choosing a data set changes. */
export function chooseData(data: Exclude<DataName, "own">): Partial<State> {
  if (data === "three") return { data, points: THREE, kernel: LINEAR, C: THREE_C };
  return { data, points: pointsOf(data) };
}

function pointsOf(data: Exclude<DataName, "own">): readonly Point[] {
  return data === "three" ? THREE : makeSet(data, SIZES[data], NOISE[data], 1);
}

const DEFAULTS = { data: "revisited", kernel: "linear", algorithm: "simplified" } as const;

export function readState(params: URLSearchParams): State {
  const own = readPoints(params.get("points") ?? "", 2, MOST_POINTS);
  const named = wordParam(params, "data", DATA_NAMES, DEFAULTS.data);
  const data = named === "own" && !own ? DEFAULTS.data : named;
  const kind = wordParam(params, "kernel", ["linear", "poly", "rbf"] as const, DEFAULTS.kernel);
  const algorithm = wordParam(params, "algorithm", KEYS, DEFAULTS.algorithm);
  const { family } = ALGORITHMS[algorithm];
  const rivals = KEYS.filter((key) => key !== algorithm && ALGORITHMS[key].family === family);
  return {
    data,
    points: data === "own" ? own! : pointsOf(data),
    kernel: {
      kind,
      gamma: numberParam(params, "gamma", 1, 1e-3, 1e3),
      coef0: 1,
      degree: Math.round(numberParam(params, "degree", 2, 1, 6)),
    },
    C: numberParam(params, "C", data === "three" ? THREE_C : 1, LEAST_C, MOST_C),
    algorithm,
    rival: rivals.find((key) => key === params.get("against")) ?? null,
    clock: wordParam(params, "clock", ["steps", "evaluations"] as const, "steps"),
    seed: Math.round(numberParam(params, "seed", 0, 0, 999)),
    bias: params.get("constant") !== "0",
    target: wordParam(params, "target", ["two", "regression"] as const, "two") as Target,
    correlation: numberParam(params, "r", 0.7, -0.95, 0.95),
    step: Math.round(numberParam(params, "step", 0, 0, 1e6)),
  };
}

/** The address of SMO on points of the playground, or why it cannot be. */
export function stepThrough(
  points: readonly Point[],
  kernel: Kernel,
  C: number,
): string | LabError {
  const classes = new Set(points.map(({ k }) => k));
  if (classes.size !== 2 || Math.max(...classes) > 1)
    return new LabError("The stepper takes points of the first two classes.");
  if (points.length > MOST_POINTS)
    return new LabError(`The stepper takes at most ${MOST_POINTS} points.`);
  if (kernel.kind === "sigmoid") return new LabError("The stepper has no sigmoid kernel.");
  if (kernel.kind === "poly" && (kernel.coef0 !== 1 || kernel.degree > 6))
    return new LabError("The stepper’s polynomials have the constant 1 and a degree of at most 6.");
  if (C < LEAST_C || C > MOST_C)
    return new LabError(`The stepper takes C from ${LEAST_C} to ${MOST_C}.`);
  const state = readState(new URLSearchParams({ algorithm: "smo-first" }));
  return formatHash("step", writeState({ ...state, data: "own", points, kernel, C }));
}

export function writeState(state: State): URLSearchParams {
  const { algorithm, kernel } = state;
  const [method, quadratic] = [ALGORITHMS[algorithm], ALGORITHMS[algorithm].family === "quadratic"];
  const params = new URLSearchParams({ algorithm, data: state.data });
  const put = (name: string, value: string | number, when: boolean) =>
    when && params.set(name, String(value));
  put("points", writePoints(state.points), state.data === "own");
  put("kernel", kernel.kind, true);
  put("gamma", kernel.gamma, kernel.kind !== "linear");
  put("degree", kernel.degree, kernel.kind === "poly");
  put("C", state.C, true);
  put("seed", state.seed, state.seed > 0);
  put("constant", 0, !state.bias);
  put("target", state.target, quadratic);
  put("r", state.correlation, quadratic && state.target === "two");
  put("against", state.rival ?? "", state.rival !== null);
  put("clock", state.clock, state.rival !== null && method.family === "soft margin");
  put("step", state.step, true);
  return params;
}

/** Run an algorithm on the state's data. Throws LabError where that cannot be. */
export function runOf(state: State, key: AlgorithmKey): Run {
  const { points, C } = state;
  const n = points.length;
  const t = Float64Array.from(points, ({ k }) => (k === 1 ? 1 : -1));
  if (!t.includes(1) || !t.includes(-1))
    throw new LabError("There must be points of both classes: add some in the playground.");
  const x = Float64Array.from(points.flatMap(({ x, y }) => [x, y]));
  const kernel = ALGORITHMS[key].kernels ? state.kernel : LINEAR;
  const problem = { n, d: 2, x, t, K: kernelMatrix(kernel, x, 2), C };
  const { seed, bias, target, correlation } = state;
  const settings = { seed, bias, target, correlation };
  return { key, kernel, problem, settings, trace: ALGORITHMS[key].run(problem, settings) };
}

/** The last step that the clock has reached. */
export function stepAt({ steps }: Trace, tick: number, clock: Clock): number {
  if (clock === "steps") return Math.min(tick, steps.length - 1);
  const after = steps.findIndex(({ evaluations }) => evaluations > tick);
  return after < 0 ? steps.length - 1 : Math.max(0, after - 1);
}
