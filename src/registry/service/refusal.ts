import type { ServerResponse } from 'node:http';

/** Why a call was refused, as reported to the caller. */
export class Refusal extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

export const unattached = (): Refusal =>
  new Refusal(503, 'environment_unavailable', 'No machine is connected under this id at the moment.');

export function sendJson(response: ServerResponse, status: number, value: object): void {
  const body = JSON.stringify(value);
  const headers = {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    'cache-control': 'no-store',
  };
  response.writeHead(status, headers).end(body);
}

/** Sends an error in the form that registry clients expect. */
export function sendRefusal(response: ServerResponse, error: unknown): void {
  const { status, code, message } =
    error instanceof Refusal ? error : new Refusal(500, 'internal_error', 'The registry failed.');
  // The rest of the body is not read.
  if (!response.req.complete) response.setHeader('connection', 'close');
  sendJson(response, status, { error: { code, message } });
}
