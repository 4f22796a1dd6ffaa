import { constants } from 'node:os';

/** Another screen, where long lines do not wrap. */
const ENTER = '\u001b[?1049h\u001b[?7l\u001b[2J';
/** Undoes exactly what we have done. */
const LEAVE = '\u001b[0m\u001b[?7h\u001b[?25h\u001b[?1049l';
const ENDINGS = ['SIGTERM', 'SIGHUP', 'SIGINT'] as const;

export interface PlayerEvents {
  readonly key: (key: string) => void;
  readonly resized: () => void;
}

/** Our terminal while it shows a recording. However we end, it is left as it was. */
export class PlayerTerminal {
  readonly #events: PlayerEvents;
  #isEntered = false;
  readonly #typed = (bytes: Buffer): void => {
    for (const key of bytes.toString('latin1')) this.#events.key(key);
  };
  readonly #resized = (): void => this.#events.resized();
  readonly #left = (): void => this.leave();
  readonly #killed = (signal: (typeof ENDINGS)[number]): void => {
    this.leave();
    process.exit(128 + constants.signals[signal]);
  };

  constructor(events: PlayerEvents) {
    this.#events = events;
  }

  get isEntered(): boolean {
    return this.#isEntered;
  }

  enter(): void {
    if (this.#isEntered) return;
    this.#isEntered = true;
    for (const signal of ENDINGS) process.on(signal, this.#killed);
    process.on('exit', this.#left);
    process.stdout.on('resize', this.#resized);
    process.stdout.on('error', this.#ignored);
    process.stdout.write(ENTER);
    if (!process.stdin.isTTY) return;
    process.stdin.setRawMode(true);
    process.stdin.on('data', this.#typed);
    process.stdin.resume();
  }

  leave(): void {
    if (!this.#isEntered) return;
    this.#isEntered = false;
    if (process.stdin.isTTY) {
      process.stdin.pause();
      process.stdin.removeListener('data', this.#typed);
      process.stdin.setRawMode(false);
    }
    process.stdout.write(LEAVE);
    process.stdout.removeListener('resize', this.#resized);
    process.removeListener('exit', this.#left);
    for (const signal of ENDINGS) process.removeListener(signal, this.#killed);
  }

  /** The next draw notices that the terminal is gone. */
  readonly #ignored = (): void => undefined;
}
