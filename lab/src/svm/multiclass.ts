// From binary problems to many classes: maxmargin/kernel/multiclass.py.
//
// One-vs-one: a problem for each pair (i, j), i < j; its decision value is positive for class i.
// The class with the most votes wins, the first of them where votes are equal. One-vs-rest: a
// problem for each class; the greatest decision value wins, the first where equal. Two classes are
// one problem, whose decision value is positive for the second class; 0 is the second class.

export interface BinaryTask {
  readonly classes: readonly [number, number];
  readonly rows: Int32Array;
  readonly sign: Float64Array;
}

/** The binary problems of points with these classes; `classes` are those that occur, in order. */
export function tasks(
  y: Float64Array,
  classes: readonly number[],
  multiclass: "ovo" | "ovr",
): BinaryTask[] {
  const all = Int32Array.from(y.keys());
  const against = (one: number, other: number): BinaryTask => ({
    classes: [one, other],
    rows: all,
    sign: y.map((label) => (label === one ? 1 : -1)),
  });
  if (classes.length === 2) return [against(classes[1], classes[0])];
  if (multiclass === "ovr") return classes.map((label) => against(label, -1));
  return classes.flatMap((one, i) =>
    classes.slice(i + 1).map((other) => {
      const [first, second] = [one, other].map((label) => all.filter((k) => y[k] === label));
      const rows = Int32Array.from([...first, ...second]);
      return {
        classes: [one, other] as const,
        rows,
        sign: Float64Array.from(rows, (_, k) => (k < first.length ? 1 : -1)),
      };
    }),
  );
}

/** The votes of each class at each point, from the decision values of the pairs. */
export function votes(values: readonly Float64Array[], classes: number): Float64Array[] {
  const points = values[0].length;
  const count = Array.from({ length: classes }, () => new Float64Array(points));
  let pair = 0;
  for (let i = 0; i < classes; i++)
    for (let j = i + 1; j < classes; j++, pair++)
      for (let k = 0; k < points; k++) count[values[pair][k] > 0 ? i : j][k] += 1;
  return count;
}

/** The class of each point from the decision values of all problems. */
export function winners(
  values: readonly Float64Array[],
  classes: readonly number[],
  multiclass: "ovo" | "ovr",
): Float64Array {
  if (classes.length === 2) return values[0].map((value) => classes[value < 0 ? 0 : 1]);
  const score = multiclass === "ovr" ? values : votes(values, classes.length);
  return score[0].map((_, k) => {
    let best = 0; // the first where equal
    for (let c = 1; c < score.length; c++) if (score[c][k] > score[best][k]) best = c;
    return classes[best];
  });
}
