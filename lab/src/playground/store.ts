// The state of the playground, what is being edited, and the newest fit; views listen to changes.

import { MOST_POINTS } from "../svm/check";
import type { Fit } from "../svm/types";
import type { Grid } from "../ui/plot";
import type { Point } from "../ui/url";
import { History } from "./history";
import type { Problem } from "./problem";
import { type State, withPoints } from "./state";

export type Tool = "add" | "paint" | "erase";

export interface Editing {
  tool: Tool;
  /** The class of new points. */
  brush: number;
  /** The selected point and the one under the pointer; -1: none. */
  selected: number;
  hovered: number;
  /** A gesture is under way: fits may be coarse. */
  busy: boolean;
}

/** A fit with the state it belongs to. */
export interface Solved {
  fit: Fit;
  /** Decision values on the grid, one array for each part. */
  values: Float64Array[];
  /** Predictions at the points of the state. */
  predictions: Float64Array;
  state: State;
  problem: Problem;
  grid: Grid;
}

/** A fit, or a sentence that says why there is none; `wrong`: the machine cannot be fitted. */
export type Outcome = Solved | { message: string; wrong: boolean };

export type Topic = "state" | "editing" | "outcome";

export class Store {
  outcome: Outcome = { message: "", wrong: false };
  editing: Editing = { tool: "add", brush: 0, selected: -1, hovered: -1, busy: false };
  private readonly history = new History<State>();
  private readonly listeners: Record<Topic, (() => void)[]> = {
    state: [],
    editing: [],
    outcome: [],
  };

  constructor(private present: State) {}

  get state(): State {
    return this.present;
  }

  get solved(): Solved | null {
    return "fit" in this.outcome ? this.outcome : null;
  }

  on(topic: Topic, listener: () => void): void {
    this.listeners[topic].push(listener);
  }

  private tell(topic: Topic): void {
    for (const listener of this.listeners[topic]) listener();
  }

  /** Remember the present for undo: at the beginning of a gesture. */
  keep(): void {
    this.history.keep(this.present);
    this.tell("editing");
  }

  /** Show another state; what undo goes back to is kept by `keep`. */
  set(state: State): void {
    this.present = state;
    const { selected, hovered } = this.editing;
    if (Math.max(selected, hovered) >= state.points.length) {
      this.editing = { ...this.editing, selected: -1, hovered: -1 };
    }
    this.tell("state");
  }

  /** One change that can be undone. */
  commit(state: State): void {
    this.keep();
    this.set(state);
  }

  edit(change: Partial<Editing>): void {
    const names = Object.keys(change) as (keyof Editing)[];
    if (names.every((name) => this.editing[name] === change[name])) return;
    this.editing = { ...this.editing, ...change };
    this.tell("editing");
  }

  setOutcome(outcome: Outcome): void {
    this.outcome = outcome;
    this.tell("outcome");
  }

  get canUndo(): boolean {
    return this.history.canUndo;
  }

  get canRedo(): boolean {
    return this.history.canRedo;
  }

  undo(): void {
    const before = this.history.undo(this.present);
    if (before) this.set(before);
    this.tell("editing");
  }

  redo(): void {
    const after = this.history.redo(this.present);
    if (after) this.set(after);
    this.tell("editing");
  }

  // Points.

  /** Add a point of the chosen class and select it. */
  add(x: number, y: number): void {
    const { points } = this.present;
    if (points.length >= MOST_POINTS) return;
    this.editing = { ...this.editing, selected: points.length };
    this.set(
      withPoints(this.present, [...points, { ...this.rounded(x, y), k: this.editing.brush }]),
    );
  }

  move(index: number, x: number, y: number): void {
    const points = [...this.present.points];
    points[index] = { ...points[index], ...this.rounded(x, y) };
    this.set(withPoints(this.present, points));
  }

  remove(indices: readonly number[]): void {
    if (!indices.length) return;
    this.editing = { ...this.editing, selected: -1, hovered: -1 };
    const kept = this.present.points.filter((_, i) => !indices.includes(i));
    this.set(withPoints(this.present, kept));
  }

  setClass(index: number, k: number): void {
    const points = this.present.points.map((p, i): Point => (i === index ? { ...p, k } : p));
    this.set(withPoints(this.present, points));
  }

  /** Coordinates inside the box, to a thousandth of its size or finer. */
  private rounded(x: number, y: number): { x: number; y: number } {
    const { box } = this.present;
    const size = Math.max(box.x[1] - box.x[0], box.y[1] - box.y[0]);
    const decimals = Math.min(6, Math.max(0, 3 - Math.floor(Math.log10(size))));
    return { x: Number(x.toFixed(decimals)) + 0, y: Number(y.toFixed(decimals)) + 0 };
  }
}
