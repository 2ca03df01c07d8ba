// Pointer events of a plot in data coordinates.

/** A place under the pointer: data coordinates, pixels, and the event. */
export interface Place {
  x: number;
  y: number;
  px: number;
  py: number;
  event: PointerEvent;
}

export interface PointerHandlers {
  down?: (at: Place) => void;
  /** The pointer moves while it is down. */
  move?: (at: Place) => void;
  up?: (at: Place) => void;
  /** The pointer moves while it is up; null: it left. */
  hover?: (at: Place | null) => void;
}

/** What a plot must offer. */
interface Surface {
  element: SVGSVGElement;
  width: number;
  height: number;
  at(px: number, py: number): [number, number];
  inFrame(px: number, py: number): boolean;
}

/** Follow one pointer at a time, from down to up, also outside the plot. */
export function followPointer(plot: Surface, handlers: PointerHandlers): void {
  const { element } = plot;
  const place = (event: PointerEvent): Place => {
    const box = element.getBoundingClientRect();
    const px = ((event.clientX - box.left) * plot.width) / box.width;
    const py = ((event.clientY - box.top) * plot.height) / box.height;
    const [x, y] = plot.at(px, py);
    return { x, y, px, py, event };
  };
  let down = -1;
  const end = (event: PointerEvent) => {
    if (event.pointerId !== down) return;
    down = -1;
    handlers.up?.(place(event));
  };
  element.addEventListener("pointerdown", (event) => {
    const at = place(event);
    if (down >= 0 || event.button !== 0 || !plot.inFrame(at.px, at.py)) return;
    down = event.pointerId;
    element.setPointerCapture(down);
    handlers.down?.(at);
  });
  element.addEventListener("pointermove", (event) => {
    if (event.pointerId === down) handlers.move?.(place(event));
    else if (down < 0) handlers.hover?.(place(event));
  });
  element.addEventListener("pointerup", end);
  element.addEventListener("pointercancel", end);
  element.addEventListener("pointerleave", () => down < 0 && handlers.hover?.(null));
}
