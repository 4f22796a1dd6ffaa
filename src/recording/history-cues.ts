import type { HistoryEntry, OutputStream, TerminalSize } from '../contract/index.js';
import type { Cue } from './cue.js';

/** The size assumed for output of pipes. */
const USUAL_SIZE: TerminalSize = { rows: 24, cols: 80 };
/** Ends a sequence whose rest was lost, and resets colours. */
const BREAK_OFF = '\u0018\u001b[0m';

/**
 * The history of a process as cues. Characters split over two chunks are joined; bytes that are not UTF-8 become U+FFFD
 * each. Lost output becomes a visible line.
 */
export async function* historyCues(history: AsyncIterable<HistoryEntry>): AsyncGenerator<Cue, void> {
  let texts = new StreamTexts(false);
  let startMs = 0;
  let lastMs = 0;
  for await (const entry of history) {
    const atMs = Math.max(0, entry.timeMs - startMs);
    if (entry.type === 'start') {
      startMs = entry.timeMs;
      texts = new StreamTexts(!entry.tty);
      const size = entry.size ?? USUAL_SIZE;
      yield { type: 'start', atMs: 0, size, startedAtMs: startMs, idleLimitMs: null };
      continue;
    }
    lastMs = atMs;
    if (entry.type === 'output') yield* shown(atMs, texts.take(entry.stream, entry.bytes));
    else if (entry.type === 'resize') yield { type: 'resize', atMs, size: entry.size };
    else if (entry.type === 'gap') {
      const label = `${entry.lostBytes} bytes of output were lost here`;
      yield { type: 'mark', atMs, label };
      yield* shown(atMs, `${texts.end()}${BREAK_OFF}\r\n[${label}]\r\n`);
    } else {
      yield* shown(atMs, texts.end());
      yield { type: 'exit', atMs, exitCode: entry.exitCode };
    }
  }
  yield* shown(lastMs, texts.end());
}

function* shown(atMs: number, text: string): Generator<Cue, void> {
  if (text !== '') yield { type: 'text', atMs, text };
}

/** Decodes the bytes of each stream. */
class StreamTexts {
  readonly #decoders = new Map<OutputStream, InstanceType<typeof TextDecoder>>();
  readonly #addsReturns: boolean;

  /** `addsReturns`: put a carriage return before each line feed, as a terminal would have. */
  constructor(addsReturns: boolean) {
    this.#addsReturns = addsReturns;
  }

  take(stream: OutputStream, bytes: Uint8Array): string {
    let decoder = this.#decoders.get(stream);
    if (!decoder) {
      decoder = new TextDecoder('utf-8', { ignoreBOM: true });
      this.#decoders.set(stream, decoder);
    }
    const text = decoder.decode(bytes, { stream: true });
    return this.#addsReturns ? text.replaceAll('\n', '\r\n') : text;
  }

  /** The remains of incomplete characters. */
  end(): string {
    return [...this.#decoders.values()].map((decoder) => decoder.decode()).join('');
  }
}
