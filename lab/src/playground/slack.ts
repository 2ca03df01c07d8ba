// The way from a point to the margin that its slack measures.
//
// From x the path climbs along the gradient of y f until y f(x) reaches the level (1, or 0 for the
// one-class machine), by Newton steps x <- x + (level - y f) g / |g|^2 with g the gradient of y f,
// each at most `longest` long. For a linear kernel that is one step: the perpendicular to the
// margin.

import type { Kernel, Part } from "../svm/types";

type Pair = [number, number];

/** f at a point of the plane, and its gradient. */
export type Slope = (at: Pair) => { value: number; gradient: Pair };

const MOST_STEPS = 25;
const REACHED = 1e-3;

/** The corners of the path; null where the gradient vanishes or the margin is not reached. */
export function slackPath(
  slope: Slope,
  start: Pair,
  sign: number,
  level: number,
  longest: number,
): Pair[] | null {
  const path: Pair[] = [start];
  for (let step = 0; step < MOST_STEPS; step += 1) {
    const at = path[path.length - 1];
    const { value, gradient } = slope(at);
    const missing = level - sign * value;
    if (missing <= REACHED) return path;
    const size = Math.hypot(...gradient);
    if (!(size > 1e-9)) return null;
    const length = Math.min(missing / size, longest);
    const move = (sign * length) / size;
    path.push([at[0] + move * gradient[0], at[1] + move * gradient[1]]);
  }
  return null;
}

/** The decision function of a problem in the plane, over its support vectors. */
export function slopeOf(kernel: Kernel, part: Part, x: Float64Array): Slope {
  const support = Array.from(part.rows, (_, i) => i).filter((i) => part.coef[i] !== 0);
  const vectors = support.map((i): Pair => [x[2 * part.rows[i]], x[2 * part.rows[i] + 1]]);
  const coefs = support.map((i) => part.coef[i]);
  return (at) => {
    let value = part.intercept;
    let [right, up] = [0, 0];
    for (let i = 0; i < coefs.length; i += 1) {
      const z = vectors[i];
      const { k, along, back } = kernelSlope(kernel, at, z);
      value += coefs[i] * k;
      right += coefs[i] * (along * z[0] - back * at[0]);
      up += coefs[i] * (along * z[1] - back * at[1]);
    }
    return { value, gradient: [right, up] };
  };
}

/** k(x, z) and its gradient in x, which is along z - back x. */
function kernelSlope({ kind, gamma, coef0, degree }: Kernel, x: Pair, z: Pair) {
  const dot = x[0] * z[0] + x[1] * z[1];
  switch (kind) {
    case "linear":
      return { k: dot, along: 1, back: 0 };
    case "poly": {
      const base = gamma * dot + coef0;
      return { k: base ** degree, along: degree * gamma * base ** (degree - 1), back: 0 };
    }
    case "rbf": {
      const k = Math.exp(-gamma * ((x[0] - z[0]) ** 2 + (x[1] - z[1]) ** 2));
      return { k, along: 2 * gamma * k, back: 2 * gamma * k };
    }
    case "sigmoid": {
      const k = Math.tanh(gamma * dot + coef0);
      return { k, along: gamma * (1 - k * k), back: 0 };
    }
  }
}
