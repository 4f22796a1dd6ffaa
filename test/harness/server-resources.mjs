import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { signalOne } from '../../testkit/signal-one.mjs';

const reporter = new URL('./resource-report.mjs', import.meta.url).href;
const POLL_MS = 20;

/** What a server holds, seen from outside and, on request, from inside. Give it `env` before it starts, `pid` after. */
export class ServerResources {
  #folder = mkdtempSync(join(tmpdir(), 'execwire-resources-'));
  #file = join(this.#folder, 'report');
  pid = -1;

  /** Variables that make the server able to tell. */
  get env() {
    return { NODE_OPTIONS: `--import=${reporter}`, EXECWIRE_RESOURCE_REPORT: this.#file };
  }

  /** Open descriptors. */
  get descriptors() {
    return readdirSync(`/proc/${this.pid}/fd`).length;
  }

  /** Direct children, dead ones nobody took leave of included. */
  get children() {
    const tasks = readdirSync(`/proc/${this.pid}/task`);
    return tasks.flatMap((task) => {
      const text = readFileSync(`/proc/${this.pid}/task/${task}/children`, 'utf8').trim();
      return text === '' ? [] : text.split(' ').map(Number);
    });
  }

  /**
   * Timers and handles that keep it awake, and bytes it holds after a collection.
   * @returns {Promise<{ timers: number, handles: number, rss: number, heldBytes: number }>}
   */
  async inside() {
    rmSync(this.#file, { force: true });
    signalOne(this.pid, 'SIGUSR2');
    while (!existsSync(this.#file) || !readFileSync(this.#file, 'utf8').endsWith('\n')) {
      if (!existsSync(`/proc/${this.pid}`)) throw new Error('the server is gone');
      await pause(POLL_MS);
    }
    return JSON.parse(readFileSync(this.#file, 'utf8'));
  }

  [Symbol.dispose]() {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
