import { closeSync, constants, fstatSync, openSync, writeSync } from 'node:fs';
import { ExecError } from '../protocol/errors.js';
import { whyUnwritable } from '../protocol/file-failure.js';
import type { ServerEvent, ServerLog } from '../server/index.js';

/** Appended to by us only. A link in its place would be followed to a file that is not meant. */
const FLAGS = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW;

export interface AuditOptions {
  readonly path: string;
  /** Write the arguments of programs, too. They may contain secrets. */
  readonly withArguments: boolean;
  readonly log: ServerLog;
}

/** Writes everything that happens on a server to a file, one JSON object per line, in order and before it is answered. */
export class AuditFile {
  readonly #options: AuditOptions;
  #fd: number;
  #isFailing = false;

  /** Throws if the file cannot be written. */
  constructor(options: AuditOptions) {
    this.#options = options;
    this.#fd = open(options.path);
  }

  write(event: ServerEvent): void {
    const line = { time: new Date().toISOString(), ...this.#shown(event) };
    try {
      writeSync(this.#fd, `${JSON.stringify(line)}\n`);
      this.#isFailing = false;
    } catch (error) {
      this.#complain(error);
    }
  }

  /** Goes on in a new file, after the old one was moved away. */
  reopen(): void {
    try {
      const fd = open(this.#options.path);
      closeSync(this.#fd);
      this.#fd = fd;
    } catch (error) {
      this.#complain(error);
    }
  }

  close(): void {
    closeSync(this.#fd);
  }

  #shown(event: ServerEvent): object {
    if (this.#options.withArguments || !('argv' in event)) return event;
    const { argv, ...rest } = event;
    return { ...rest, argumentCount: argv.length - 1 };
  }

  /** Once, until it works again: a full disk must not fill another one. */
  #complain(error: unknown): void {
    const reason = error instanceof Error ? error.message : String(error);
    if (!this.#isFailing) this.#options.log.warn({ reason }, 'the audit file cannot be written');
    this.#isFailing = true;
  }
}

function open(path: string): number {
  try {
    const fd = openSync(path, FLAGS, 0o600);
    if (fstatSync(fd).isFile()) return fd;
    closeSync(fd);
  } catch (cause) {
    throw new ExecError(
      'invalidConfiguration',
      `Cannot write the audit file ${path}: ${whyUnwritable(cause) ?? 'it failed'}.`,
      { cause },
    );
  }
  throw new ExecError('invalidConfiguration', `The audit file ${path} is not a file.`);
}
