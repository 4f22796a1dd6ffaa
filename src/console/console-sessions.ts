import { after } from '../protocol/max-timer.js';
import { digestOf, newSecret } from './secret.js';
import type { ViewLink, ViewLinks } from './view-links.js';

/** What a signed-in user may do. */
export type ConsoleRole = 'full' | 'view';

/** Users must sign in again after this time. */
const SESSION_MS = 12 * 60 * 60_000;
/**
 * Browsers signed in at a time. The one that signed in first is signed out for another: a viewer as long as there is one, so that
 * nobody can sign others out with a link for viewers.
 */
const MAX_SESSIONS = 128;

/** A browser that is signed in. */
export interface ConsoleSession {
  readonly role: ConsoleRole;
  /** The link it came by, if it only views. */
  readonly linkId: string | null;
  /** On the clock of this process, which nobody sets. */
  readonly expiresAt: number;
  /** Calls back when it is over, at once if it is already. Returns an unsubscribe function. */
  onOver(listener: () => void): () => void;
}

/** What a browser needs to come back: both, because browsers send a cookie to every port of a host. */
export interface SessionSecrets {
  /** Goes into a cookie that scripts cannot read. */
  readonly cookie: string;
  /** Stays with the page, which other ports cannot read. */
  readonly proof: string;
}

interface Entry extends ConsoleSession {
  readonly proofDigest: string;
  readonly listeners: Set<() => void>;
  isOver: boolean;
  readonly stopTimer: () => void;
}

/** Who is signed in. Only digests of secrets are kept. */
export class ConsoleSessions {
  readonly #links: ViewLinks;
  readonly #sessions = new Map<string, Entry>();

  constructor(links: ViewLinks) {
    this.#links = links;
    links.onRevoked((id) => {
      for (const [cookie, { linkId }] of this.#sessions) if (linkId === id) this.#end(cookie);
    });
  }

  /** Signs a browser in. With a link, it views for as long as that is valid. */
  open(link: ViewLink | null): SessionSecrets & { readonly session: ConsoleSession } {
    const [cookie, proof] = [newSecret(), newSecret()];
    const key = digestOf(cookie);
    const now = performance.now();
    const expiresAt = Math.min(now + SESSION_MS, link?.expiresAt ?? Number.POSITIVE_INFINITY);
    const listeners = new Set<() => void>();
    const session: Entry = {
      role: link ? 'view' : 'full',
      linkId: link?.id ?? null,
      expiresAt,
      proofDigest: digestOf(proof),
      listeners,
      isOver: false,
      stopTimer: after(expiresAt - now, () => this.#end(key)),
      onOver: (listener) => {
        if (session.isOver) listener();
        else listeners.add(listener);
        return () => listeners.delete(listener);
      },
    };
    this.#sessions.set(key, session);
    this.#makeRoom();
    return { cookie, proof, session };
  }

  /** The session that both secrets belong to; undefined if there is none. */
  find({ cookie, proof }: Partial<SessionSecrets>): ConsoleSession | undefined {
    if (cookie === undefined || proof === undefined) return undefined;
    const session = this.#sessions.get(digestOf(cookie));
    return session?.proofDigest === digestOf(proof) ? session : undefined;
  }

  /** Signs out, and closes the connections of this browser. */
  signOut(session: ConsoleSession): void {
    for (const [cookie, each] of this.#sessions) if (each === session) this.#end(cookie);
  }

  close(): void {
    for (const cookie of [...this.#sessions.keys()]) this.#end(cookie);
    this.#links.close();
  }

  #makeRoom(): void {
    while (this.#sessions.size > MAX_SESSIONS) {
      const [first] = this.#sessions.keys();
      const [viewer] = [...this.#sessions].find(([, { role }]) => role === 'view') ?? [];
      this.#end(viewer ?? first ?? '');
    }
  }

  #end(cookie: string): void {
    const session = this.#sessions.get(cookie);
    this.#sessions.delete(cookie);
    if (!session) return;
    session.isOver = true;
    session.stopTimer();
    for (const listener of [...session.listeners]) listener();
  }
}
