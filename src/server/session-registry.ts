import { ExecError } from '../protocol/index.js';
import { Session } from './session.js';
import type { SessionConnection } from './session/session-options.js';
import type { ShowProcess } from './session/shown-processes.js';
import type { ChangeSets, ProcessTableOptions } from '../host/index.js';
import type { ByteBudget } from '../rpc/index.js';
import type { DurableState } from './durable/durable-state.js';
import type { PushPosition, SessionRecord } from './durable/records.js';
import type { Keep } from './keep.js';
import type { ServerLog } from './log.js';
import type { ServerObserver } from './server-events.js';
import type { ServerInput } from '../contract/index.js';
import { after } from '../protocol/max-timer.js';

/** How long a session outlives its connection. The same as Codex's. */
export const DEFAULT_SESSION_TTL_MS = 30_000;
/** Sessions a server keeps, attached or detached. */
export const DEFAULT_MAX_SESSIONS = 1024;

export interface SessionRegistryOptions {
  readonly sessionTtlMs?: number | undefined;
  readonly maxSessions?: number | undefined;
  readonly table: ProcessTableOptions;
  readonly log: ServerLog;
  readonly observe?: ServerObserver | undefined;
  readonly budget: ByteBudget;
  readonly input: ServerInput;
  readonly keep: Keep;
  /** Where changes are held; null if there is no such place. */
  readonly changes?: ChangeSets | null;
  /** Where sessions are noted that may outlive this server. */
  readonly durable?: DurableState | undefined;
}

/** All sessions of a server, and the leases of the detached ones. */
export class SessionRegistry {
  readonly #options: SessionRegistryOptions;
  readonly #sessions = new Map<string, Session>();
  /** Functions that stop the leases of detached sessions. */
  readonly #leases = new Map<string, () => void>();
  readonly #ending = new Set<Promise<void>>();

  constructor(options: SessionRegistryOptions) {
    this.#options = options;
  }

  get keep(): Keep {
    return this.#options.keep;
  }

  get(sessionId: string): Session | undefined {
    return this.#sessions.get(sessionId);
  }

  all(): Session[] {
    return [...this.#sessions.values()];
  }

  open(
    connection: SessionConnection,
    options: { acknowledged: boolean; principal: string | undefined },
  ): Session {
    if (this.#sessions.size >= (this.#options.maxSessions ?? DEFAULT_MAX_SESSIONS)) {
      throw new ExecError('tooManySessions', 'The server has reached its limit of sessions.');
    }
    const session = new Session({ ...options, ...this.#shared() });
    this.#sessions.set(session.id, session);
    this.#note(session, null);
    session.attach(connection);
    return session;
  }

  /** Continues with a session that an earlier server opened. Its lease runs on. */
  adopt(id: string, { acknowledged, principal, detachedAtMs }: SessionRecord): Session {
    const owner = principal ?? undefined;
    const session = new Session({ id, acknowledged, principal: owner, ...this.#shared() });
    this.#sessions.set(id, session);
    this.detach(session, detachedAtMs ?? Date.now());
    return session;
  }

  /** What all sessions have in common. */
  #shared() {
    const { table, budget, input, changes, durable, keep, observe } = this.#options;
    const show: ShowProcess = (process, owner) => keep.show(process, owner);
    return { table, budget, input, changes, durable, show, observe };
  }

  /** For the server that comes after this one. */
  #note({ id, acknowledged, principal }: Session, detachedAtMs: number | null): void {
    this.#options.durable?.noteSession(id, { acknowledged, principal: principal ?? null, detachedAtMs });
  }

  /**
   * Attaches a connection to a detached session. A session that is attached stays with its connection as long as that
   * is alive.
   */
  resume(
    sessionId: string,
    connection: SessionConnection,
    { principal }: { principal: string | undefined },
  ): Session {
    const session = this.#sessions.get(sessionId);
    if (!session) throw new ExecError('sessionNotFound', `unknown session id ${sessionId.slice(0, 64)}`);
    if (session.connection) {
      session.connection.probe();
      throw new ExecError('sessionBusy', `session ${sessionId} is already attached to another connection`);
    }
    this.#leases.get(sessionId)?.();
    this.#leases.delete(sessionId);
    session.becomeOf(principal);
    this.#note(session, null);
    session.attach(connection);
    return session;
  }

  /** Continues on a connection from another server. Returns undefined if there is no such session. */
  continueWith(
    sessionId: string,
    connection: SessionConnection,
    positions: Readonly<Record<string, PushPosition>>,
  ): Session | undefined {
    const session = this.#sessions.get(sessionId);
    if (!session || session.connection) return undefined;
    this.#leases.get(sessionId)?.();
    this.#leases.delete(sessionId);
    this.#note(session, null);
    session.continueWith(connection, positions);
    return session;
  }

  /** The session lost its connection: starts its lease. */
  detach(session: Session, sinceMs = Date.now()): void {
    session.detach();
    if (!this.#sessions.has(session.id)) return;
    this.#note(session, sinceMs);
    const fullMs = this.#options.sessionTtlMs ?? DEFAULT_SESSION_TTL_MS;
    const ttlMs = Math.max(0, Math.min(fullMs, sinceMs + fullMs - Date.now()));
    const expired = (): void => {
      this.#options.log.info({ session: session.id }, 'session expired');
      void this.end(session, 'expired');
    };
    this.#leases.set(session.id, after(ttlMs, expired));
  }

  /** Ends a session and everything it owns. Never rejects, because often nothing awaits it. */
  async end(session: Session, reason = 'ended by its client'): Promise<void> {
    this.#leases.get(session.id)?.();
    this.#leases.delete(session.id);
    if (this.#sessions.delete(session.id)) {
      const durationMs = Math.round(performance.now() - session.openedAt);
      this.#options.observe?.({ event: 'sessionEnded', session: session.id, reason, durationMs });
    }
    this.#options.durable?.forget(`session ${session.id}`);
    const ending = session.close();
    this.#ending.add(ending);
    try {
      await ending;
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      this.#options.log.warn({ session: session.id, reason }, 'a session did not end cleanly');
    } finally {
      this.#ending.delete(ending);
    }
  }

  /** Ends all sessions. Also waits for those already ending, whose processes may still be dying. */
  async close(): Promise<void> {
    for (const session of this.#sessions.values()) void this.end(session, 'the server is shutting down');
    await Promise.allSettled(this.#ending);
  }
}
