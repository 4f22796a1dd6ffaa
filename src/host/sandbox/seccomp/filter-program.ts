/** One instruction of the kernel's packet filter machine: 8 bytes in the filter. */
export interface Instruction {
  readonly code: number;
  /** Instructions to skip if the comparison holds, and if not. */
  readonly whenTrue?: number;
  readonly whenFalse?: number;
  readonly operand: number;
}

/** The body for one number, ending in a verdict. */
export interface Case {
  readonly number: number;
  readonly body: readonly Instruction[];
}

const LOAD_WORD = 0x20;
const AND = 0x54;
const JUMP_EQUAL = 0x15;
const JUMP_AT_LEAST = 0x35;
const JUMP_ANY_BIT = 0x45;
const RETURN = 0x06;

/** A jump offset is one byte. */
const MAX_SKIP = 255;

/** This few are compared one by one. */
const LEAF_CASES = 3;

export const load = (offset: number): Instruction => ({ code: LOAD_WORD, operand: offset });
export const mask = (bits: number): Instruction => ({ code: AND, operand: bits });
export const end = (verdict: number): Instruction => ({ code: RETURN, operand: verdict });

/** The next instruction runs if equal. */
export const ifEqual = (operand: number): Instruction => ({ code: JUMP_EQUAL, whenFalse: 1, operand });
/** The next instruction runs if not equal. */
export const unlessEqual = (operand: number): Instruction => ({ code: JUMP_EQUAL, whenTrue: 1, operand });
/** The next instruction runs if at least as large. */
export const ifAtLeast = (operand: number): Instruction => ({ code: JUMP_AT_LEAST, whenFalse: 1, operand });
/** The next instruction runs if none of the bits is set. */
export const unlessAnyBit = (operand: number): Instruction => ({ code: JUMP_ANY_BIT, whenTrue: 1, operand });

/**
 * Finds the case for the loaded number by binary search. When a filter is installed the kernel runs it for every system
 * call, to learn which ones always pass; most of that time is spent comparing.
 */
export function select(cases: readonly Case[], otherwise: Instruction): Instruction[] {
  const sorted = cases.toSorted((a, b) => a.number - b.number);
  if (sorted.length <= LEAF_CASES) {
    const tests = sorted.flatMap(({ number, body }) => [
      { code: JUMP_EQUAL, whenFalse: body.length, operand: number },
      ...body,
    ]);
    return [...tests, otherwise];
  }
  const half = Math.ceil(sorted.length / 2);
  const below = select(sorted.slice(0, half), otherwise);
  const above = select(sorted.slice(half), otherwise);
  const border = sorted[half]?.number ?? 0;
  return [{ code: JUMP_AT_LEAST, whenTrue: below.length, operand: border }, ...below, ...above];
}

/** The program in the kernel's format. */
export function encode(program: readonly Instruction[]): Uint8Array {
  const bytes = new DataView(new ArrayBuffer(program.length * 8));
  for (const [index, { code, whenTrue = 0, whenFalse = 0, operand }] of program.entries()) {
    if (Math.max(whenTrue, whenFalse) > MAX_SKIP) throw new RangeError('a jump of the filter is too long');
    bytes.setUint16(index * 8, code, true);
    bytes.setUint8(index * 8 + 2, whenTrue);
    bytes.setUint8(index * 8 + 3, whenFalse);
    bytes.setUint32(index * 8 + 4, operand, true);
  }
  return new Uint8Array(bytes.buffer);
}
