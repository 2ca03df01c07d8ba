// The data set, its size and noise, CSV.

import { SET_NAMES, SETS, type SetName } from "../data/sets";
import { button, linearSlider, select } from "../ui/controls";
import { h } from "../ui/dom";
import { Sliding } from "./sliders";
import { isRegression, LIMITS, type State, withSet } from "./state";
import type { Store } from "./store";

export function dataPanel(store: Store, paste: () => void, copy: () => void): HTMLElement {
  const { change } = new Sliding(store);
  const choices = () => {
    const regression = isRegression(store.state.spec.machine);
    const fitting = SET_NAMES.filter((name) => SETS[name].regression === regression);
    const sets = fitting.map((name) => ({
      value: name as SetName | "own",
      label: SETS[name].label,
    }));
    const own = { value: "own" as const, label: "Your own points" };
    return store.state.set === "own" ? [own, ...sets] : sets;
  };
  const remake = (part: Partial<State>): State => {
    const next = { ...store.state, ...part };
    return next.set === "own" ? next : withSet(next, next.set, next.noise);
  };
  const set = select<SetName | "own">({
    label: "Data set",
    choices: choices(),
    value: store.state.set,
    change: (name) => name !== "own" && store.commit(withSet(store.state, name)),
  });
  const about = h("p", { class: "about" });
  const n = linearSlider({
    label: "Points",
    tex: "n",
    least: 4,
    most: 400,
    integer: true,
    value: store.state.n,
    change: (value, done) => change(remake({ n: value }), done),
  });
  const noise = linearSlider({
    label: "Noise",
    least: 0,
    most: 1,
    step: 0.01,
    floor: 0,
    ceiling: 2,
    value: store.state.noise,
    change: (value, done) => change(remake({ noise: value }), done),
  });
  const again = button("Draw another sample", () =>
    store.commit(remake({ seed: (store.state.seed % LIMITS.seed[1]) + 1 })),
  );
  const update = () => {
    const { state } = store;
    const made = state.set !== "own" && SETS[state.set].noise !== undefined;
    set.setChoices(choices(), state.set);
    const count = `${state.points.length} ${state.points.length === 1 ? "point" : "points"}.`;
    about.textContent = state.set === "own" ? count : SETS[state.set].about;
    n.set(state.n);
    noise.set(state.noise);
    for (const control of [n, noise]) control.show(made);
    again.hidden = !made;
  };
  store.on("state", update);
  update();
  const csv = h(
    "div",
    { class: "buttons" },
    again,
    button("Paste CSV…", paste),
    button("Copy CSV", copy),
  );
  return h(
    "section",
    { class: "panel", "aria-label": "Data" },
    set.element,
    about,
    n.element,
    noise.element,
    csv,
  );
}
