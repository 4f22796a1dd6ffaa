import type { Terminal } from '@xterm/headless';
import type { Attributes } from './pen.js';

/** A character set that a program has selected; undefined for the default. */
export type Charset = Readonly<Record<string, string>> | undefined;

/** One of the two screens of a terminal. */
export interface ScreenBuffer {
  readonly x: number;
  readonly y: number;
  readonly ybase: number;
  readonly scrollTop: number;
  readonly scrollBottom: number;
  readonly savedX: number;
  readonly savedY: number;
  readonly savedCurAttrData: Attributes;
  readonly savedCharset: Charset;
  readonly tabs: Readonly<Record<number, boolean>>;
}

/** State that the emulator has but does not expose. */
export interface TerminalInternals {
  readonly buffers: {
    readonly normal: ScreenBuffer;
    readonly alt: ScreenBuffer;
    readonly active: ScreenBuffer;
  };
  readonly pen: Attributes;
  readonly isCursorHidden: boolean;
  readonly cursorStyle: 'block' | 'underline' | 'bar' | undefined;
  readonly cursorBlink: boolean | undefined;
  readonly mouseEncoding: string;
  /** The character set in use: that of the current level, unless the program has restored another. */
  readonly charset: Charset;
  readonly charsets: readonly Charset[];
  readonly charsetLevel: number;
  /** Whether a sequence is incomplete. */
  readonly isWithinSequence: boolean;
  /** Whether the last output was a printed character, which the next one may combine with. */
  readonly hasJustPrinted: boolean;
  /** Parses output synchronously. If it makes the emulator throw, the rest of it is dropped. */
  parse(data: Uint8Array | string): void;
  /** Runs the emulator's own handler of a sequence with one number. */
  run(handler: string, count: number): boolean;
}

interface Core {
  readonly _bufferService: { readonly buffers: TerminalInternals['buffers'] };
  readonly _inputHandler: {
    readonly _curAttrData: Attributes;
    parse(data: Uint8Array | string): void;
    readonly _parser: { reset(): void; readonly currentState: number; readonly precedingJoinState: number };
  };
  readonly coreService: {
    readonly isCursorHidden: boolean;
    readonly decPrivateModes: { cursorStyle?: 'block' | 'underline' | 'bar'; cursorBlink?: boolean };
  };
  readonly coreMouseService: { readonly activeEncoding: string };
  readonly _charsetService: {
    readonly glevel: number;
    readonly charset: Charset;
    readonly _charsets: readonly Charset[];
  };
}

/** Reads private members. The package is pinned to one version, and the tests compare each of these. */
export function internalsOf(terminal: Terminal): TerminalInternals {
  const core = Reflect.get(terminal, '_core') as Core;
  const { coreService, coreMouseService, _inputHandler: input, _charsetService: charset } = core;
  return {
    get buffers() {
      return core._bufferService.buffers;
    },
    get pen() {
      return input._curAttrData;
    },
    get isCursorHidden() {
      return coreService.isCursorHidden;
    },
    get cursorStyle() {
      return coreService.decPrivateModes.cursorStyle;
    },
    get cursorBlink() {
      return coreService.decPrivateModes.cursorBlink;
    },
    get mouseEncoding() {
      return coreMouseService.activeEncoding;
    },
    get charset() {
      return charset.charset;
    },
    get charsets() {
      return charset._charsets;
    },
    get charsetLevel() {
      return charset.glevel;
    },
    get isWithinSequence() {
      return input._parser.currentState !== 0;
    },
    get hasJustPrinted() {
      return input._parser.precedingJoinState !== 0;
    },
    parse: (data) => {
      try {
        input.parse(data);
      } catch {
        input._parser.reset();
      }
    },
    run: (handler, count) => {
      const method = Reflect.get(input, handler) as (params: { params: number[]; length: number }) => boolean;
      return Reflect.apply(method, input, [{ params: [count], length: 1 }]);
    },
  };
}
