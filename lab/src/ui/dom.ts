// Elements of HTML and SVG in one line: h("p", { class: "note" }, "text", child).
//
// A property that starts with "on" is a listener, `true` an attribute without a value; false, null
// and undefined leave an attribute out.

export type Listener = (event: never) => void;
export type Value = string | number | boolean | null | undefined | Listener;
export type Child = Node | string | null | undefined | false;

function fill<E extends Element>(element: E, attributes: Record<string, Value>, children: Child[]) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") {
      element.addEventListener(name.slice(2), value as unknown as EventListener);
    } else if (value !== false && value !== null && value !== undefined) {
      element.setAttribute(name, value === true ? "" : String(value));
    }
  }
  element.append(...children.filter((child): child is Node | string => !!child));
  return element;
}

/** An element of HTML. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Record<string, Value> = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  return fill(document.createElement(tag), attributes, children);
}

/** An element of SVG. */
export function s<K extends keyof SVGElementTagNameMap>(
  tag: K,
  attributes: Record<string, Value> = {},
  ...children: Child[]
): SVGElementTagNameMap[K] {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

let count = 0;

/** A new id, for labels and clip paths. */
export function newId(prefix: string): string {
  count += 1;
  return `${prefix}-${count}`;
}

/** A function that runs once in the next frame, however often it is called before. */
export function eachFrame(draw: () => void): () => void {
  let waiting = false;
  return () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      draw();
    });
  };
}
