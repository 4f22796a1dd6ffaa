/** First byte of a binary frame; the length of its header follows in three bytes, then the header, then the bytes. */
const FRAME_VERSION = 1;
const PREAMBLE_BYTES = 4;

/**
 * Builds a binary frame by hand, as the documentation describes it.
 * @param {unknown} header JSON without the member the bytes replace, or the value to serialise.
 * @param {Uint8Array} [bytes]
 */
export function frameOf(header, bytes = new Uint8Array(0)) {
  const text = Buffer.from(typeof header === 'string' ? header : JSON.stringify(header));
  const preamble = Buffer.alloc(PREAMBLE_BYTES);
  preamble[0] = FRAME_VERSION;
  preamble.writeUIntBE(text.length, 1, 3);
  return Buffer.concat([preamble, text, bytes]);
}

/**
 * The header of a frame as text and a view of its bytes; null for a text message.
 * @param {Buffer} message
 */
export function splitFrame(message) {
  if (message[0] !== FRAME_VERSION) return null;
  const end = PREAMBLE_BYTES + message.readUIntBE(1, 3);
  return { header: message.toString('utf8', PREAMBLE_BYTES, end), bytes: message.subarray(end) };
}

/**
 * @typedef {object} Frame
 * @property {Record<string, unknown> & { readonly params?: Record<string, unknown> }} header
 * @property {Buffer} bytes
 */

/**
 * Parses a binary frame.
 * @param {Buffer} message
 * @returns {Frame}
 */
export function openFrame(message) {
  const frame = splitFrame(message);
  if (!frame) throw new Error('not a frame');
  return { header: JSON.parse(frame.header), bytes: frame.bytes };
}

/** Collects the frames a socket receives; a test waits for those it needs. */
export class FrameInbox {
  /** @type {Frame[]} */
  frames = [];
  /** @type {Set<() => void>} */
  #watchers = new Set();

  /** @param {import('ws').WebSocket} socket */
  constructor(socket) {
    socket.on('message', (/** @type {Buffer} */ data, /** @type {boolean} */ isBinary) => {
      if (isBinary) this.frames.push(openFrame(data));
      for (const look of [...this.#watchers]) look();
    });
  }

  /**
   * @template Value
   * @param {() => Value | undefined | false} probe
   * @returns {Promise<Value>}
   */
  until(probe) {
    return new Promise((resolve) => {
      const look = () => {
        const value = probe();
        if (value === undefined || value === false) return;
        this.#watchers.delete(look);
        resolve(value);
      };
      this.#watchers.add(look);
      look();
    });
  }

  /**
   * @param {unknown} id
   * @returns {Promise<Frame>}
   */
  answerTo(id) {
    return this.until(() => this.frames.find(({ header }) => header['id'] === id));
  }
}
