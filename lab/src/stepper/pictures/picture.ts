// A picture of the stepper: a plot with a heading and buttons that export it.

import { button } from "../../ui/controls";
import { h } from "../../ui/dom";
import { downloadPng, downloadSvg } from "../../ui/export";
import { prose } from "../../ui/formula";
import { Plot, type PlotOptions } from "../../ui/plot";
import type { Run } from "../state";

export interface Picture {
  readonly element: HTMLElement;
  /** Shows the state of a run after a step. */
  draw(run: Run, at: number): void;
  close(): void;
}

/** A plot inside a figure; `draw` is called again when the size has changed. */
export class Figure {
  readonly element: HTMLElement;
  readonly plot: Plot;
  private readonly heading = h("h2", {});
  private readonly note = h("p", { class: "step-note" });
  private redraw: () => void = () => {};

  constructor(name: string, options: PlotOptions) {
    this.plot = new Plot(options);
    this.plot.onResize(() => this.redraw());
    const { element } = this.plot;
    const save = (label: string, action: () => void) =>
      button(`${label} of the picture: ${options.label}`, action, {
        class: "small",
        content: label,
      });
    const buttons = h(
      "div",
      { class: "buttons", "data-no-export": true },
      save("SVG", () => downloadSvg(element, `maxmargin-${name}`)),
      save("PNG", () => void downloadPng(element, `maxmargin-${name}`)),
    );
    this.element = h(
      "section",
      { class: `panel step-figure step-${name}` },
      h("div", { class: "step-heading" }, this.heading, buttons),
      element,
      this.note,
    );
    this.title = options.label;
  }

  /** The heading; formulas between dollar signs. */
  set title(text: string) {
    this.heading.replaceChildren(...prose(text));
  }

  /** What to look at, below the plot. */
  set caption(text: string) {
    this.note.replaceChildren(...prose(text));
  }

  /** Draw now, and whenever the size changes. */
  show(draw: () => void): void {
    this.redraw = draw;
    draw();
  }

  close(): void {
    this.plot.close();
  }
}
