// Fits what the store shows, in the worker. While a gesture is under way the grid is coarse enough
// for a fit in each frame; once it rests, the grid is fine.

import { Client } from "../svm/client";
import { LabError } from "../svm/types";
import type { Grid, Plot } from "../ui/plot";
import { problemOf } from "./problem";
import { isRegression } from "./state";
import type { Store } from "./store";

const COARSE = 56;
const FINE = 150;
const REST = 140; // milliseconds without a change before the fine grid
const CURVE = 400; // points of a regression's curve

export class Fitter {
  private readonly client = new Client();
  private rest: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly store: Store,
    private readonly plot: Plot,
  ) {}

  /** Fit now, coarsely, and finely once nothing has changed for a while. */
  fit(): void {
    clearTimeout(this.rest);
    const { spec, points } = this.store.state;
    const few = points.length < 40 && !this.store.editing.busy;
    this.request(few ? FINE : COARSE);
    if (!few && !isRegression(spec.machine)) {
      this.rest = setTimeout(() => this.request(FINE), REST);
    }
  }

  close(): void {
    clearTimeout(this.rest);
  }

  private request(columns: number): void {
    const { store } = this;
    const { state } = store;
    const problem = problemOf(state.spec, state.points);
    if (typeof problem === "string") {
      store.setOutcome({ message: problem, wrong: false });
      return;
    }
    const grid = isRegression(state.spec.machine) ? this.line() : this.plot.grid(columns);
    const count = grid.columns * grid.rows;
    const asked = Float64Array.from([...grid.points, ...problem.data.x]);
    this.client.fitAndEvaluate(state.spec, problem.data, asked).then(
      ({ fit, values, labels }) => {
        if (!this.fits(state.points.length)) return;
        const onGrid = values.map((f) => f.subarray(0, count));
        const predictions = labels.subarray(count);
        store.setOutcome({ fit, values: onGrid, predictions, state, problem, grid });
      },
      (error: unknown) => {
        if (!(error instanceof LabError)) throw error;
        if (store.state === state) store.setOutcome({ message: error.message, wrong: true });
      },
    );
  }

  /** An answer of a moment ago is shown unless points were added or removed since. */
  private fits(n: number): boolean {
    return this.store.state.points.length === n;
  }

  /** The grid of a regression: one row. */
  private line(): Grid {
    const points = this.plot.abscissae(CURVE);
    return { points, columns: CURVE, rows: 1 };
  }
}
