/** A minimal client: a thousand blocks must not be parsed, kept or decoded by the test. */
export class RawClient {
  #link;
  /** @type {Map<string, (message: Buffer) => void>} */
  #waiting = new Map();

  /**
   * @param {import('./links.mjs').Link} link
   * @private
   */
  constructor(link) {
    this.#link = link;
    link.onMessage((message) => {
      const id = /"id":(\d+)/.exec(message.toString('latin1', 0, 40))?.[1] ?? '';
      this.#waiting.get(id)?.(message);
      this.#waiting.delete(id);
    });
  }

  /** @param {import('./links.mjs').Link} link */
  static async open(link) {
    const client = new RawClient(link);
    await client.ask(0, '"method":"initialize","params":{"clientName":"raw"}');
    link.send('{"method":"initialized","params":{}}');
    return client;
  }

  /**
   * Resolves to the whole answer, unparsed.
   * @param {number} id
   * @param {string} rest
   * @returns {Promise<Buffer>}
   */
  ask(id, rest) {
    /** @type {Promise<Buffer>} */
    const answer = new Promise((resolve) => this.#waiting.set(String(id), resolve));
    this.#link.send(`{"id":${id},${rest}}`);
    return answer;
  }

  [Symbol.dispose]() {
    this.#link.close();
  }
}
