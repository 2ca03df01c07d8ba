// The playground: points, a machine, and what it finds, live.

import { eachFrame, h } from "../ui/dom";
import { openDialog } from "../ui/dialog";
import type { View } from "../ui/view";
import { Fitter } from "./fitter";
import { handleKeys, HELP } from "./keys";
import { dataPanel } from "./dataPanel";
import { looks } from "./looks";
import { machinePanel } from "./panel";
import { handlePointer } from "./pointer";
import { inBrief, resultsPanel, spoken } from "./results";
import { Scene } from "./scene";
import { copyCsv, pasteCsv, sharePanel } from "./share";
import { fromParams, toParams } from "./state";
import { describe } from "./readout";
import { Store } from "./store";
import { kktTable } from "./table";
import { toolbar } from "./toolbar";
import "./playground.css";

declare global {
  interface Window {
    /** For the browser's console, and for tests: the solver, and the fit that is shown. */
    lab: Record<string, unknown>;
  }
}

const REST = 300; // milliseconds without a change before the URL and the spoken result follow

function mount(
  root: HTMLElement,
  params: URLSearchParams,
  update: (params: URLSearchParams) => void,
): () => void {
  const store = new Store(fromParams(params));
  const scene = new Scene(store);
  const fitter = new Fitter(store, scene.plot);
  const live = h("p", { class: "visually-hidden", role: "status", "aria-live": "polite" });
  const toast = h("p", { class: "toast", role: "status", hidden: true });
  const hint = h("p", { class: "hint", "aria-hidden": "true" });
  const readout = h("p", { class: "readout", "aria-hidden": "true" });
  const caption = h("p", { class: "caption", "aria-hidden": "true" });
  const say = sayer(toast);
  const help = () => openDialog("Keys and gestures", [helpTable()]);
  const stage = h("section", { class: "stage", "aria-label": "Plot" });
  stage.append(
    toolbar(store),
    h("div", { class: "plot-box" }, scene.plot.element, hint, readout, toast, caption),
    looks(store, () => scene.unclear, help),
  );
  root.append(
    lead(),
    h(
      "div",
      { class: "column controls" },
      machinePanel(store),
      dataPanel(
        store,
        () => pasteCsv(store, say),
        () => copyCsv(store, say),
      ),
    ),
    stage,
    h("div", { class: "column" }, resultsPanel(store), sharePanel(store, scene, say)),
    kktTable(store),
    live,
  );

  const drawFit = eachFrame(() => {
    scene.drawFit();
    scene.drawPoints();
  });
  const drawPoints = eachFrame(() => scene.drawPoints());
  let rest: ReturnType<typeof setTimeout> | undefined;
  const later = () => {
    clearTimeout(rest);
    rest = setTimeout(() => {
      rest = undefined;
      update(toParams(store.state));
      const { solved, outcome } = store;
      live.textContent = solved ? spoken(solved) : "message" in outcome ? outcome.message : "";
      scene.plot.label = `${store.state.points.length} points. ${live.textContent}`;
    }, REST);
  };
  store.on("state", () => {
    scene.frame();
    fitter.fit();
    drawPoints();
    later();
  });
  store.on("outcome", () => {
    hint.textContent = "message" in store.outcome ? store.outcome.message : "";
    caption.textContent = store.solved ? inBrief(store.solved) : "";
    drawFit();
    later();
  });
  const read = () => (readout.textContent = describe(store));
  store.on("outcome", read);
  store.on("editing", read);
  store.on("editing", drawPoints);
  scene.plot.onResize(() => {
    fitter.fit();
    drawFit();
  });
  handlePointer(store, scene);
  const forgetKeys = handleKeys(store, scene, help, drawPoints);
  // for tests
  Object.assign(window.lab, {
    shown: () => store.solved,
    settled: () => fitter.idle && rest === undefined,
    pixel: (x: number, y: number) => [scene.plot.px(x), scene.plot.py(y)],
  });
  scene.frame();
  fitter.fit();
  drawFit();
  return () => {
    clearTimeout(rest);
    forgetKeys();
    fitter.close();
    scene.plot.close();
  };
}

function lead(): HTMLElement {
  const text = "Drag a point, or click to add one: the machine is fitted again at every step.";
  return h("div", { class: "lead" }, h("h1", {}, "Playground"), h("p", {}, text));
}

function helpTable(): HTMLElement {
  const rows = HELP.map(([key, does]) =>
    h("tr", {}, h("th", { scope: "row" }, key), h("td", {}, does)),
  );
  return h(
    "div",
    {},
    h(
      "p",
      {},
      "Click or tap in the plane to add a point; drag a point to move it. Select the plot to use " +
        "these keys:",
    ),
    h("table", { class: "keys" }, h("tbody", {}, ...rows)),
  );
}

/** Short notes over the plot. */
function sayer(toast: HTMLElement): (text: string) => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  return (text) => {
    toast.textContent = text;
    toast.hidden = false;
    clearTimeout(timer);
    timer = setTimeout(() => (toast.hidden = true), 2500);
  };
}

export const playground: View = { name: "play", title: "Playground", mount };
