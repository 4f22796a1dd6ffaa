import { fileURLToPath } from 'node:url';
import { WebSocket } from 'ws';
import { ConsoleServer } from '../../src/console/index.js';
import { type ConsoleOptions } from '../../src/console/console-server.js';
import { ExecServer } from '../../src/server/index.js';

const PAGE = fileURLToPath(new URL('../../dist/page', import.meta.url));

/** Headers a page of the console sends. */
export interface Visitor {
  readonly origin: string;
  readonly cookie: string;
  readonly proof: string;
}

/** A console for a server in this process. */
export class TestConsole implements AsyncDisposable {
  readonly console: ConsoleServer;
  readonly server: ExecServer;
  /** Printed after the first one was used. */
  readonly links: readonly string[];

  private constructor(console: ConsoleServer, server: ExecServer, links: readonly string[]) {
    this.console = console;
    this.server = server;
    this.links = links;
  }

  static async open(options: Partial<ConsoleOptions> = {}): Promise<TestConsole> {
    const server = new ExecServer();
    const links: string[] = [];
    const console = await ConsoleServer.open({
      address: { kind: 'tcp', host: '127.0.0.1', port: 0 },
      pageDirectory: PAGE,
      version: 'test',
      machines: [
        {
          id: 'local',
          kind: 'local',
          where: 'this machine',
          serve: (channel, { probe }) => server.accept(channel, { principal: 'anyone', probe }),
        },
      ],
      onNewLink: (link) => void links.push(link),
      ...options,
    });
    return new TestConsole(console, server, links);
  }

  get origin(): string {
    return new URL(this.console.url).origin;
  }

  /** The secret in a link. */
  keyOf(link = this.console.newLink()): string {
    return new URL(link).hash.slice('#key='.length);
  }

  async fetch(path: string, { method = 'GET', headers = {}, body }: RequestOptions = {}): Promise<Response> {
    return await fetch(`${this.origin}${path}`, {
      method,
      headers: { ...(body ? { 'content-type': 'application/json' } : {}), ...headers },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
  }

  async signIn(key = this.keyOf()): Promise<Visitor> {
    const { origin } = this;
    const answer = await this.fetch('/api/sign-in', { method: 'POST', headers: { origin }, body: { key } });
    if (!answer.ok) throw new Error(`sign-in: ${answer.status}`);
    const { proof } = (await answer.json()) as { proof: string };
    const cookie = answer.headers.get('set-cookie')?.split(';')[0] ?? '';
    return { origin, cookie, proof };
  }

  /** Calls the API as the page does. */
  async call(who: Visitor, method: string, path: string, body?: object): Promise<Response> {
    const { origin, cookie, proof } = who;
    const headers = { origin, cookie, 'x-execwire-proof': proof };
    return await this.fetch(path, { method, headers, ...(body ? { body } : {}) });
  }

  /** Connects to a machine. Resolves to the socket, or to the status of the refusal. */
  async connect(
    { origin, cookie, proof }: Partial<Visitor>,
    { headers = {}, path = '/machines/local' }: { headers?: Record<string, string>; path?: string } = {},
  ): Promise<WebSocket | number> {
    const protocols = ['execwire', ...(proof === undefined ? [] : [`proof.${proof}`])];
    const socket = new WebSocket(`${this.origin.replace('http', 'ws')}${path}`, protocols, {
      headers: { ...(origin ? { origin } : {}), ...(cookie ? { cookie } : {}), ...headers },
    });
    return await new Promise((resolve, reject) => {
      socket.once('open', () => resolve(socket));
      socket.once('unexpected-response', (_request, response) => {
        socket.on('error', () => undefined);
        response.resume();
        resolve(response.statusCode ?? 0);
        socket.terminate();
      });
      socket.once('error', reject);
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.console.close();
    await this.server.close();
  }
}

interface RequestOptions {
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly body?: object;
}
