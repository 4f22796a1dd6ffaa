import { ExecError } from '../../protocol/errors.js';
import { libc, unwatchReadiness, watchReadiness } from '../kernel/index.js';
import { type ChildInput, DrainWaiters } from './child-input.js';
import type { ChildKeeping } from './child-keeping.js';
import { InputFile, type InputRecord, removeInput, writesIn } from './input-file.js';
import type { PseudoTerminal } from './pseudo-terminal.js';

/** A file that has grown beyond this is replaced once the program has everything in it. */
const FILE_BYTES = 1024 * 1024;
/** Retry delay while the program at a terminal does not read; see `PtyInput`. */
const FIRST_RETRY_MS = 1;
const LAST_RETRY_MS = 32;
const NEWLINE = 0x0a;

/** The name under which the copy of an input file is kept. */
const inputName = (number: number): string => `input:${number}`;

/** Where input goes: a pipe we own, or a terminal. */
export type InputTarget =
  | { readonly kind: 'pipe'; readonly fd: number }
  | { readonly kind: 'terminal'; readonly terminal: PseudoTerminal };

/**
 * Input of a child that may outlive us. The kernel itself moves it from a file to the program, so that the position in
 * the file says how much the program got.
 */
export class KeptInput implements ChildInput {
  readonly #target: InputTarget;
  readonly #keeping: ChildKeeping;
  readonly #waiters = new DrainWaiters();
  #file: InputFile | undefined;
  #number = 0;
  #delivered = 0;
  #open = true;
  #endPending = false;
  #gone = false;
  #lastByte = NEWLINE;
  #isWatched = false;
  #timer: NodeJS.Timeout | undefined;
  #retryMs = FIRST_RETRY_MS;

  constructor(target: InputTarget, keeping: ChildKeeping) {
    this.#target = target;
    this.#keeping = keeping;
  }

  /** Goes on with what an earlier server had queued. */
  resume({ file, number, record }: { file: InputFile; number: number; record: InputRecord }): void {
    this.#file = file;
    this.#number = number;
    this.#delivered = file.delivered();
    if (record.closed) {
      this.#open = false;
      this.#endPending = this.#target.kind === 'pipe';
    }
    this.#pump();
  }

  get queuedBytes(): number {
    return this.#file && !this.#gone ? this.#file.size - this.#delivered : 0;
  }

  get open(): boolean {
    return this.#open;
  }

  /** Throws `stdinFull` if it cannot be written to disk. */
  write(bytes: Uint8Array, id = ''): void {
    if (!this.#open || bytes.length === 0) return;
    this.#append(bytes, id);
    this.#lastByte = bytes.at(-1) ?? this.#lastByte;
    this.#pump();
  }

  close(): void {
    if (!this.#open) return;
    this.#open = false;
    this.#endPending = true;
    this.#pump();
    if (!this.#endPending || !this.#file) return;
    try {
      this.#file.appendClose();
    } catch {
      // Only a server that comes after us would miss it, and its client asks again.
    }
  }

  destroy(): void {
    if (this.#gone) return;
    this.#gone = true;
    this.#open = false;
    this.#endPending = false;
    this.#stopWaiting();
    this.#file?.close();
    if (this.#target.kind === 'pipe') this.#closePipe(this.#target.fd);
    this.#waiters.shrunkTo(0);
  }

  onceWritable(limit: number): Promise<void> {
    return this.queuedBytes <= limit ? Promise.resolve() : this.#waiters.wait(limit);
  }

  #append(bytes: Uint8Array, id: string): void {
    try {
      this.#currentFile().append(bytes, id);
    } catch (cause) {
      throw new ExecError('stdinFull', 'The input could not be written to disk. Make room there.', { cause });
    }
  }

  #currentFile(): InputFile {
    const file = this.#file;
    if (file && (file.size < FILE_BYTES || this.queuedBytes > 0)) return file;
    const number = this.#number + 1;
    const made = InputFile.create(pathOf(this.#keeping, number));
    this.#keeping.hold({ [inputName(number)]: made.data });
    if (file) {
      file.close();
      this.#keeping.letGo(inputName(this.#number));
      removeInput(pathOf(this.#keeping, this.#number - 1));
    }
    this.#number = number;
    this.#file = made;
    this.#delivered = 0;
    return made;
  }

  #pump(): void {
    if (this.#gone || this.#isWatched || this.#timer) return;
    while (this.queuedBytes > 0) {
      if (!this.#deliver()) return;
    }
    if (this.#endPending) this.#end();
  }

  /** Returns false if the program takes no more for now. */
  #deliver(): boolean {
    const file = this.#file;
    if (!file) return false;
    const fd = this.#target.kind === 'pipe' ? this.#target.fd : this.#target.terminal.control;
    if (this.#target.kind === 'terminal' && this.#target.terminal.closed) return false;
    const sent = libc().sendfile(fd, file.data, null, this.queuedBytes);
    if (sent > 0) {
      this.#delivered += sent;
      this.#retryMs = FIRST_RETRY_MS;
      this.#waiters.shrunkTo(this.queuedBytes);
      return true;
    }
    if (sent < 0 && !['EAGAIN', 'EINTR'].includes(libc().errno())) this.destroy();
    else this.#waitFor(fd);
    return false;
  }

  #waitFor(fd: number): void {
    if (this.#target.kind === 'pipe') {
      this.#isWatched = true;
      watchReadiness(fd, 'write', () => {
        this.#stopWaiting();
        this.#pump();
      });
      return;
    }
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#pump();
    }, this.#retryMs);
    this.#retryMs = Math.min(this.#retryMs * 2, LAST_RETRY_MS);
  }

  #stopWaiting(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#isWatched && this.#target.kind === 'pipe') unwatchReadiness(this.#target.fd);
    this.#isWatched = false;
  }

  /** Everything is delivered, and no more comes. */
  #end(): void {
    this.#endPending = false;
    if (this.#target.kind === 'pipe') return this.destroy();
    // At the start of a line the character means end of file; elsewhere it only flushes the line.
    const end = this.#target.terminal.endOfFileCharacter();
    try {
      this.#append(this.#lastByte === NEWLINE ? Uint8Array.of(end) : Uint8Array.of(NEWLINE, end), '');
      this.#file?.appendClose();
    } catch {
      // The disk is full: the program does not learn that nothing more comes.
    }
    this.#pump();
  }

  /** The program sees the end once all copies are closed. */
  #closePipe(fd: number): void {
    libc().close(fd);
    this.#keeping.letGo('stdin');
  }
}

/** The files of earlier input, and the write ids in them. */
export function keptInputFile(
  { inputPath }: Pick<ChildKeeping, 'inputPath'>,
  descriptors: Readonly<Record<string, number>>,
): { file: InputFile; number: number; record: InputRecord } | null {
  const number = newestNumber(Object.keys(descriptors));
  const data = descriptors[inputName(number)];
  if (data === undefined) return null;
  const { file, record } = InputFile.resume(pathOf({ inputPath }, number), data);
  const earlier = writesIn(pathOf({ inputPath }, number - 1));
  return { file, number, record: { ...record, writes: [...earlier, ...record.writes] } };
}

/** The ids of writes to a process that has ended. */
export function keptWrites(inputPath: string, names: Iterable<string>): readonly string[] {
  const number = newestNumber(names);
  return [number - 1, number].flatMap((each) => writesIn(pathOf({ inputPath }, each)));
}

/** What the files in a directory of inputs are called where copies of them are kept, by the beginning of their names. */
export function inputNames(files: readonly string[]): Map<string, string[]> {
  const names = new Map<string, string[]>();
  for (const file of files) {
    const [, start = '', number] = /^(.+)\.(\d+)\.writes$/.exec(file) ?? [];
    if (number === undefined) continue;
    names.set(start, [...(names.get(start) ?? []), inputName(Number(number))]);
  }
  return names;
}

/** Removes what is on disk of the input of a process. `names`: of the descriptors that were ever kept of it. */
export function removeKeptInput(inputPath: string, names: Iterable<string>): void {
  const number = newestNumber(names);
  for (const each of [number - 1, number]) if (each > 0) removeInput(pathOf({ inputPath }, each));
}

function newestNumber(names: Iterable<string>): number {
  const numbers = [...names].flatMap((name) => /^input:(\d+)$/.exec(name)?.[1] ?? []);
  return Math.max(0, ...numbers.map(Number));
}

function pathOf({ inputPath }: Pick<ChildKeeping, 'inputPath'>, number: number): string {
  return `${inputPath}.${number}`;
}
