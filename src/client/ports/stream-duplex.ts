import type { Duplex } from 'node:stream';
import type { ExecError } from '../../protocol/index.js';
import { ByteStream, type StreamUser, type UntakenRoom } from '../../rpc/index.js';

/** Enough to keep a pipe busy. */
const BUFFER_BYTES = 256 * 1024;

/**
 * A stream of the session as a Node stream, loaded where there is one. `room` is that of the session. `forget` is called when
 * it is over.
 */
export async function streamDuplex(
  room: UntakenRoom,
  forget: () => void,
): Promise<{ readonly stream: ByteStream; readonly duplex: Duplex }> {
  const { Duplex } = await import('node:stream');
  /** Taken from the wire, but not yet from the Node stream. */
  let unread = 0;
  let writable: (() => void) | undefined;
  const user: StreamUser = {
    bytes: (bytes) => {
      unread += bytes.length;
      if (duplex.push(bytes)) readOn();
    },
    ended: () => void duplex.push(null),
    room: () => {
      const resume = writable;
      writable = undefined;
      resume?.();
    },
    over: (error?: ExecError) => {
      forget();
      if (error) duplex.destroy(error);
    },
  };
  const stream = new ByteStream(user, room);
  const readOn = (): void => {
    const count = unread;
    unread = 0;
    if (count > 0) stream.taken(count);
  };
  const duplex = new Duplex({
    readableHighWaterMark: BUFFER_BYTES,
    writableHighWaterMark: BUFFER_BYTES,
    read: readOn,
    write: (bytes: Buffer, _encoding, done) => {
      if (stream.write(bytes)) done();
      else writable = done;
    },
    final: (done) => {
      stream.end();
      done();
    },
    destroy: (error, done) => {
      stream.destroy({ code: 'streamReset', message: 'The client closed the connection.' });
      done(error);
    },
  });
  return { stream, duplex };
}
