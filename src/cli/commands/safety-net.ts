import type { ServerLog } from '../../server/index.js';

/** Log lines per period: a repeated failure must not fill the disk. */
const MAX_LINES = 20;
const PERIOD_MS = 10_000;
/** Stack frames per log line, innermost first. */
const MAX_FRAMES = 6;

/**
 * Keeps a bug of ours from ending the server: an unhandled rejection or an uncaught exception is logged, and costs only
 * the request it belongs to.
 *
 * Continuing after an exception is a choice. Something may be half done, but it belongs to one request of one
 * connection: no call changes shared state in several steps. Exiting would end every program of every session, for a
 * fault in one of them. Embedders of the library decide for themselves: only the command line installs this.
 */
export function spreadSafetyNet(log: Pick<ServerLog, 'warn'>): void {
  const report = new Report(log);
  process.on('unhandledRejection', (reason) => report.add('unhandledRejection', reason));
  process.on('uncaughtException', (error) => report.add('uncaughtException', error));
  // The log has no reader any more; logging that would fail again.
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
    this.#log.warn({ origin, ...describeFailure(error), ...more }, 'internal error; the server continues');
  }
}

/** The kind of an error and its origin. Never its message, which may quote arguments, names or tokens. */
export function describeFailure(error: unknown): { error: string; at?: string } {
  if (!(error instanceof Error)) return { error: typeof error };
  const code: unknown = Reflect.get(error, 'code');
  const kind = typeof code === 'string' && /^\w{1,60}$/.test(code) ? code : null;
  const name = /^\w{1,60}$/.test(error.name) ? error.name : 'Error';
  const at = framesOf(error);
  return { error: kind === null ? name : `${name} ${kind}`, ...(at === '' ? {} : { at }) };
}

/** The stack frames, without the message before them. */
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
