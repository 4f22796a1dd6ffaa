import { closeSync, fstatSync, openSync, readFileSync, renameSync, writeFileSync, writeSync } from 'node:fs';
import { isFull } from './full-disk.js';

/** Only so many are remembered one by one. */
const MAX_EPOCHS = 2_000;

/**
 * When programs of a set began to look at the files below. A program may write in the end what it read in the beginning: what
 * somebody else changed between the two would be lost. As long as one runs, it is the same epoch.
 */
export class Epochs {
  readonly #file: string;
  /** Comparable with the times of files, in order. */
  #begun: bigint[];

  constructor(file: string) {
    this.#file = file;
    this.#begun = readTimes(file);
  }

  /** Whoever comes now sees what is below by now. */
  begin(): void {
    try {
      this.#begun.push(stamp(this.#file));
      if (this.#begun.length > MAX_EPOCHS) this.#thinOut();
    } catch (error) {
      // Then it still counts as the epoch before, and what is no conflict may be called one.
      if (!isFull(error)) throw error;
    }
  }

  /** When the epoch began in which somebody wrote at this time; null if that is not known. */
  at(timeNs: bigint): bigint | null {
    return this.#begun.findLast((each) => each <= timeNs) ?? null;
  }

  /** Of older ones, every other is forgotten: what was in it counts as part of the one before. */
  #thinOut(): void {
    const half = MAX_EPOCHS / 2;
    this.#begun = this.#begun.filter((_, index) => index >= half || index % 2 === 0);
    const beside = `${this.#file}.new`;
    writeFileSync(beside, this.#begun.map((each) => `${each}\n`).join(''), { mode: 0o600 });
    renameSync(beside, this.#file);
  }
}

/** Notes the time of the clock that files get their times from. It ticks more slowly than others. */
function stamp(file: string): bigint {
  const fd = openSync(file, 'a', 0o600);
  try {
    writeSync(fd, '\n');
    const { mtimeNs } = fstatSync(fd, { bigint: true });
    writeSync(fd, `${mtimeNs}\n`);
    return mtimeNs;
  } finally {
    closeSync(fd);
  }
}

/** A number of which only part was written is too early a time, and so the careful guess. */
function readTimes(file: string): bigint[] {
  try {
    const lines = readFileSync(file, 'utf8').split('\n');
    return lines.filter((line) => /^\d{1,20}$/.test(line)).map(BigInt);
  } catch {
    return [];
  }
}
