// The solver's core, compiled to WebAssembly from src/maxmargin/core by way of lab/core/lab.cpp.

import { type Kernel, LabError } from "./types";

interface Exports {
  readonly memory: WebAssembly.Memory;
  _initialize(): void;
  malloc(bytes: number): number;
  free(address: number): void;
  lab_kernel_block(...args: number[]): number;
  lab_kernel_product(...args: number[]): number;
  lab_pair_steps(...args: number[]): void;
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

/** The numbers that lab.cpp knows the kernels by: those of core/types.h. */
const KINDS = { linear: 0, poly: 1, rbf: 2, sigmoid: 3 } as const;

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

function call<T>(use: (core: Exports, scratch: Scratch) => T): T {
  if (!core) throw new Error("The core is not loaded: await ready() first.");
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
    const kind = kernelArguments(kernel);
    if (!core.lab_kernel_product(...kind, d, a, n, c, columns, b, m, out)) return null;
    return Array.from({ length: columns }, (_, q) => scratch.doubles(out + 8 * q * m, m).slice());
  });
}
