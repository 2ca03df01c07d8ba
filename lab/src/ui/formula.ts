// Formulas by KaTeX. It also writes MathML, which screen readers read.

import katex from "katex";
import { h } from "./dom";

/** A formula as an element; `display` puts it on a line of its own. */
export function formula(tex: string, display = false): HTMLElement {
  const element = h(display ? "div" : "span", { class: "formula" });
  setFormula(element, tex, display);
  return element;
}

/** Replace the formula in an element that `formula` made. */
export function setFormula(element: HTMLElement, tex: string, display = false): void {
  katex.render(tex, element, { displayMode: display, throwOnError: false, strict: "ignore" });
}

/** A formula between dollar signs with the punctuation that no line end may part from it. */
const PIECE = /([(“]?\$[^$]*\$[).,;:?!”]*)/;

/**
 * Text with formulas between dollar signs as children for `h`: prose("where $0 \\le a_i \\le C$").
 */
export function prose(text: string): (HTMLElement | string)[] {
  return text.split(PIECE).map((part, i) => {
    if (i % 2 === 0) return part;
    const [before, tex, after] = part.split("$");
    return h("span", { class: "unbroken" }, before, formula(tex), after);
  });
}
