// The algorithms as the lectures write them down: lines with their indentation, formulas between
// dollar signs. They are shown before the first step.

import type { AlgorithmKey } from "./algorithms";

export type Line = readonly [indent: number, text: string];

const SIMPLIFIED: readonly Line[] = [
  [0, "Start with $\\mathbf a = \\mathbf 0$ and $b = 0$."],
  [0, "Until a sweep finds no violator, or many sweeps change nothing:"],
  [1, "for $i = 1, \\dots, n$:"],
  [2, "$E_i \\leftarrow y(\\mathbf x_i) - t_i$"],
  [2, "if $a_i < C$ and $t_i E_i < -\\text{tol}$, or $a_i > 0$ and $t_i E_i > \\text{tol}$:"],
  [3, "draw $j \\ne i$ at random"],
  [
    3,
    "maximise the dual over $a_i$ and $a_j$, with $0 \\le a_i, a_j \\le C$ and $\\sum_k a_k t_k = 0$",
  ],
  [3, "set $b$ so that both points fulfil their conditions"],
];

const chosenPair = (partner: string): readonly Line[] => [
  [
    0,
    "Start with $\\mathbf a = \\mathbf 0$. Each point asks for $v_i = t_i - \\sum_j a_j t_j k_{ij}$: with this $b$ it lies on its margin.",
  ],
  [
    0,
    "$I_{\\text{up}}$ are the points whose $t_i a_i$ can grow, $I_{\\text{low}}$ those whose $t_i a_i$ can shrink.",
  ],
  [0, "Until $\\max_{I_{\\text{up}}} v - \\min_{I_{\\text{low}}} v \\le \\text{tol}$:"],
  [1, "$i \\leftarrow \\arg\\max_{I_{\\text{up}}} v_i$"],
  [1, partner],
  [1, "maximise the dual over $a_i$ and $a_j$ in the box"],
  [1, "update all $v_k$"],
  [0, "$b$ is halfway between the two extremes."],
];

const single = (rule: string): readonly Line[] => [
  [0, "Start with $\\boldsymbol\\alpha = \\mathbf 0$ and $\\mathbf w = \\mathbf 0$."],
  [0, "While $\\boldsymbol\\alpha$ is not optimal:"],
  [1, `pick an index $i$: ${rule}`],
  [1, "$g \\leftarrow y_i \\mathbf w^T\\mathbf x_i - 1$"],
  [1, "$p \\leftarrow \\min(g, 0)$ if $\\alpha_i = 0$, $\\max(g, 0)$ if $\\alpha_i = C$, else $g$"],
  [1, "if $p \\ne 0$:"],
  [2, "$\\alpha_i \\leftarrow \\min(\\max(\\alpha_i - g / Q_{ii},\\, 0),\\, C)$"],
  [
    2,
    "$\\mathbf w \\leftarrow \\mathbf w + (\\alpha_i - \\alpha_i^{\\text{old}})\\, y_i \\mathbf x_i$",
  ],
];

const PEGASOS: readonly Line[] = [
  [0, "Start with $\\mathbf w = \\mathbf 0$; $\\lambda = 1/(nC)$."],
  [0, "For $k = 1, 2, \\dots$:"],
  [1, "draw $i$ at random"],
  [1, "$\\eta_k \\leftarrow 1/(\\lambda k)$"],
  [1, "if $y_i \\mathbf x_i^T \\mathbf w < 1$:"],
  [2, "$\\mathbf w \\leftarrow (1 - \\eta_k\\lambda)\\,\\mathbf w + \\eta_k y_i \\mathbf x_i$"],
  [1, "else:"],
  [2, "$\\mathbf w \\leftarrow (1 - \\eta_k\\lambda)\\,\\mathbf w$"],
];

const KERNEL_PEGASOS: readonly Line[] = [
  [0, "Start with $\\boldsymbol\\alpha = \\mathbf 0$; $\\lambda = 1/(nC)$."],
  [0, "For $k = 1, 2, \\dots$:"],
  [1, "draw $i$ at random"],
  [
    1,
    "if $y_i \\frac{1}{\\lambda(k-1)} \\sum_j \\alpha_j y_j\\,k(\\mathbf x_j, \\mathbf x_i) < 1$:",
  ],
  [2, "$\\alpha_i \\leftarrow \\alpha_i + 1$"],
  [
    0,
    "Then $y(\\mathbf x) = \\frac{1}{\\lambda k}\\sum_j \\alpha_j y_j\\,k(\\mathbf x_j, \\mathbf x)$.",
  ],
];

const coordinate = (order: string): readonly Line[] => [
  [0, "Loop until convergence:"],
  [1, order],
  [1, "$w_i \\leftarrow \\arg\\min_{w_i} L(w_1, \\dots, w_D)$"],
  [
    0,
    "Here $L(\\mathbf w) = \\tfrac12\\mathbf w^T A\\,\\mathbf w - \\mathbf q^T\\mathbf w$, so that the inner minimum is one division.",
  ],
];

export const RECIPES: Record<AlgorithmKey, readonly Line[]> = {
  simplified: SIMPLIFIED,
  "smo-first": chosenPair("$j \\leftarrow \\arg\\min_{I_{\\text{low}}} v_j$"),
  "smo-second": chosenPair(
    "$j \\leftarrow \\arg\\max_{I_{\\text{low}},\\,v_j < v_i} (v_i - v_j)^2 / (k_{ii} + k_{jj} - 2k_{ij})$",
  ),
  "dual-cyclic": single("in turn"),
  "dual-permutation": single("in a new random order each sweep"),
  "dual-random": single("at random"),
  pegasos: PEGASOS,
  "kernel-pegasos": KERNEL_PEGASOS,
  "coordinate-cyclic": coordinate("for $i = 1, \\dots, D$:"),
  "coordinate-largest": coordinate("take the $i$ that lowers $L$ most:"),
};
