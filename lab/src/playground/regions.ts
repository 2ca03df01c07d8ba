// Regions of several classes as fields that are positive inside and change sign on the boundary.
//
// One-vs-one: the class with the most votes wins, the first of them where votes are equal; the
// signs of all f_p decide it. At a boundary exactly one f_p changes its sign. So the field of a
// region is +-min |f_p| over the functions p whose sign alone decides whether a point belongs to
// it: it is continuous across the boundary, and contour lines of it are as smooth as those of f_p.
// One-vs-rest: the greatest value wins, and the field of class k is f_k - max_{j != k} f_j.
//
// The vote is unclear where one-vs-one ties, and where one-vs-rest has no or several positive
// values.

type Pairs = readonly (readonly [number, number] | null)[];

export interface Regions {
  /** One field for each class. */
  classes: Float64Array[];
  /** The field of the points whose vote is unclear; null where there are none on the grid. */
  unclear: Float64Array | null;
}

export function regionsOf(pairs: Pairs, values: readonly Float64Array[], m: number): Regions {
  const points = values[0].length;
  const ovr = pairs[0]![1] < 0;
  const { winner, clear } = ovr ? restRules(m) : voteRules(pairs, m);
  const classes = Array.from({ length: m }, () => new Float64Array(points));
  const unclear = new Float64Array(points);
  const f = new Float64Array(values.length);
  let some = false;
  for (let i = 0; i < points; i += 1) {
    let signs = 0;
    for (let p = 0; p < values.length; p += 1) {
      f[p] = values[p][i];
      if (f[p] > 0) signs |= 1 << p;
    }
    for (let k = 0; k < m; k += 1) {
      classes[k][i] = ovr ? f[k] - greatestOther(f, k) : field(f, signs, (s) => winner[s] === k);
    }
    unclear[i] = field(f, signs, (s) => !clear[s]);
    some ||= unclear[i] > 0;
  }
  return { classes, unclear: some ? unclear : null };
}

/** +-min |f_p| over the p whose sign decides whether a point is inside. */
function field(f: Float64Array, signs: number, inside: (signs: number) => boolean): number {
  const here = inside(signs);
  let least = Infinity;
  let most = 0;
  for (let p = 0; p < f.length; p += 1) {
    const size = Math.abs(f[p]);
    if (inside(signs ^ (1 << p)) !== here) least = Math.min(least, size);
    most = Math.max(most, size);
  }
  const size = Math.min(least, most);
  return here ? size : -size;
}

function greatestOther(f: Float64Array, k: number): number {
  let most = -Infinity;
  for (let j = 0; j < f.length; j += 1) if (j !== k) most = Math.max(most, f[j]);
  return most;
}

interface Rules {
  /** The winner for each pattern of signs; not used by one-vs-rest. */
  winner: Int8Array;
  /** Whether the vote is clear, for each pattern of signs. */
  clear: Uint8Array;
}

function voteRules(pairs: Pairs, m: number): Rules {
  const winner = new Int8Array(1 << pairs.length);
  const clear = new Uint8Array(1 << pairs.length);
  for (let signs = 0; signs < winner.length; signs += 1) {
    const votes = new Array<number>(m).fill(0);
    pairs.forEach((pair, p) => (votes[pair![signs & (1 << p) ? 0 : 1] as number] += 1));
    const most = Math.max(...votes);
    winner[signs] = votes.indexOf(most);
    clear[signs] = votes.filter((count) => count === most).length === 1 ? 1 : 0;
  }
  return { winner, clear };
}

function restRules(m: number): Rules {
  const clear = new Uint8Array(1 << m);
  for (let k = 0; k < m; k += 1) clear[1 << k] = 1;
  return { winner: new Int8Array(0), clear };
}
