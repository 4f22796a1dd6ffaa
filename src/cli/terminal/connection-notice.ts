import type { Environment } from '../../contract/index.js';
import type { NoticeLine } from './notice-line.js';

/** A shorter interruption goes unnoticed. */
const LOST_AFTER_MS = 1_000;
/** Long enough to read, unless output comes first. */
const BACK_FOR_MS = 3_000;

const LOST = '[execwire: connection lost, reconnecting…]';
const BACK = '[execwire: back]';

/** Shows on the terminal that the connection is lost, and when it is back. */
export class ConnectionNotice implements Disposable {
  readonly #line: NoticeLine;
  readonly #stop: () => void;
  #timer: NodeJS.Timeout | undefined;

  constructor(environment: Environment, line: NoticeLine) {
    this.#line = line;
    this.#stop = environment.watchConnection?.((connected) => this.#changed(connected)) ?? (() => undefined);
  }

  [Symbol.dispose](): void {
    this.#stop();
    clearTimeout(this.#timer);
    this.#line.clear();
  }

  #changed(connected: boolean): void {
    clearTimeout(this.#timer);
    if (!connected) this.#timer = setTimeout(() => this.#line.show(LOST), LOST_AFTER_MS);
    else if (this.#line.isShown) {
      this.#line.show(BACK);
      this.#timer = setTimeout(() => this.#line.clear(BACK), BACK_FOR_MS);
    }
  }
}
