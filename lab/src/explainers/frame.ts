// The page of an explainer: text, controls, pictures, numbers, something to try.
//
// An explainer is a record with its text and one function `mount`, which adds controls and pictures
// to a Stage and draws. Its state lives in the URL: `mount` reads `stage.params`, and `stage.save`
// writes what differs from the defaults.

import { problemOf } from "../playground/problem";
import { boxAround, initial, toParams, withPoints } from "../playground/state";
import { LabError, ready, type Spec } from "../svm/fit";
import { button, type Control, linearSlider, logSlider, type SliderOptions } from "../ui/controls";
import { offer } from "../ui/dialog";
import { type Child, h } from "../ui/dom";
import { downloadPng, downloadSvg } from "../ui/export";
import { formula, prose } from "../ui/formula";
import { Plot, type PlotOptions } from "../ui/plot";
import { pythonCode } from "../ui/python";
import { formatHash, type Point } from "../ui/url";
import type { View } from "../ui/view";
import "./marks.css";
import "./style.css";

/** The lectures by the names that the documents give themselves. */
export const LECTURES = {
  straka: "Milan Straka, “Soft-margin SVM, SMO” (2022)",
  theory: "“Support Vector Machines (SVM): Theory and Algorithms”",
  revisited: "“Soft Margin Revisited” (2024)",
  fan: "Jicong Fan, “DDA3020 Machine Learning, Lecture 07: Support Vector Machine” (2025)",
} as const;

export interface Explainer {
  readonly name: string;
  readonly title: string;
  /** One sentence for the index. */
  readonly summary: string;
  readonly lecture: keyof typeof LECTURES;
  /** The heading in the lecture. */
  readonly section: string;
  /** Paragraphs with formulas between dollar signs; one that starts with $$ is a formula. */
  readonly text: readonly string[];
  /** What to try, one sentence each. */
  readonly tasks: readonly string[];
  mount(stage: Stage): void;
}

/** A number on the page: its name (with formulas), its value, and a key for tests. */
export type Row = readonly [key: string, name: string, value: string];

/** Milliseconds without a change after which the address and the live region follow. */
const REST = 250;

export class Stage {
  readonly controls = h("div", { class: "explain-controls" });
  private readonly figures = h("div", { class: "explain-figures" });
  private readonly list = h("dl", { class: "explain-numbers" });
  private readonly live = h("p", { class: "visually-hidden", role: "status" });
  private readonly alert = h("p", { class: "explain-error", role: "alert", hidden: true });
  private readonly links = h("div", { class: "explain-links buttons" });
  private readonly said = h("p", { class: "explain-said", role: "status" });
  private readonly plots: Plot[] = [];
  private speaking = 0;
  private saving = 0;

  constructor(
    private readonly explainer: Explainer,
    root: HTMLElement,
    readonly params: URLSearchParams,
    private readonly update: (params: URLSearchParams) => void,
  ) {
    const { title, lecture, text, tasks } = explainer;
    const source = h(
      "p",
      { class: "explain-source" },
      LECTURES[lecture],
      ": ",
      h("em", {}, explainer.section),
    );
    const tries = h("ul", {}, ...tasks.map((task) => h("li", {}, ...prose(task))));
    const section = (name: string, label: string, ...children: Child[]): HTMLElement =>
      h("section", { class: `explain-${name}`, "aria-label": label }, ...children);
    root.append(
      h(
        "article",
        { class: "explain" },
        h(
          "header",
          {},
          h("a", { href: "#/explain" }, "← All explainers"),
          h("h1", {}, title),
          source,
        ),
        h(
          "div",
          { class: "explain-left" },
          section("text", "Text", ...text.map(paragraph)),
          section("panel", "Controls", this.controls, this.alert),
          section("try", "Try it", h("h2", {}, "Try it"), tries, this.links, this.said),
        ),
        h(
          "div",
          { class: "explain-right" },
          this.figures,
          section("facts", "Numbers", h("h2", {}, "Numbers"), this.list, this.live),
        ),
      ),
    );
  }

  /** Add a picture with its caption and buttons that save it. */
  plot(options: PlotOptions, caption: string): Plot {
    const plot = new Plot(options);
    this.plots.push(plot);
    this.figure(plot.element, caption);
    return plot;
  }

  /** Add any SVG as a picture. */
  figure(svg: SVGSVGElement, caption: string): void {
    const name = `maxmargin-${this.explainer.name}-${this.figures.childElementCount + 1}`;
    const save = (kind: string, run: () => void): Child =>
      button(kind, run, { class: "small", title: `Save this picture as ${kind}` });
    this.figures.append(
      h(
        "figure",
        {},
        svg,
        h(
          "figcaption",
          {},
          h("span", {}, ...prose(caption)),
          h(
            "span",
            { class: "explain-save" },
            save("SVG", () => downloadSvg(svg, name)),
            save("PNG", () => void downloadPng(svg, name)),
          ),
        ),
      ),
    );
  }

  /** A slider for a number of the state; logarithmic unless it has a step. */
  slider<K extends string>(
    state: Record<K, number>,
    key: K,
    options: Omit<SliderOptions, "value" | "change">,
    changed: () => void,
  ): Control<number> {
    const change = (value: number): void => {
      state[key] = value;
      changed();
    };
    const full = { ...options, value: state[key], change };
    const control = options.step ? linearSlider(full) : logSlider(full);
    this.controls.append(control.element);
    return control;
  }

  /** Add something else below the pictures. */
  append(...children: Child[]): void {
    this.figures.append(...children.filter((child): child is Node => child instanceof Node));
  }

  /** Show the numbers; `spoken` is told to screen readers once the controls rest. */
  numbers(rows: readonly Row[], spoken: string): void {
    const names = rows.map(([key, name]) => `${key} ${name}`).join();
    if (this.list.dataset["names"] !== names) {
      this.list.dataset["names"] = names;
      const pair = ([key, name]: Row): HTMLElement =>
        h("div", {}, h("dt", {}, ...prose(name)), h("dd", { "data-key": key }));
      this.list.replaceChildren(...rows.map(pair));
    }
    this.list.querySelectorAll("dd").forEach((value, i) => (value.textContent = rows[i][2]));
    clearTimeout(this.speaking);
    this.speaking = window.setTimeout(() => (this.live.textContent = spoken), REST);
  }

  /** Write the state to the URL, without what equals its default, once the controls rest. */
  save(state: Record<string, string | number>, defaults: Record<string, string | number>): void {
    const changed = Object.entries(state).filter(([key, value]) => value !== defaults[key]);
    const params = new URLSearchParams(changed.map(([key, value]) => [key, String(value)]));
    clearTimeout(this.saving);
    this.saving = window.setTimeout(() => this.update(params), REST);
  }

  /** Offer the machine and its points: in the playground, as Python, and the page as a link. */
  share(spec: Spec, points: readonly Point[]): void {
    const state = withPoints({ ...initial(), spec }, points, boxAround(points));
    const say = (text: string): void => void (this.said.textContent = text);
    const python = (): void => {
      const problem = problemOf(spec, points);
      if (typeof problem === "string") throw new LabError(problem);
      void offer(pythonCode(spec, problem.data, problem.present), "Python", say);
    };
    this.links.replaceChildren(
      h(
        "a",
        { href: formatHash("play", toParams(state)), class: "button" },
        "Open in the playground",
      ),
      button("Copy as Python", python, { title: "A program that fits this machine" }),
      button("Copy link", () => void offer(location.href, "Link", say), {
        title: "A link to this page",
      }),
    );
  }

  /** Run a drawing; bad input is explained instead of drawn. */
  attempt(draw: () => void): void {
    try {
      draw();
      this.alert.hidden = true;
    } catch (error) {
      if (!(error instanceof LabError)) throw error;
      this.alert.textContent = error.message;
      this.alert.hidden = false;
    }
  }

  close(): void {
    clearTimeout(this.speaking);
    clearTimeout(this.saving);
    for (const plot of this.plots) plot.close();
  }
}

function paragraph(text: string): HTMLElement {
  if (text.startsWith("$$")) return formula(text.slice(2), true);
  return h("p", {}, ...prose(text));
}

/** The view of an explainer. */
export function explainerView(explainer: Explainer): View {
  return {
    name: `explain/${explainer.name}`,
    title: explainer.title,
    mount(root, params, update) {
      const stage = new Stage(explainer, root, params, update);
      let ended = false;
      void ready().then(() => {
        if (!ended) explainer.mount(stage);
      });
      return () => {
        ended = true;
        stage.close();
      };
    },
  };
}
