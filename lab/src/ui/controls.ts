// Labelled controls. Each returns its element, and a way to set it without calling back.
//
//     const C = logSlider({ label: "C", least: 1e-3, most: 1e4, value: 1, change: (v) => … });
//     root.append(C.element);  C.set(10);  C.show(false);
//
// A log slider moves in decades; its number field takes any positive number within [floor,
// ceiling].

import { type Child, h, newId } from "./dom";
import { formula } from "./formula";

export interface Control<T> {
  element: HTMLElement;
  /** Show a value; `change` is not called. */
  set(value: T): void;
  show(visible: boolean): void;
  disable(disabled: boolean): void;
}

export interface SliderOptions {
  label: string;
  /** The symbol as a formula, shown behind the label. */
  tex?: string;
  least: number;
  most: number;
  value: number;
  /** The step of a linear slider; log sliders have 20 steps in a decade. */
  step?: number;
  /** What the number field allows; least and most where left out. */
  floor?: number;
  ceiling?: number;
  integer?: boolean;
  /** `done`: the value is final, not one of many during a drag. */
  change: (value: number, done: boolean) => void;
}

const PER_DECADE = 20; // two digits then name each step

/** A number as short as its size allows: 0.0123, 12.3, 1.2e5. */
export function shortNumber(value: number, digits = 3): string {
  if (!Number.isFinite(value)) return value > 0 ? "∞" : value < 0 ? "−∞" : "not a number";
  const plain = Number(value.toPrecision(digits));
  const size = Math.abs(plain);
  const text = plain !== 0 && (size < 1e-3 || size >= 1e6) ? plain.toExponential() : String(plain);
  return text.replace("e+", "e").replace(/^-/, "−").replace("e-", "e−");
}

/** A slider over several decades. */
export function logSlider(options: SliderOptions): Control<number> {
  const steps = (value: number) => PER_DECADE * Math.log10(value);
  const rounded = (at: number) => Number((10 ** (at / PER_DECADE)).toPrecision(2));
  const { least, most } = options;
  const range = { min: Math.round(steps(least)), max: Math.round(steps(most)), step: 1 };
  return slider(options, range, steps, rounded);
}

/** A slider with equal steps. */
export function linearSlider(options: SliderOptions): Control<number> {
  const step = options.step ?? (options.integer ? 1 : (options.most - options.least) / 100);
  const range = { min: options.least, max: options.most, step };
  const same = (value: number) => Number(value.toPrecision(12));
  return slider(options, range, same, same);
}

function slider(
  options: SliderOptions,
  bounds: { min: number; max: number; step: number },
  toPosition: (value: number) => number,
  fromPosition: (position: number) => number,
): Control<number> {
  const { label, tex, least, most, floor = least, ceiling = most, integer, change } = options;
  const id = newId("slider");
  const range = h("input", { type: "range", ...bounds, "aria-label": label, tabindex: 0 });
  const number = h("input", {
    type: "text",
    inputmode: "decimal",
    id,
    class: "number",
    spellcheck: "false",
    autocomplete: "off",
  });
  const note = h("span", { class: "field-note", role: "alert" });
  const set = (value: number) => {
    range.value = String(toPosition(value));
    range.setAttribute("aria-valuetext", shortNumber(value, 6));
    number.value = String(value);
    number.removeAttribute("aria-invalid");
    note.textContent = "";
  };
  const moved = (done: boolean) => {
    const value = fromPosition(Number(range.value));
    set(value);
    change(value, done);
  };
  range.addEventListener("input", () => moved(false));
  range.addEventListener("change", () => moved(true));
  number.addEventListener("change", () => {
    const value = Number(number.value.trim().replace(",", ".").replace("−", "-"));
    const fits = number.value.trim() !== "" && value >= floor && value <= ceiling;
    if (!fits || (integer && !Number.isInteger(value))) {
      number.setAttribute("aria-invalid", "true");
      const kind = integer ? "A whole number" : "A number";
      note.textContent = `${kind} from ${floor} to ${ceiling}, please.`;
      return;
    }
    set(value);
    change(value, true);
  });
  set(options.value);
  const name = h("label", { for: id }, label, tex ? " " : null, tex ? formula(tex) : null);
  return control(h("div", { class: "field" }, name, number, range, note), set, [range, number]);
}

export interface Choice<T extends string> {
  value: T;
  label: string;
}

/** A list to choose from. */
export function select<T extends string>(options: {
  label: string;
  choices: Choice<T>[];
  value: T;
  change: (value: T) => void;
}): Control<T> & { setChoices(choices: Choice<T>[], value: T): void } {
  const id = newId("select");
  const list = h("select", { id });
  const setChoices = (choices: Choice<T>[], value: T) => {
    list.replaceChildren(...choices.map((c) => h("option", { value: c.value }, c.label)));
    list.value = value;
  };
  setChoices(options.choices, options.value);
  list.addEventListener("change", () => options.change(list.value as T));
  const field = h("div", { class: "field" }, h("label", { for: id }, options.label), list);
  return { ...control<T>(field, (value) => (list.value = value), [list]), setChoices };
}

/** A few choices side by side: radio buttons that look like one bar. */
export function segments<T extends string>(options: {
  label: string;
  choices: (Choice<T> & { icon?: Child; title?: string })[];
  value: T;
  change: (value: T) => void;
  hideLabel?: boolean;
}): Control<T> {
  const name = newId("segments");
  const inputs = options.choices.map(({ value }) => h("input", { type: "radio", name, value }));
  const set = (value: T) => inputs.forEach((input) => (input.checked = input.value === value));
  inputs.forEach((input) =>
    input.addEventListener("change", () => input.checked && options.change(input.value as T)),
  );
  const labels = options.choices.map(({ label, icon, title }, i) =>
    h("label", { title }, inputs[i], h("span", {}, icon, label)),
  );
  set(options.value);
  const legend = h("legend", { class: options.hideLabel ? "visually-hidden" : "" }, options.label);
  const bar = h("div", { class: "segments" }, ...labels);
  return control(h("fieldset", { class: "field" }, legend, bar), set, inputs);
}

/** A check box. */
export function toggle(options: {
  label: string;
  value: boolean;
  change: (value: boolean) => void;
}): Control<boolean> & { name(label: string): void } {
  const box = h("input", { type: "checkbox" });
  const name = h("span", {}, options.label);
  box.checked = options.value;
  box.addEventListener("change", () => options.change(box.checked));
  const field = h("label", { class: "toggle" }, box, name);
  const set = (value: boolean) => (box.checked = value);
  return { ...control(field, set, [box]), name: (label) => (name.textContent = label) };
}

/** A button; its label is read out also where `content` shows a picture. */
export function button(
  label: string,
  click: () => void,
  options: { class?: string; content?: Child; title?: string } = {},
): HTMLButtonElement {
  const { content, title } = options;
  return h(
    "button",
    {
      type: "button",
      class: options.class ?? "",
      title: title ?? (content ? label : null),
      "aria-label": content ? label : null,
      onclick: click,
    },
    content ?? label,
  );
}

function control<T>(
  element: HTMLElement,
  set: (value: T) => void,
  inputs: (HTMLInputElement | HTMLSelectElement)[],
): Control<T> {
  return {
    element,
    set,
    show: (visible) => (element.hidden = !visible),
    disable: (disabled) => inputs.forEach((input) => (input.disabled = disabled)),
  };
}
