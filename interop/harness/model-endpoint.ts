import { once } from 'node:events';
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { ModelScript } from './model-script.js';

/** What Codex sent to the model: the conversation so far and the tools on offer. */
export interface ModelRequest {
  readonly input: readonly ModelItem[];
  readonly tools: readonly { readonly type: string; readonly name?: string }[];
  readonly text?: { readonly format?: { readonly type: string } };
}

/** One item of the conversation; which members are set depends on its type. */
export interface ModelItem {
  readonly type: string;
  readonly role?: string;
  readonly call_id?: string;
  readonly output?: unknown;
}

// Codex insists on the members, not on their values.
const usage = {
  input_tokens: 0,
  input_tokens_details: null,
  output_tokens: 0,
  output_tokens_details: null,
  total_tokens: 0,
};

/** A Responses API on loopback whose model is a script. Every request is kept: it is what a model would have seen. */
export class ModelEndpoint implements AsyncDisposable {
  readonly requests: ModelRequest[] = [];
  /** Why the script broke off, if it did; Codex only learns that its request was refused. */
  scriptError: unknown;
  readonly #script: ModelScript;
  readonly #server = createServer((request, response) => void this.#serve(request, response));
  #calls = 0;

  readonly #review: ((request: ModelRequest) => string) | undefined;

  private constructor(script: ModelScript, review: ((request: ModelRequest) => string) | undefined) {
    this.#script = script;
    this.#review = review;
  }

  /** Starts listening on a free port. */
  static async open(script: ModelScript, review?: (request: ModelRequest) => string): Promise<ModelEndpoint> {
    const endpoint = new ModelEndpoint(script, review);
    endpoint.#server.listen(0, '127.0.0.1');
    await once(endpoint.#server, 'listening');
    return endpoint;
  }

  /** What `base_url` of a model provider should say. */
  get baseUrl(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request);
    if (request.method !== 'POST' || request.url !== '/v1/responses') {
      response.writeHead(404).end();
      return;
    }
    const asked = JSON.parse(body) as ModelRequest;
    if (isReview(asked)) {
      if (this.#review) sendEvents(response, finalMessage(this.#review(asked)));
      else response.writeHead(400).end();
      return;
    }
    this.requests.push(asked);
    try {
      const { value, done } = await this.#script.next(this.#lastOutput(asked));
      sendEvents(response, done ? finalMessage(value) : { ...value, call_id: this.#nextCallId() });
    } catch (error) {
      this.scriptError = error;
      response.writeHead(400).end();
    }
  }

  #nextCallId(): string {
    this.#calls += 1;
    return `call_${this.#calls}`;
  }

  /** The report on the latest call. The very first request has none; a generator ignores its first input anyway. */
  #lastOutput({ input }: ModelRequest): string {
    if (this.#calls === 0) return '';
    const item = input.find(
      ({ type, call_id }) => type.endsWith('_output') && call_id === `call_${this.#calls}`,
    );
    if (item === undefined) throw new Error('Codex asked again without reporting on the last tool call');
    return typeof item.output === 'string' ? item.output : JSON.stringify(item.output);
  }
}

/** The automatic reviewer wants an answer of a certain shape; the model itself never does. */
function isReview({ text: wanted }: ModelRequest): boolean {
  return wanted?.format?.type === 'json_schema';
}

function finalMessage(message: string): object {
  return { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: message }] };
}

function sendEvents(response: ServerResponse, item: object): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const id = 'response';
  for (const event of [
    { type: 'response.created', response: { id } },
    { type: 'response.output_item.done', item },
    { type: 'response.completed', response: { id, usage } },
  ]) {
    response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
  }
  response.end();
}
