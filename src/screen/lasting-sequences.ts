import { sequenceEnd } from './sequence-end.js';

const ESCAPE = 0x1b;
const CONTROL_SEQUENCE = 0x5b;
const PRIVATE = 0x3f;
/** Final characters of sequences. */
const LETTER = { H: 0x48, c: 0x63, f: 0x66, h: 0x68, l: 0x6c, m: 0x6d, p: 0x70, q: 0x71, r: 0x72 } as const;
/** Parameters consist of characters up to this one: digits, colon, semicolon. */
const LAST_OF_NUMBERS = 0x3b;
const [SHIFT_OUT, SHIFT_IN] = [0x0e, 0x0f];
/** The private modes that switch between the two screens. */
const SCREENS: ReadonlySet<number> = new Set([47, 1047, 1049]);
/** All other private modes that a terminal keeps. */
const PRIVATE_MODES: ReadonlySet<number> = new Set([
  ...[1, 6, 7, 9, 25, 45, 66, 1000, 1002, 1003, 1004, 1005, 1006, 1007, 1015, 1016, 2004],
]);
const PUBLIC_MODES: ReadonlySet<number> = new Set([4, 20]);
/** The settings of short sequences, by their first character. */
const SHORT: Readonly<Record<number, string>> = {
  0x28: 'characters 0',
  0x29: 'characters 1',
  0x2a: 'characters 2',
  0x2b: 'characters 3',
  0x3d: 'keypad',
  0x3e: 'keypad',
  0x6e: 'shift',
  0x6f: 'shift',
};

/** The position of a sequence in the bytes. `set`: the sequence to use instead, if the original sets several things at once. */
export interface Found {
  readonly at: number;
  readonly end: number;
  readonly set?: string;
}

/** The sequences in output that have a lasting effect. Each byte is examined about once. */
export class LastingSequences {
  /** The last sequence of each kind. */
  readonly found = new Map<string | number, Found>();
  /** The styles set since the last reset of styles. */
  looks: Found[] = [];
  /** Whether the output resets everything before it, or only the styles. */
  reset: 'all' | 'looks' | undefined;
  /** Where an incomplete sequence begins; the end of the output if there is none. */
  open: number;
  /** Where the text begins that precedes the last switch of screens. */
  screenFrom = 0;
  readonly #bytes: Buffer;
  #screenEnd = 0;
  #placeAt = -1;
  #placeEnd = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
    this.open = bytes.length;
    const { length } = bytes;
    for (let at = 0; at < length; at += 1) {
      if (bytes[at] !== ESCAPE) continue;
      const end = sequenceEnd(bytes, at);
      if (end > length) this.open = at;
      else if (bytes[at + 1] === CONTROL_SEQUENCE) this.#control(at, end);
      else this.#short(at, end);
    }
    if (this.#placeAt >= 0) this.found.set('place', { at: this.#placeAt, end: this.#placeEnd });
    // Single bytes select character sets, too.
    const shift = Math.max(bytes.lastIndexOf(SHIFT_OUT), bytes.lastIndexOf(SHIFT_IN));
    if (shift > (this.found.get('shift')?.at ?? -1)) this.found.set('shift', { at: shift, end: shift + 1 });
  }

  #control(at: number, end: number): void {
    const bytes = this.#bytes;
    switch (bytes[end - 1]) {
      case LETTER.m:
        if (end === at + 3 || (bytes[at + 2] ?? 0) <= LAST_OF_NUMBERS) this.#look(at, end);
        else if (bytes[at + 2] === 0x3e) this.found.set('keys', { at, end });
        return;
      case LETTER.h:
      case LETTER.l:
        return this.#modes(at, end);
      case LETTER.H:
      case LETTER.f:
        this.#placeAt = at;
        this.#placeEnd = end;
        return;
      case LETTER.r:
        if ((bytes[at + 2] ?? 0) !== PRIVATE) this.found.set('region', { at, end });
        return;
      case LETTER.q:
        if (bytes[end - 2] === 0x20) this.found.set('cursor', { at, end });
        return;
      case LETTER.p:
        if (bytes[end - 2] !== 0x21) return;
        this.#plain();
        this.found.set('soft reset', { at, end });
    }
  }

  #short(at: number, end: number): void {
    const first = this.#bytes[at + 1] ?? 0;
    const what = SHORT[first];
    if (what !== undefined) this.found.set(what, { at, end });
    if (first !== LETTER.c) return;
    this.found.clear();
    this.#placeAt = -1;
    this.#plain();
    this.reset = 'all';
    this.found.set('reset', { at, end });
  }

  #look(at: number, end: number): void {
    if (end === at + 3 || this.#bytes[at + 2] === 0x30) this.#plain();
    this.looks.push({ at, end });
  }

  #plain(): void {
    this.looks = [];
    this.reset ??= 'looks';
  }

  #modes(at: number, end: number): void {
    const isPrivate = this.#bytes[at + 2] === PRIVATE;
    let mode = 0;
    for (let index = at + (isPrivate ? 3 : 2); index < end; index += 1) {
      const byte = this.#bytes[index] ?? 0;
      if (byte >= 0x30 && byte <= 0x39) mode = Math.min(mode * 10 + byte - 0x30, 1e6);
      else {
        this.#mode(isPrivate ? mode : -mode, at, end);
        mode = 0;
      }
    }
  }

  /** `mode` is negative if it is not private. */
  #mode(mode: number, at: number, end: number): void {
    const isScreen = SCREENS.has(mode);
    if (!isScreen && !PRIVATE_MODES.has(mode) && !PUBLIC_MODES.has(-mode)) return;
    const final = String.fromCharCode(this.#bytes[end - 1] ?? 0);
    const set = mode > 0 ? `\u001b[?${mode}${final}` : `\u001b[${-mode}${final}`;
    this.found.set(isScreen ? 'screen' : mode, { at, end, set });
    if (!isScreen) return;
    this.screenFrom = final === 'h' ? this.#screenEnd : at;
    this.#screenEnd = end;
    this.#placeAt = -1;
  }
}
