import type { ExitedEvent } from '../contract/index.js';
import { createFacts, type ProcessFacts, type StoredEnd, writeFacts } from './process-facts.js';

/** What is known about a process while it runs, beside its output. */
export class FactsFile {
  readonly #directory: string;
  #facts: ProcessFacts;
  /** Those on disk are out of date. */
  #hasChanged = true;

  constructor(directory: string, facts: ProcessFacts) {
    this.#directory = directory;
    this.#facts = facts;
  }

  get facts(): ProcessFacts {
    return this.#facts;
  }

  /** The process ended in a way that is not on disk yet. */
  get needsSaving(): boolean {
    return this.#hasChanged && this.#facts.end !== null;
  }

  /** Takes over what an earlier server knew about the end. */
  continueWith(end: StoredEnd | null): void {
    this.#facts = { ...this.#facts, end };
    this.#hasChanged = false;
  }

  exited(event: ExitedEvent, timeMs: number): void {
    const { seq: exitedSeq, exitCode, signal, timedOut, sandboxDenied } = event;
    const facts = { exitCode, signal, timedOut, sandboxDenied };
    const end = { ...facts, exitedSeq, exitedAtMs: timeMs, closedSeq: null, closedAtMs: null };
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

  /** Writes how the process ended, unless that is known on disk. */
  save(): void {
    if (this.needsSaving) writeFacts(this.#directory, this.#facts);
    this.#hasChanged = false;
  }
}
