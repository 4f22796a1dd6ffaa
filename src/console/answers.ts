import type { IncomingMessage, ServerResponse } from 'node:http';
import type { PageFile } from './page-files.js';

/** Largest body of a request. All of ours are a few words. */
const MAX_BODY_BYTES = 4096;
const FOREVER = 'public, max-age=31536000, immutable';

export function sendJson(response: ServerResponse, status: number, value: object): void {
  const body = JSON.stringify(value);
  response
    .writeHead(status, {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      'cache-control': 'no-store',
    })
    .end(body);
}

/** A refusal in one sentence. */
export function sendError(response: ServerResponse, status: number, code: string, message: string): void {
  sendJson(response, status, { code, message });
}

export function sendFile(
  { headers, method }: IncomingMessage,
  response: ServerResponse,
  file: PageFile,
): void {
  const accepted = String(headers['accept-encoding']).split(/[\s,]+/);
  const [encoding, body] = [...file.encoded].find(([name]) => accepted.includes(name)) ?? [null, file.body];
  response.writeHead(200, {
    'content-type': file.type,
    'content-length': body.length,
    'cache-control': file.isImmutable ? FOREVER : 'no-cache',
    vary: 'accept-encoding',
    ...(encoding ? { 'content-encoding': encoding } : {}),
  });
  response.end(method === 'HEAD' ? undefined : body);
}

/** The body as an object; null if it is too long or is none. */
export async function readBody(request: IncomingMessage): Promise<Readonly<Record<string, unknown>> | null> {
  if (!/^application\/json\b/.test(request.headers['content-type'] ?? '')) return null;
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_BODY_BYTES) return null;
    chunks.push(chunk);
  }
  try {
    const value: unknown = JSON.parse(Buffer.concat(chunks).toString());
    return typeof value === 'object' && value !== null ? { ...value } : null;
  } catch {
    return null;
  }
}
