import { setImmediate as nextTurn } from 'node:timers/promises';

/** How long output may wait to be written, and how long files stay open after that. */
const TICK_MS = 1000;
/** With this many ended processes whose output waits in memory, writing begins before the tick. */
const MANY_WAITING = 128;
/** With this many, the disk is slower than programs end, and the next one has to wait for it. */
const MAX_WAITING = 512;

/** Output that is written later. */
export interface Kept {
  /** Writes pending output, or closes the files. Returns false if nothing is left to do. */
  tick(): boolean;
  flush(): void;
  close(): void;
}

/**
 * Writes pending output once a second, one process per turn of the event loop, so that starting a program need not wait for the
 * disk.
 */
export class Upkeep {
  readonly #running = new Set<Kept>();
  readonly #ended = new Set<Kept>();
  #timer: NodeJS.Timeout | undefined;
  #isWriting = false;

  /** Calls `tick` until there is nothing left to do. */
  watch(output: Kept): void {
    if (!this.#ended.has(output)) this.#add(this.#running, output);
  }

  /** Writes the rest of an output whose process has ended. */
  finish(output: Kept): void {
    this.#running.delete(output);
    if (this.#ended.size >= MAX_WAITING) {
      output.tick();
      return;
    }
    this.#add(this.#ended, output);
    if (this.#ended.size >= MANY_WAITING) void this.#write([this.#ended]);
  }

  /** Call when nothing is left to write of this output. */
  forget(output: Kept): void {
    this.#running.delete(output);
    this.#ended.delete(output);
  }

  /** Writes everything immediately, and closes all files. */
  close(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    nothingToSave(this);
    for (const output of [...this.#running, ...this.#ended]) {
      output.flush();
      output.close();
    }
    this.#running.clear();
    this.#ended.clear();
  }

  #add(outputs: Set<Kept>, output: Kept): void {
    outputs.add(output);
    if (this.#timer) return;
    this.#timer = setInterval(() => void this.#write([this.#ended, this.#running]), TICK_MS).unref();
    saveAtExit(this);
  }

  async #write(sets: readonly Set<Kept>[]): Promise<void> {
    if (this.#isWriting) return;
    this.#isWriting = true;
    try {
      for (const outputs of sets) await writeEach(outputs);
    } finally {
      this.#isWriting = false;
    }
    if (this.#running.size + this.#ended.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
    nothingToSave(this);
  }
}

async function writeEach(outputs: Set<Kept>): Promise<void> {
  for (const output of [...outputs]) {
    await nextTurn();
    if (outputs.has(output) && !output.tick()) outputs.delete(output);
  }
}

/** The timer does not keep the process alive, so pending output is also written on exit. */
const unsaved = new Set<Upkeep>();

function saveAtExit(upkeep: Upkeep): void {
  if (unsaved.size === 0) process.on('exit', saveAll);
  unsaved.add(upkeep);
}

function nothingToSave(upkeep: Upkeep): void {
  if (unsaved.delete(upkeep) && unsaved.size === 0) process.off('exit', saveAll);
}

function saveAll(): void {
  for (const upkeep of unsaved) upkeep.close();
}
