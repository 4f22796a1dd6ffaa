import { setMaxListeners } from 'node:events';
import {
  headerSecret,
  type HttpAnswer,
  type OutgoingHeader,
  type OutgoingRequest,
  sendHttpRequest,
} from '../../host/http/index.js';
import {
  decodeBase64,
  encodeBase64,
  ExecError,
  type ExecParsedParams,
  type ExecResult,
  isExecError,
} from '../../protocol/index.js';
import type { ConnectionContext, Handlers } from './connection-context.js';

/** A buffered body must fit into one message; longer ones can be streamed. */
const MAX_BUFFERED_BODY_BYTES = 48 * 1024 * 1024;

/** All bodies buffered for one connection until the client has read them: two of the largest and a few small ones. */
const MAX_GATHERED_BYTES = 128 * 1024 * 1024;

/** Largest piece of a streamed body, so that other messages get their turn. */
const MAX_DELTA_BYTES = 1024 * 1024;

/** Each stream holds an outgoing connection. */
const MAX_STREAMS = 64;

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

type Params = ExecParsedParams<'http/request'>;

/** `http/request` for one connection. Its streams end with it. */
export function httpHandlers(context: ConnectionContext): Handlers<'http/request'> {
  // Every request listens for the end of the connection, so many listeners are no leak.
  setMaxListeners(0, context.signal);
  const streams = new Set<string>();
  context.owns(() => streams.size > 0);
  const gathered: Gathered = { bytes: 0, unsentBytes: context.unsentBytes };
  return {
    'http/request': async (params) => {
      const request = outgoing(params);
      if (!params.streamResponse) return buffered(await send(request, params, context), gathered);
      reserve(streams, params.requestId);
      try {
        const answer = await send(request, params, context);
        // Runs after the answer, which is sent in this turn of the event loop.
        setImmediate(
          () =>
            void streamBody(answer, params.requestId, context).finally(() =>
              streams.delete(params.requestId),
            ),
        );
        return { status: answer.status, headers: [...answer.headers], bodyBase64: '' };
      } catch (error) {
        streams.delete(params.requestId);
        throw error;
      }
    },
  };
}

function send(request: OutgoingRequest, params: Params, context: ConnectionContext): Promise<HttpAnswer> {
  return sendHttpRequest(request, {
    timeoutMs: params.timeoutMs ?? null,
    followRedirects: params.redirectPolicy === 'follow',
    signal: context.signal,
  });
}

function outgoing(params: Params): OutgoingRequest {
  if (!TOKEN.test(params.method)) throw refused('http/request method is invalid');
  return {
    method: params.method,
    url: webUrl(params.url),
    headers: params.headers.map(outgoingHeader),
    body: params.bodyBase64 == null ? null : decodeBase64(params.bodyBase64, 'invalidParams'),
  };
}

function webUrl(text: string): URL {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    throw refused('http/request url is invalid');
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw refused(`http/request only supports http and https URLs, got ${url.protocol.slice(0, -1)}`);
  return url;
}

function outgoingHeader(header: Params['headers'][number]): OutgoingHeader {
  const { name, valueEnvVar } = header;
  if (!TOKEN.test(name)) throw refused('http/request header name is invalid');
  const secret = valueEnvVar == null ? '' : headerSecret(name, valueEnvVar);
  const value = header.value + secret;
  // Tab and printable characters; anything else could end the header early.
  if (!/^[\t\x20-\x7e\u0080-\u{10ffff}]*$/u.test(value))
    throw refused(`http/request header value is invalid for ${name}`);
  return { name: name.toLowerCase(), value, secret: valueEnvVar != null };
}

/** What the buffered bodies of a connection currently hold. */
interface Gathered {
  bytes: number;
  /** Answers, mostly: a body that is complete waits here. */
  readonly unsentBytes: () => number;
}

async function buffered(answer: HttpAnswer, gathered: Gathered): Promise<ExecResult<'http/request'>> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const chunk of answer.body()) {
      length += chunk.length;
      gathered.bytes += chunk.length;
      refuseTooMuch(length, gathered);
      chunks.push(chunk);
    }
    const bodyBase64 = encodeBase64(Buffer.concat(chunks, length));
    return { status: answer.status, headers: [...answer.headers], bodyBase64 };
  } finally {
    gathered.bytes -= length;
  }
}

function refuseTooMuch(length: number, gathered: Gathered): void {
  if (length > MAX_BUFFERED_BODY_BYTES)
    throw new ExecError('httpFailed', 'http/request response body is too large; stream it');
  if (gathered.bytes + gathered.unsentBytes() > MAX_GATHERED_BYTES)
    throw new ExecError('overloaded', 'too many http/request bodies at a time; stream them');
}

function reserve(streams: Set<string>, requestId: string): void {
  if (streams.has(requestId)) throw refused('http/request requestId names a stream that is in use');
  if (streams.size >= MAX_STREAMS)
    throw new ExecError('overloaded', `at most ${MAX_STREAMS} bodies can be streamed at a time`);
  streams.add(requestId);
}

/** Requests the next piece only when the previous one has had its turn on the connection. Never throws. */
async function streamBody(answer: HttpAnswer, requestId: string, context: ConnectionContext): Promise<void> {
  let seq = 0;
  const stream = context.openStream();
  const tell = async (delta: Uint8Array, end: { done: boolean; error: string | null }): Promise<void> => {
    seq += 1;
    await stream.notify('http/request/bodyDelta', {
      requestId,
      seq,
      deltaBase64: encodeBase64(delta),
      ...end,
    });
  };
  try {
    for await (const chunk of answer.body())
      for (let from = 0; from < chunk.length; from += MAX_DELTA_BYTES)
        await tell(chunk.subarray(from, from + MAX_DELTA_BYTES), { done: false, error: null });
    await tell(new Uint8Array(), { done: true, error: null });
  } catch (error) {
    if (context.signal.aborted) return;
    const message = isExecError(error) ? error.message : 'http/request failed';
    await tell(new Uint8Array(), { done: true, error: message });
  } finally {
    stream.close();
  }
}

function refused(message: string): ExecError {
  return new ExecError('invalidParams', message);
}
