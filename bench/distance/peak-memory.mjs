import { readFileSync, writeFileSync } from 'node:fs';

/** The kernel keeps the peak itself; it is looked at this often because it goes with the process. */
const LOOK_MS = 25;
const RESET_PEAK = '5';

/** The most memory a process has had resident, in MB (10^6 bytes), from now until `stop`. */
export class PeakMemory {
  #pid;
  #most = 0;
  #timer;

  /** @param {number | undefined} pid */
  constructor(pid) {
    this.#pid = pid;
    try {
      writeFileSync(`/proc/${pid}/clear_refs`, RESET_PEAK);
    } catch {
      // It belongs to somebody else or is gone; then its peak counts from its beginning.
    }
    this.#timer = setInterval(() => this.#look(), LOOK_MS);
  }

  stop() {
    clearInterval(this.#timer);
    this.#look();
    return this.#most;
  }

  #look() {
    try {
      const status = readFileSync(`/proc/${this.#pid}/status`, 'utf8');
      const kilobytes = /^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1];
      if (kilobytes) this.#most = (Number(kilobytes) * 1024) / 1e6;
    } catch {
      // Gone: what was seen last counts.
    }
  }
}
