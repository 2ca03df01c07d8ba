// Random numbers that are the same everywhere: mulberry32, 32 bits of state.

export interface Random {
  /** Uniform in [0, 1). */
  uniform(): number;
  /** Standard normal, by Box and Muller. */
  normal(): number;
}

export function random(seed: number): Random {
  let state = seed >>> 0;
  const uniform = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
  const normal = () => Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform());
  return { uniform, normal };
}
