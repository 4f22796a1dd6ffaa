import type { Wire } from './wire.js';

/** The resources of a case. */
export interface CaseContext {
  /** Opens a new connection, without a handshake. */
  readonly open: () => Promise<Wire>;
  /** Opens a new connection, ready for requests. */
  readonly ready: () => Promise<Wire>;
  /** A fresh directory on the machine, as a `file:` URI without a trailing slash. */
  readonly directory: string;
}

/** One requirement for exec servers. */
export interface ConformanceCase {
  /** `group/topic`: stable, for scripts. */
  readonly name: string;
  /** The requirement, for people. */
  readonly says: string;
  /** Needs a second connection to the same server, which a program on stdin and stdout cannot offer. */
  readonly reconnects?: true;
  readonly run: (context: CaseContext) => Promise<void>;
}

/** Parameters to start a program, with defaults for everything else. */
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
