import type { LocalProcess } from '../../host/index.js';

/** Write ids remembered per process to recognise retries. A client has only a few writes in flight. */
const MAX_REMEMBERED_WRITES = 4096;

/** Which writes a session has accepted, so that one repeated after a reconnect is not typed twice. */
export class RememberedWrites {
  readonly #sessionId: string;
  readonly #seen = new Map<string, Set<string>>();

  constructor(sessionId: string) {
    this.#sessionId = sessionId;
  }

  /** What a write of this session is called where writes of other sessions are, too. */
  nameOf(writeId: string): string {
    return `${this.#sessionId} ${writeId}`;
  }

  /** Remembers the writes that an earlier server accepted. */
  recall(process: LocalProcess): void {
    const { processId, takenWrites } = process;
    const mark = this.nameOf('');
    for (const name of takenWrites)
      if (name.startsWith(mark)) this.remember(processId, name.slice(mark.length));
  }

  /** Whether this write id has not been seen for the process yet. */
  isNew(processId: string, writeId: string): boolean {
    return this.#seen.get(processId)?.has(writeId) !== true;
  }

  remember(processId: string, writeId: string): void {
    const seen = this.#seen.get(processId) ?? new Set();
    this.#seen.set(processId, seen.add(writeId));
    if (seen.size <= MAX_REMEMBERED_WRITES) return;
    for (const oldest of seen) {
      seen.delete(oldest);
      break;
    }
  }

  forget(processId: string): void {
    this.#seen.delete(processId);
  }

  /** Runs something that forgets the writes of a process, and restores them afterwards. */
  preserve(processId: string, run: () => void): void {
    const seen = this.#seen.get(processId);
    run();
    if (seen) this.#seen.set(processId, seen);
  }
}
