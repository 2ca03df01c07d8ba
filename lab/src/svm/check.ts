// What a machine needs of its parameters and data, with errors for people.

import { checkKernel } from "./kernels";
import { type Data, LabError, type Machine, type Spec } from "./types";

/** A fit of these takes a second at worst, nearly always. */
export const MOST_POINTS = 1000;

const MACHINES: Record<Machine, { C: boolean; nu: boolean; classes: boolean }> = {
  "c-svc": { C: true, nu: false, classes: true },
  "nu-svc": { C: false, nu: true, classes: true },
  "hard-margin": { C: false, nu: false, classes: true },
  "one-class": { C: false, nu: true, classes: false },
  "eps-svr": { C: true, nu: false, classes: false },
  "nu-svr": { C: true, nu: true, classes: false },
};

export const separatesClasses = (machine: Machine): boolean => MACHINES[machine].classes;

export function checkSpec(spec: Spec): void {
  const needs = MACHINES[spec.machine];
  if (!needs) throw new LabError(`There is no machine "${spec.machine}".`);
  checkKernel(spec.kernel);
  if (needs.C && !(spec.C > 0 && Number.isFinite(spec.C)))
    throw new LabError(`C must be a positive number, not ${spec.C}. For no limit: hard margin.`);
  if (needs.nu && !(spec.nu > 0 && spec.nu <= 1))
    throw new LabError(`nu must be greater than 0 and at most 1, not ${spec.nu}.`);
  if (spec.machine === "eps-svr" && !(spec.epsilon >= 0 && Number.isFinite(spec.epsilon)))
    throw new LabError(`epsilon must be a number that is not negative, not ${spec.epsilon}.`);
}

export function checkData(spec: Spec, data: Data): void {
  const { x, d, y } = data;
  const n = x.length / d;
  if (!Number.isInteger(n) || (spec.machine !== "one-class" && y.length !== n))
    throw new LabError("Each point needs all of its coordinates and a class or a target.");
  if (n === 0) throw new LabError("There are no points yet: add some, or choose a data set.");
  if (n > MOST_POINTS)
    throw new LabError(`The lab takes at most ${MOST_POINTS} points, not ${n}: take a sample.`);
  if (!x.every(Number.isFinite))
    throw new LabError("A coordinate of a point is missing or not a finite number.");
  if (spec.machine === "one-class") return;
  if (!y.every(Number.isFinite))
    throw new LabError(
      separatesClasses(spec.machine)
        ? "The class of a point is missing."
        : "The target of a point is missing or not a finite number.",
    );
}

/** The classes that occur, in order. */
export function classesOf(y: Float64Array): number[] {
  const found = [...new Set(y)].sort((a, b) => a - b);
  if (found.some((label) => label < 0 || !Number.isInteger(label)))
    throw new LabError("Classes are numbered 0, 1, 2 and so on.");
  if (found.length < 2)
    throw new LabError(
      "All points are of one class, and there is nothing to separate: add points of another " +
        "class, or choose the one-class machine.",
    );
  return found;
}
