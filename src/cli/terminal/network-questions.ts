import { openSync } from 'node:fs';
import { addAbortSignal } from 'node:stream';
import { ReadStream } from 'node:tty';
import type { NetworkAnswer, NetworkQuestion } from '../../contract/index.js';
import { HOST_ANSWER_LIMIT_MS } from '../../protocol/host-questions.js';
import type { NoticeLine } from './notice-line.js';
import { printable } from './table.js';

const ANSWERS: Readonly<Record<string, NetworkAnswer>> = { o: 'once', s: 'session', d: 'deny' };

/** Output of the program covers the question; it is shown again after this time. */
const SHOWN_AGAIN_MS = 1_000;

/** With less than this of its time left, nobody could read a question that has waited for others. */
const READING_SHARE = 0.05;

const LINE_END = /[\r\n]/;

/** Ctrl-C is for the program as well: it must be possible to interrupt one that asks. */
const INTERRUPT = '\u0003';

/** Input for the program, which may answer a question instead. */
interface Keys {
  /** Where a question is shown while a program has the terminal to itself. */
  readonly line: NoticeLine | undefined;
}

/**
 * Asks the person at the terminal about hosts, one question at a time. While one is open, what they type answers it and does
 * not reach the program.
 */
export class NetworkQuestions {
  #keys: Keys | undefined;
  readonly #limitMs: number;
  #answer: ((answer: NetworkAnswer) => void) | undefined;
  #last: Promise<unknown> = Promise.resolve();
  /** The rest of the line that the last answer was on: a terminal that is not raw sends it along. */
  #skipsLineEnd = false;

  /** Nobody waits longer than `limitMs` for an answer. A question that waited for others as long is not put any more. */
  constructor({ limitMs = HOST_ANSWER_LIMIT_MS } = {}) {
    this.#limitMs = limitMs;
  }

  /** From now on the terminal is read through `take`. */
  use(keys: Keys): void {
    this.#keys = keys;
  }

  /** Throws without a terminal, and without an answer in time. */
  readonly ask = async (question: NetworkQuestion): Promise<NetworkAnswer> => {
    const late = AbortSignal.timeout(this.#limitMs);
    const lastMoment = performance.now() + this.#limitMs * (1 - READING_SHARE);
    const answered = this.#last.then(() => {
      if (performance.now() > lastMoment) throw new Error('Nobody answered in time.');
      return this.#ask(question, late);
    });
    this.#last = answered.catch(() => undefined);
    return await answered;
  };

  /** Returns what is meant for the program. */
  take(input: Uint8Array): Uint8Array {
    const text = Buffer.from(input).toString('latin1');
    if (this.#skipsLineEnd && LINE_END.test(text[0] ?? '')) input = input.subarray(1);
    this.#skipsLineEnd = false;
    if (!this.#answer) return input;
    const at = text.split('').findIndex((key) => key === INTERRUPT || key.toLowerCase() in ANSWERS);
    if (at === -1) return new Uint8Array();
    this.#answer(ANSWERS[text[at]?.toLowerCase() ?? ''] ?? 'deny');
    if (text[at] === INTERRUPT) return input.subarray(at);
    const rest = input.subarray(at + 1);
    this.#skipsLineEnd = rest.length === 0;
    return LINE_END.test(text[at + 1] ?? '') ? rest.subarray(1) : rest;
  }

  async #ask({ host, port }: NetworkQuestion, late: AbortSignal): Promise<NetworkAnswer> {
    const target = printable(`${host}:${port}`);
    const text = `[execwire: may it reach ${target}? o once, s for this session, d deny]`;
    return this.#keys ? await this.#askOnKeys(text, this.#keys, late) : await askOnTerminal(text, late);
  }

  async #askOnKeys(text: string, { line }: Keys, late: AbortSignal): Promise<NetworkAnswer> {
    if (!line) process.stderr.write(`${text} `);
    line?.show(text);
    const again = line && setInterval(() => line.show(text), SHOWN_AGAIN_MS);
    try {
      return await new Promise<NetworkAnswer>((resolve, reject) => {
        this.#answer = resolve;
        late.addEventListener('abort', () => reject(late.reason as Error));
      });
    } finally {
      this.#answer = undefined;
      clearInterval(again);
      line?.clear(text);
    }
  }
}

/** Nobody else reads the terminal: our own input comes from somewhere else. */
async function askOnTerminal(text: string, late: AbortSignal): Promise<NetworkAnswer> {
  const terminal = addAbortSignal(late, new ReadStream(openSync('/dev/tty', 'r')));
  try {
    process.stderr.write(`${text} `);
    for await (const chunk of terminal as AsyncIterable<Buffer>) {
      const answer = ANSWERS[chunk.toString().trim().slice(0, 1).toLowerCase()];
      if (answer) return answer;
      process.stderr.write(`${text} `);
    }
    return 'deny';
  } finally {
    terminal.destroy();
  }
}
