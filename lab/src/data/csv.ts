// Points as text in columns: x1, x2, class; for regression x, target. Columns are separated by
// commas, semicolons, tabs or blanks. A first line of names, empty lines and lines that begin with
// # are skipped. Labels may be any words; classes are numbered in their order (numbers by size).

import { MOST_CLASSES } from "../ui/marks";
import type { Point } from "../ui/url";
import { MOST_POINTS } from "../svm/check";

const LARGEST = 1e6;
const DECIMALS = 6;

/** What is wrong with a text, in words for the user. */
export class CsvError extends Error {
  override name = "CsvError";
}

export function writeCsv(points: readonly Point[], regression: boolean): string {
  const head = regression ? "x,target" : "x1,x2,class";
  const line = ({ x, y, k }: Point) => (regression ? `${x},${y}` : `${x},${y},${k}`);
  return [head, ...points.map(line)].join("\n") + "\n";
}

/** The points of a text; throws CsvError. */
export function readCsv(text: string, regression: boolean): Point[] {
  const rows = text
    .split(/\r\n|\r|\n/)
    .map((line, i) => ({ number: i + 1, cells: cellsOf(line) }))
    .filter(({ cells }) => cells.length > 0);
  if (rows.length && isHead(rows[0].cells)) rows.shift();
  if (!rows.length) throw new CsvError("There is no point in this text.");
  if (rows.length > MOST_POINTS) {
    throw new CsvError(`There are ${rows.length} points; the playground takes ${MOST_POINTS}.`);
  }
  const labels = classNumbers(regression ? [] : rows.map(({ cells }) => cells[2] ?? "0"));
  return rows.map(({ number, cells }) => {
    if (cells.length < 2 || cells.length > 3) {
      const form = regression ? "x, target" : "x1, x2, class";
      throw new CsvError(`Line ${number} has ${cells.length} columns; expected ${form}.`);
    }
    const [x, y] = [coordinate(cells[0], number), coordinate(cells[1], number)];
    return { x, y, k: regression ? 0 : labels.get(cells[2] ?? "0")! };
  });
}

function cellsOf(line: string): string[] {
  const text = line.trim();
  if (!text || text.startsWith("#")) return [];
  const separator = [",", ";", "\t"].find((letter) => text.includes(letter)) ?? /\s+/;
  return text.split(separator).map((cell) => cell.trim().replace(/^"(.*)"$/, "$1"));
}

const isNumber = (cell: string) => cell !== "" && Number.isFinite(Number(cell));
const isHead = (cells: string[]) => !cells.slice(0, 2).some(isNumber);

function coordinate(cell: string, line: number): number {
  const value = isNumber(cell) ? Number(cell) : NaN;
  if (Number.isNaN(value)) throw new CsvError(`Line ${line}: “${cell}” is not a number.`);
  if (Math.abs(value) > LARGEST) {
    throw new CsvError(`Line ${line}: ${value} is larger than a million; scale the data first.`);
  }
  return Number(value.toFixed(DECIMALS)) + 0;
}

function classNumbers(labels: string[]): Map<string, number> {
  const names = [...new Set(labels)];
  names.sort(names.every(isNumber) ? (a, b) => Number(a) - Number(b) : undefined);
  if (names.length > MOST_CLASSES) {
    throw new CsvError(
      `There are ${names.length} classes; the playground shows ${MOST_CLASSES}. ` +
        "Is the third column the class?",
    );
  }
  return new Map(names.map((name, k) => [name, k]));
}
