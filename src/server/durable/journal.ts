import { closeSync, constants, openSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs';
import { ExecError } from '../../protocol/errors.js';

const FILE_MODE = 0o600;
/** The version we write. */
const STATE_VERSION = 4;
/**
 * The oldest version that can be continued. In version 1, no process was in a sandbox; in version 2, none had rules for
 * hosts or held changes; in version 3, everything had been sent to passed connections.
 */
const OLDEST_VERSION = 1;
/** A journal is written anew when it is this much longer than what it says. */
const MAX_WASTE_BYTES = 1024 * 1024;

/**
 * What the next server must know, by key. Every change is one line at the end of a file, written before it is reported; an
 * incomplete last line does not count.
 */
export class Journal {
  readonly #path: string;
  /** The text of each value. */
  readonly #live: Map<string, string>;
  #file: number;
  #size = 0;
  #liveBytes = 0;
  /** Written in our version. */
  #isCurrent: boolean;

  private constructor(path: string, { live, size, version }: Content) {
    this.#path = path;
    this.#live = live;
    this.#isCurrent = version === STATE_VERSION;
    // If we fail, the version before continues with it.
    if (!this.#isCurrent) {
      this.#file = this.#continue(size);
      return;
    }
    try {
      this.#file = this.#rewrite();
    } catch (error) {
      // There may be no room for another one, but this one is still good.
      if (size === 0) throw error;
      this.#file = this.#continue(size);
    }
  }

  /** Begins a new journal, replacing any other. */
  static create(path: string): Journal {
    return new Journal(path, { live: new Map(), size: 0, version: STATE_VERSION });
  }

  /** Throws `invalidConfiguration` if this version cannot continue the journal. Changes nothing. */
  static check(path: string): void {
    readJournal(path);
  }

  /** Continues the journal of an earlier server. */
  static open(path: string): Journal {
    return new Journal(path, readJournal(path));
  }

  /** Everything whose key begins like this, by the rest of the key. */
  *all(prefix: string): Generator<[string, unknown], void> {
    for (const [key, text] of this.#live)
      if (key.startsWith(prefix)) yield [key.slice(prefix.length), JSON.parse(text)];
  }

  /** Throws if it cannot be written; then nothing has changed. */
  put(key: string, value: object): void {
    const text = JSON.stringify(value);
    this.#append(`[${JSON.stringify(key)},${text}]\n`);
    this.#liveBytes += text.length - (this.#live.get(key)?.length ?? 0);
    this.#live.set(key, text);
    this.#compactIfWasteful();
  }

  delete(key: string): void {
    const text = this.#live.get(key);
    if (text === undefined) return;
    this.#append(`[${JSON.stringify(key)}]\n`);
    this.#liveBytes -= text.length;
    this.#live.delete(key);
    this.#compactIfWasteful();
  }

  /** We will not be replaced by the version before: from here on it is written in our own. */
  settle(): void {
    if (this.#isCurrent) return;
    this.#isCurrent = true;
    this.#compact();
  }

  /** It is no longer needed. */
  remove(): void {
    closeSync(this.#file);
    rmSync(this.#path, { force: true });
  }

  #append(line: string): void {
    const bytes = Buffer.from(line);
    // At a position, so that a line that could only be written in part is overwritten by the next one.
    for (let done = 0; done < bytes.length; )
      done += writeSync(this.#file, bytes, done, bytes.length - done, this.#size + done);
    this.#size += bytes.length;
  }

  /** Only between two changes: what has been appended must be in the new file, too. */
  #compactIfWasteful(): void {
    if (this.#isCurrent && this.#size - 2 * this.#liveBytes >= MAX_WASTE_BYTES) this.#compact();
  }

  #compact(): void {
    const old = this.#file;
    try {
      this.#file = this.#rewrite();
      closeSync(old);
    } catch {
      // No room now; the next change tries again.
    }
  }

  /** Continues at the end of the file. */
  #continue(size: number): number {
    this.#size = size;
    this.#liveBytes = bytesOf(this.#live);
    return openSync(this.#path, constants.O_WRONLY | constants.O_NOFOLLOW);
  }

  /** Writes a complete new file, then puts it in the place of the old one. */
  #rewrite(): number {
    const draft = `${this.#path}.new`;
    const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | constants.O_NOFOLLOW;
    const file = openSync(draft, flags, FILE_MODE);
    try {
      const lines = [...this.#live].map(([key, text]) => `[${JSON.stringify(key)},${text}]\n`);
      const bytes = Buffer.from(`${JSON.stringify({ version: STATE_VERSION })}\n${lines.join('')}`);
      for (let done = 0; done < bytes.length; ) done += writeSync(file, bytes, done);
      renameSync(draft, this.#path);
      this.#size = bytes.length;
      this.#liveBytes = bytesOf(this.#live);
      return file;
    } catch (error) {
      closeSync(file);
      rmSync(draft, { force: true });
      throw error;
    }
  }
}

function bytesOf(live: ReadonlyMap<string, string>): number {
  let bytes = 0;
  for (const text of live.values()) bytes += text.length;
  return bytes;
}

interface Content {
  readonly live: Map<string, string>;
  /** Without a part of a line at the end. */
  readonly size: number;
  readonly version: number;
}

function readJournal(path: string): Content {
  const live = new Map<string, string>();
  const text = readFileSync(path, 'utf8');
  const whole = text.slice(0, text.lastIndexOf('\n') + 1);
  const [first = '', ...lines] = whole.split('\n').slice(0, -1);
  const version = versionIn(first);
  for (const line of lines) {
    const [key, value] = JSON.parse(line) as [string, object?];
    if (value === undefined) live.delete(key);
    else live.set(key, JSON.stringify(value));
  }
  return { live, size: Buffer.byteLength(whole), version };
}

function versionIn(header: string): number {
  const { version } = JSON.parse(header) as { version?: unknown };
  if (typeof version === 'number' && version >= OLDEST_VERSION && version <= STATE_VERSION) return version;
  throw new ExecError(
    'invalidConfiguration',
    `The state of the running server has version ${String(version)}, and this release knows ${OLDEST_VERSION} to ${STATE_VERSION}`,
  );
}
