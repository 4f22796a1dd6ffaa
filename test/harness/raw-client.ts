import { once } from 'node:events';
import { WebSocket } from 'ws';

/** Moves messages as they are: what a test of large amounts can afford. */
export interface RawWire {
  send(text: string): void;
  onMessage(listener: (message: Buffer) => void): void;
}

export async function rawWebSocket(url: string): Promise<RawWire & Disposable> {
  const socket = new WebSocket(url, { perMessageDeflate: false, skipUTF8Validation: true });
  await once(socket, 'open');
  return {
    send: (text) => socket.send(text),
    onMessage: (listener) => socket.on('message', listener),
    [Symbol.dispose]: () => socket.terminate(),
  };
}

/** The pipes of a server: one message, one line. */
export function rawLines({
  stdin,
  stdout,
}: {
  stdin: NodeJS.WritableStream;
  stdout: NodeJS.ReadableStream;
}): RawWire {
  return {
    send: (text) => stdin.write(`${text}\n`),
    onMessage: (listener) => {
      let pieces: Buffer[] = [];
      stdout.on('data', (data: Buffer) => {
        let from = 0;
        for (let end = data.indexOf(NEWLINE); end >= 0; end = data.indexOf(NEWLINE, from)) {
          listener(Buffer.concat([...pieces, data.subarray(from, end)]));
          pieces = [];
          from = end + 1;
        }
        if (from < data.length) pieces.push(data.subarray(from));
      });
    },
  };
}
const NEWLINE = 0x0a;

/** The least a client can be: a thousand blocks must not be parsed, kept or decoded by the test. */
export class RawClient {
  readonly #wire: RawWire;
  readonly #waiting = new Map<string, (message: Buffer) => void>();

  private constructor(wire: RawWire) {
    this.#wire = wire;
    wire.onMessage((message) => {
      const id = /"id":(\d+)/.exec(message.toString('latin1', 0, 40))?.[1] ?? '';
      this.#waiting.get(id)?.(message);
      this.#waiting.delete(id);
    });
  }

  static async open(wire: RawWire): Promise<RawClient> {
    const client = new RawClient(wire);
    await client.ask(0, '"method":"initialize","params":{"clientName":"raw"}');
    wire.send('{"method":"initialized","params":{}}');
    return client;
  }

  ask(id: number, rest: string): Promise<Buffer> {
    const answer = new Promise<Buffer>((resolve) => this.#waiting.set(String(id), resolve));
    this.#wire.send(`{"id":${id},${rest}}`);
    return answer;
  }
}
