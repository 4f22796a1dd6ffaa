import { once } from 'node:events';
import { WebSocket } from 'ws';

/**
 * Moves messages unparsed, for clients of large amounts of data.
 * @typedef {object} Link
 * @property {(message: string | Buffer) => void} send
 * @property {(listener: (message: Buffer) => void) => void} onMessage
 * @property {(listener: () => void) => void} onClose
 * @property {() => void} pause Stops reading from the connection, like a client that hangs.
 * @property {() => void} resume
 * @property {() => void} close
 */

/**
 * A WebSocket as a link: one message, one frame.
 * @param {string} url
 * @returns {Promise<Link>}
 */
export async function webSocketLink(url) {
  const socket = new WebSocket(url, { perMessageDeflate: false, skipUTF8Validation: true });
  await once(socket, 'open');
  socket.on('error', () => undefined);
  return {
    send: (message) => sendInFrames(socket, message),
    onMessage: (listener) => socket.on('message', listener),
    onClose: (listener) => socket.on('close', listener),
    pause: () => socket.pause(),
    resume: () => socket.resume(),
    close: () => socket.terminate(),
  };
}

/** Codex accepts messages of 64 MiB, but no frame above 16 MiB. */
const MAX_FRAME_CHARS = 8 * 1024 * 1024;

/**
 * @param {WebSocket} socket
 * @param {string | Buffer} message
 */
function sendInFrames(socket, message) {
  if (typeof message !== 'string') return socket.send(message);
  for (let at = 0; at < message.length; at += MAX_FRAME_CHARS) {
    const fin = at + MAX_FRAME_CHARS >= message.length;
    socket.send(message.slice(at, at + MAX_FRAME_CHARS), { fin });
  }
}

/**
 * The stdio of a child as a link: one message, one line.
 * @param {{ stdin: import('node:stream').Writable, stdout: import('node:stream').Readable }} child
 * @returns {Link}
 */
export function stdioLink({ stdin, stdout }) {
  return {
    send: (message) => stdin.write(`${message.toString()}\n`),
    onMessage: (listener) => stdout.on('data', lineSplitter(listener)),
    onClose: (listener) => stdout.on('close', listener),
    pause: () => stdout.pause(),
    resume: () => stdout.resume(),
    close: () => stdin.end(),
  };
}

const NEWLINE = 0x0a;

/**
 * Splits a byte stream into lines, joining the pieces of a line only once it is complete.
 * @param {(line: Buffer) => void} listener
 * @returns {(data: Buffer) => void}
 */
function lineSplitter(listener) {
  /** @type {Buffer[]} */
  let pieces = [];
  return (data) => {
    let start = 0;
    for (let end = data.indexOf(NEWLINE); end !== -1; end = data.indexOf(NEWLINE, start)) {
      const last = data.subarray(start, end);
      listener(pieces.length === 0 ? last : Buffer.concat([...pieces, last]));
      pieces = [];
      start = end + 1;
    }
    if (start < data.length) pieces.push(data.subarray(start));
  };
}
