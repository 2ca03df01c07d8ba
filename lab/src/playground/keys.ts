// The keyboard. Single letters act while the plot has the focus; undo and redo act everywhere but
// in fields of text. A crosshair stands for the pointer until a point is selected.

import { MOST_CLASSES } from "../ui/marks";
import type { Scene } from "./scene";
import type { Store, Tool } from "./store";

/** For the help panel: keys and what they do. */
export const HELP: readonly [string, string][] = [
  ["Arrow keys", "move the selected point, or the crosshair; with Shift ten times as far"],
  ["Enter", "add a point at the crosshair"],
  [", and .", "select the previous or the next point"],
  ["Delete", "remove the selected point"],
  ["1 … 5", "choose the class of new points"],
  ["C", "give the selected point the chosen class"],
  ["A, P, E", "add, paint or erase"],
  ["Escape", "select nothing"],
  ["Ctrl+Z, Ctrl+Y", "undo, redo"],
  ["?", "show this help"],
];

const ARROWS: Record<string, [number, number]> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, 1],
  ArrowDown: [0, -1],
};
const TOOLS: Record<string, Tool> = { a: "add", p: "paint", e: "erase" };
const STEP = 3; // pixels

export function handleKeys(store: Store, scene: Scene, showHelp: () => void, redraw: () => void) {
  const { plot } = scene;

  const moveBy = ([right, up]: [number, number], far: boolean) => {
    const pixels = far ? 10 * STEP : STEP;
    const [dx, dy] = [right * pixels * plot.unit, up * pixels * heightOf(scene)];
    const { selected } = store.editing;
    const point = store.state.points[selected];
    if (point) {
      store.keep();
      store.move(selected, ...scene.inside(point.x + dx, point.y + dy));
    } else {
      const [x, y] = scene.cursor ?? middle(scene);
      scene.cursor = scene.inside(x + dx, y + dy);
      redraw();
    }
  };
  const addAtCursor = () => {
    store.keep();
    store.add(...(scene.cursor ?? middle(scene)));
    store.edit({ selected: -1 });
  };
  const selectNext = (step: number) => {
    const n = store.state.points.length;
    if (!n) return;
    const { selected } = store.editing;
    scene.cursor = null;
    store.edit({ selected: selected < 0 ? (step > 0 ? 0 : n - 1) : (selected + step + n) % n });
  };
  const removeSelected = () => {
    const { selected } = store.editing;
    if (selected < 0) return;
    store.keep();
    store.remove([selected]);
  };
  const recolour = () => {
    const { selected, brush } = store.editing;
    if (selected < 0) return;
    store.keep();
    store.setClass(selected, brush);
  };
  const actions: Record<string, () => void> = {
    Enter: addAtCursor,
    ",": () => selectNext(-1),
    ".": () => selectNext(1),
    Delete: removeSelected,
    Backspace: removeSelected,
    c: recolour,
    Escape: () => store.edit({ selected: -1 }),
    "?": showHelp,
  };

  plot.element.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    const k = Number(key) - 1;
    if (ARROWS[key]) moveBy(ARROWS[key], event.shiftKey);
    else if (TOOLS[key]) store.edit({ tool: TOOLS[key] });
    else if (k >= 0 && k < MOST_CLASSES) store.edit({ brush: k });
    else if (actions[key]) actions[key]();
    else return;
    event.preventDefault();
  });
  plot.element.addEventListener("blur", () => {
    scene.cursor = null;
    redraw();
  });

  const undo = (event: KeyboardEvent) => {
    const field = event.target instanceof HTMLInputElement && event.target.type === "text";
    if (field || event.target instanceof HTMLTextAreaElement) return;
    if (!(event.ctrlKey || event.metaKey)) return;
    const key = event.key.toLowerCase();
    if (key === "z" && !event.shiftKey) store.undo();
    else if (key === "y" || key === "z") store.redo();
    else return;
    event.preventDefault();
  };
  document.addEventListener("keydown", undo);
  return () => document.removeEventListener("keydown", undo);
}

function middle({ plot }: Scene): [number, number] {
  const { x, y } = plot.box;
  return [(x[0] + x[1]) / 2, (y[0] + y[1]) / 2];
}

/** The height of one pixel in units of y. */
function heightOf({ plot }: Scene): number {
  return plot.at(0, 0)[1] - plot.at(0, 1)[1];
}
