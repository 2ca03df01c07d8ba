// A window over the page: it takes the focus, closes with Escape or its button, and gives the focus
// back.

import { button } from "./controls";
import { type Child, h, newId } from "./dom";

/** Open a window; `actions` stand beside "Close". Returns a function that closes it. */
export function openDialog(title: string, body: Child[], actions: HTMLElement[] = []): () => void {
  const id = newId("dialog");
  const dialog = h("dialog", { "aria-labelledby": id });
  const close = () => dialog.close();
  dialog.append(
    h("h2", { id }, title),
    ...body.filter((child): child is Node | string => !!child),
    h("div", { class: "buttons actions" }, ...actions, button("Close", close)),
  );
  dialog.addEventListener("close", () => dialog.remove());
  dialog.addEventListener("click", (event) => event.target === dialog && close());
  document.body.append(dialog);
  dialog.showModal();
  return close;
}

/** Copy a text and say so; where the browser refuses, show it for copying by hand. */
export async function offer(
  text: string,
  what: string,
  say: (text: string) => void,
): Promise<void> {
  if (await copyText(text)) say(`${what} copied.`);
  else showText(what, text);
}

function showText(title: string, text: string): void {
  const area = h("textarea", {
    rows: 16,
    readonly: true,
    spellcheck: "false",
    "aria-label": title,
  });
  area.value = text;
  openDialog(title, [area]);
  area.select();
}

/** Copy a text; returns whether the browser allowed it. */
async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}
