import { closeSync } from 'node:fs';
import { readOrEnd } from '../../kernel/index.js';
import { LAUNCH_FAILED } from './launch-script.js';

/**
 * A waiting shell's report on becoming the program. The kernel closes the shell's end on exec, so the program itself
 * can never write here and pretend that its launch failed.
 */
export class LaunchReport {
  #readEnd: number | null;
  #text = '';

  /** Owns the descriptor, which is non-blocking. */
  constructor(readEnd: number) {
    this.#readEnd = readEnd;
  }

  /** `ended`: the shell has become the program, or is gone without a report. */
  look(): 'underWay' | 'failed' | 'ended' {
    if (this.#readEnd !== null) {
      const said = readOrEnd(this.#readEnd);
      if (said === null) this.close();
      else this.#text += said;
    }
    if (this.#text.startsWith(LAUNCH_FAILED)) return 'failed';
    return this.#readEnd === null ? 'ended' : 'underWay';
  }

  /** Idempotent. */
  close(): void {
    if (this.#readEnd !== null) closeSync(this.#readEnd);
    this.#readEnd = null;
  }
}
