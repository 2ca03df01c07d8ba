// The explainers, and the page that lists them.

import { h } from "../ui/dom";
import type { View } from "../ui/view";
import { ambiguity } from "./ambiguity";
import { effectOfC } from "./effect_of_c";
import { type Explainer, explainerView, LECTURES } from "./frame";
import { gaussian } from "./gaussian";
import { growth } from "./growth";
import { kernelMatrixExplainer } from "./kernel_matrix";
import { lift } from "./lift";
import { losses } from "./losses";
import { nu } from "./nu";
import { planes } from "./planes";
import { sketch } from "./sketches";
import { transductive } from "./transductive";
import { tube } from "./tube";

/** In the order in which a course meets them. */
const ALL: readonly Explainer[] = [
  effectOfC,
  losses,
  lift,
  gaussian,
  kernelMatrixExplainer,
  nu,
  tube,
  ambiguity,
  growth,
  planes,
  transductive,
];

const list: View = {
  name: "explain",
  title: "Explainers",
  mount(root) {
    root.append(
      h("h1", {}, "Explainers"),
      h(
        "p",
        { class: "explain-intro" },
        "Some figures of the lectures say more when they move. Each page here is one of them: a few " +
          "sentences, a picture to play with, and something to try. All numbers come from " +
          "maxmargin’s solver, which runs in this page.",
      ),
      h("ul", { class: "explain-cards" }, ...ALL.map(card)),
    );
    return () => {};
  },
};

function card({ name, title, summary, lecture }: Explainer): HTMLElement {
  return h(
    "li",
    {},
    sketch(name),
    h("h2", {}, h("a", { href: `#/explain/${name}` }, title)),
    h("p", {}, summary),
    h("p", { class: "explain-source" }, LECTURES[lecture]),
  );
}

export const explainerViews: readonly View[] = [list, ...ALL.map(explainerView)];
