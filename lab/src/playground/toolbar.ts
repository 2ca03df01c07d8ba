// Above the plot: tools, the class of new points, undo, redo, clear.

import { button, segments } from "../ui/controls";
import { h, s } from "../ui/dom";
import { glyphIcon, MOST_CLASSES } from "../ui/marks";
import { isRegression, withPoints } from "./state";
import type { Store, Tool } from "./store";

const TOOLS: { value: Tool; label: string; title: string }[] = [
  { value: "add", label: "Add, move", title: "Click to add a point, drag a point to move it" },
  { value: "paint", label: "Paint", title: "Drag to scatter points" },
  { value: "erase", label: "Erase", title: "Drag over points to remove them" },
];

const arrow = (d: string) =>
  s(
    "svg",
    { viewBox: "0 0 20 20", width: 18, height: 18, "aria-hidden": "true", class: "stroke" },
    s("path", { d }),
  );

export function toolbar(store: Store): HTMLElement {
  const tools = segments<Tool>({
    label: "Tool",
    hideLabel: true,
    choices: TOOLS,
    value: store.editing.tool,
    change: (tool) => store.edit({ tool }),
  });
  const classes = segments<string>({
    label: "Class of new points",
    hideLabel: true,
    choices: Array.from({ length: MOST_CLASSES }, (_, k) => ({
      value: String(k),
      label: "",
      title: `Class ${k + 1}`,
      icon: h(
        "span",
        { class: "swatch" },
        glyphIcon(k, 16),
        h("i", { class: "visually-hidden" }, `Class ${k + 1}`),
      ),
    })),
    value: "0",
    change: (k) => store.edit({ brush: Number(k) }),
  });
  const undo = button("Undo", () => store.undo(), {
    content: arrow("M7,4L3,8L7,12M3,8H12A5,5 0 0 1 12,17H8"),
    title: "Undo (Ctrl+Z)",
  });
  const redo = button("Redo", () => store.redo(), {
    content: arrow("M13,4L17,8L13,12M17,8H8A5,5 0 0 0 8,17H12"),
    title: "Redo (Ctrl+Y)",
  });
  const clear = button("Clear", () => store.commit(withPoints(store.state, [])), {
    title: "Remove all points",
  });
  const update = () => {
    tools.set(store.editing.tool);
    classes.set(String(store.editing.brush));
    const { machine } = store.state.spec;
    classes.show(!isRegression(machine) && machine !== "one-class");
    undo.disabled = !store.canUndo;
    redo.disabled = !store.canRedo;
    clear.disabled = store.state.points.length === 0;
  };
  store.on("state", update);
  store.on("editing", update);
  update();
  const edits = h("div", { class: "buttons" }, undo, redo, clear);
  return h("div", { class: "toolbar" }, tools.element, classes.element, edits);
}
