import type { Dispatcher } from 'undici';
import { ExecError } from '../../protocol/errors.js';
import { httpFailure } from './http-failure.js';
import { isRedirect, nextHop } from './redirect.js';
import { after } from '../../protocol/max-timer.js';

/** Redirects before a chain counts as a loop; the same as in common clients. */
const MAX_REDIRECTS = 10;

/** For connecting only; a machine that does not answer at all would otherwise hold a call for minutes. */
const CONNECT_TIMEOUT_MS = 30_000;

export interface OutgoingHeader {
  readonly name: string;
  readonly value: string;
  /** Contains a secret of this machine and is not forwarded to another origin. */
  readonly secret: boolean;
}

export interface OutgoingRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: readonly OutgoingHeader[];
  readonly body: Uint8Array | null;
}

export interface HttpCallOptions {
  /** For everything up to the end of the body. Null for no limit. */
  readonly timeoutMs: number | null;
  readonly followRedirects: boolean;
  readonly signal: AbortSignal;
}

/** A response whose body is still arriving. Iterate the body to its end, or leave the loop to drop it. */
export interface HttpAnswer {
  readonly status: number;
  readonly headers: readonly { readonly name: string; readonly value: string }[];
  /** Throws if the body is cut short. Read no faster than it is iterated. */
  body(): AsyncGenerator<Uint8Array>;
}

/** Sends a request from this machine. Any status counts as a response. */
export async function sendHttpRequest(
  request: OutgoingRequest,
  options: HttpCallOptions,
): Promise<HttpAnswer> {
  const deadline = openDeadline(options);
  try {
    const response = await sendFollowing(request, options.followRedirects, deadline.signal);
    return {
      status: response.statusCode,
      headers: answerHeaders(response.headers),
      body: () => readBody(response, deadline),
    };
  } catch (error) {
    deadline.close();
    throw httpFailure(error);
  }
}

async function sendFollowing(
  request: OutgoingRequest,
  follow: boolean,
  signal: AbortSignal,
): Promise<Dispatcher.ResponseData> {
  let current = request;
  for (let hops = 0; ; hops++) {
    const response = await sendOnce(current, signal);
    const location =
      follow && isRedirect(response.statusCode) ? firstValue(response.headers['location']) : null;
    if (location === null) return response;
    await response.body.dump();
    if (hops === MAX_REDIRECTS) throw new ExecError('httpFailed', 'http/request failed: too many redirects');
    current = nextHop(current, response.statusCode, location);
  }
}

async function sendOnce(request: OutgoingRequest, signal: AbortSignal): Promise<Dispatcher.ResponseData> {
  const { default: api } = await import('undici/lib/api/index.js');
  const { origin, pathname, search } = new URL(request.url);
  return api.request.call(await agent(), {
    origin,
    path: pathname + search,
    method: request.method as Dispatcher.HttpMethod,
    headers: wireHeaders(request.headers),
    body: request.body,
    signal,
  });
}

/** Loaded on first use: most machines never make a request. We enforce the deadline, so the library has none. */
async function agent(): Promise<Dispatcher> {
  const { default: Agent } = await import('undici/lib/dispatcher/agent.js');
  sharedAgent ??= new Agent({ headersTimeout: 0, bodyTimeout: 0, connect: { timeout: CONNECT_TIMEOUT_MS } });
  return sharedAgent;
}
let sharedAgent: Dispatcher | null = null;

/** Alternating names and values, so that repeated headers stay repeated. Text is sent as UTF-8. */
function wireHeaders(headers: readonly OutgoingHeader[]): string[] {
  const given = headers.flatMap(({ name, value }) => [name, Buffer.from(value).toString('latin1')]);
  return headers.some(({ name }) => name.toLowerCase() === 'accept') ? given : [...given, 'accept', '*/*'];
}

function answerHeaders(headers: Dispatcher.ResponseData['headers']): { name: string; value: string }[] {
  return Object.entries(headers).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value ?? '']).map((item) => ({ name: name.toLowerCase(), value: item })),
  );
}

function firstValue(value: string | string[] | undefined): string | null {
  return (Array.isArray(value) ? value[0] : value) ?? null;
}

async function* readBody(
  response: Dispatcher.ResponseData,
  deadline: { close(): void },
): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of response.body) yield chunk as Uint8Array;
  } catch (error) {
    throw httpFailure(error);
  } finally {
    deadline.close();
  }
}

interface Deadline {
  readonly signal: AbortSignal;
  close(): void;
}

function openDeadline({ timeoutMs, signal }: HttpCallOptions): Deadline {
  const controller = new AbortController();
  const expire = (): void => controller.abort(new ExecError('httpFailed', 'http/request timed out'));
  const giveUp = (): void => controller.abort(new ExecError('aborted', 'The connection ended.'));
  const stop = timeoutMs === null ? undefined : after(timeoutMs, expire);
  if (timeoutMs === 0) expire();
  if (signal.aborted) giveUp();
  signal.addEventListener('abort', giveUp, { once: true });
  return {
    signal: controller.signal,
    close: () => {
      stop?.();
      signal.removeEventListener('abort', giveUp);
    },
  };
}
