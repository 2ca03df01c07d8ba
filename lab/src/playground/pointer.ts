// Mouse, pen and touch: what the three tools do.
//
// Add: a click in the empty plane adds a point, a drag moves the point under it. Paint: a drag
// scatters points. Erase: a drag removes the points it touches. One gesture is one step of undo.

import { MOST_POINTS } from "../svm/check";
import { random } from "../data/random";
import type { Place } from "../ui/plot";
import type { Scene } from "./scene";
import { isRegression } from "./state";
import type { Store } from "./store";

const REACH = { mouse: 11, pen: 13, touch: 20 } as Record<string, number>;
const ERASER = 15;
const SPRAY = 13; // standard deviation of painted points
const SPACING = 17; // between painted points, in pixels along the way

const reachOf = ({ event }: Place) => REACH[event.pointerType] ?? 11;

export function handlePointer(store: Store, scene: Scene): void {
  const { normal } = random(20240607);
  let dragged = -1;
  let last: Place | null = null;

  const paint = (at: Place) => {
    if (last && Math.hypot(at.px - last.px, at.py - last.py) < SPACING) return;
    last = at;
    if (store.state.points.length >= MOST_POINTS) return;
    const across = isRegression(store.state.spec.machine) ? 0 : SPRAY;
    store.add(
      ...scene.inside(...scene.plot.at(at.px + across * normal(), at.py + SPRAY * normal())),
    );
    store.edit({ selected: -1 });
  };
  const erase = (at: Place) => {
    const from = last ?? at; // a quick pointer jumps: nothing in between is spared
    last = at;
    store.remove(scene.pointsAlong([from.px, from.py], [at.px, at.py], ERASER));
  };

  const begin = (at: Place) => {
    scene.plot.element.focus({ preventScroll: true });
    scene.cursor = null;
    store.keep();
    const { tool } = store.editing;
    if (tool === "paint") paint(at);
    if (tool === "erase") erase(at);
    if (tool !== "add") return;
    dragged = scene.pointAt(at.px, at.py, reachOf(at));
    if (dragged < 0 && store.state.points.length < MOST_POINTS) {
      dragged = store.state.points.length;
      store.add(at.x, at.y);
    }
    store.edit({ selected: dragged });
  };

  scene.plot.onPointer({
    down: (at) => {
      last = null;
      store.edit({ busy: true, hovered: -1 });
      begin(at);
    },
    move: (at) => {
      const { tool } = store.editing;
      if (tool === "paint") paint(at);
      else if (tool === "erase") erase(at);
      else if (dragged >= 0) store.move(dragged, ...scene.inside(at.x, at.y));
    },
    up: () => {
      dragged = -1;
      store.edit({ busy: false });
      store.set(store.state); // the last, fine fit
    },
    hover: (at) => store.edit({ hovered: at ? scene.pointAt(at.px, at.py, reachOf(at)) : -1 }),
  });
}
