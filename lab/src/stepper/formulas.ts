// Each step as the slide's formulas, in symbols and with the numbers filled in.

import { no, signed, tex } from "./numbers";
import type {
  CoordinateMove,
  CountMove,
  DrawMove,
  PairMove,
  SingleMove,
  Step,
} from "./algorithms/trace";

/** A line of the derivation: what it does, and the formula. */
export interface Line {
  readonly title: string;
  readonly tex: string;
}

/** What the step computed, line after line; nothing for the start and the end. */
export function formulas(step: Step, C: number, slide: boolean): Line[] {
  const { move } = step;
  switch (move?.kind) {
    case "pair":
      return pair(move, step.b, C, slide);
    case "single":
      return single(move, C);
    case "draw":
      return draw(move);
    case "count":
      return count(move);
    case "coordinate":
      return coordinate(move);
    default:
      return [];
  }
}

/** left = symbols, then numbers = result on lines of their own. */
function derivation(left: string, ...right: string[]): string {
  const [first, ...rest] = right;
  const more = rest.map((part) => `\\\\ &= ${part}`).join(" ");
  return `\\begin{aligned} ${left} &= ${first} ${more} \\end{aligned}`;
}

function pair(move: PairMove, b: number, C: number, slide: boolean): Line[] {
  return [...newPair(move, C), ...bias(move, b, C, slide)];
}

function newPair(move: PairMove, C: number): Line[] {
  const { t_i, t_j, E_i, E_j, k_ii, k_jj, k_ij, eta, L, H, a_i, a_j } = move;
  const { a_j_unclipped: free, a_j_new, a_i_new } = move;
  const error = (letter: string, t: number, E: number) =>
    derivation(
      `E_${letter}`,
      `y(\\mathbf x_${letter}) - t_${letter} = ${tex(E + t)} - ${signed(t)} = ${tex(E)}`,
    );
  return [
    { title: "The errors of both points", tex: error("i", t_i, E_i) },
    { title: "", tex: error("j", t_j, E_j) },
    {
      title: "The curvature of the dual along the pair",
      tex: derivation(
        "\\eta",
        "2k_{ij} - k_{ii} - k_{jj}",
        `2\\cdot${signed(k_ij)} - ${signed(k_ii)} - ${signed(k_jj)} = ${tex(eta)}`,
      ),
    },
    {
      title: "The top of the parabola",
      tex: derivation(
        "a_j^{\\text{new}}",
        "a_j - t_j\\,\\frac{E_i - E_j}{\\eta}",
        `${tex(a_j)} - ${signed(t_j)}\\cdot\\frac{${tex(E_i)} - ${signed(E_j)}}{${tex(eta)}}`,
        tex(free),
      ),
    },
    ...bounds(move, C),
    {
      title: "Clipping",
      tex: derivation(
        "a_j^{\\text{new}}",
        `\\operatorname{clip}(${tex(free)},\\, ${tex(L)},\\, ${tex(H)}) = ${tex(a_j_new)}`,
      ),
    },
    {
      title: "The other multiplier keeps $\\sum_i a_i t_i = 0$",
      tex: derivation(
        "a_i^{\\text{new}}",
        "a_i - t_i t_j\\,(a_j^{\\text{new}} - a_j)",
        `${tex(a_i)} - ${signed(t_i * t_j)}\\cdot(${tex(a_j_new)} - ${tex(a_j)}) = ${tex(a_i_new)}`,
      ),
    },
  ];
}

/** L and H, which depend on whether the labels are equal. */
function bounds({ t_i, t_j, a_i, a_j, L, H }: PairMove, C: number): Line[] {
  const same = t_i === t_j;
  const lower = same ? "\\max(0,\\, a_i + a_j - C)" : "\\max(0,\\, a_j - a_i)";
  const upper = same ? "\\min(C,\\, a_i + a_j)" : "\\min(C,\\, C + a_j - a_i)";
  const inside = same
    ? [`${tex(a_i)} + ${tex(a_j)} - ${tex(C)}`, `${tex(a_i)} + ${tex(a_j)}`]
    : [`${tex(a_j)} - ${tex(a_i)}`, `${tex(C)} + ${tex(a_j)} - ${tex(a_i)}`];
  return [
    {
      title: `The segment inside the box, $${same ? "t_i = t_j" : "t_i \\ne t_j"}$`,
      tex: derivation("L", lower, `\\max(0,\\, ${inside[0]}) = ${tex(L)}`),
    },
    { title: "", tex: derivation("H", upper, `\\min(${tex(C)},\\, ${inside[1]}) = ${tex(H)}`) },
  ];
}

/** b by the slide's three cases, or halfway between the extremes of all points. */
function bias(move: PairMove, b: number, C: number, slide: boolean): Line[] {
  const { t_i, t_j, E_i, E_j, k_ii, k_jj, k_ij, a_i, a_j, a_j_new, a_i_new, b_old, b1, b2 } = move;
  const [d_i, d_j] = [t_i * (a_i_new - a_i), t_j * (a_j_new - a_j)];
  const candidate = (k: string, E: number, to_i: number, to_j: number, value: number) =>
    `b - E_${k} - t_i(a_i^{\\text{new}} - a_i)\\,k_{i${k}} \\\\ &\\quad{} - t_j(a_j^{\\text{new}} - a_j)\\,k_{j${k}}` +
    `\\\\ &= ${tex(b_old)} - ${signed(E)} - ${signed(d_i)}\\cdot${signed(to_i)}` +
    `\\\\ &\\quad{} - ${signed(d_j)}\\cdot${signed(to_j)} = ${tex(value)}`;
  const free = (a: number) => 0 < a && a < C;
  const rule = free(a_i_new)
    ? `b_1 = ${tex(b)} \\\\ &\\quad (0 < a_i^{\\text{new}} < C)`
    : free(a_j_new)
      ? `b_2 = ${tex(b)} \\\\ &\\quad (0 < a_j^{\\text{new}} < C)`
      : `\\tfrac12(b_1 + b_2) = ${tex(b)} \\\\ &\\quad (\\text{both at bounds})`;
  const middle = `\\tfrac12\\bigl(\\max_{I_{\\text{up}}} v + \\min_{I_{\\text{low}}} v\\bigr) = ${tex(b)}`;
  return [
    {
      title: "The $b$ that puts each point on its margin",
      tex: derivation("b_1", candidate("i", E_i, k_ii, k_ij, b1)),
    },
    { title: "", tex: derivation("b_2", candidate("j", E_j, k_ij, k_jj, b2)) },
    {
      title: slide ? "The new $b$" : "The new $b$, from $v_k = b - E_k$ of all points",
      tex: derivation("b^{\\text{new}}", slide ? rule : middle),
    },
  ];
}

function single(move: SingleMove, C: number): Line[] {
  const { i, y_i, g, p, a_i } = move;
  const n = `{${no(i)}}`;
  const where = a_i === 0 ? "\\min(g, 0)" : a_i === C ? "\\max(g, 0)" : "g";
  const when =
    a_i === 0 ? `\\alpha_${n} = 0` : a_i === C ? `\\alpha_${n} = C` : `0 < \\alpha_${n} < C`;
  const value = y_i * (g + 1);
  const lines = [
    {
      title: `The derivative along $\\alpha_${n}$`,
      tex: derivation(
        "g",
        `y_${n}\\mathbf w^T\\mathbf x_${n} - 1`,
        `${signed(y_i)}\\cdot${signed(value)} - 1 = ${tex(g)}`,
      ),
    },
    {
      title: `Projected onto the box, $${when}$`,
      tex: derivation("p", `${where} = ${tex(p)}`),
    },
  ];
  return p === 0 ? lines : [...lines, ...newSingle(move, C)];
}

function newSingle(
  { i, y_i, g, Q_ii, a_i, a_i_unclipped, a_i_new }: SingleMove,
  C: number,
): Line[] {
  const [at, n] = [no(i), `{${no(i)}}`];
  return [
    {
      title: "The bottom of the parabola",
      tex: derivation(
        `\\alpha_${n}^{\\text{new}}`,
        `\\alpha_${n} - \\frac{g}{Q_{${at}${at.length > 1 ? "," : ""}${at}}}`,
        `${tex(a_i)} - \\frac{${tex(g)}}{${tex(Q_ii)}} = ${tex(a_i_unclipped)}`,
      ),
    },
    {
      title: "Clipping",
      tex: derivation(
        `\\alpha_${n}^{\\text{new}}`,
        `\\min(\\max(${tex(a_i_unclipped)},\\, 0),\\, ${tex(C)}) = ${tex(a_i_new)}`,
      ),
    },
    {
      title: "The weights follow",
      tex: derivation(
        "\\mathbf w^{\\text{new}}",
        `\\mathbf w + (\\alpha_${n}^{\\text{new}} - \\alpha_${n})\\,y_${n}\\mathbf x_${n}`,
        `\\mathbf w + ${signed((a_i_new - a_i) * y_i)}\\,\\mathbf x_${n}`,
      ),
    },
  ];
}

const vector = (v: Float64Array) =>
  `\\begin{pmatrix} ${Array.from(v, tex).join(" \\\\ ")} \\end{pmatrix}`;

function draw(move: DrawMove): Line[] {
  const { i, k, lambda, eta, margin, loss, before, after } = move;
  const n = `{${no(i)}}`;
  const add = loss ? ` + \\eta_k\\,y_${n}\\mathbf x_${n}` : "";
  return [
    {
      title: "The length of the step",
      tex: derivation(
        "\\eta_k",
        `\\frac{1}{\\lambda k} = \\frac{1}{${tex(lambda)}\\cdot${k}} = ${tex(eta)}`,
      ),
    },
    {
      title: "Is the point inside its margin?",
      tex: `y_${n}\\mathbf x_${n}^T\\mathbf w = ${tex(margin)} ${loss ? "< 1" : "\\ge 1"}`,
    },
    {
      title: "The step",
      tex: derivation(
        "\\mathbf w^{k+1}",
        `(1 - \\eta_k\\lambda)\\,\\mathbf w^k${add}`,
        `${tex(1 - 1 / k)}\\,${vector(before)}${loss ? ` + ${step(move)}` : ""} = ${vector(after)}`,
      ),
    },
  ];
}

/** eta_k y_i x_i, with its numbers. */
function step({ k, before, after }: DrawMove): string {
  return vector(after.map((value, m) => value - (1 - 1 / k) * before[m]));
}

function count(move: CountMove): Line[] {
  const { i, k, margin, loss, before, after, lambda } = move;
  const n = `{${no(i)}}`;
  const factor = k === 1 ? "" : `\\frac{1}{${tex(lambda)}\\cdot${k - 1}}`;
  return [
    {
      title: "Is the point inside its margin?",
      tex: derivation(
        `y_${n}\\,y(\\mathbf x_${n})`,
        `y_${n}\\frac{1}{\\lambda(k-1)}\\sum_j \\alpha_j y_j\\,k(\\mathbf x_j, \\mathbf x_${n})`,
        `${factor}${factor ? "\\cdot" : ""}${tex(k === 1 ? 0 : margin * lambda * (k - 1))} = ${tex(margin)} ${loss ? "< 1" : "\\ge 1"}`,
      ),
    },
    {
      title: loss ? "It has a loss: count it" : "It has no loss: the counts stay",
      tex: derivation(
        `\\alpha_${n}^{k+1}`,
        loss ? `\\alpha_${n}^{k} + 1 = ${before} + 1 = ${after}` : `\\alpha_${n}^{k} = ${after}`,
      ),
    },
  ];
}

function coordinate(move: CoordinateMove): Line[] {
  const { i, g, A_ii, w_i, w_i_new, decrease } = move;
  const n = `{${no(i)}}`;
  return [
    {
      title: "The derivative along the coordinate",
      tex: derivation(
        `\\frac{\\partial L}{\\partial w_${n}}`,
        `(A\\mathbf w - \\mathbf q)_${n} = ${tex(g)}`,
      ),
    },
    {
      title: "The bottom of the parabola",
      tex: derivation(
        `w_${n}^{\\text{new}}`,
        `w_${n} - \\frac{\\partial L/\\partial w_${n}}{\\partial^2 L/\\partial w_${n}^2}`,
        `${tex(w_i)} - \\frac{${tex(g)}}{${tex(A_ii)}} = ${tex(w_i_new)}`,
      ),
    },
    {
      title: "How much $L$ falls",
      tex: derivation(
        "\\Delta L",
        `-\\frac{(\\partial L/\\partial w_${n})^2}{2\\,\\partial^2 L/\\partial w_${n}^2} = -${tex(decrease[i])}`,
      ),
    },
  ];
}
