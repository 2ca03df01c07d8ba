// The frame of every page: header with navigation and the switch between light and dark, the view,
// the footer; and the route from the hash of the address to a view.
//
// A view is found by the longest name that the path begins with. While a view is shown, its state
// replaces the address, so that going back leaves the view instead of undoing a slider.

import { button } from "./controls";
import { h, s } from "./dom";
import { prose } from "./formula";
import { formatHash, parseHash } from "./url";
import type { View } from "./view";

type Theme = "light" | "dark";

/** Start the lab inside an element. The first view is the one for an empty address. */
export function start(root: HTMLElement, views: readonly View[]): void {
  const main = h("main", { id: "view", tabindex: -1 });
  const tops = views.filter((view) => !view.name.includes("/"));
  const links = tops.map((view) => h("a", { href: `#/${view.name}` }, view.title));
  const nav = h("nav", { "aria-label": "Views" }, ...links);
  root.replaceChildren(
    h(
      "a",
      { class: "skip", href: "#view", onclick: (e: Event) => skip(e, main) },
      "Skip to content",
    ),
    h("header", { class: "shell-header" }, brand(views[0]!.name), nav, themeSwitch()),
    main,
    footer(),
  );
  let shown: View | null = null;
  let written = "";
  let unmount = () => {};
  const route = () => {
    if (shown && location.hash === written) return;
    const { path, params } = parseHash(location.hash);
    const view = find(views, path) ?? views[0]!;
    unmount();
    const changed = shown !== null && shown !== view;
    shown = view;
    written = location.hash;
    links.forEach((link, i) => {
      const current = view.name.split("/")[0] === tops[i]!.name;
      if (current) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    });
    document.title = `${view.title} · maxmargin lab`;
    const page = h("div", { class: `view view-${view.name.split("/")[0]}` });
    main.replaceChildren(page);
    unmount = view.mount(page, params, (state) => {
      // Another address is a link that was followed; its event is still to come.
      if (shown !== view || !page.isConnected || location.hash !== written) return;
      history.replaceState(null, "", formatHash(view.name, state));
      written = location.hash;
    });
    if (changed) {
      scrollTo(0, 0);
      main.focus({ preventScroll: true });
    }
  };
  addEventListener("hashchange", route);
  route();
}

function find(views: readonly View[], path: string): View | undefined {
  const fitting = views.filter(({ name }) => path === name || path.startsWith(`${name}/`));
  return fitting.sort((a, b) => b.name.length - a.name.length)[0];
}

function skip(event: Event, main: HTMLElement): void {
  event.preventDefault();
  main.focus();
}

/** The name with a picture: a boundary, its margins, and a point on each. */
function brand(first: string): HTMLElement {
  const logo = s(
    "svg",
    { viewBox: "0 0 28 28", width: 28, height: 28, "aria-hidden": "true", class: "logo" },
    s("path", { d: "M2,23L23,2", class: "logo-margin" }),
    s("path", { d: "M3,28L28,3", class: "logo-boundary" }),
    s("path", { d: "M8,28L28,8", class: "logo-margin" }),
    s("circle", { cx: 9, cy: 8, r: 3.4, class: "glyph class-0" }),
    s("rect", { x: 18.4, y: 17.4, width: 6, height: 6, class: "glyph class-1" }),
  );
  return h(
    "a",
    { class: "brand", href: `#/${first}` },
    logo,
    h("span", {}, "maxmargin ", h("b", {}, "lab")),
  );
}

function storedTheme(): Theme | null {
  try {
    const stored = localStorage.getItem("maxmargin-theme");
    return stored === "light" || stored === "dark" ? stored : null;
  } catch {
    return null; // pages opened as files may have no storage
  }
}

function themeSwitch(): HTMLElement {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const now = (): Theme => storedTheme() ?? (dark.matches ? "dark" : "light");
  const icon = s(
    "svg",
    { viewBox: "0 0 20 20", width: 18, height: 18, "aria-hidden": "true" },
    s("circle", { cx: 10, cy: 10, r: 7, class: "theme-ring" }),
    s("path", { d: "M10,3A7,7 0 0 1 10,17Z", class: "theme-half" }),
  );
  const apply = (theme: Theme) => {
    document.documentElement.dataset["theme"] = theme;
    control.setAttribute("aria-pressed", String(theme === "dark"));
  };
  const control = button(
    "Dark colours",
    () => {
      const next: Theme = document.documentElement.dataset["theme"] === "dark" ? "light" : "dark";
      try {
        localStorage.setItem("maxmargin-theme", next);
      } catch {
        // the choice then lasts as long as the page
      }
      apply(next);
    },
    { class: "theme", content: icon, title: "Light or dark" },
  );
  apply(now());
  dark.addEventListener("change", () => apply(now()));
  return control;
}

function footer(): HTMLElement {
  const idea =
    "Every fit on these pages is made by maxmargin’s own C++ solver, compiled to WebAssembly, and " +
    "comes with a certificate: other code computes the primal value $P$ and the dual value $D$ of " +
    "the answer. Since $D \\le \\text{optimum} \\le P$, the gap $P - D$ bounds how far the answer can be from the best one.";
  return h(
    "footer",
    { class: "shell-footer" },
    h("p", {}, ...prose(idea)),
    h("p", {}, "All of it runs in this page: nothing is sent anywhere."),
  );
}
