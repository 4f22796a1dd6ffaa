/** Enough for any key exchange and ticket. */
const MAX_HELLO_BYTES = 64 * 1024;

/** Clients send one record, or two. More of them only cost time. */
const MAX_RECORDS = 64;

const RECORD_HEADER_BYTES = 5;
const ALERT = 21;
const ALERT_BYTES = 2;
const HANDSHAKE = 22;
const VERSION = 3;
/** No record has such a version. */
const FOREIGN_VERSION = 16;
const CLIENT_HELLO = 1;
const SERVER_NAME = 0;
const HOST_NAME = 0;

/**
 * What a connection begins with. `more`: not enough has arrived, look again when there are so many bytes; `other`: no TLS;
 * `broken`: TLS that we do not understand, though a server might. `name` is undefined if the client names no host.
 */
export type Opening =
  | { readonly kind: 'more'; readonly neededBytes: number }
  | { readonly kind: 'other' | 'broken' }
  | { readonly kind: 'hello'; readonly name: string | undefined };

/** Reads the host that a TLS client asks for (RFC 6066, 3) from the first bytes of a connection. */
export function readOpening(bytes: Buffer): Opening {
  const [type = HANDSHAKE, version = VERSION] = bytes;
  if ((type !== HANDSHAKE && type !== ALERT) || version >= FOREIGN_VERSION) return { kind: 'other' };
  if (type === ALERT || version !== VERSION) return readOddOpening(bytes);
  try {
    const hello = helloIn(bytes);
    if (typeof hello !== 'number') return { kind: 'hello', name: nameIn(new Reader(hello)) };
    return hello > MAX_HELLO_BYTES ? { kind: 'broken' } : { kind: 'more', neededBytes: hello };
  } catch {
    return { kind: 'broken' };
  }
}

/** No client begins with an alert, or with another version, yet there are servers that go on after it. */
function readOddOpening(bytes: Buffer): Opening {
  if (bytes.length <= RECORD_HEADER_BYTES) return { kind: 'more', neededBytes: RECORD_HEADER_BYTES + 1 };
  const isAlert = bytes[0] === ALERT && bytes.readUInt16BE(3) === ALERT_BYTES;
  const isHello = bytes[0] === HANDSHAKE && bytes[RECORD_HEADER_BYTES] === CLIENT_HELLO;
  return { kind: isAlert || isHello ? 'broken' : 'other' };
}

/** The handshake message, which may be spread over several records; a number of bytes that are needed for it otherwise. */
function helloIn(bytes: Buffer): Buffer | number {
  const fragments: Buffer[] = [];
  let at = 0;
  while (at + RECORD_HEADER_BYTES <= bytes.length) {
    const length = bytes.readUInt16BE(at + 3);
    if (bytes[at] !== HANDSHAKE || length === 0 || fragments.length === MAX_RECORDS)
      throw new Error('not a handshake');
    const end = at + RECORD_HEADER_BYTES + length;
    if (end > bytes.length) return end;
    fragments.push(bytes.subarray(at + RECORD_HEADER_BYTES, end));
    at = end;
    const hello = wholeHello(fragments);
    if (hello) return hello;
  }
  return at + RECORD_HEADER_BYTES;
}

function wholeHello(fragments: readonly Buffer[]): Buffer | null {
  const message = Buffer.concat(fragments);
  if (message[0] !== CLIENT_HELLO) throw new Error('not a hello');
  if (message.length < 4) return null;
  const end = 4 + message.readUIntBE(1, 3);
  return message.length < end ? null : message.subarray(4, end);
}

function nameIn(hello: Reader): string | undefined {
  hello.skip(2 + 32);
  hello.vector(1);
  hello.vector(2);
  hello.vector(1);
  if (hello.isOver) return undefined;
  const extensions = new Reader(hello.vector(2));
  const names: string[] = [];
  while (!extensions.isOver) {
    const type = extensions.number(2);
    const content = new Reader(extensions.vector(2));
    if (type === SERVER_NAME) names.push(hostName(new Reader(content.vector(2))));
  }
  if (names.length > 1) throw new Error('two lists');
  return names[0];
}

/** A list of one: what others would be for was never defined. */
function hostName(list: Reader): string {
  if (list.number(1) !== HOST_NAME) throw new Error('an unknown kind of name');
  const name = list.vector(2).toString('latin1');
  if (!list.isOver) throw new Error('two names');
  return name;
}

/** Takes numbers and vectors from bytes. Throws if there are not enough of them. */
class Reader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get isOver(): boolean {
    return this.#at === this.#bytes.length;
  }

  number(size: 1 | 2): number {
    return this.skip(size).readUIntBE(0, size);
  }

  /** With its length in front. */
  vector(sizeBytes: 1 | 2): Buffer {
    return this.skip(this.number(sizeBytes));
  }

  skip(length: number): Buffer {
    const end = this.#at + length;
    if (end > this.#bytes.length) throw new Error('cut off');
    const taken = this.#bytes.subarray(this.#at, end);
    this.#at = end;
    return taken;
  }
}
