import { type Field, readFields, writeFields } from './protobuf.js';

/** The largest message between a machine, the router and a client. */
export const MAX_FRAME_BYTES = 256 * 1024;
const MAX_STREAM_ID_BYTES = 128;
const VERSION = 1;

/** Field numbers. */
const Id = { version: 1, streamId: 2, data: 5, ack: 6, resume: 7, reset: 8, heartbeat: 9, handshake: 10 };

/** The content of a frame. `other` stands for anything newer versions may send. */
export type FrameBody =
  | { readonly kind: 'data'; readonly seq: number; readonly payload: Uint8Array }
  | { readonly kind: 'resume' }
  | { readonly kind: 'reset'; readonly reason: string }
  | { readonly kind: 'handshake'; readonly payload: Uint8Array }
  | { readonly kind: 'other' };

/** One message between a client and a machine. The router reads only the id of its stream. */
export interface RelayFrame {
  readonly streamId: string;
  readonly body: FrameBody;
}

/** Reads a frame; null if it is invalid. Payloads are views of the message. */
export function decodeFrame(message: Uint8Array): RelayFrame | null {
  try {
    const fields = readFields(message);
    const id = bytesOf(fields, Id.streamId);
    if (numberOf(fields, Id.version) !== VERSION || id === undefined) return null;
    if (id.length === 0 || id.length > MAX_STREAM_ID_BYTES) return null;
    const streamId = new TextDecoder('utf-8', { fatal: true }).decode(id);
    return { streamId, body: bodyOf(fields) };
  } catch {
    return null;
  }
}

export function encodeFrame({ streamId, body }: RelayFrame): Buffer {
  return writeFields([
    { id: Id.version, number: VERSION },
    { id: Id.streamId, bytes: Buffer.from(streamId) },
    bodyField(body),
  ]);
}

function bodyOf(fields: readonly Field[]): FrameBody {
  const data = bytesOf(fields, Id.data);
  if (data) return dataBody(readFields(data));
  const handshake = bytesOf(fields, Id.handshake);
  if (handshake) return { kind: 'handshake', payload: bytesOf(readFields(handshake), 1) ?? new Uint8Array() };
  const reset = bytesOf(fields, Id.reset);
  if (reset) return { kind: 'reset', reason: new TextDecoder().decode(bytesOf(readFields(reset), 1)) };
  return { kind: bytesOf(fields, Id.resume) ? 'resume' : 'other' };
}

/** A record is never split, so a partial one is useless. */
function dataBody(fields: readonly Field[]): FrameBody {
  const isWhole = numberOf(fields, 2) === 0 && numberOf(fields, 3) === 1;
  if (!isWhole) throw new RangeError('a record is split');
  return { kind: 'data', seq: numberOf(fields, 1), payload: bytesOf(fields, 4) ?? new Uint8Array() };
}

function bodyField(body: FrameBody): Field {
  switch (body.kind) {
    case 'data':
      return {
        id: Id.data,
        bytes: writeFields([
          { id: 1, number: body.seq },
          { id: 3, number: 1 },
          { id: 4, bytes: body.payload },
        ]),
      };
    case 'handshake':
      return { id: Id.handshake, bytes: writeFields([{ id: 1, bytes: body.payload }]) };
    case 'reset':
      return { id: Id.reset, bytes: writeFields([{ id: 1, bytes: Buffer.from(body.reason) }]) };
    case 'resume':
      return { id: Id.resume, bytes: new Uint8Array() };
    default:
      return { id: Id.heartbeat, bytes: new Uint8Array() };
  }
}

/** If a field is repeated, the last one counts. */
function bytesOf(fields: readonly Field[], wanted: number): Uint8Array | undefined {
  const field = fields.findLast(({ id }) => id === wanted);
  if (field && !('bytes' in field)) throw new RangeError('a field is of another kind');
  return field?.bytes;
}

function numberOf(fields: readonly Field[], wanted: number): number {
  const field = fields.findLast(({ id }) => id === wanted);
  if (field && !('number' in field)) throw new RangeError('a field is of another kind');
  return field?.number ?? 0;
}
