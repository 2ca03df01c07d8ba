// Small sketches for the index, one for each explainer: paths in a box of 120 by 66.

import { s } from "../ui/dom";

type Part = readonly [className: string, d: string];

const dot = (x: number, y: number): string => `M${x - 3},${y}a3,3 0 1 0 6,0a3,3 0 1 0 -6,0Z`;
const box = (x: number, y: number): string => `M${x - 3},${y - 3}h6v6h-6Z`;
const join = (...paths: string[]): string => paths.join("");

const SKETCHES: Record<string, readonly Part[]> = {
  c: [
    ["thin", "M30,66L54,0M66,66L90,0"],
    ["thick", "M48,66L72,0"],
    ["class-0", join(dot(20, 18), dot(30, 40), dot(16, 52), dot(57, 20))],
    ["class-1", join(box(96, 48), box(104, 22), box(88, 30), box(64, 50))],
    ["slack", "M57,20L47,17M64,50L74,53"],
  ],
  losses: [
    ["thin", "M8,58H112"],
    ["thick", "M14,6L74,58H112"],
    ["line-1", "M14,16C50,34 74,54 112,57"],
    ["line-2", "M36,6C48,40 60,56 74,58"],
  ],
  lift: [
    ["thin", "M22,52L62,62L100,46V14L60,4L22,20ZM22,20L62,30L100,14M62,30V62"],
    ["plane", "M22,38L62,48L100,32L60,22Z"],
    ["class-0", join(dot(38, 22), dot(76, 14), dot(84, 20))],
    ["class-1", join(box(44, 50), box(78, 48), box(62, 54))],
  ],
  gaussian: [
    ["line-0", "M60,34L30,18M60,34L36,48"],
    ["line-1", "M60,34L78,24M60,34L94,44M60,34L74,50"],
    ["class-0", join(dot(30, 18), dot(36, 48), dot(16, 34))],
    ["class-1", join(box(78, 24), box(94, 44), box(74, 50), box(104, 18))],
    ["thick", "M54,34h12M60,28v12"],
  ],
  matrix: [
    ["class-1", join("M32,5h28v28h-28Z", "M60,33h28v28h-28Z")],
    ["class-1 pale", join("M60,5h28v28h-28Z", "M32,33h28v28h-28Z")],
    ["thin", "M60,5v56M32,33h56"],
  ],
  nu: [
    ["thin", "M14,60L106,6"],
    ["line-0", "M14,44C40,30 70,24 106,4"],
    ["line-1", "M14,62C40,58 70,38 106,10"],
  ],
  tube: [
    ["tube", "M8,40C30,4 50,4 66,32S100,50 114,20L114,34C100,64 82,60 66,46S30,18 8,54Z"],
    ["thick", "M8,47C30,11 50,11 66,39S100,57 114,27"],
    ["class-0", join(dot(24, 26), dot(46, 6), dot(58, 30), dot(84, 62), dot(100, 46))],
  ],
  ambiguity: [
    ["class-0 pale", "M0,0H60V34L0,58Z"],
    ["class-1 pale", "M60,0H120V58L60,34Z"],
    ["class-2 pale", "M0,58L60,34L120,58V66H0Z"],
    ["plane", "M60,12.3L41.6,44H78.4Z"],
    ["thick", "M66,2L30,64M54,2L90,64M8,44H112"],
  ],
  growth: [
    ["thin", "M12,6V60H112"],
    ["line-0", "M12,58C60,54 90,40 106,6"],
    ["line-1", "M12,50L110,30"],
  ],
  planes: [
    ["plane", "M6,22L34,50L62,56L114,48V66H6Z"],
    ["thin", "M2,18L50,66M6,44L114,68M20,68L114,48"],
    ["thick", "M6,10C24,52 60,54 114,22"],
    ["class-1", join(box(22, 39), box(50, 54), box(80, 55))],
  ],
  transductive: [
    ["thin", "M34,66L86,0"],
    ["thick", "M4,34H116"],
    ["class-0 pale", join(dot(38, 52), dot(54, 56), dot(70, 50), dot(86, 55), dot(102, 52))],
    ["class-1 pale", join(box(18, 14), box(34, 10), box(50, 16), box(66, 11), box(82, 15))],
    ["class-0", dot(20, 54)],
    ["class-1", box(100, 12)],
  ],
};

/** The sketch of an explainer; screen readers pass over it. */
export function sketch(name: string): SVGSVGElement {
  const parts = (SKETCHES[name] ?? []).map(([className, d]) => s("path", { d, class: className }));
  return s("svg", { viewBox: "0 0 120 66", class: "sketch", "aria-hidden": "true" }, ...parts);
}
