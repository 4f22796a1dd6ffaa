import type { ExecProcess } from '../../contract/index.js';
import type { NoticeLine } from './notice-line.js';

/** Long enough to read. */
const SHOWN_MS = 10_000;
/** Output takes the notice away. It comes back when the program has been quiet for this long… */
const QUIET_MS = 300;
/** …but not for ever: some programs draw all the time. */
const MAX_TIMES = 3;

const ASKED = '[execwire: somebody wants the keyboard; Enter, ~ and k hand it over]';

/** Shows the person who types that another client asks for the keyboard, and hands it over on request. */
export class KeyboardNotice implements Disposable {
  readonly #child: ExecProcess;
  readonly #line: NoticeLine;
  readonly #stop: () => void;
  #asker: number | undefined;
  #times = 0;
  #again: NodeJS.Timeout | undefined;
  #end: NodeJS.Timeout | undefined;

  constructor(child: ExecProcess, line: NoticeLine) {
    this.#child = child;
    this.#line = line;
    const stop = child.keyboard?.watch((news) => {
      if (news.type === 'asked') this.#asked(news.by);
      else if (!news.holds) this.#over();
    });
    this.#stop = stop ?? (() => undefined);
  }

  /** Whether there is a client to give the keyboard to. */
  get isAsked(): boolean {
    return this.#asker !== undefined;
  }

  /** Call before output takes the notice away. */
  beforeOutput(): void {
    if (this.#end === undefined) return;
    clearTimeout(this.#again);
    if (this.#times < MAX_TIMES) this.#again = setTimeout(() => this.#show(), QUIET_MS);
  }

  /** Hands the keyboard to the client that asked last. */
  async give(): Promise<void> {
    const asker = this.#asker;
    this.#over();
    if (asker !== undefined) await this.#child.keyboard?.give(asker);
  }

  [Symbol.dispose](): void {
    this.#stop();
    this.#over();
  }

  #asked(by: number): void {
    this.#over();
    this.#asker = by;
    this.#times = 0;
    this.#end = setTimeout(() => this.#fade(), SHOWN_MS);
    this.#show();
  }

  #show(): void {
    // What has to do with the connection matters more.
    if (this.#line.isShown) return;
    this.#times += 1;
    this.#line.show(ASKED);
  }

  /** The request stays, only the notice goes. */
  #fade(): void {
    clearTimeout(this.#again);
    clearTimeout(this.#end);
    this.#end = undefined;
    this.#line.clear(ASKED);
  }

  #over(): void {
    this.#fade();
    this.#asker = undefined;
  }
}
