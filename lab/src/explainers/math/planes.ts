// Cutting planes for a machine with one weight w, the mathematics of maxmargin.textbook.cutting_planes:
//
//     P(w) = 1/2 w^2 + C R(w),    R(w) = sum_i max(0, 1 - y_i w x_i)
//
// The plane that touches R at v has offset = |{i : y_i v x_i < 1}| and slope = -sum of y_i x_i over
// them. With R replaced by the largest of the planes and 0, P becomes a lower bound, piecewise
// quadratic and convex: its minimum D lies where one piece has its own minimum, w = -C slope, or
// where two planes meet.

export interface Sample {
  readonly x: number;
  /** -1 or +1. */
  readonly y: number;
}

export interface Plane {
  readonly at: number;
  readonly offset: number;
  readonly slope: number;
}

const NOTHING: Plane = { at: 0, offset: 0, slope: 0 }; // R >= 0

export function risk(samples: readonly Sample[], w: number): number {
  return samples.reduce((sum, { x, y }) => sum + Math.max(0, 1 - y * w * x), 0);
}

/** The plane that touches the risk at w. */
export function planeAt(samples: readonly Sample[], w: number): Plane {
  const violated = samples.filter(({ x, y }) => y * w * x < 1);
  return {
    at: w,
    offset: violated.length,
    slope: -violated.reduce((sum, { x, y }) => sum + y * x, 0),
  };
}

/** What the planes know of the risk. */
export function known(planes: readonly Plane[], w: number): number {
  return Math.max(0, ...planes.map(({ offset, slope }) => offset + slope * w));
}

/** Where the lower bound has its minimum, and its value D there. */
export function lowest(planes: readonly Plane[], C: number): { w: number; D: number } {
  const all = [NOTHING, ...planes];
  const own = all.map(({ slope }) => -C * slope);
  const meet = all.flatMap((one, i) =>
    all
      .slice(i + 1)
      .filter(({ slope }) => slope !== one.slope)
      .map((other) => (other.offset - one.offset) / (one.slope - other.slope)),
  );
  const value = (w: number): number => 0.5 * w * w + C * known(planes, w);
  const w = [...own, ...meet].reduce((best, next) => (value(next) < value(best) ? next : best));
  return { w, D: value(w) };
}
