// One algorithm, step by step: its pictures, the sentences and the formulas of the step.

import { h } from "../ui/dom";
import { formula, prose } from "../ui/formula";
import { ALGORITHMS } from "./algorithms";
import { formulas } from "./formulas";
import { Bars } from "./pictures/bars";
import { Box } from "./pictures/box";
import { Curves } from "./pictures/curves";
import { Descent } from "./pictures/descent";
import { Hinge } from "./pictures/hinge";
import { Parabola } from "./pictures/parabola";
import type { Picture } from "./pictures/picture";
import { Plane } from "./pictures/plane";
import { RECIPES } from "./recipes";
import type { Run } from "./state";

/** What stands below the player. */
export interface Stage {
  readonly element: HTMLElement;
  draw(at: number): void;
  close(): void;
}

export function singleStage(run: Run, seek: (step: number) => void): Stage {
  const work = h("div", {
    class: "step-work",
    tabindex: 0,
    role: "group",
    "aria-label": "Formulas",
  });
  const name = ALGORITHMS[run.key].name;
  const title = h("h2", {});
  const panel = h(
    "section",
    { class: "panel step-formulas", "aria-label": "The formulas of the step" },
    title,
    work,
  );
  const [first, ...rest] = pictures(run, seek);
  const second = rest.shift();
  const element = h(
    "div",
    { class: "step-stage" },
    first.element,
    second && second.element,
    panel,
    ...rest.map((picture) => picture.element),
  );
  const all = [first, ...(second ? [second] : []), ...rest];
  return {
    element,
    draw: (at) => {
      all.forEach((picture) => picture.draw(run, at));
      title.textContent = at === 0 ? name : `${name}: the step in numbers`;
      work.replaceChildren(...lines(run, at));
    },
    close: () => all.forEach((picture) => picture.close()),
  };
}

/** The pictures that the algorithm has, in the order of a small screen. */
function pictures({ key, settings }: Run, seek: (step: number) => void): Picture[] {
  const curves = new Curves(seek);
  if (key.startsWith("coordinate"))
    return settings.target === "two"
      ? [new Descent(), new Parabola(), curves]
      : [new Plane(), new Parabola(), curves, new Bars()];
  if (key.startsWith("dual")) return [new Plane(), new Parabola(), curves, new Bars()];
  if (key.includes("pegasos")) return [new Plane(), new Hinge(), curves, new Bars()];
  return [new Plane(), new Box(), new Parabola(), curves, new Bars()];
}

/** The formulas of the step; before the first one, the algorithm itself. */
function lines(run: Run, at: number): HTMLElement[] {
  if (at === 0) return recipe(run);
  const found = formulas(run.trace.steps[at], run.problem.C, run.key === "simplified");
  if (!found.length)
    return [
      h("p", { class: "step-about" }, "This last look moved nothing. Go back to see the steps."),
    ];
  return found.flatMap(({ title, tex }) => [
    ...(title ? [h("h3", {}, ...prose(title))] : []),
    formula(tex, true),
  ]);
}

function recipe({ key }: Run): HTMLElement[] {
  const written = RECIPES[key].map(([indent, text]) =>
    h("p", { class: `step-recipe indent-${indent}` }, ...prose(text)),
  );
  const hint = "Go forward: each step appears here with its numbers filled in.";
  return [...written, h("p", { class: "step-about" }, hint)];
}
