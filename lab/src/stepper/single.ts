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
  const panel = h(
    "section",
    { class: "panel step-formulas", "aria-label": "The formulas of the step" },
    h("h2", {}, `${name}: the step in numbers`),
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

function lines(run: Run, at: number): HTMLElement[] {
  const step = run.trace.steps[at];
  const found = formulas(step, run.problem.C, run.key === "simplified");
  if (!found.length) {
    const text =
      at === 0
        ? "Go forward: each step appears here as the slide’s formulas, with its numbers."
        : "This last look moved nothing. Go back to see the steps.";
    return [h("p", { class: "step-about" }, text)];
  }
  return found.flatMap(({ title, tex }) => [
    ...(title ? [h("h3", {}, ...prose(title))] : []),
    formula(tex, true),
  ]);
}
