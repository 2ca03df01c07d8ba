// Three dimensions on a flat page: lifts of the plane, an orthographic view, and a plane in a box.
//
// View. With azimuth u and elevation v (radians) the viewer looks along -n, where
//
//     n = (cos v sin u, -cos v cos u, sin v)     towards the viewer
//     r = (cos u, sin u, 0)                      to the right
//     t = (-sin v sin u, sin v cos u, cos v)     upwards
//
// are orthonormal, so that p is drawn at (r'p, t'p) and n'p is its height above the page.

export type Vector = readonly [number, number, number];

export interface Camera {
  azimuth: number;
  elevation: number;
}

export interface Lift {
  name: string;
  tex: string;
  axes: readonly [string, string, string];
  of: (x1: number, x2: number) => Vector;
}

export const LIFTS: Record<string, Lift> = {
  product: {
    name: "(x₁, x₂, x₁x₂)",
    tex: "\\phi(x) = (x_1,\\ x_2,\\ x_1 x_2)",
    axes: ["x₁", "x₂", "x₁x₂"],
    of: (a, b) => [a, b, a * b],
  },
  squares: {
    name: "(x₁, x₂, x₁² + x₂²)",
    tex: "\\phi(x) = (x_1,\\ x_2,\\ x_1^2 + x_2^2)",
    axes: ["x₁", "x₂", "x₁² + x₂²"],
    of: (a, b) => [a, b, a * a + b * b],
  },
  quadratic: {
    name: "(x₁², x₂², √2 x₁x₂)",
    tex: "\\phi(x) = (x_1^2,\\ x_2^2,\\ \\sqrt2\\, x_1 x_2)",
    axes: ["x₁²", "x₂²", "√2 x₁x₂"],
    of: (a, b) => [a * a, b * b, Math.SQRT2 * a * b],
  },
};

export function dot(a: Vector, b: Vector): number {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/** The vectors r, t and n above. */
export function basis({ azimuth: u, elevation: v }: Camera): Record<"r" | "t" | "n", Vector> {
  const [cu, su, cv, sv] = [Math.cos(u), Math.sin(u), Math.cos(v), Math.sin(v)];
  return { r: [cu, su, 0], t: [-sv * su, sv * cu, cv], n: [cv * su, -cv * cu, sv] };
}

/**
 * The corners of {p in [-1, 1]^3 : w'p + b = 0} in order around it; empty if the plane misses the
 * box. They are where the plane cuts the twelve edges.
 */
export function planeInBox(w: Vector, b: number): Vector[] {
  const corners: Vector[] = [];
  for (let axis = 0; axis < 3; axis++) {
    for (const s of [-1, 1]) {
      for (const t of [-1, 1]) {
        const p: [number, number, number] = [0, 0, 0];
        p[(axis + 1) % 3] = s;
        p[(axis + 2) % 3] = t;
        const along = -(dot(w, p) + b) / w[axis];
        if (Math.abs(along) > 1 || !Number.isFinite(along)) continue;
        p[axis] = along;
        corners.push(p);
      }
    }
  }
  return around(corners, w);
}

function around(points: Vector[], w: Vector): Vector[] {
  if (points.length < 3) return [];
  const centre = [0, 1, 2].map((k) => points.reduce((s, p) => s + p[k], 0) / points.length);
  const length = Math.sqrt(dot(w, w));
  const n = w.map((x) => x / length) as unknown as Vector;
  const least = n.map(Math.abs).indexOf(Math.min(...n.map(Math.abs)));
  const e = cross(n, [0, 1, 2].map((k) => (k === least ? 1 : 0)) as unknown as Vector);
  const g = cross(n, e);
  const angle = (p: Vector): number => {
    const d = p.map((x, k) => x - centre[k]) as unknown as Vector;
    return Math.atan2(dot(d, g), dot(d, e));
  };
  return [...points].sort((p, q) => angle(p) - angle(q));
}

function cross(a: Vector, b: Vector): Vector {
  return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
}
