// Below the plot: what its marks mean, and what else is drawn.

import { select, toggle } from "../ui/controls";
import { h } from "../ui/dom";
import { glyphIcon } from "../ui/marks";
import { isRegression } from "./state";
import type { Solved, Store } from "./store";

export function looks(store: Store, unclear: () => boolean, help: () => void): HTMLElement {
  const margins = toggle({
    label: "Margins",
    value: store.state.margins,
    change: (value) => store.set({ ...store.state, margins: value }),
  });
  const slacks = toggle({
    label: "Slacks",
    value: store.state.slacks,
    change: (value) => store.set({ ...store.state, slacks: value }),
  });
  const part = select<string>({
    label: "Margins and table of",
    choices: [],
    value: "",
    change: (value) => store.set({ ...store.state, part: Number(value) }),
  });
  const legend = h("ul", { class: "legend", "aria-label": "Legend" });
  const update = () => {
    const { state, solved } = store;
    margins.set(state.margins);
    margins.show(state.spec.machine !== "one-class");
    margins.name(isRegression(state.spec.machine) ? "Tube" : "Margins");
    slacks.set(state.slacks);
    legend.replaceChildren(...legendItems(store, unclear()));
    const several = solved !== null && solved.fit.parts.length > 1;
    part.show(several);
    if (several) part.setChoices(partChoices(solved), String(state.part));
  };
  store.on("state", update);
  store.on("outcome", update);
  update();
  const keys = h("button", { type: "button", class: "quiet", onclick: help }, "Keys");
  const shown = h("div", { class: "buttons" }, margins.element, slacks.element, keys);
  return h("div", { class: "looks" }, legend, part.element, shown);
}

function legendItems({ state, solved }: Store, unclear: boolean): HTMLElement[] {
  const { machine } = state.spec;
  const item = (icon: Element, text: string) => h("li", {}, icon, text);
  const sign = (name: string) => h("i", { class: `sign sign-${name}`, "aria-hidden": "true" });
  const one = isRegression(machine) || machine === "one-class";
  const classes = one ? [] : [...new Set(state.points.map((p) => p.k))].sort();
  const items = classes.map((k) => item(glyphIcon(k, 13), `class ${k + 1}`));
  if (!solved) return items;
  items.push(item(sign("free"), "support vector"));
  if (machine !== "hard-margin") items.push(item(sign("bound"), "… at the bound"));
  if (unclear) {
    const why =
      solved.fit.spec.multiclass === "ovr" ? "no or several classes claim it" : "tied votes";
    items.push(item(sign("hatch"), why));
  }
  return items;
}

function partChoices({ fit, problem }: Solved): { value: string; label: string }[] {
  const name = (k: number) => `class ${problem.present[k] + 1}`;
  const one = fit.parts.map(({ classes }, p) => {
    const [up, down] = classes ?? [0, 0];
    return { value: String(p), label: `${name(up)} against ${down < 0 ? "the rest" : name(down)}` };
  });
  return [{ value: "-1", label: "all problems" }, ...one];
}
