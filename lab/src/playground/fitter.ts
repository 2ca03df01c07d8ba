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
  private asked = 0;
  private answered = 0;

  constructor(
    private readonly store: Store,
    private readonly plot: Plot,
  ) {}

  /** Whether the newest request is answered and no finer one will follow. */
  get idle(): boolean {
    return this.rest === undefined && this.asked === this.answered;
  }

  /** Fit now, coarsely, and finely once nothing has changed for a while. */
  fit(): void {
    this.close();
    const { spec, points } = this.store.state;
    const few = points.length < 40 && !this.store.editing.busy;
    this.request(few ? FINE : COARSE);
    if (!few && !isRegression(spec.machine)) {
      this.rest = setTimeout(() => {
        this.rest = undefined;
        this.request(FINE);
      }, REST);
    }
  }

  close(): void {
    clearTimeout(this.rest);
    this.rest = undefined;
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
    const places = new Float64Array(grid.points.length + problem.data.x.length);
    places.set(grid.points);
    places.set(problem.data.x, grid.points.length);
    const number = ++this.asked;
    this.client.fitAndEvaluate(state.spec, problem.data, places).then(
      ({ fit, values, labels }) => {
        this.answered = number;
        if (!this.fits(state.points.length)) return;
        const onGrid = values.map((f) => f.subarray(0, count));
        const predictions = labels.subarray(count);
        store.setOutcome({ fit, values: onGrid, predictions, state, problem, grid });
      },
      (error: unknown) => {
        this.answered = number;
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
