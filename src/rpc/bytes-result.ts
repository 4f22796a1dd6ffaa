/** Bytes that are read while they are sent, so that they are never in memory as a whole. */
export interface ByteSource {
  /** Fills `target` with the next bytes. Returns fewer only at the end, and 0 after it. */
  read(target: Uint8Array): Promise<number>;
  close(): Promise<void>;
}

/**
 * A result with one member that is bytes. Only the sender decides how they are encoded; nothing before it turns them
 * into text.
 */
export class BytesResult {
  /** Settles when the bytes are no longer needed. Whatever must not overtake the answer waits for this. */
  readonly done: Promise<void>;
  readonly member: string;
  readonly bytes: Uint8Array | ByteSource;
  /** The other members. */
  readonly rest: Readonly<Record<string, unknown>>;
  readonly #release: (() => void) | undefined;
  #finish: () => void = () => undefined;

  /** `release` is called once the bytes have been sent or abandoned and their memory may be reused. */
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

  /** Releases the bytes. The receiver of a result must call this, however sending ended. */
  async close(): Promise<void> {
    try {
      if (!(this.bytes instanceof Uint8Array)) await this.bytes.close();
    } finally {
      this.#release?.();
      this.#finish();
    }
  }
}

/** Wraps bytes that are already in memory as a source. */
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
