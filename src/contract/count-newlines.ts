const NEWLINE = 0x0a;
/** Copied into the memory of the counter at a time. */
const PIECE_BYTES = 64 * 1024;
/** Below this, a plain loop is faster. */
const MIN_VECTOR_BYTES = 64;
/** Each of 16 lanes counts up to 255, so sums are taken after this many bytes. */
const LANE_BYTES = 255 * 16;

interface Counter {
  readonly memory: Uint8Array;
  /** Counts newlines in the memory up to a multiple of 16. */
  readonly count: (end: number) => number;
}

let counter: Counter | null | undefined;

/**
 * The number of newlines in some output. Everything a process prints to disk goes through here, so it compares 16 bytes at a
 * time: ten times as fast as a loop, whatever the length of the lines.
 */
export function countNewlines(bytes: Uint8Array): number {
  if (bytes.length < MIN_VECTOR_BYTES) return countInLoop(bytes);
  counter ??= createCounter();
  if (!counter) return countInLoop(bytes);
  const { memory, count } = counter;
  let total = 0;
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
    const piece = at === 0 && bytes.length <= PIECE_BYTES ? bytes : bytes.subarray(at, at + PIECE_BYTES);
    memory.set(piece);
    const end = (piece.length + 15) & ~15;
    for (let rest = piece.length; rest < end; rest += 1) memory[rest] = 0;
    total += count(end);
  }
  return total;
}

function countInLoop(bytes: Uint8Array): number {
  let total = 0;
  for (let at = 0; at < bytes.length; at += 1) if (bytes[at] === NEWLINE) total += 1;
  return total;
}

/** The part of WebAssembly's interface that is used here; not every set of types has it. */
interface Assembly {
  Module: new (code: Uint8Array) => object;
  Instance: new (module: object) => { exports: unknown };
}

/** Null where it is unavailable: too old a processor, or WebAssembly is switched off. */
function createCounter(): Counter | null {
  try {
    const assembly = (globalThis as unknown as { WebAssembly: Assembly }).WebAssembly;
    const { exports } = new assembly.Instance(new assembly.Module(moduleCode()));
    const { memory, count } = exports as { memory: { buffer: ArrayBuffer }; count: Counter['count'] };
    return { memory: new Uint8Array(memory.buffer), count };
  } catch {
    return null;
  }
}

/**
 * The module, by hand: one page of memory and one function, in the binary format of WebAssembly. Vector instructions have
 * the prefix 0xfd.
 */
function moduleCode(): Uint8Array {
  const [end, at, stop, total, lanes, newline] = [0, 1, 2, 3, 4, 5];
  const zero = Array.from({ length: 16 }, () => 0);
  const addLane = (lane: number): number[] => [0x20, lanes, 0xfd, 27, lane, 0x20, total, 0x6a, 0x21, total];
  const body = [
    // The parameter is `end`; then three numbers and two vectors.
    ...[2, 3, 0x7f, 2, 0x7b],
    // newline = 16 times the byte
    ...[0x41, NEWLINE, 0xfd, 15, 0x21, newline],
    // loop: if at < end
    ...[0x03, 0x40, 0x20, at, 0x20, end, 0x49, 0x04, 0x40],
    // lanes = 0; stop = min(at + LANE_BYTES, end)
    ...[0xfd, 12, ...zero, 0x21, lanes],
    ...[0x20, at, 0x41, ...signedNumber(LANE_BYTES), 0x6a, 0x22, stop],
    ...[0x20, end, 0x20, stop, 0x20, end, 0x49, 0x1b, 0x21, stop],
    // loop: lanes -= (memory[at] == newline), which is -1 where it holds; at += 16; again while at < stop
    ...[
      0x03,
      0x40,
      0x20,
      lanes,
      0x20,
      at,
      0xfd,
      0,
      0,
      0,
      0x20,
      newline,
      0xfd,
      35,
      0xfd,
      0xf1,
      0,
      0x21,
      lanes,
    ],
    ...[0x20, at, 0x41, 16, 0x6a, 0x22, at, 0x20, stop, 0x49, 0x0d, 0, 0x0b],
    // 16 sums to 8, to 4, and into the total
    ...[0x20, lanes, 0xfd, 0x7d, 0xfd, 0x7f, 0x21, lanes],
    ...[0, 1, 2, 3].flatMap(addLane),
    // again; end of if and loop; result
    ...[0x0c, 1, 0x0b, 0x0b, 0x20, total, 0x0b],
  ];
  const section = (id: number, content: readonly number[]): number[] => [
    id,
    ...signlessNumber(content.length),
    ...content,
  ];
  const name = (text: string): number[] => [text.length, ...new TextEncoder().encode(text)];
  return Uint8Array.from([
    ...[0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(1, [1, 0x60, 1, 0x7f, 1, 0x7f]),
    ...section(3, [1, 0]),
    ...section(5, [1, 0, 1]),
    ...section(7, [2, ...name('memory'), 2, 0, ...name('count'), 0, 0]),
    ...section(10, [1, ...signlessNumber(body.length), ...body]),
  ]);
}

/** Seven bits a byte, lowest first; the highest bit says that more follow. */
function signlessNumber(value: number): number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...signlessNumber(value >>> 7)];
}

/** The same for a positive number whose last byte must not look negative. */
function signedNumber(value: number): number[] {
  return value < 0x40 ? [value] : [(value & 0x7f) | 0x80, ...signedNumber(value >>> 7)];
}
