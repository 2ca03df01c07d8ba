// The random numbers of numpy.random.default_rng(seed), so that the textbook draws the same points.
//
// The seed is spread over a pool of four words (O'Neill's seed_seq_fe), which starts PCG64: a
// linear congruential generator of 128 bits whose output is the exclusive or of its halves,
// rotated. An integer below n is drawn from 32 bits by Lemire's method.

const WORD = 0xffffffff;
const MASK_64 = (1n << 64n) - 1n;
const MASK_128 = (1n << 128n) - 1n;
const MULTIPLIER = 0x2360ed051fc65da44385df649fccf645n;

export class Random {
  private state = 0n;
  private readonly increment: bigint;
  /** The half of the last 64 bits that is not used yet. */
  private spare: number | null = null;

  constructor(seed: number) {
    const word = spread(seed);
    const pair = (k: number) => (BigInt(word[k + 1]) << 32n) | BigInt(word[k]);
    this.increment = ((((pair(4) << 64n) | pair(6)) << 1n) | 1n) & MASK_128;
    this.advance();
    this.state = (this.state + ((pair(0) << 64n) | pair(2))) & MASK_128;
    this.advance();
  }

  /** Generator.integers(low, high): low <= value < high. */
  integer(low: number, high: number): number {
    const count = high - low;
    if (count === 1) return low;
    const threshold = 2 ** 32 % count;
    for (;;) {
      const product = BigInt(this.bits32()) * BigInt(count);
      if (Number(product & BigInt(WORD)) >= threshold) return low + Number(product >> 32n);
    }
  }

  /** Generator.permutation(n): Fisher and Yates from the end. */
  permutation(n: number): number[] {
    const order = Array.from({ length: n }, (_, i) => i);
    for (let i = n - 1; i > 0; i--) {
      const j = this.upTo(i);
      [order[i], order[j]] = [order[j], order[i]];
    }
    return order;
  }

  /** 0 <= value <= most, as NumPy draws it to shuffle: as many bits as `most` has, until it fits. */
  private upTo(most: number): number {
    const mask = 2 ** (32 - Math.clz32(most)) - 1;
    for (;;) {
      const value = (this.bits32() & mask) >>> 0;
      if (value <= most) return value;
    }
  }

  private advance(): void {
    this.state = (this.state * MULTIPLIER + this.increment) & MASK_128;
  }

  private bits32(): number {
    if (this.spare !== null) {
      const kept = this.spare;
      this.spare = null;
      return kept;
    }
    this.advance();
    const mixed = (this.state >> 64n) ^ (this.state & MASK_64);
    const turn = this.state >> 122n;
    const bits = ((mixed >> turn) | (mixed << (64n - turn))) & MASK_64;
    this.spare = Number(bits >> 32n);
    return Number(bits & BigInt(WORD));
  }
}

/** Eight words of 32 bits from a seed below 2^32: numpy.random.SeedSequence. */
function spread(seed: number): number[] {
  let constant = 0x43b0d7e5;
  const hash = (value: number, multiplier: number) => {
    let mixed = value ^ constant;
    constant = Math.imul(constant, multiplier);
    mixed = Math.imul(mixed, constant);
    return (mixed ^ (mixed >>> 16)) >>> 0;
  };
  const mix = (x: number, y: number) => {
    const mixed = Math.imul(0xca01f9dd, x) - Math.imul(0x4973f715, y);
    return (mixed ^ (mixed >>> 16)) >>> 0;
  };
  const pool = [seed, 0, 0, 0].map((word) => hash(word, 0x931e8875));
  for (let from = 0; from < 4; from++)
    for (let to = 0; to < 4; to++)
      if (from !== to) pool[to] = mix(pool[to], hash(pool[from], 0x931e8875));
  constant = 0x8b51f9dd;
  return Array.from({ length: 8 }, (_, k) => hash(pool[k % 4], 0x58f38ded));
}
