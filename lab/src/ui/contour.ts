// Contours of values on a grid as vector paths, by marching squares (d3-contour).

import { contours } from "d3-contour";

/** A grid of points, row-major with x running fastest. */
export interface Grid {
  points: Float64Array;
  columns: number;
  rows: number;
}

type Scale = (value: number) => number;

/** The closed lines around values of at least `level`, as the path of an SVG in pixels. */
export function outline(
  { columns, rows, points }: Grid,
  values: ArrayLike<number>,
  level: number,
  px: Scale,
  py: Scale,
): string {
  const found = contours().size([columns, rows]).contour(Array.from(values), level);
  const last = 2 * (columns * rows - 1);
  const [x0, y0] = [px(points[0]), py(points[1])];
  const dx = (px(points[last]) - x0) / (columns - 1);
  const dy = (py(points[last + 1]) - y0) / (rows - 1);
  // d3 puts the value of cell (i, j) at (i + 1/2, j + 1/2)
  const place = ([i, j]: number[]) =>
    `${(x0 + dx * (i - 0.5)).toFixed(1)},${(y0 + dy * (j - 0.5)).toFixed(1)}`;
  return found.coordinates
    .flat()
    .map((ring) => `M${ring.map(place).join("L")}Z`)
    .join("");
}
