// The solver's core, compiled to WebAssembly from src/maxmargin/core by way of lab/core/lab.cpp.

import { type Kernel, LabError } from "./types";

interface Exports {
  readonly memory: WebAssembly.Memory;
  _initialize(): void;
  malloc(bytes: number): number;
  free(address: number): void;
  lab_kernel_block(...args: number[]): number;
  lab_kernel_product(...args: number[]): number;
  lab_is_definite(n: number, K: number, shift: number): number;
  lab_pair_steps(...args: number[]): void;
  lab_newton(...args: number[]): void;
}

let core: Exports | undefined;

/** Compile the module; once. */
export async function load(bytes: BufferSource): Promise<void> {
  if (core) return;
  const ended = () => {
    throw new LabError("The data are too large for the memory of the page.");
  };
  const { instance } = await WebAssembly.instantiate(bytes, {
    env: { emscripten_notify_memory_growth: () => undefined },
    wasi_snapshot_preview1: { proc_exit: ended },
  });
  core = instance.exports as unknown as Exports;
  core._initialize();
}

/**
 * The numbers of core/types.h. Distances of the RBF are sums of squared differences, which keeps
 * all digits wherever the data lie.
 */
const KINDS = { linear: 0, poly: 1, sigmoid: 3, rbf: 7 } as const;

const LOGISTIC = 4; // 1 / (1 + exp(-(gamma x.z + coef0)))

function kernelArguments(kernel: Kernel): [number, number, number, number] {
  return [KINDS[kernel.kind], kernel.gamma, kernel.coef0, kernel.degree];
}

/** Memory of the module that lives for one call. */
class Scratch {
  private readonly addresses: number[] = [];

  constructor(private readonly exports: Exports) {}

  reserve(bytes: number): number {
    const address = this.exports.malloc(Math.max(bytes, 8));
    if (!address) throw new LabError("The data are too large for the memory of the page.");
    this.addresses.push(address);
    return address;
  }
  zeros(count: number): number {
    const address = this.reserve(8 * count);
    this.doubles(address, count).fill(0);
    return address;
  }
  put(values: Float64Array | Int32Array): number {
    const address = this.reserve(values.byteLength);
    if (values instanceof Int32Array)
      new Int32Array(this.exports.memory.buffer, address, values.length).set(values);
    else this.doubles(address, values.length).set(values);
    return address;
  }
  doubles(address: number, count: number): Float64Array {
    return new Float64Array(this.exports.memory.buffer, address, count);
  }
  end(): void {
    for (const address of this.addresses) this.exports.free(address);
  }
}

function loaded(): Exports {
  if (!core) throw new Error("The core is not loaded: await ready() first.");
  return core;
}

function call<T>(use: (core: Exports, scratch: Scratch) => T): T {
  const core = loaded();
  const scratch = new Scratch(core);
  try {
    return use(core, scratch);
  } finally {
    scratch.end();
  }
}

/** k(A_j, B_i), row after row; null if a value is not finite. */
export function kernelBlock(
  kernel: Kernel,
  d: number,
  A: Float64Array,
  B: Float64Array,
): Float64Array | null {
  return call((core, scratch) => {
    const [n, m] = [A.length / d, B.length / d];
    const a = scratch.put(A);
    const b = A === B ? a : scratch.put(B);
    const out = scratch.reserve(8 * n * m);
    const finite = core.lab_kernel_block(...kernelArguments(kernel), d, a, n, b, m, out);
    return finite ? scratch.doubles(out, n * m).slice() : null;
  });
}

/**
 * sum_j coef[j, c] k(A_j, B_i): for each column c of coef the values of all points of B; null if a
 * kernel value is not finite.
 */
export function kernelProduct(
  kernel: Kernel,
  d: number,
  A: Float64Array,
  coef: Float64Array,
  B: Float64Array,
): Float64Array[] | null {
  return call((core, scratch) => {
    const [n, m] = [A.length / d, B.length / d];
    const columns = n ? coef.length / n : 0;
    const [a, c, b] = [scratch.put(A), scratch.put(coef), scratch.put(B)];
    const out = scratch.zeros(columns * m);
    const { kind, gamma, coef0 } = kernel;
    // tanh u = 2 / (1 + exp(-2 u)) - 1: SIMD has an exponential, and no tanh.
    const formula =
      kind === "sigmoid" ? [LOGISTIC, 2 * gamma, 2 * coef0, 1] : kernelArguments(kernel);
    if (!core.lab_kernel_product(...formula, d, a, n, c, columns, b, m, out)) return null;
    return Array.from({ length: columns }, (_, q) => {
      const values = scratch.doubles(out + 8 * q * m, m).slice();
      return kind === "sigmoid" ? ofLogistic(values, sumOfColumn(coef, columns, q)) : values;
    });
  });
}

const ofLogistic = (values: Float64Array, sum: number) => values.map((value) => 2 * value - sum);

function sumOfColumn(coef: Float64Array, columns: number, q: number): number {
  let sum = 0;
  for (let at = q; at < coef.length; at += columns) sum += coef[at];
  return sum;
}

/** Whether a symmetric matrix is positive semidefinite, up to this shift of its diagonal. */
export function isDefinite(K: Float64Array, n: number, shift: number): boolean {
  return call((core, scratch) => core.lab_is_definite(n, scratch.put(K), shift) !== 0);
}

/** The variables of a problem, with bounds; those of group g are begin[g], ..., begin[g + 1] - 1. */
export interface Box {
  readonly lower: Float64Array;
  readonly upper: Float64Array;
  readonly begin: Int32Array;
}

/** A problem on its own matrix Q, in the memory of the module; `end` gives that back. */
export class Tile {
  private readonly scratch: Scratch;
  private readonly core: Exports;
  private readonly size: number;
  private readonly addresses: readonly number[];
  private readonly result: number;

  constructor(Q: Float64Array, box: Box) {
    this.core = loaded();
    this.scratch = new Scratch(this.core);
    this.size = box.lower.length;
    const { scratch, size } = this;
    this.addresses = [
      size,
      scratch.put(Q),
      scratch.zeros(size),
      scratch.zeros(size),
      scratch.put(box.lower),
      scratch.put(box.upper),
      scratch.zeros(size), // no squared losses
      scratch.put(box.begin),
      box.begin.length - 1,
    ];
    this.result = scratch.zeros(3);
  }
  /** The gradient. It is a view of memory that may move: ask again after every step. */
  get G(): Float64Array {
    return this.scratch.doubles(this.addresses[2], this.size);
  }
  /** The variables; a view, too. */
  get b(): Float64Array {
    return this.scratch.doubles(this.addresses[3], this.size);
  }

  /** Pair steps until the violation is at most tol; `negative` curvature may have been met. */
  pairSteps(tol: number, most: number): { taken: number; violation: number; negative: boolean } {
    this.core.lab_pair_steps(...this.addresses, tol, most, this.result);
    const [taken, violation, negative] = this.scratch.doubles(this.result, 3);
    return { taken, violation, negative: negative !== 0 };
  }
  /** Newton steps and pair steps in turn, as far as float64 can; for convex problems. */
  newton(tol: number, most: number): { taken: number; convex: boolean } {
    this.core.lab_newton(...this.addresses, tol, most, this.result);
    const [taken, convex] = this.scratch.doubles(this.result, 2);
    return { taken, convex: convex !== 0 };
  }
  end(): void {
    this.scratch.end();
  }
}
