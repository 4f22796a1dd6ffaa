import { closeSync } from 'node:fs';
import { readOrEnd } from '../../kernel/index.js';
import { LAUNCH_BEGUN, LAUNCH_FAILED } from './launch-script.js';

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

  /**
   * `ended`: the shell has become the program, or was killed on its way there. `failed`: it could not, or there never was
   * a shell, because the sandbox around it could not be set up.
   */
  look(): 'underWay' | 'failed' | 'ended' {
    this.#read();
    if (this.#text.includes(LAUNCH_FAILED)) return 'failed';
    if (this.#readEnd !== null) return 'underWay';
    return this.#text.startsWith(LAUNCH_BEGUN) ? 'ended' : 'failed';
  }

  /** Stops listening; what was reported so far counts. Idempotent. */
  close(): void {
    this.#read();
    this.#end();
  }

  #read(): void {
    for (let said: string | null = null; this.#readEnd !== null && said !== ''; ) {
      said = readOrEnd(this.#readEnd);
      if (said !== null) this.#text += said;
      else this.#end();
    }
  }

  #end(): void {
    if (this.#readEnd !== null) closeSync(this.#readEnd);
    this.#readEnd = null;
  }
}
