import type { ServerLog } from '../../server/index.js';

/** Lines within a period; a failure that repeats itself must not fill a disk. */
const MAX_LINES = 20;
const PERIOD_MS = 10_000;
/** Places in the code that a line names, the innermost first. */
const MAX_FRAMES = 6;

/**
 * Keeps a mistake of ours from ending the server: a promise nobody looked after, or an exception out of a callback, is
 * logged and costs the request it belongs to.
 *
 * Going on after an exception is a choice. Something may have been left half done; but what is half done belongs to one
 * request of one connection, and there is no state that all share and that one call changes in steps. To end instead would
 * end every program of every session, for a fault that others had no part in. Whoever embeds the library decides for
 * himself: only the command line spreads the net.
 */
export function spreadSafetyNet(log: Pick<ServerLog, 'warn'>): void {
  const report = new Report(log);
  process.on('unhandledRejection', (reason) => report.add('unhandledRejection', reason));
  process.on('uncaughtException', (error) => report.add('uncaughtException', error));
  // Nobody reads the log any more: to say so there would be the next error.
  process.stderr.on('error', () => undefined);
  process.stdout.on('error', () => undefined);
}

class Report {
  readonly #log: Pick<ServerLog, 'warn'>;
  #periodBegan = 0;
  #lines = 0;
  #unreported = 0;

  constructor(log: Pick<ServerLog, 'warn'>) {
    this.#log = log;
  }

  add(origin: string, error: unknown): void {
    const now = performance.now();
    if (now - this.#periodBegan > PERIOD_MS) {
      this.#periodBegan = now;
      this.#lines = 0;
    }
    this.#lines += 1;
    if (this.#lines > MAX_LINES) {
      this.#unreported += 1;
      return;
    }
    const more = this.#unreported === 0 ? {} : { unreported: this.#unreported };
    this.#unreported = 0;
    this.#log.warn({ origin, ...describeFailure(error), ...more }, 'internal error; the server goes on');
  }
}

/** What kind of error it is and where it comes from. Never its message, which may quote arguments, names or tokens. */
export function describeFailure(error: unknown): { error: string; at?: string } {
  if (!(error instanceof Error)) return { error: typeof error };
  const code: unknown = Reflect.get(error, 'code');
  const kind = typeof code === 'string' && /^\w{1,60}$/.test(code) ? code : null;
  const name = /^\w{1,60}$/.test(error.name) ? error.name : 'Error';
  const at = framesOf(error);
  return { error: kind === null ? name : `${name} ${kind}`, ...(at === '' ? {} : { at }) };
}

/** Functions and lines, without the message that comes before them. */
function framesOf({ stack = '', message }: Error): string {
  const end = stack.indexOf(message);
  if (end < 0) return '';
  const frames = stack.slice(end + message.length).split('\n');
  return frames
    .flatMap((line) => /^ {4}at (.*)$/.exec(line)?.[1] ?? [])
    .slice(0, MAX_FRAMES)
    .map((frame) => frame.replace(/(?:file:\/\/)?\/[^\s()]*\//g, ''))
    .join(' < ');
}
