// The sliders of the parameters, each shown where the machine or the kernel has it.

import type { Kernel, Spec } from "../svm/types";
import { type Control, linearSlider, logSlider } from "../ui/controls";
import { kernelUses, LIMITS, type State, usesC, usesNu } from "./state";
import type { Store } from "./store";

/** A spec with some values changed. */
export const patch = (store: Store, change: Partial<Spec>): State => ({
  ...store.state,
  spec: { ...store.state.spec, ...change },
});

/** Moves of a slider are one step of undo. */
export class Sliding {
  private sliding = false;

  constructor(private readonly store: Store) {}

  change = (state: State, done: boolean): void => {
    if (!this.sliding) this.store.keep();
    this.sliding = !done;
    this.store.edit({ busy: !done });
    this.store.set(state);
  };
}

export interface Slider {
  element: HTMLElement;
  update(state: State): void;
}

export function specSliders(
  store: Store,
  { change }: Sliding,
  kernelChange: (change: Partial<Kernel>) => State,
): Slider[] {
  const slider = (
    control: Control<number>,
    value: (state: State) => number,
    shown: (state: State) => boolean,
  ): Slider => ({
    element: control.element,
    update: (state) => {
      control.show(shown(state));
      control.set(value(state));
    },
  });
  const ends = (name: keyof typeof LIMITS) => ({ least: LIMITS[name][0], most: LIMITS[name][1] });
  const sigmaOf = (gamma: number) => Number(Math.sqrt(0.5 / gamma).toPrecision(3));
  const gammaOf = (sigma: number) => 0.5 / (sigma * sigma);
  const { spec } = store.state;
  const { kernel } = spec;
  const rbf = (state: State) => state.spec.kernel.kind === "rbf";
  return [
    slider(
      logSlider({
        label: "Price of a slack",
        tex: "C",
        ...ends("C"),
        value: spec.C,
        change: (C, done) => change(patch(store, { C }), done),
      }),
      (state) => state.spec.C,
      (state) => usesC(state.spec.machine),
    ),
    slider(
      logSlider({
        label: "Share of errors",
        tex: "\\nu",
        ...ends("nu"),
        value: spec.nu,
        change: (nu, done) => change(patch(store, { nu }), done),
      }),
      (state) => state.spec.nu,
      (state) => usesNu(state.spec.machine),
    ),
    slider(
      logSlider({
        label: "Half of the tube",
        tex: "\\varepsilon",
        least: 0.01,
        most: 2,
        floor: 0,
        ceiling: 10,
        value: spec.epsilon,
        change: (epsilon, done) => change(patch(store, { epsilon }), done),
      }),
      (state) => state.spec.epsilon,
      (state) => state.spec.machine === "eps-svr",
    ),
    slider(
      logSlider({
        label: "Kernel scale",
        tex: "\\gamma",
        ...ends("gamma"),
        value: kernel.gamma,
        change: (gamma, done) => change(kernelChange({ gamma }), done),
      }),
      (state) => state.spec.kernel.gamma,
      (state) => kernelUses(state.spec.kernel.kind).gamma && !(rbf(state) && state.asSigma),
    ),
    slider(
      logSlider({
        label: "Width",
        tex: "\\sigma",
        least: 0.03,
        most: 20,
        value: sigmaOf(kernel.gamma),
        change: (sigma, done) => change(kernelChange({ gamma: gammaOf(sigma) }), done),
      }),
      (state) => sigmaOf(state.spec.kernel.gamma),
      (state) => rbf(state) && state.asSigma,
    ),
    slider(
      linearSlider({
        label: "Constant",
        tex: "c_0",
        least: -3,
        most: 3,
        step: 0.1,
        floor: -10,
        ceiling: 10,
        value: kernel.coef0,
        change: (coef0, done) => change(kernelChange({ coef0 }), done),
      }),
      (state) => state.spec.kernel.coef0,
      (state) => kernelUses(state.spec.kernel.kind).coef0,
    ),
    slider(
      linearSlider({
        label: "Degree",
        tex: "d",
        ...ends("degree"),
        integer: true,
        value: kernel.degree,
        change: (degree, done) => change(kernelChange({ degree }), done),
      }),
      (state) => state.spec.kernel.degree,
      (state) => kernelUses(state.spec.kernel.kind).degree,
    ),
  ];
}
