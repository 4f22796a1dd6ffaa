import { readdirSync, rmSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { isRunning, type ProcessFacts, readFacts } from './process-facts.js';
import type { SpoolOwner } from './quota.js';
import { releaseLeftSpace } from './reserved-space.js';

/** Directories examined per turn of the event loop. */
const BATCH = 32;

/** The output of a process that an earlier server left. */
export class FinishedOutput implements SpoolOwner {
  readonly #directory: string;
  readonly #dropped: (id: string) => void;
  readonly facts: ProcessFacts;

  constructor(directory: string, facts: ProcessFacts, dropped: (id: string) => void) {
    this.#directory = directory;
    this.facts = facts;
    this.#dropped = dropped;
  }

  /** Measures its size on disk. */
  measure(): number {
    const sizes = readdirSync(this.#directory).map((name) => releaseLeftSpace(join(this.#directory, name)));
    return sizes.reduce((sum, size) => sum + size, 0);
  }

  expendableSince(): number {
    return this.facts.end?.closedAtMs ?? this.facts.startedAtMs;
  }

  dropSpool(): void {
    this.#dropped(this.facts.id);
    rmSync(this.#directory, { recursive: true, force: true });
  }
}

/** All output in a spool that no running server uses. Anything else in the directory is left alone. */
export async function* finishedOutputs(
  spool: string,
  dropped: (id: string) => void,
): AsyncGenerator<FinishedOutput, void> {
  const names = await readdir(spool).catch(() => []);
  for (const [count, name] of names.entries()) {
    if (count % BATCH === BATCH - 1) await nextTurn();
    const directory = join(spool, name);
    const facts = readFacts(directory);
    if (facts?.id !== name || (!facts.end?.closedSeq && isRunning(facts.server))) continue;
    yield new FinishedOutput(directory, facts, dropped);
  }
}
