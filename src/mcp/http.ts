import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { answerCrowded, Door, GREETING_CHECKS } from '../transport/door.js';
import { listenAt } from '../transport/listen-failure.js';
import { HttpGuard } from './http-guard.js';
import { HttpSessions, respond } from './http-sessions.js';
import type { McpOptions } from './stdio.js';
import { UnreadAnswers } from './unread-answers.js';

const PATH = '/mcp';
const LOOPBACK = '127.0.0.1';
const TOKEN_BYTES = 32;

export interface McpHttpOptions extends McpOptions {
  /** Default 0: any free port. Always on the loopback address. */
  readonly port?: number;
  /** The bearer token clients must send. Default: a random one. */
  readonly token?: string | undefined;
  /** Accepts or rejects a connection by its origin, before its token is checked. Default: accepts all. */
  readonly admission?: ((ends: Socket) => boolean) | undefined;
}

/** A running MCP server over Streamable HTTP. */
export interface McpHttpServer extends AsyncDisposable {
  readonly url: string;
  readonly token: string;
  /** Disconnects all clients and ends their commands. Idempotent. */
  close(): Promise<void>;
}

/** Serves MCP clients on this machine that know the token. */
export async function startMcpHttp(options: McpHttpOptions): Promise<McpHttpServer> {
  const token = options.token ?? randomBytes(TOKEN_BYTES).toString('base64url');
  const guard = new HttpGuard(token);
  const sessions = new HttpSessions(options);
  const admits = options.admission ?? (() => true);
  const unread = new UnreadAnswers();
  const server = createServer(GREETING_CHECKS, (request, response) => {
    unread.watch(response);
    if (admits(request.socket)) void serve({ guard, sessions, door }, request, response);
    else respond(response, 403, 'connections from sandboxes are not served');
  });
  const door = new Door(server);
  await listenAt(server, { host: LOOPBACK, port: options.port ?? 0 });
  const close = async (): Promise<void> => {
    await sessions.close();
    await closeServer(server);
  };
  return { url: urlOf(server), token, close, [Symbol.asyncDispose]: close };
}

async function serve(
  { guard, sessions, door }: { guard: HttpGuard; sessions: HttpSessions; door: Door },
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const refusal = guard.refusal(request);
  if (refusal) return respond(response, refusal.status, refusal.reason);
  if (!door.hasRoom) return answerCrowded(request.socket);
  door.admit(request.socket);
  if (pathOf(request) !== PATH) return respond(response, 404, 'not found');
  try {
    await sessions.handle(request, response);
  } catch {
    if (!response.headersSent) respond(response, 500, 'internal error');
    else response.destroy();
  }
}

/** Null for a request target that is not a path, such as `//`. */
function pathOf({ url = '/' }: IncomingMessage): string | null {
  const base = 'http://localhost';
  return URL.canParse(url, base) ? new URL(url, base).pathname : null;
}

function urlOf(server: Server): string {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  return `http://${LOOPBACK}:${address.port}${PATH}`;
}

async function closeServer(server: Server): Promise<void> {
  if (!server.listening) return;
  const closed = once(server, 'close');
  server.close();
  server.closeAllConnections();
  await closed;
}
