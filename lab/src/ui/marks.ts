// The glyph of each class: circle, square, triangle, diamond, inverted triangle, so that classes
// can be told apart without colour, as in maxmargin.plots.style.

import { s } from "./dom";

export const MOST_CLASSES = 5;

const UNIT = [
  "M1,0A1,1 0 1 1 -1,0A1,1 0 1 1 1,0Z",
  "M-.88,-.88H.88V.88H-.88Z",
  "M0,-1.12L1.06,.82H-1.06Z",
  "M0,-1.22L1.1,0L0,1.22L-1.1,0Z",
  "M0,1.12L1.06,-.82H-1.06Z",
];

/** The outline of the glyph of class k with radius 1 around the origin. */
export const glyphPath = (k: number): string => UNIT[k % UNIT.length] as string;

/** The glyph of class k as an element at pixel (x, y). */
export function glyph(x: number, y: number, k: number, radius = 5.5, extra = ""): SVGPathElement {
  return s("path", {
    d: glyphPath(k),
    transform: `translate(${x.toFixed(2)},${y.toFixed(2)}) scale(${radius})`,
    class: `glyph class-${k % UNIT.length} ${extra}`,
    "vector-effect": "non-scaling-stroke",
  });
}

/** A small picture of the glyph for buttons, legends and tables. */
export function glyphIcon(k: number, size = 14): SVGSVGElement {
  const box = { viewBox: "-1.5 -1.5 3 3", width: size, height: size, "aria-hidden": "true" };
  return s(
    "svg",
    { ...box, class: "icon" },
    s("path", {
      d: glyphPath(k),
      class: `glyph class-${k}`,
      "vector-effect": "non-scaling-stroke",
    }),
  );
}
