// Fits of every machine of the lab, by the core of maxmargin.

import { type Certificate, type Decision, verdict } from "./certificate";
import { checkData, checkSpec, classesOf, separatesClasses } from "./check";
import { kernelProduct, load } from "./core";
import { classifier, type Formulation, novelty, regressor } from "./formulations";
import { isMercer, isPositiveSemidefinite, kernelMatrix, notFinite } from "./kernels";
import { tasks, winners } from "./multiclass";
import { solve, TOL } from "./solver";
import { type Data, type Fit, LabError, type Part, type Spec, type Status } from "./types";
import wasm from "../../build/core.wasm";

export type { Data, Fit, Kernel, Machine, Part, Spec, Status } from "./types";
export { kernelMatrix } from "./kernels";
export { votes } from "./multiclass";
export { LabError } from "./types";

/** Load the core; everything below is synchronous from then on. */
export async function ready(): Promise<void> {
  await load(wasm);
}

/** The machine of `spec` on `data`. Throws LabError where that has no solution. */
export function fit(spec: Spec, data: Data): Fit {
  const begin = performance.now();
  checkSpec(spec);
  checkData(spec, data);
  const problems = separatesClasses(spec.machine)
    ? classification(spec, data)
    : [whole(spec, data)];
  const solved = problems.map(({ task, formulation, K }) => train(task, formulation(K), spec, K));
  const parts = solved.map(({ part }) => part);
  const total = (value: (part: Part) => number) =>
    parts.reduce((sum, part) => sum + value(part), 0);
  return {
    spec,
    data,
    parts,
    classes: separatesClasses(spec.machine) ? classesOf(data.y).length : 0,
    status: worst(solved.map(({ status }) => status)),
    primal: total((part) => part.primal),
    dual: total((part) => part.dual),
    gap: total((part) => part.gap),
    violation: Math.max(...parts.map((part) => part.violation)),
    steps: total((part) => part.steps),
    milliseconds: performance.now() - begin,
  };
}

interface Task {
  readonly classes: readonly [number, number] | null;
  readonly rows: Int32Array;
  readonly sign: Float64Array;
}
interface Problem {
  readonly task: Task;
  readonly formulation: (K: Float64Array) => Formulation;
  readonly K: Float64Array;
}

function classification(spec: Spec, data: Data): Problem[] {
  const classes = classesOf(data.y);
  const K = kernelMatrix(spec.kernel, data.x, data.d);
  return tasks(data.y, classes, spec.multiclass).map((task) => {
    const [one, other] = task.classes;
    const names =
      other < 0
        ? `class ${one} from all others`
        : `classes ${Math.min(one, other)} and ${Math.max(one, other)}`;
    return {
      task,
      formulation: () => classifier(spec, task.sign, classes.length === 2 ? "the classes" : names),
      K: part(K, data.y.length, task.rows),
    };
  });
}

/** The rows and columns of these points. */
function part(K: Float64Array, n: number, rows: Int32Array): Float64Array {
  if (rows.length === n && rows.every((row, k) => row === k)) return K;
  const found = new Float64Array(rows.length ** 2);
  let to = 0;
  for (const i of rows) for (const j of rows) found[to++] = K[i * n + j];
  return found;
}

/** Regression and one-class: one problem of all points. */
function whole(spec: Spec, data: Data): Problem {
  const n = data.x.length / data.d;
  return {
    task: {
      classes: null,
      rows: Int32Array.from({ length: n }, (_, i) => i),
      sign: new Float64Array(n).fill(1),
    },
    formulation: (K) =>
      spec.machine === "one-class" ? novelty(spec.nu, n, K) : regressor(spec, data.y),
    K: kernelMatrix(spec.kernel, data.x, data.d),
  };
}

interface Solved {
  readonly part: Part;
  readonly status: Status;
}

/** Solve, read off, certify, judge. */
function train(task: Task, formulation: Formulation, spec: Spec, K: Float64Array): Solved {
  const first = trainOnce(task, formulation, spec, K);
  if (first.status !== "stalled" || !formulation.fallback) return first;
  const other = trainOnce(task, formulation.fallback, spec, K);
  return other.part.gap < first.part.gap ? other : first;
}

function trainOnce(task: Task, formulation: Formulation, spec: Spec, K: Float64Array): Solved {
  const n = task.rows.length;
  const mercer = isMercer(spec.kernel);
  const solution = solve(formulation.problem, K, n, mercer);
  if (solution.ended === "degenerate")
    throw new LabError(formulation.noSolution ?? "This problem has no solution.");
  const decision = formulation.read(solution);
  const found = formulation.certify(decision);
  const convex = mercer || (!solution.indefinite && isPositiveSemidefinite(K, n));
  const bound = formulation.bound(decision);
  const status = verdict(found, TOL, convex, solution.ended);
  return { part: partOf(task, decision, found, bound, solution.steps, spec), status };
}

function partOf(
  task: Task,
  decision: Decision,
  found: Certificate,
  bound: Float64Array,
  steps: number,
  spec: Spec,
): Part {
  const { primal, dual, gap, violation, slack, norm } = found;
  return {
    ...task,
    coef: decision.coef,
    intercept: decision.intercept,
    bound,
    decision: decision.values,
    slack,
    primal,
    dual,
    gap,
    violation,
    steps,
    ...(decision.epsilon === undefined ? {} : { epsilon: decision.epsilon }),
    ...(separatesClasses(spec.machine) && norm > 0 ? { margin: 1 / Math.sqrt(norm) } : {}),
  };
}

const STATUSES: readonly Status[] = ["optimal", "stationary", "stalled", "max_iter"];

function worst(statuses: readonly Status[]): Status {
  return STATUSES[Math.max(...statuses.map((status) => STATUSES.indexOf(status)))];
}

/** f at each of the points (row-major, as many coordinates as the data), one array for each part. */
export function decisionValues(fit: Fit, points: Float64Array): Float64Array[] {
  const { data, parts, spec } = fit;
  const support = supportOf(fit);
  const count = parts.length;
  const vectors = new Float64Array(support.length * data.d);
  const at = new Int32Array(data.x.length / data.d).fill(-1);
  support.forEach((row, s) => {
    vectors.set(data.x.subarray(row * data.d, (row + 1) * data.d), s * data.d);
    at[row] = s;
  });
  const coef = new Float64Array(support.length * count);
  parts.forEach((part, c) =>
    part.coef.forEach((value, i) => {
      if (value !== 0) coef[at[part.rows[i]] * count + c] = value;
    }),
  );
  const values = support.length
    ? kernelProduct(spec.kernel, data.d, vectors, coef, points)
    : parts.map(() => new Float64Array(points.length / data.d));
  if (!values) throw notFinite(spec.kernel);
  return values.map((part, c) => part.map((value) => value + parts[c].intercept));
}

/** The points that are support vectors of a part. */
function supportOf(fit: Fit): number[] {
  const rows = new Set<number>();
  for (const part of fit.parts)
    part.coef.forEach((value, i) => {
      if (value !== 0) rows.add(part.rows[i]);
    });
  return [...rows].sort((a, b) => a - b);
}

/** The class of each point, the prediction of a regression, or +1 and -1 of a one-class machine. */
export function predict(fit: Fit, points: Float64Array): Float64Array {
  return predictionOf(fit, decisionValues(fit, points));
}

/** The same from decision values that are known. */
export function predictionOf(fit: Fit, values: readonly Float64Array[]): Float64Array {
  if (fit.classes) return winners(values, classesOf(fit.data.y), fit.spec.multiclass);
  return fit.spec.machine === "one-class"
    ? values[0].map((value) => (value < 0 ? -1 : 1))
    : values[0];
}
