// State in the URL: #/<view>?<params>, and points as a short text.
//
// A coordinate is an integer v = round(x 10^decimals), written as a variable-length number: v >= 0
// becomes 2v, v < 0 becomes -2v - 1, in digits of 5 bits, the lowest first; a sixth bit says that
// more follow. "~k" starts a run of points of class k. Readers never throw: a text that is no list
// of points gives null.

const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const MOST_DECIMALS = 6;
const LARGEST = Number.MAX_SAFE_INTEGER / 4;

/** A point of class k; in regression y is the target and k is 0. */
export interface Point {
  x: number;
  y: number;
  k: number;
}

export interface Route {
  path: string;
  params: URLSearchParams;
}

/** The route in a hash such as "#/play?C=1". */
export function parseHash(hash: string): Route {
  const [path = "", query = ""] = hash.replace(/^#?\/?/, "").split(/\?(.*)/s);
  return { path: path.replace(/\/+$/, ""), params: new URLSearchParams(query) };
}

/** The hash of a route; commas and colons stay readable. */
export function formatHash(path: string, params: URLSearchParams): string {
  const query = params.toString().replace(/%2C/g, ",").replace(/%7E/g, "~").replace(/%3A/g, ":");
  return `#/${path}${query ? `?${query}` : ""}`;
}

/** The number of a parameter within [least, most], or the default where it is none. */
export function numberParam(
  params: URLSearchParams,
  name: string,
  otherwise: number,
  least = -Infinity,
  most = Infinity,
): number {
  const text = params.get(name);
  const value = text === null || text.trim() === "" ? NaN : Number(text);
  return Number.isFinite(value) ? Math.min(most, Math.max(least, value)) : otherwise;
}

/** One of the allowed words of a parameter, or the default. */
export function wordParam<T extends string>(
  params: URLSearchParams,
  name: string,
  allowed: readonly T[],
  otherwise: T,
): T {
  return allowed.find((word) => word === params.get(name)) ?? otherwise;
}

/** The smallest number of decimals that keeps the values, at most six. */
function decimalsOf(values: number[]): number {
  let decimals = 0;
  for (const value of values) {
    while (decimals < MOST_DECIMALS && Number(value.toFixed(decimals)) !== value) decimals += 1;
  }
  return decimals;
}

function writeInteger(v: number): string {
  let rest = v >= 0 ? 2 * v : -2 * v - 1;
  let text = "";
  do {
    const digit = rest % 32;
    rest = Math.floor(rest / 32);
    text += DIGITS[digit + (rest ? 32 : 0)];
  } while (rest);
  return text;
}

/** Points as text: the number of decimals, then the runs of each class. */
export function writePoints(points: readonly Point[]): string {
  const decimals = decimalsOf(points.flatMap(({ x, y }) => [x, y]));
  const unit = 10 ** decimals;
  let text = String(decimals);
  let run = -1;
  for (const { x, y, k } of points) {
    if (k !== run) text += `~${k}`;
    run = k;
    text += writeInteger(Math.round(x * unit)) + writeInteger(Math.round(y * unit));
  }
  return text;
}

/** The integers of a run, or null. */
function readIntegers(text: string): number[] | null {
  const found: number[] = [];
  let value = 0;
  let place = 1;
  for (const letter of text) {
    const digit = DIGITS.indexOf(letter);
    if (digit < 0 || place > LARGEST) return null;
    value += (digit % 32) * place;
    place *= 32;
    if (digit < 32) {
      if (value > 2 * LARGEST) return null;
      found.push(value % 2 ? -(value + 1) / 2 : value / 2);
      value = 0;
      place = 1;
    }
  }
  return place === 1 && found.length % 2 === 0 ? found : null;
}

/** The points of a text, at most `most` of them, or null if it is none of ours. */
export function readPoints(text: string, classes: number, most: number): Point[] | null {
  const [head = "", ...runs] = text.split("~");
  if (!/^[0-6]$/.test(head)) return null;
  const decimals = Number(head);
  const points: Point[] = [];
  for (const run of runs) {
    const k = Number(run[0]);
    const values = readIntegers(run.slice(1));
    if (!(Number.isInteger(k) && k >= 0 && k < classes) || !values) return null;
    for (let i = 0; i < values.length; i += 2) {
      const [x, y] = [values[i], values[i + 1]];
      points.push({ x: decimal(x, decimals), y: decimal(y, decimals), k });
    }
  }
  return points.length <= most ? points : null;
}

/** v / 10^decimals as the nearest double, the same as reading the decimal text. */
const decimal = (v: number, decimals: number) => Number((v / 10 ** decimals).toFixed(decimals));
