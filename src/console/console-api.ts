import type { IncomingMessage, ServerResponse } from 'node:http';
import { timingSafeEqual } from 'node:crypto';
import { isExecError } from '../protocol/errors.js';
import { sha256 } from '../transport/index.js';
import { readBody, sendError, sendJson } from './answers.js';
import type { ConsoleSession, ConsoleSessions } from './console-sessions.js';
import type { MachineDirectory } from './machine-directory.js';
import type { OneTimeKey } from './one-time-key.js';
import { PortsApi } from './ports/ports-api.js';
import type { PortGates } from './ports/port-gates.js';
import { SignInAttempts } from './sign-in-attempts.js';
import { timeOfDay } from './time-of-day.js';
import type { ViewLink, ViewLinks } from './view-links.js';

export interface ConsoleApiOptions {
  readonly sessions: ConsoleSessions;
  readonly links: ViewLinks;
  readonly key: OneTimeKey;
  /** SHA-256 of the token that opens the console; null if only links do. */
  readonly tokenSha256: Uint8Array | null;
  readonly machines: MachineDirectory;
  readonly gates: PortGates;
  readonly version: string;
  /** The printed link was used, so another may be needed. */
  readonly keyUsed: () => void;
  /** Stores the cookie in the answer; null takes it away. */
  readonly setCookie: (response: ServerResponse, value: string | null, maxAgeMs: number) => void;
}

type Answering = (request: IncomingMessage, response: ServerResponse, session: ConsoleSession) => unknown;

/** What the page asks of its own server: signing in and out, the machines, and links for viewers. */
export class ConsoleApi {
  readonly #options: ConsoleApiOptions;
  readonly #attempts = new SignInAttempts();
  readonly #routes: Readonly<Record<string, Answering>>;

  constructor(options: ConsoleApiOptions) {
    const ports = new PortsApi(options);
    this.#options = options;
    this.#routes = {
      'GET /api/session': (_request, response, session) => sendJson(response, 200, this.#view(session)),
      'POST /api/sign-out': (_request, response, session) => {
        options.sessions.signOut(session);
        options.setCookie(response, null, 0);
        sendJson(response, 200, {});
      },
      'GET /api/links': full((_request, response) =>
        sendJson(response, 200, { links: options.links.all().map(shown) }),
      ),
      'POST /api/links': full((request, response) => this.#createLink(request, response)),
      'POST /api/links/revoke': full((request, response) => this.#revokeLink(request, response)),
      'GET /api/fleet': async (_request, response) =>
        sendJson(response, 200, (await options.machines.fleet?.view()) ?? NO_FLEET),
      'GET /api/ports': full((_request, response, session) => ports.list(response, session)),
      'POST /api/ports/open': full((request, response, session) => ports.open(request, response, session)),
      'POST /api/ports/close': full((request, response, session) => ports.close(request, response, session)),
    };
  }

  /** Answers a request of our own page. */
  async answer(
    request: IncomingMessage,
    response: ServerResponse,
    { path, session }: { path: string; session: ConsoleSession | undefined },
  ): Promise<void> {
    const name = `${request.method} ${path}`;
    if (name === 'POST /api/sign-in') return await this.#signIn(request, response);
    const route = Object.hasOwn(this.#routes, name) ? this.#routes[name] : undefined;
    if (!route) return sendError(response, 404, 'notFound', 'There is nothing here.');
    if (!session) return sendError(response, 401, 'notSignedIn', 'Sign in with a link of this console.');
    await route(request, response, session);
  }

  #view({ role, expiresAt }: ConsoleSession): object {
    const { machines, version } = this.#options;
    return {
      role,
      expiresAtMs: timeOfDay(expiresAt),
      version,
      machines: machines.configured.map(({ id, kind, where }) => ({ id, kind, where })),
      hasFleet: machines.fleet !== null,
    };
  }

  async #signIn(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { remoteAddress } = request.socket;
    const { key, token } = (await readBody(request)) ?? {};
    const isBlocked = this.#attempts.isBlocked(remoteAddress);
    // Links cannot be guessed, so failed attempts by others do not keep out the holder of one.
    let link = this.#byLink(key);
    if (link === undefined && !isBlocked) link = this.#byToken(token);
    if (link === undefined) {
      if (isBlocked)
        return sendError(response, 429, 'overloaded', 'There were too many failed attempts. Wait a minute.');
      this.#attempts.failed(remoteAddress);
      return sendError(
        response,
        403,
        'linkNotValid',
        'This link has already been used, has expired or was revoked. Use a new one.',
      );
    }
    const { cookie, proof, session } = this.#options.sessions.open(link);
    this.#options.setCookie(response, cookie, session.expiresAt - performance.now());
    sendJson(response, 200, { proof, ...this.#view(session) });
  }

  /** Null for full access, a link for a viewer, undefined for all others. */
  #byLink(key: unknown): ViewLink | null | undefined {
    if (typeof key !== 'string') return undefined;
    const { key: oneTime, links, keyUsed } = this.#options;
    if (!oneTime.use(key)) return links.find(key);
    keyUsed();
    return null;
  }

  #byToken(token: unknown): null | undefined {
    const { tokenSha256 } = this.#options;
    const isRight = typeof token === 'string' && tokenSha256 && timingSafeEqual(sha256(token), tokenSha256);
    return isRight ? null : undefined;
  }

  async #createLink(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { forMs } = (await readBody(request)) ?? {};
    try {
      const link = this.#options.links.create(typeof forMs === 'number' ? forMs : undefined);
      sendJson(response, 200, { ...shown(link), key: link.key });
    } catch (error) {
      if (!isExecError(error)) throw error;
      sendError(response, 429, error.code, error.message);
    }
  }

  async #revokeLink(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { id } = (await readBody(request)) ?? {};
    sendJson(response, 200, { revoked: typeof id === 'string' && this.#options.links.revoke(id) });
  }
}

const NO_FLEET = { problem: null, machines: [], total: 0 };

/** What is told about a link. */
function shown({ id, expiresAt }: ViewLink): { id: string; expiresAtMs: number } {
  return { id, expiresAtMs: timeOfDay(expiresAt) };
}

/** Viewers hand out nothing and open nothing. */
function full(answer: Answering): Answering {
  return (request, response, session) =>
    session.role === 'full'
      ? answer(request, response, session)
      : sendError(response, 403, 'viewOnly', 'This link only views.');
}
