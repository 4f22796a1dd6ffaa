import type { Socket } from 'node:net';
import { after } from '../protocol/max-timer.js';
import { CallFailure } from './registry-calls.js';
import { Line } from './relay/line.js';
import { MAX_FRAME_BYTES } from './relay/relay-frame.js';

const DIAL_MS = 10_000;

/** Connects to the router. The address is a secret and appears in no error. */
export async function dialLine(url: string): Promise<Line> {
  const { WebSocket } = await import('ws');
  const socket = new WebSocket(url, {
    perMessageDeflate: false,
    maxPayload: MAX_FRAME_BYTES,
    autoPong: false,
    followRedirects: false,
  });
  return await new Promise((resolve, reject) => {
    const fail = (message: string, status?: number): void => {
      stop();
      socket.on('error', () => undefined);
      socket.terminate();
      reject(new CallFailure(message, status === undefined ? {} : { status }));
    };
    const stop = after(DIAL_MS, () => fail('The router does not answer.'));
    let stream: Socket;
    socket.once('upgrade', (response) => {
      stream = response.socket;
      stream.setNoDelay(true);
    });
    socket.once('open', () => {
      stop();
      // What one client sends must not affect other clients of the same machine.
      resolve(new Line(socket, stream, { unreadable: 'ignored' }));
    });
    socket.once('unexpected-response', (_, { statusCode = 0 }) => {
      fail(`The router refused the connection (${statusCode}).`, statusCode);
    });
    socket.once('error', () => fail('The router cannot be reached.'));
  });
}
