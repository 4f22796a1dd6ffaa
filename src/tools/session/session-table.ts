import type { ExecProcess } from '../../contract/index.js';
import { ExecError } from '../../protocol/index.js';
import { LiveOutput, type LiveOptions } from './live-output.js';
import { SpoolQuota } from '../../spool/index.js';
import { ToolSession } from './tool-session.js';
import { Transcript, type TranscriptOptions } from './transcript.js';

/** Sessions per model, including finished ones whose output can still be read. */
export const DEFAULT_MAX_SESSIONS = 64;
/** How many removed sessions we remember, to say more than "unknown" about them. */
const MAX_REMEMBERED = 1024;

export interface SessionLimits extends Omit<TranscriptOptions, 'expendableSince'> {
  readonly maxSessions?: number;
}

interface SessionTableOptions extends SessionLimits {
  /** How output is rendered as it arrives. */
  readonly live: LiveOptions;
}

/** The sessions of one model, by ID. IDs count up and are never reused. */
export class SessionTable {
  readonly #options: SessionTableOptions;
  readonly #sessions = new Map<number, ToolSession>();
  readonly #quota: SpoolQuota;
  readonly #removalReasons = new Map<number, string>();
  #nextId = 1;
  /** Starts in progress: they will need a slot too. */
  #starting = 0;
  #closed = false;

  constructor(options: SessionTableOptions) {
    this.#options = options;
    this.#quota = options.spoolQuota ?? new SpoolQuota();
  }

  all(): ToolSession[] {
    return [...this.#sessions.values()];
  }

  /** A session whose output can be read, running or not. */
  get(id: number): ToolSession {
    const session = this.#sessions.get(id);
    if (!session) throw unknownSession(id, this.#removalReasons.get(id) ?? 'no such session was started.');
    session.lastUsedAtMs = performance.now();
    return session;
  }

  /** A session that is running, or whose end has not been reported. */
  getUnreported(id: number): ToolSession {
    const session = this.get(id);
    if (session.reported) {
      throw unknownSession(id, `${describeEnd(session)}, as reported. read_output still has its output.`);
    }
    return session;
  }

  /** Starts a process and gives it an ID. `ended` lists the unreported sessions removed to make room. */
  async add(options: {
    command: string;
    start: () => Promise<ExecProcess>;
  }): Promise<{ session: ToolSession; ended: number[] }> {
    this.#starting += 1;
    let ended: number[];
    let process: ExecProcess;
    try {
      ended = await this.#makeRoom();
      process = await options.start();
    } finally {
      this.#starting -= 1;
    }
    if (this.#closed) {
      await process.terminate();
      throw new ExecError('aborted', 'The tools were closed.');
    }
    const id = this.#nextId;
    this.#nextId += 1;
    const expendableSince = (): number | null =>
      session.reported && session.closed ? session.lastUsedAtMs : null;
    const transcript = new Transcript({ ...this.#options, spoolQuota: this.#quota, expendableSince });
    const live = new LiveOutput(this.#options.live);
    const session: ToolSession = new ToolSession({ id, command: options.command, process, transcript, live });
    this.#sessions.set(id, session);
    return { session, ended };
  }

  /** Ends a session and forgets its output. */
  async remove(session: ToolSession, reason: string): Promise<void> {
    this.#sessions.delete(session.id);
    this.#removalReasons.set(session.id, reason);
    const [oldest] = this.#removalReasons.keys();
    if (this.#removalReasons.size > MAX_REMEMBERED && oldest !== undefined)
      this.#removalReasons.delete(oldest);
    await session.kill();
    await session.transcript.remove();
  }

  /** Ends all sessions. Idempotent. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all(this.all().map((session) => this.remove(session, 'the tools were closed.')));
  }

  async #makeRoom(): Promise<number[]> {
    const ended: number[] = [];
    while (this.#sessions.size + this.#starting > (this.#options.maxSessions ?? DEFAULT_MAX_SESSIONS)) {
      const victim = this.#leastNeeded();
      if (!victim) break;
      if (!victim.reported) ended.push(victim.id);
      await this.remove(victim, 'it was ended to make room for newer sessions.');
    }
    return ended;
  }

  /** Finished sessions first, then the least recently used. */
  #leastNeeded(): ToolSession | undefined {
    const rank = (session: ToolSession): number => (session.reported ? 0 : session.over ? 1 : 2);
    return this.all().sort((a, b) => rank(a) - rank(b) || a.lastUsedAtMs - b.lastUsedAtMs || a.id - b.id)[0];
  }
}

/** How a finished session ended, as text. */
function describeEnd(session: ToolSession): string {
  return session.exit ? `it exited with code ${session.exit.exitCode}` : 'contact with it was lost';
}

function unknownSession(id: number, reason: string): ExecError {
  return new ExecError('processNotFound', `Unknown session ID ${id}: ${reason}`, {
    data: { session_id: id },
  });
}
