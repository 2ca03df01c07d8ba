// Numbers for formulas and sentences: four digits, and brackets where a sign would follow a sign.

import { shortNumber } from "../ui/controls";

const DIGITS = 4;
/** Smaller values are what rounding left of 0. */
const ROUNDING = 1e-13;

/** A number for TeX: 0.8333, -12.5, 3.1\cdot10^{-7}. */
export function tex(value: number): string {
  if (!Number.isFinite(value)) return value > 0 ? "\\infty" : value < 0 ? "-\\infty" : "?";
  const plain = Number(value.toPrecision(DIGITS));
  const size = Math.abs(plain);
  if (size < ROUNDING) return "0";
  if (size >= 1e-4 && size < 1e6) return String(plain);
  const [head, power] = plain.toExponential().split("e");
  return `${head}\\cdot10^{${Number(power)}}`;
}

/** A number for sentences. */
export const num = (value: number): string =>
  shortNumber(Math.abs(value) < ROUNDING ? 0 : value, DIGITS);

/** The same as `tex` inside a sum or a product. */
export const signed = (value: number): string => (value < 0 ? `(${tex(value)})` : tex(value));

/** The number of a point, from 1 as on the slides. */
export const no = (i: number): string => String(i + 1);

/** "3", "3 and 5", "3, 5 and 8". */
export function list(words: readonly string[]): string {
  if (words.length < 2) return words.join("");
  return `${words.slice(0, -1).join(", ")} and ${words[words.length - 1]}`;
}
