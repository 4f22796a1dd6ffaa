/** Bytes that are fetched as they are sent, so that they never are in memory as a whole. */
export interface ByteSource {
  /** Fills `target` with what comes next; fewer bytes only at the end, none after it. */
  read(target: Uint8Array): Promise<number>;
  close(): Promise<void>;
}

/**
 * A result one member of which is bytes. What becomes of them on the wire is decided where it is sent; nobody before
 * that makes a text of them.
 */
export class BytesResult {
  /** Settles when the bytes are no longer needed: what must not overtake the answer waits for it. */
  readonly done: Promise<void>;
  readonly member: string;
  readonly bytes: Uint8Array | ByteSource;
  /** The other members. */
  readonly rest: Readonly<Record<string, unknown>>;
  readonly #release: (() => void) | undefined;
  #finish: () => void = () => undefined;

  /** `release` is called once the bytes have been sent or given up and their memory may be used again. */
  constructor(options: {
    member: string;
    bytes: Uint8Array | ByteSource;
    rest?: Readonly<Record<string, unknown>>;
    release?: () => void;
  }) {
    this.member = options.member;
    this.bytes = options.bytes;
    this.rest = options.rest ?? {};
    this.#release = options.release;
    this.done =
      options.bytes instanceof Uint8Array
        ? Promise.resolve()
        : new Promise((resolve) => {
            this.#finish = resolve;
          });
  }

  /** Lets the bytes go. Whoever takes a result calls it, however sending ended. */
  async close(): Promise<void> {
    try {
      if (!(this.bytes instanceof Uint8Array)) await this.bytes.close();
    } finally {
      this.#release?.();
      this.#finish();
    }
  }
}

/** Bytes that are in memory already, as a source. */
export function memorySource(bytes: Uint8Array): ByteSource {
  let at = 0;
  return {
    read: (target) => {
      const piece = bytes.subarray(at, at + target.length);
      target.set(piece);
      at += piece.length;
      return Promise.resolve(piece.length);
    },
    close: () => Promise.resolve(),
  };
}
