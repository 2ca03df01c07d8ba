// Undo and redo: the states before and after the present one.

const MOST = 200;

export class History<T> {
  private past: T[] = [];
  private future: T[] = [];

  /** Remember a state before it is changed. */
  keep(state: T): void {
    this.past.push(state);
    if (this.past.length > MOST) this.past.shift();
    this.future = [];
  }

  get canUndo(): boolean {
    return this.past.length > 0;
  }

  get canRedo(): boolean {
    return this.future.length > 0;
  }

  /** The state before the present one, or null. */
  undo(present: T): T | null {
    const before = this.past.pop();
    if (before === undefined) return null;
    this.future.push(present);
    return before;
  }

  redo(present: T): T | null {
    const after = this.future.pop();
    if (after === undefined) return null;
    this.past.push(present);
    return after;
  }
}
