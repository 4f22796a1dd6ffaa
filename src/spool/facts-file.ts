import { type ExitedEvent, exitFacts } from '../contract/index.js';
import { createFacts, type ProcessFacts, type StoredEnd, writeFacts } from './process-facts.js';

/** The facts about a running process, next to its output. */
export class FactsFile {
  readonly #directory: string;
  #facts: ProcessFacts;
  /** Whether the file is out of date. */
  #hasChanged = true;

  constructor(directory: string, facts: ProcessFacts) {
    this.#directory = directory;
    this.#facts = facts;
  }

  get facts(): ProcessFacts {
    return this.#facts;
  }

  /** Whether the end of the process is not on disk yet. */
  get needsSaving(): boolean {
    return this.#hasChanged && this.#facts.end !== null;
  }

  /** Takes over the end recorded by an earlier server. */
  continueWith(end: StoredEnd | null): void {
    this.#facts = { ...this.#facts, end };
    this.#hasChanged = false;
  }

  exited({ seq: exitedSeq, ...event }: ExitedEvent, timeMs: number): void {
    const end = { ...exitFacts(event), exitedSeq, exitedAtMs: timeMs, closedSeq: null, closedAtMs: null };
    this.#facts = { ...this.#facts, end };
    this.#hasChanged = true;
  }

  closed(seq: number, timeMs: number): void {
    const { end } = this.#facts;
    if (end) this.#facts = { ...this.#facts, end: { ...end, closedSeq: seq, closedAtMs: timeMs } };
    this.#hasChanged = true;
  }

  create(): void {
    createFacts(this.#directory, this.#facts);
    this.#hasChanged = false;
  }

  /** Writes the end of the process, unless it is on disk already. */
  save(): void {
    if (this.needsSaving) writeFacts(this.#directory, this.#facts);
    this.#hasChanged = false;
  }
}
