// What leaves the playground, and comes in: links, Python, CSV, pictures.

import { CsvError, readCsv, writeCsv } from "../data/csv";
import { button } from "../ui/controls";
import { offer, openDialog } from "../ui/dialog";
import { h } from "../ui/dom";
import { downloadPng, downloadSvg } from "../ui/export";
import { stepThrough } from "../stepper/state";
import { LabError } from "../svm/types";
import { pythonCode } from "../ui/python";
import { problemOf } from "./problem";
import type { Scene } from "./scene";
import { boxAround, isRegression, withPoints } from "./state";
import type { Store } from "./store";

type Say = (text: string) => void;

export function copyCsv(store: Store, say: Say): void {
  const { points, spec } = store.state;
  void offer(writeCsv(points, isRegression(spec.machine)), "CSV", say);
}

/** A window with a field for text; its points replace those of the playground. */
export function pasteCsv(store: Store, say: Say): void {
  const regression = isRegression(store.state.spec.machine);
  const form = regression ? "x, target" : "x1, x2, class";
  const example = regression
    ? "x,target\n0.5,0.48\n1.0,0.84"
    : "x1,x2,class\n0.2,0.87,-1\n0.69,0.21,1";
  const area = h("textarea", {
    rows: 12,
    spellcheck: "false",
    placeholder: example,
    "aria-label": "CSV",
  });
  const note = h("p", { class: "note wrong", role: "alert", hidden: true });
  const use = () => {
    try {
      const points = readCsv(area.value, regression);
      store.commit(withPoints(store.state, points, boxAround(points)));
      close();
      say(`${points.length} points read.`);
    } catch (error) {
      if (!(error instanceof CsvError)) throw error;
      note.textContent = error.message;
      note.hidden = false;
    }
  };
  const about =
    `One point a line: ${form}. Columns may be separated by commas, semicolons, tabs or ` +
    "blanks.";
  const accept = button("Use these points", use, { class: "primary" });
  const close = openDialog("Paste CSV", [h("p", {}, about), area, note], [accept]);
  area.focus();
}

export function sharePanel(store: Store, scene: Scene, say: Say): HTMLElement {
  const python = () => {
    const { spec, points } = store.state;
    const problem = problemOf(spec, points);
    if (typeof problem === "string") say(`There is nothing to copy yet. ${problem}`);
    else void offer(pythonCode(spec, problem.data, problem.present), "Python", say);
  };
  const step = () => {
    const { spec, points } = store.state;
    const hash =
      spec.machine === "c-svc"
        ? stepThrough(points, spec.kernel, spec.C)
        : new LabError("The stepper solves the soft margin: choose C-SVC.");
    if (hash instanceof LabError) say(hash.message);
    else location.hash = hash;
  };
  const name = () => `maxmargin-${store.state.spec.machine}`;
  return h(
    "section",
    { class: "panel share", "aria-label": "Share" },
    h(
      "div",
      { class: "buttons" },
      button("Copy as Python", python, {
        class: "primary",
        title: "A program that fits and draws this",
      }),
      button("Step through", step, { title: "SMO on these points, step by step" }),
      button("Copy link", () => void offer(location.href, "Link", say), {
        title: "A link to exactly this",
      }),
      button("PNG", () => void downloadPng(scene.plot.element, name()), { title: "Save as PNG" }),
      button("SVG", () => downloadSvg(scene.plot.element, name()), { title: "Save as SVG" }),
    ),
  );
}
