// The table of the optimality conditions. A row and its point light up together; a click on a
// column's name sorts by it.

import { h } from "../ui/dom";
import { shortNumber } from "../ui/controls";
import { glyphIcon } from "../ui/marks";
import { type Kind, type Row, rowsOf, valueName } from "./kkt";
import { isRegression } from "./state";
import type { Solved, Store } from "./store";

type Key = "index" | "a" | "value" | "slack" | "violation";

const KINDS: Record<Kind, string> = { none: "—", free: "free", bound: "at bound" };
const REST = 120; // milliseconds between two updates during a drag

export function kktTable(store: Store): HTMLElement {
  let [sorted, rising]: [Key, boolean] = ["index", true];
  let waiting: ReturnType<typeof setTimeout> | undefined;
  const rows = new Map<number, HTMLTableRowElement>();
  const head = h("tr");
  const body = h("tbody");
  const about = h("p", { class: "about" });
  const table = h("table", {}, h("thead", {}, head), body);
  const scroll = h(
    "div",
    { class: "scroll", tabindex: 0, role: "region", "aria-label": "KKT table" },
    table,
  );
  const panel = h(
    "details",
    { class: "panel kkt" },
    h("summary", {}, "Optimality conditions, point by point"),
    about,
    scroll,
  );

  const sortBy = (key: Key) => {
    [sorted, rising] = [key, key === sorted ? !rising : key === "index"];
    draw();
  };
  const header = (key: Key | null, label: string) => {
    if (!key) return h("th", { scope: "col" }, label);
    const direction = key !== sorted ? "none" : rising ? "ascending" : "descending";
    const arrow = key !== sorted ? "" : rising ? " ▲" : " ▼";
    const sort = h(
      "button",
      { type: "button", class: "sort", onclick: () => sortBy(key) },
      label + arrow,
    );
    return h("th", { scope: "col", "aria-sort": direction }, sort);
  };
  const line = (row: Row, k: number) => {
    const { index } = row;
    const cells = [row.a, row.value, row.slack].map((v) => h("td", {}, shortNumber(v, 4)));
    const element = h(
      "tr",
      {
        onmouseenter: () => store.edit({ hovered: index }),
        onmouseleave: () => store.edit({ hovered: -1 }),
        onclick: () => store.edit({ selected: index }),
      },
      h("th", { scope: "row" }, glyphIcon(k, 12), ` ${index + 1}`),
      ...cells,
      h("td", {}, KINDS[row.kind]),
      h("td", {}, row.condition),
      h("td", {}, row.violation < 1e-12 ? "0" : shortNumber(row.violation, 2)),
    );
    rows.set(index, element);
    return element;
  };
  const fill = (solved: Solved) => {
    const { machine } = solved.fit.spec;
    const regression = isRegression(machine);
    const shown = solved.fit.parts[Math.max(0, solved.state.part)] ?? solved.fit.parts[0];
    const value = regression ? "residual r" : valueName(machine);
    head.replaceChildren(
      header("index", "point"),
      header("a", regression ? "|b|" : "a"),
      header("value", value),
      header("slack", "slack ξ"),
      header(null, "kind"),
      header(null, "condition"),
      header("violation", "violation"),
    );
    rows.clear();
    const found = rowsOf(machine, shown, solved.fit.data.y);
    found.sort((p, q) => (p[sorted] - q[sorted]) * (rising ? 1 : -1) || p.index - q.index);
    const one = regression || machine === "one-class";
    body.replaceChildren(
      ...found.map((row) => line(row, one ? 0 : solved.state.points[row.index].k)),
    );
    about.textContent = regression
      ? "b = 0 inside the tube, 0 < |b| < C on its edge, |b| = C outside."
      : "a = 0 beyond the margin, 0 < a < C on it, a = C inside it or on the wrong side.";
  };
  const draw = () => {
    waiting = undefined;
    const { solved } = store;
    scroll.hidden = !solved;
    if (!solved || !panel.open) return;
    fill(solved);
    mark();
  };
  const mark = () => {
    for (const [index, row] of rows) {
      row.classList.toggle("hovered", index === store.editing.hovered);
      row.classList.toggle("chosen", index === store.editing.selected);
    }
  };
  store.on("outcome", () => {
    waiting ??= setTimeout(draw, store.editing.busy ? REST : 0);
  });
  store.on("editing", mark);
  panel.addEventListener("toggle", draw);
  return panel;
}
