import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { Dialect, Reply } from './dialects.js';

/** A call of a tool. */
export interface ScriptedCall {
  /** One of ours, by the name we give it. */
  readonly tool: string;
  readonly args: object;
  /** It is one of the client's own instead. */
  readonly own?: boolean;
}

/** Each `yield` is a tool call and evaluates to what the client reports about it. The returned text is the last word. */
export type Script = AsyncGenerator<ScriptedCall, string, string>;

/** A model API on loopback whose model is a script. */
export class ScriptedModel implements AsyncDisposable {
  /** What broke the script, if anything did. */
  failure: unknown;
  /** Every request of the conversation: what a model would have read. */
  readonly requests: unknown[] = [];
  readonly #dialect: Dialect;
  readonly #script: Script;
  readonly #nameOf: (tool: string) => string;
  readonly #server = createServer((request, response) => void this.#serve(request, response));
  #calls = 0;

  private constructor(dialect: Dialect, script: Script, nameOf: (tool: string) => string) {
    this.#dialect = dialect;
    this.#script = script;
    this.#nameOf = nameOf;
  }

  static async open(
    dialect: Dialect,
    script: Script,
    nameOf: (tool: string) => string,
  ): Promise<ScriptedModel> {
    const model = new ScriptedModel(dialect, script, nameOf);
    model.#server.listen(0, '127.0.0.1');
    await once(model.#server, 'listening');
    return model;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request);
    if (request.method !== 'POST' || !this.#dialect.path.test(request.url ?? '')) {
      response.writeHead(404).end();
      return;
    }
    // Each dialect knows the shape of its own requests.
    const asked = JSON.parse(body) as never;
    // Clients also ask for titles and the like, and offer no tools then.
    if (this.#dialect.definitions(asked).length === 0)
      return send(response, this.#dialect.events({ text: 'script' }));
    try {
      send(response, this.#dialect.events(await this.#next(asked)));
    } catch (error) {
      this.failure = error;
      response.writeHead(400).end();
    }
  }

  async #next(asked: never): Promise<Reply> {
    this.requests.push(asked);
    const report = this.#calls === 0 ? '' : this.#dialect.reported(asked, this.#callId);
    if (report === undefined) throw new Error('the client asked again without a report on its last call');
    const { value, done } = await this.#script.next(report);
    if (done) return { text: value };
    this.#calls += 1;
    const tool = value.own ? value.tool : this.#nameOf(value.tool);
    return { tool, args: value.args, callId: this.#callId };
  }

  get #callId(): string {
    return `call_${this.#calls}`;
  }
}

function send(response: ServerResponse, events: ReturnType<Dialect['events']>): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const { event, data } of events) {
    if (event !== undefined) response.write(`event: ${event}\n`);
    response.write(`data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`);
  }
  response.end();
}
