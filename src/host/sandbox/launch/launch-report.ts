import { closeSync } from 'node:fs';
import { readOrEnd } from '../../kernel/index.js';
import { LAUNCH_FAILED } from './launch-script.js';

/**
 * What a waiting shell tells about becoming the program. The kernel closes its end the moment it is the program, which
 * therefore cannot say anything here: no program can pass for a launch that failed.
 */
export class LaunchReport {
  #readEnd: number | null;
  #text = '';

  /** Owns the descriptor, which does not block. */
  constructor(readEnd: number) {
    this.#readEnd = readEnd;
  }

  /** `ended`: the shell is the program by now, or is gone without a word. */
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
