// The data sets of the lectures. Points have three decimals, so that a link and copied code hold
// exactly what is shown. The same n, noise and seed give the same points everywhere.

import type { Interval } from "../ui/plot";
import type { Point } from "../ui/url";
import { type Random, random } from "./random";

export type SetName =
  | "xor"
  | "rings"
  | "moons"
  | "revisited"
  | "gaussians"
  | "separable"
  | "three"
  | "five"
  | "outliers"
  | "sine"
  | "line";

export interface Box {
  x: Interval;
  y: Interval;
}

export interface DataSet {
  label: string;
  /** What there is to see. */
  about: string;
  regression: boolean;
  box: Box;
  /** Default noise; left out where the points are fixed. */
  noise?: number;
  make(n: number, noise: number, random: Random): Point[];
}

const rounded = (value: number) => Number(value.toFixed(3)) + 0;
const at = (x: number, y: number, k = 0): Point => ({ x: rounded(x), y: rounded(y), k });
const times = (n: number, make: (i: number) => Point) =>
  Array.from({ length: n }, (_, i) => make(i));
const PLANE: Box = { x: [-2, 2], y: [-1.5, 1.5] };

/** n points around centres, in turn; each centre has a class. */
function clouds(centres: [number, number, number][]): DataSet["make"] {
  return (n, noise, { normal }) =>
    times(n, (i) => {
      const [x, y, k] = centres[i % centres.length];
      return at(x + noise * normal(), y + noise * normal(), k);
    });
}

/** x1, x2 and class of the twenty points; class 0 is -1 in the lecture, class 1 is +1. */
// prettier-ignore
const REVISITED: [number, number, number][] = [
  [0.2, 0.869, 0], [0.687, 0.212, 1], [0.822, 0.411, 1], [0.738, 0.694, 1], [0.176, 0.458, 0],
  [0.306, 0.753, 0], [0.936, 0.413, 1], [0.215, 0.41, 0], [0.612, 0.375, 1], [0.784, 0.602, 1],
  [0.612, 0.554, 0], [0.357, 0.254, 1], [0.204, 0.775, 0], [0.512, 0.745, 1], [0.498, 0.287, 0],
  [0.251, 0.557, 0], [0.502, 0.523, 1], [0.119, 0.687, 0], [0.495, 0.924, 1], [0.612, 0.851, 1],
];

const turn = (k: number, of: number, radius: number): [number, number, number] => [
  radius * Math.cos((2 * Math.PI * k) / of + Math.PI / 2),
  radius * Math.sin((2 * Math.PI * k) / of + Math.PI / 2),
  k,
];

export const SETS: Record<SetName, DataSet> = {
  xor: {
    label: "XOR",
    about: "Opposite corners share a class. No line separates them; a polynomial of degree 2 does.",
    regression: false,
    box: PLANE,
    noise: 0.25,
    make: clouds([
      [-1, -0.8, 0],
      [1, -0.8, 1],
      [1, 0.8, 0],
      [-1, 0.8, 1],
    ]),
  },
  rings: {
    label: "Rings",
    about: "One class surrounds the other: separable by x₁² + x₂², which the kernel finds.",
    regression: false,
    box: PLANE,
    noise: 0.1,
    make: (n, noise, { uniform, normal }) =>
      times(n, (i) => {
        const [angle, r] = [2 * Math.PI * uniform(), (i % 2 ? 1.15 : 0.5) + noise * normal()];
        return at(r * Math.cos(angle), r * Math.sin(angle), i % 2);
      }),
  },
  moons: {
    label: "Moons",
    about: "Two half circles that reach into each other.",
    regression: false,
    box: PLANE,
    noise: 0.15,
    make: (n, noise, { uniform, normal }) =>
      times(n, (i) => {
        const [angle, side] = [Math.PI * uniform(), i % 2 ? -1 : 1];
        const [x, y] = [side * (Math.cos(angle) - 0.5), side * (Math.sin(angle) - 0.25)];
        return at(x + noise * normal(), y + noise * normal(), i % 2);
      }),
  },
  revisited: {
    label: "Soft Margin Revisited",
    about:
      "The twenty points of the lecture “Soft Margin Revisited” (2024), from its program in " +
      "github.com/meanxai/machine_learning, 6.SVM. With a linear kernel the sum of slacks is 6.37, " +
      "7.07 and 10.58 at C = 50, 5 and 1.",
    regression: false,
    box: { x: [0, 1], y: [0.15, 1] },
    make: () => REVISITED.map(([x, y, k]) => at(x, y, k)),
  },
  gaussians: {
    label: "Overlapping Gaussians",
    about: "No boundary is free of errors: C decides how much each of them costs.",
    regression: false,
    box: PLANE,
    noise: 0.55,
    make: clouds([
      [-0.6, -0.3, 0],
      [0.6, 0.3, 1],
    ]),
  },
  separable: {
    label: "Separable clouds",
    about: "A line separates the classes; the hard margin finds the widest gap.",
    regression: false,
    box: PLANE,
    noise: 0.25,
    make: clouds([
      [-0.9, -0.55, 0],
      [0.9, 0.55, 1],
    ]),
  },
  three: {
    label: "Three classes",
    about: "Three clouds: three machines, one for each pair of classes, or one for each class.",
    regression: false,
    box: PLANE,
    noise: 0.35,
    make: clouds([0, 1, 2].map((k) => turn(k, 3, 0.85))),
  },
  five: {
    label: "Five classes",
    about: "Ten pairs vote. Where votes are tied, the region is hatched.",
    regression: false,
    box: PLANE,
    noise: 0.22,
    make: clouds([0, 1, 2, 3, 4].map((k) => turn(k, 5, 1))),
  },
  outliers: {
    label: "Cloud with outliers",
    about:
      "Most points lie in a bent cloud, one in ten anywhere: a task for the one-class machine.",
    regression: false,
    box: PLANE,
    noise: 0.14,
    make: (n, noise, { uniform, normal }) =>
      times(n, (i) => {
        if (i % 10 === 9) return at(3.6 * uniform() - 1.8, 2.7 * uniform() - 1.35);
        const angle = Math.PI * (0.15 + 0.95 * uniform());
        return at(Math.cos(angle) + noise * normal(), Math.sin(angle) - 0.4 + noise * normal());
      }),
  },
  sine: {
    label: "Sine with noise",
    about: "Targets on a sine wave with Gaussian noise.",
    regression: true,
    box: { x: [0, 6.3], y: [-2, 2] },
    noise: 0.2,
    make: (n, noise, { uniform, normal }) =>
      times(n, () => {
        const x = 0.1 + 6.1 * uniform();
        return at(x, Math.sin(x) + noise * normal());
      }),
  },
  line: {
    label: "Line with outliers",
    about: "One target in eight is far off. Its pull is bounded: no dual variable exceeds C.",
    regression: true,
    box: { x: [0, 6.3], y: [-2, 2] },
    noise: 0.12,
    make: (n, noise, { uniform, normal }) =>
      times(n, (i) => {
        const x = 0.2 + 5.9 * uniform();
        return at(x, 0.35 * x - 1.3 + noise * normal() + (i % 8 === 7 ? 1.2 + uniform() : 0));
      }),
  },
};

export const SET_NAMES = Object.keys(SETS) as SetName[];

/** The points of a set. */
export function makeSet(name: SetName, n: number, noise: number, seed: number): Point[] {
  return SETS[name].make(n, noise, random(seed));
}
