// What happened in a step and why, in sentences. Screen readers read the same.

import { TOL, type AlgorithmKey } from "./algorithms";
import {
  gap,
  type CoordinateMove,
  type CountMove,
  type DrawMove,
  type PairMove,
  type Passed,
  type Problem,
  type SingleMove,
  type Step,
  type Trace,
} from "./algorithms/trace";
import { list, no, num } from "./numbers";

const named = (t: number) => (t > 0 ? "+1" : "−1");

/** The sentences of a step. */
export function words(key: AlgorithmKey, trace: Trace, at: number, problem: Problem): string[] {
  const step = trace.steps[at];
  const last = at === trace.steps.length - 1;
  const sentences =
    at === 0 ? [start(key, step)] : [...passed(step.passed), ...why(key, step, problem)];
  if (at > 0 && step.move) sentences.push(gain(trace, at));
  return last ? [...sentences, ...end(key, trace, step)] : sentences;
}

function start(key: AlgorithmKey, step: Step): string {
  if (key.startsWith("coordinate"))
    return `The start: L is ${num(step.primal)}, its minimum ${num(step.dual)}. Go forward to see the first coordinate move.`;
  const what =
    key === "pegasos" ? "w" : key === "kernel-pegasos" ? "every count" : "every multiplier";
  const second = key.includes("pegasos") ? "the optimum" : "the dual";
  return (
    `The start: ${what} is 0, so that y(x) = ${num(step.b)} everywhere and every point has slack 1. ` +
    `The primal is ${num(step.primal)}, ${second} ${num(step.dual)}; the steps bring the two together.`
  );
}

function why(key: AlgorithmKey, { move }: Step, { C }: Problem): string[] {
  switch (move?.kind) {
    case "pair":
      return [choice(key, move, C), ...outcome(move, C)];
    case "single":
      return single(key, move, C);
    case "draw":
      return draw(move);
    case "count":
      return counted(move);
    case "coordinate":
      return coordinate(key, move);
    default:
      return [];
  }
}

/** Which points the sweep went past. */
function passed(points: readonly Passed[]): string[] {
  const fine = points.filter(({ j }) => j === null).map(({ i }) => no(i));
  const stuck = points.filter(({ j }) => j !== null).map(({ i, j }) => `(${no(i)}, ${no(j!)})`);
  if (points.length > 12) {
    const pairs = stuck.length ? `, ${stuck.length} drawn pairs could not move` : "";
    return [
      `Before this, the sweep looked at ${fine.length} points whose conditions hold${pairs}.`,
    ];
  }
  const sentences = [];
  if (fine.length) {
    const [whose, them] = fine.length > 1 ? ["s of points", "them"] : [" of point", "it"];
    const hold = fine.length > 1 ? "hold" : "holds";
    sentences.push(`The condition${whose} ${list(fine)} ${hold}: the sweep goes past ${them}.`);
  }
  if (stuck.length) {
    const pairs = stuck.length > 1 ? `The pairs ${list(stuck)} were` : `The pair ${stuck[0]} was`;
    sentences.push(`${pairs} drawn, but could not move.`);
  }
  return sentences;
}

/** Why this pair. */
function choice(key: AlgorithmKey, move: PairMove, C: number): string {
  const { i, j, t_i, t_j, E_i, E_j, a_i, b_old } = move;
  const [first, second] = [
    `Point ${no(i)} (class ${named(t_i)})`,
    `point ${no(j)} (class ${named(t_j)})`,
  ];
  if (key === "simplified") {
    const inside = t_i * E_i < 0;
    const bound = inside
      ? `${a_i > 0 ? `a = ${num(a_i)}` : "a = 0"} is below C, so t y(x) should be at least 1`
      : `${a_i < C ? `a = ${num(a_i)}` : "a = C"} is above 0, so t y(x) should be at most 1`;
    return (
      `${first} violates its condition by ${num(Math.abs(E_i))}: ${bound}, but it is ` +
      `${num(1 + t_i * E_i)}. Its partner, ${second}, was drawn at random.`
    );
  }
  const [v_i, v_j] = [b_old - E_i, b_old - E_j];
  const top = `${first} asks for b = ${num(v_i)}, more than any other that can still move that way.`;
  if (key === "smo-first") {
    return `${top} ${capital(second)} asks for the least, ${num(v_j)}: no pair disagrees more than these ${num(v_i - v_j)}.`;
  }
  const gain = (v_i - v_j) ** 2 / (2 * Math.max(-move.eta, 1e-12));
  return (
    `${top} Of those that ask for less, ${second} promises the largest gain of the dual: it asks ` +
    `for ${num(v_j)}, and without the box the gain would be ${num(gain)}.`
  );
}

/** Where the pair ends. */
function outcome(move: PairMove, C: number): string[] {
  const { i, j, a_j_unclipped: free, a_j_new, a_i_new, L, H } = move;
  const top = `On the segment the dual is largest at a${sub(j)} = ${num(free)}`;
  const now = `now a${sub(i)} = ${bound(a_i_new, C)} and a${sub(j)} = ${bound(a_j_new, C)}.`;
  if (free > H || free < L) {
    const [name, value] = free > H ? ["above H", H] : ["below L", L];
    return [`${top}, ${name} = ${num(value)}: it is clipped, and ${now}`];
  }
  return [`${top}, inside [${num(L)}, ${num(H)}]: the pair moves there, and ${now}`];
}

const bound = (a: number, C: number) => (a === C && a !== 0 ? `C = ${num(C)}` : num(a));
const capital = (text: string) => text[0].toUpperCase() + text.slice(1);
const sub = (i: number) => no(i).replace(/\d/g, (digit) => "₀₁₂₃₄₅₆₇₈₉"[Number(digit)]);

function single(key: AlgorithmKey, move: SingleMove, C: number): string[] {
  const { i, y_i, g, p, a_i, a_i_unclipped: free, a_i_new } = move;
  const how = {
    "dual-cyclic": "is next in turn",
    "dual-permutation": "is next in this sweep’s random order",
  }[key as string];
  const first = `Point ${no(i)} (class ${named(y_i)}) ${how ?? "was drawn at random"}: its margin is ${num(g + 1)}.`;
  if (p === 0) {
    const reason =
      a_i === 0
        ? "at least 1 and α is already 0"
        : a_i === C
          ? "at most 1 and α is already C"
          : "exactly 1";
    return [`${first} That is ${reason}, so the multiplier stays.`];
  }
  const clipped =
    free > C
      ? `above C, so it stops at ${num(C)}`
      : free < 0
        ? "below 0, so it stops at 0"
        : "inside the box";
  return [
    `${first} With α = ${num(a_i)} it should be ${g < 0 ? "at least" : "at most"} 1.`,
    `The dual is best at α${sub(i)} = ${num(free)}, ${clipped}: α goes from ${num(a_i)} to ${num(a_i_new)}.`,
  ];
}

function draw({ i, y_i, k, margin, loss }: DrawMove): string[] {
  const first = `Draw ${k} is point ${no(i)} (class ${named(y_i)}). Its margin y w·x is ${num(margin)}`;
  return loss
    ? [
        `${first}, below 1: it has a loss. w shrinks by the factor 1 − 1/${k} and moves towards the point.`,
      ]
    : [`${first}, at least 1: no loss. w only shrinks, by the factor 1 − 1/${k}.`];
}

function counted({ i, y_i, k, margin, loss, after }: CountMove): string[] {
  const first = `Draw ${k} is point ${no(i)} (class ${named(y_i)}). Its margin y y(x) is ${num(margin)}`;
  const times = after === 1 ? "the first time" : `time number ${after}`;
  return loss
    ? [`${first}, below 1: it has a loss and is counted, ${times}.`]
    : [
        `${first}, at least 1: it has no loss and is not counted. All weights shrink by 1 − 1/${k}.`,
      ];
}

function coordinate(key: AlgorithmKey, { i, w_i, w_i_new, decrease }: CoordinateMove): string[] {
  const reason =
    key === "coordinate-cyclic"
      ? "is next in turn"
      : `promises the largest decrease, ${num(decrease[i])}`;
  return [
    `Coordinate ${no(i)} ${reason}. With all others fixed L is a parabola; its bottom moves ` +
      `w${sub(i)} from ${num(w_i)} to ${num(w_i_new)}.`,
  ];
}

/** What the step was worth. */
function gain(trace: Trace, at: number): string {
  const [before, step] = [trace.steps[at - 1], trace.steps[at]];
  const kind = step.move?.kind;
  if (kind === "coordinate")
    return `L falls by ${num(before.primal - step.primal)}; it is ${num(gap(step))} above its minimum.`;
  if (kind === "draw" || kind === "count") {
    const change = step.primal - before.primal;
    const verb = change > 0 ? "rises" : "falls";
    return `The primal ${verb} by ${num(Math.abs(change))} and is ${num(gap(step))} above the optimum.`;
  }
  const risen = Math.max(0, step.dual - before.dual);
  const dual = risen > 0 ? `The dual rises by ${num(risen)}` : "The dual stays";
  return `${dual}; the gap is ${num(gap(step))}.`;
}

function end(key: AlgorithmKey, trace: Trace, step: Step): string[] {
  if (trace.ending === "steps") {
    return key.includes("pegasos")
      ? ["Here the trace ends. Pegasos has no test of its own: more draws come closer."]
      : [`The trace is cut here, after ${step.iteration} steps, before the end.`];
  }
  if (key === "simplified") {
    const reason =
      step.violation > TOL
        ? `Sweep after sweep changes nothing, so it stops, though a violation of ${num(step.violation)} is left: no partner could move`
        : `In a whole sweep no point violates its condition by more than ${TOL}: it stops`;
    return [`${reason}. The gap is ${num(gap(step))}.`];
  }
  if (key.startsWith("smo")) return [`No pair disagrees by more than ${TOL}: this is the optimum.`];
  if (key.startsWith("dual"))
    return [`After this sweep no projected gradient exceeds ${TOL}: this is the optimum.`];
  return [`No derivative exceeds ${TOL}: this is the minimum.`];
}
