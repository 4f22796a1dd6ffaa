import type { WebSocket } from 'ws';

/** A binary frame put together by hand, as the documentation describes it. */
export function frameOf(header: unknown, bytes: Uint8Array = new Uint8Array(0)): Buffer {
  const text = Buffer.from(typeof header === 'string' ? header : JSON.stringify(header));
  const preamble = Buffer.alloc(4);
  preamble[0] = 1;
  preamble.writeUIntBE(text.length, 1, 3);
  return Buffer.concat([preamble, text, bytes]);
}

export interface Frame {
  readonly header: Record<string, unknown> & { readonly params?: Record<string, unknown> };
  readonly bytes: Buffer;
}

/** Taken apart again. */
export function openFrame(data: Buffer): Frame {
  const end = 4 + data.readUIntBE(1, 3);
  return { header: JSON.parse(data.subarray(4, end).toString()), bytes: data.subarray(end) };
}

/** Collects the frames a socket gets; a test waits for those it needs. */
export class FrameInbox {
  readonly frames: Frame[] = [];
  readonly #watchers = new Set<() => void>();

  constructor(socket: WebSocket) {
    socket.on('message', (data: Buffer, isBinary: boolean) => {
      if (isBinary) this.frames.push(openFrame(data));
      for (const look of [...this.#watchers]) look();
    });
  }

  until<Value>(probe: () => Value | undefined | false): Promise<Value> {
    return new Promise((resolve) => {
      const look = (): void => {
        const value = probe();
        if (value === undefined || value === false) return;
        this.#watchers.delete(look);
        resolve(value);
      };
      this.#watchers.add(look);
      look();
    });
  }

  answerTo(id: unknown): Promise<Frame> {
    return this.until(() => this.frames.find(({ header }) => header.id === id));
  }
}
