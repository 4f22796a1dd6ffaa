import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { SpoolQuota, Toolbox } from '../tools/index.js';
import { EventLog } from './event-log.js';
import { createMcpServer } from './mcp-server.js';
import type { McpOptions } from './stdio.js';

/** Concurrent clients. Each may run its own commands. */
const MAX_CLIENTS = 64;
/** A client that sent no request for this long is gone; HTTP has no other way to tell. */
const IDLE_MS = 30 * 60_000;
const IDLE_CHECK_MS = 60_000;
/** How soon a client whose connection broke should come back for the rest. */
const RETRY_MS = 1000;

interface Client {
  readonly transport: StreamableHTTPServerTransport;
  readonly toolbox: Toolbox;
  openRequests: number;
  lastSeenMs: number;
}

/** The clients of an MCP server over HTTP. Each has its own tools and commands. */
export class HttpSessions {
  readonly #options: McpOptions;
  readonly #clients = new Map<string, Client>();
  readonly #idleCheck: NodeJS.Timeout;
  /** Places of clients whose first request is still arriving. */
  readonly #opening = new Set<ServerResponse>();
  #closed = false;

  constructor(options: McpOptions) {
    // One quota: all clients write to the same disk.
    this.#options = { spoolQuota: new SpoolQuota(), ...options };
    this.#idleCheck = setInterval(() => this.#endIdle(), IDLE_CHECK_MS);
    this.#idleCheck.unref();
  }

  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const id = request.headers['mcp-session-id'];
    if (id === undefined) return await this.#openSession(request, response);
    const client = this.#clients.get(String(id));
    if (!client) return respond(response, 404, 'unknown session');
    client.openRequests += 1;
    response.once('close', () => {
      client.openRequests -= 1;
      client.lastSeenMs = performance.now();
    });
    await client.transport.handleRequest(request, response);
  }

  /** Ends every client and its commands. */
  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#idleCheck);
    await Promise.all([...this.#clients.keys()].map((id) => this.#end(id)));
  }

  /** A request without a session must be `initialize`; the transport rejects everything else. */
  async #openSession(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (this.#closed || this.#clients.size + this.#opening.size >= MAX_CLIENTS)
      return respond(response, 503, 'too many clients');
    this.#opening.add(response);
    response.once('close', () => this.#opening.delete(response));
    const toolbox = new Toolbox(this.#options.environment, this.#options);
    const transport: StreamableHTTPServerTransport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      eventStore: new EventLog(),
      retryInterval: RETRY_MS,
      onsessioninitialized: (id) => {
        this.#opening.delete(response);
        this.#clients.set(id, { transport, toolbox, openRequests: 0, lastSeenMs: performance.now() });
      },
      onsessionclosed: (id) => this.#end(id),
    });
    await createMcpServer(toolbox, this.#options).connect(transport);
    await transport.handleRequest(request, response);
    if (transport.sessionId !== undefined) return;
    await toolbox.close();
    await transport.close();
  }

  async #end(id: string): Promise<void> {
    const client = this.#clients.get(id);
    this.#clients.delete(id);
    await client?.toolbox.close();
    await client?.transport.close();
  }

  #endIdle(): void {
    const limit = performance.now() - IDLE_MS;
    for (const [id, client] of this.#clients) {
      if (client.openRequests === 0 && client.lastSeenMs < limit) this.#end(id).catch(() => undefined);
    }
  }
}

/** Sends a plain text response, outside the MCP protocol. */
export function respond(response: ServerResponse, status: number, reason: string): void {
  response.writeHead(status, { 'content-type': 'text/plain' }).end(`${reason}\n`);
}
