import { spawn } from 'node:child_process';
import { statSync } from 'node:fs';
import { resolve as resolvePath } from 'node:path';
import { ExecError } from '../protocol/errors.js';
import type { Channel } from '../rpc/index.js';
import { ProgramChannel } from './program-channel.js';
import type { ProgramChild } from './program-group.js';
import { readLines } from './program-stderr.js';

export interface ProgramOptions {
  readonly program: string;
  readonly args?: readonly string[];
  readonly cwd?: string | undefined;
  /** The program's complete environment. Default: ours. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** For logs. Never contains arguments or environment variables. Default: the name of the program. */
  readonly label?: string;
  /** Called with each line the program writes to stderr. */
  readonly onStderr?: (line: string) => void;
  /** Called for lines on stdout that were skipped because they came before the first message. */
  readonly onWarning?: (message: string) => void;
}

/**
 * Starts a program and talks to it over stdin and stdout, one message per line. No shell is involved. The program leads
 * its own process group, and the whole group ends with the channel.
 */
export async function startProgram(options: ProgramOptions): Promise<Channel> {
  const label = options.label ?? `program ${baseName(options.program)}`;
  let child: ProgramChild;
  try {
    child = spawn(options.program, [...(options.args ?? [])], {
      stdio: ['pipe', 'pipe', 'pipe'],
      detached: true,
      ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
      ...(options.env === undefined ? {} : { env: options.env }),
    });
  } catch (cause) {
    throw notStarted(label, cause, options);
  }
  // Without free descriptors the program gets no pipes at all, so they are used only once it is running.
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', (error) => reject(notStarted(label, error, options)));
  });
  readLines(child.stderr, options.onStderr ?? (() => undefined));
  return new ProgramChannel({ child, label, onWarning: options.onWarning ?? (() => undefined) });
}

/** The system's own message contains the program and its arguments; only its code is safe to show. */
function notStarted(label: string, cause: unknown, options: ProgramOptions): ExecError {
  const told = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown error';
  const code = told === 'EACCES' && isNowhere(options) ? 'ENOENT' : told;
  return new ExecError('notConnected', `Cannot start ${label}: ${code}.`, { data: { reason: code } });
}

/** The C library calls a program forbidden as soon as one directory of PATH may not be entered, found or not. */
function isNowhere({ program, cwd = process.cwd(), env = process.env }: ProgramOptions): boolean {
  if (program.includes('/')) return false;
  return !(env.PATH ?? '').split(':').some((directory) => isFile(resolvePath(cwd, directory, program)));
}

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

function baseName(path: string): string {
  return path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1);
}
