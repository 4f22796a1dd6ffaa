import type { z } from 'zod';
import { decodeBase64 } from '../base64.js';
import { ExecError } from '../errors.js';
import { portAck, portData, portReset } from './ports.js';

/** What the messages of a stream are called, and the member that holds its bytes. */
export const STREAM_METHODS = {
  data: 'port/data',
  ack: 'port/ack',
  reset: 'port/reset',
  chunk: portData.bytes.params,
} as const;

/** A message of a stream, in either direction. */
export type StreamMessage = { readonly streamId: string } & (
  | { readonly kind: 'data'; readonly offset: number; readonly bytes: Uint8Array; readonly end: boolean }
  | { readonly kind: 'ack'; readonly offset: number }
  | { readonly kind: 'reset'; readonly message: string }
);

/** Reads a notification; null if it is not about a stream. `attached`: the bytes of `chunk`, if they came separately. */
export function readStreamMessage(
  method: string,
  params: unknown,
  attached?: Uint8Array,
): StreamMessage | null {
  switch (method) {
    case STREAM_METHODS.data: {
      const { streamId, offset, chunk, end = false } = read(portData.params, params);
      return { kind: 'data', streamId, offset, end, bytes: attached ?? decodeBase64(chunk, 'invalidParams') };
    }
    case STREAM_METHODS.ack:
      return { kind: 'ack', ...read(portAck.params, params) };
    case STREAM_METHODS.reset:
      return { kind: 'reset', ...read(portReset.params, params) };
    default:
      return null;
  }
}

function read<Schema extends z.ZodType>(schema: Schema, params: unknown): z.output<Schema> {
  const outcome = schema.safeParse(params);
  if (outcome.success) return outcome.data;
  throw new ExecError('invalidParams', 'A message of a stream is not understood.');
}
