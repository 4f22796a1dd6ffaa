import type { Wire } from './wire.js';

/** What a case works with. */
export interface CaseContext {
  /** A new connection, without a handshake. */
  readonly open: () => Promise<Wire>;
  /** A new connection, ready for requests. */
  readonly ready: () => Promise<Wire>;
  /** A fresh directory on the machine, as a `file:` URI without a slash at its end. */
  readonly directory: string;
}

/** One statement about exec servers. */
export interface ConformanceCase {
  /** `group/what-it-is-about`: stable, for scripts. */
  readonly name: string;
  /** The statement, for people. */
  readonly says: string;
  /** Needs a second connection to the same server, which a program on its standard streams has not. */
  readonly reconnects?: true;
  readonly run: (context: CaseContext) => Promise<void>;
}

/** A program to start, with everything filled in that does not matter. */
export function startParams(
  context: CaseContext,
  processId: string,
  argv: readonly string[],
  more: Record<string, unknown> = {},
): Record<string, unknown> {
  return {
    processId,
    argv,
    cwd: context.directory,
    env: { PATH: '/usr/bin:/bin' },
    tty: false,
    ...more,
  };
}

/** A shell script as argv. */
export function shell(script: string): string[] {
  return ['/bin/sh', '-c', script];
}

export function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}
