// Losses of a sample with label y = +-1 and decision value f, written in its margin m = y f:
//
//     0/1            1 if m < 0
//     hinge          max(0, 1 - m)
//     squared hinge  max(0, 1 - m)^2
//     logistic       log(1 + exp(-m))
//     squared        1/2 (1 - m)^2      (= 1/2 (y - f)^2, because y^2 = 1)
//
// They are the losses of maxmargin.textbook.losses.

export interface Loss {
  name: string;
  tex: string;
  of: (m: number) => number;
}

export const LOSSES: Record<string, Loss> = {
  zero_one: { name: "0/1 (errors)", tex: "[\\,m < 0\\,]", of: (m) => (m < 0 ? 1 : 0) },
  hinge: { name: "hinge", tex: "\\max(0, 1 - m)", of: (m) => Math.max(0, 1 - m) },
  squared_hinge: {
    name: "squared hinge",
    tex: "\\max(0, 1 - m)^2",
    of: (m) => Math.max(0, 1 - m) ** 2,
  },
  logistic: {
    name: "logistic",
    tex: "\\log(1 + e^{-m})",
    of: (m) => Math.max(0, -m) + Math.log1p(Math.exp(-Math.abs(m))),
  },
  squared: { name: "squared", tex: "\\tfrac12 (1 - m)^2", of: (m) => 0.5 * (1 - m) ** 2 },
};
